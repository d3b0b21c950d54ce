package mapping

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// columns are the map's columns in the order in which they are written.
var columns = []string{"id", "kind", "class", "method", "descriptor", "site", "file", "line", "flags", "body_hash", "body_size"}

// Dir is where a map lies in a jar or in a directory of classes.
const Dir = "META-INF/jiffy/"

// FileName returns the path of a map in a jar, from the hash that Encode returned.
func FileName(hash string) string {
	return Dir + "probes-" + hash + ".csv"
}

// IsFileName reports whether name, a path in a jar, is that of a map.
func IsFileName(name string) bool {
	rest, ok := strings.CutPrefix(name, Dir)
	return ok && strings.HasPrefix(rest, "probes-") && strings.HasSuffix(rest, ".csv") && !strings.Contains(rest, "/")
}

// Encode returns rows as CSV, header first, and the 16 hex digits of the content's hash (XXH64).
func Encode(rows []Row) (content []byte, hash string) {
	var b bytes.Buffer
	b.Grow(128 * (len(rows) + 1))
	// Writes to a bytes.Buffer can't fail.
	_ = Write(&b, rows)
	return b.Bytes(), hashOf(xxhash.Sum64(b.Bytes()))
}

// Write writes rows as CSV (RFC 4180), header first.
func Write(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	if err := c.Write(columns); err != nil {
		return err
	}
	record := make([]string, len(columns))
	for i := range rows {
		r := &rows[i]
		record[0] = fmt.Sprintf("%012x", r.ID)
		record[1] = r.Kind
		record[2] = r.Class
		record[3] = r.Method
		record[4] = r.Descriptor
		record[5] = strconv.Itoa(r.Site)
		record[6] = r.File
		record[7] = strconv.Itoa(r.Line)
		record[8] = r.Flags
		record[9] = hashOf(r.BodyHash)
		record[10] = strconv.Itoa(r.BodySize)
		if err := c.Write(record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func hashOf(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// layout is where each of columns stands in a file: its index, or -1 if the file doesn't have it.
type layout [11]int

// parseHeader reads a header line. Columns may come in any order, and unknown ones are ignored.
func parseHeader(record []string) (layout, error) {
	var at layout
	for i, name := range columns {
		at[i] = -1
		for j, field := range record {
			if field == name {
				at[i] = j
			}
		}
	}
	for _, i := range []int{0, 1, 2, 3} {
		if at[i] < 0 {
			return at, fmt.Errorf("not a probe map: the header has no column %q", columns[i])
		}
	}
	return at, nil
}

// decoder turns CSV records into rows. Class and file names come back many times; each is kept in memory once.
type decoder struct {
	at    layout
	names map[string]string
}

func (d *decoder) intern(s string) string {
	if s == "" {
		return ""
	}
	if kept, ok := d.names[s]; ok {
		return kept
	}
	kept := strings.Clone(s)
	d.names[kept] = kept
	return kept
}

func (d *decoder) row(record []string) (Row, error) {
	field := func(i int) string {
		if d.at[i] < 0 {
			return ""
		}
		return record[d.at[i]]
	}
	r := Row{
		Kind:       d.intern(field(1)),
		Class:      d.intern(field(2)),
		Method:     d.intern(field(3)),
		Descriptor: d.intern(field(4)),
		File:       d.intern(field(6)),
		Flags:      d.intern(field(8)),
	}
	var err error
	if id := field(0); id != "" || r.Kind != KindOption {
		if r.ID, err = strconv.ParseUint(id, 16, 48); err != nil {
			return r, fmt.Errorf("id %q is not a number of 12 hex digits", id)
		}
	}
	if hash := field(9); hash != "" {
		if r.BodyHash, err = strconv.ParseUint(hash, 16, 64); err != nil {
			return r, fmt.Errorf("body_hash %q is not a number of 16 hex digits", hash)
		}
	}
	for _, n := range []struct {
		column int
		to     *int
	}{{5, &r.Site}, {7, &r.Line}, {10, &r.BodySize}} {
		text := field(n.column)
		if text == "" {
			continue
		}
		if *n.to, err = strconv.Atoi(text); err != nil || *n.to < 0 {
			return r, fmt.Errorf("%s %q is not a number", columns[n.column], text)
		}
	}
	return r, nil
}

// decode reads one or more maps that were concatenated and hands each row to add.
func decode(r io.Reader, add func(Row)) error {
	c := csv.NewReader(bufio.NewReaderSize(r, 1<<16))
	c.ReuseRecord = true
	c.FieldsPerRecord = -1
	d := decoder{names: make(map[string]string)}
	width := 0
	for {
		record, err := c.Read()
		if err == io.EOF {
			if width == 0 {
				return errors.New("not a probe map: it is empty")
			}
			return nil
		}
		if err != nil {
			return inLine(err)
		}
		line, _ := c.FieldPos(0)
		if width == 0 || record[0] == columns[0] {
			if d.at, err = parseHeader(record); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			width = len(record)
			continue
		}
		if len(record) != width {
			return fmt.Errorf("line %d: %d fields instead of %d", line, len(record), width)
		}
		row, err := d.row(record)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		add(row)
	}
}

// inLine words an error of encoding/csv as this package words its own.
func inLine(err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("line %d: %w", parse.Line, parse.Err)
	}
	return err
}
