package instrument

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/jiffyperf/jiffy/instrument/mapping"
)

// recordName is where an output directory says what it was made of, so that a later run can tell what still holds.
const recordName = mapping.Dir + "build.csv"

// record is what an output directory was made with and of. It is a CSV file, whose rows have a kind, a name, an input and a value:
//
//	option  what a build option is called, and its value; several rows for a list
//	map     the hash in the probe map's name
//	class   an entry, the input that it came from, counted from 0, and its probes
//	file    an entry that is no class, and the input
//	end     a hash of all bytes before
//
// The probes are ranges of rows of the probe map, such as "0-3 7", where its first probe is row 0. Only the end row says that the
// file is complete. Everything in it depends on the inputs and the options alone.
type record struct {
	options [][2]string
	mapHash string
	sources map[string]source // by entry
}

// source is where an entry of the output came from.
type source struct {
	input  int
	class  bool
	probes []int // rows of the probe map
}

const (
	recordOption = "option"
	recordMap    = "map"
	recordClass  = "class"
	recordFile   = "file"
	recordEnd    = "end"
)

// recordWriter writes a record.
type recordWriter struct {
	b   bytes.Buffer
	csv *csv.Writer
}

func newRecordWriter() *recordWriter {
	w := new(recordWriter)
	w.csv = csv.NewWriter(&w.b)
	w.row("kind", "name", "input", "value")
	return w
}

// row writes a row. Writes to a bytes.Buffer can't fail.
func (w *recordWriter) row(fields ...string) { _ = w.csv.Write(fields) }

func (w *recordWriter) entry(kind, name string, input int, value string) {
	w.row(kind, name, strconv.Itoa(input), value)
}

// bytes writes the last row and returns the record.
func (w *recordWriter) bytes() []byte {
	w.csv.Flush()
	fmt.Fprintf(&w.b, "%s,%016x,,\n", recordEnd, xxhash.Sum64(w.b.Bytes()))
	return w.b.Bytes()
}

var errRecord = errors.New("its record in " + recordName + " is incomplete or was changed")

// readRecord reads what a recordWriter wrote.
func readRecord(content []byte) (*record, error) {
	end := bytes.LastIndexByte(bytes.TrimSuffix(content, []byte{'\n'}), '\n') + 1
	if string(content[end:]) != fmt.Sprintf("%s,%016x,,\n", recordEnd, xxhash.Sum64(content[:end])) {
		return nil, errRecord
	}
	rows, err := csv.NewReader(bytes.NewReader(content[:end])).ReadAll()
	if err != nil || len(rows) == 0 || !slices.Equal(rows[0], []string{"kind", "name", "input", "value"}) {
		return nil, errRecord // of another version
	}
	r := &record{sources: make(map[string]source)}
	for _, row := range rows[1:] {
		if err := r.add(row); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *record) add(row []string) (err error) {
	name, value := row[1], row[3]
	switch row[0] {
	case recordOption:
		r.options = append(r.options, [2]string{name, value})
		return nil
	case recordMap:
		r.mapHash = name
		return nil
	case recordClass, recordFile:
		s := source{class: row[0] == recordClass}
		if s.input, err = strconv.Atoi(row[2]); err != nil {
			return errRecord
		}
		s.probes, err = parseRanges(value)
		r.sources[name] = s
		return err
	}
	return errRecord
}

// ranges writes numbers as ranges: 0 1 2 7 is "0-2 7".
func ranges(numbers []int) string {
	var s strings.Builder
	for i := 0; i < len(numbers); {
		first := i
		for i++; i < len(numbers) && numbers[i] == numbers[i-1]+1; i++ {
		}
		if first > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(strconv.Itoa(numbers[first]))
		if last := numbers[i-1]; last != numbers[first] {
			s.WriteString("-" + strconv.Itoa(last))
		}
	}
	return s.String()
}

// maxProbes bounds what a record can ask for: a class has at most 65,535 methods.
const maxProbes = 0xFFFF

func parseRanges(text string) ([]int, error) {
	var numbers []int
	for part := range strings.FieldsSeq(text) {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 0 || last < first || len(numbers)+last-first >= maxProbes {
			return nil, errRecord
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
