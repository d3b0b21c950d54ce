package csvexport

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
)

// CallWriter writes calls.csv. A log can have many millions of calls, and few
// methods and threads, so their columns are quoted once and kept.
type CallWriter struct {
	w   io.Writer
	buf []byte
}

// NewCallWriter writes the header and returns a writer of rows.
func NewCallWriter(w io.Writer) (*CallWriter, error) {
	return &CallWriter{w: w}, Encode(w, []Call{})
}

// Columns are neighbouring columns in their final form, with commas between them.
type Columns []byte

// Quote makes Columns.
func Quote(values ...string) Columns {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(values) // a bytes.Buffer takes everything
	w.Flush()
	return Columns(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// Row writes one call. thread has the columns tid and thread, method has class,
// method and descriptor.
func (c *CallWriter) Row(start, end, depth int64, thread, method Columns, outcome string, process int64) error {
	b := strconv.AppendInt(c.buf[:0], start, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, end, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, depth, 10)
	b = append(b, ',')
	b = append(b, thread...)
	b = append(b, ',')
	b = append(b, method...)
	b = append(b, ',')
	b = append(b, outcome...)
	b = append(b, ',')
	b = strconv.AppendInt(b, process, 10)
	b = append(b, '\n')
	c.buf = b
	_, err := c.w.Write(b)
	return err
}
