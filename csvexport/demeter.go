package csvexport

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// Demeter's layouts, as its version 1.7.0 writes them, but quoted where a field
// needs it, and with the digits behind the point that it cuts off.

// demeterTime is the time stamp in Demeter's file names: dd-MM-yyyy_kk-mm-ss.
// Java's kk counts the hours from 1 to 24.
func demeterTime(t time.Time) string {
	hour := t.Format("15")
	if hour == "00" {
		hour = "24"
	}
	return t.Format("02-01-2006_") + hour + t.Format("-04-05")
}

// DemeterTracerFile is the name of a tracer export of a run that began at t.
func DemeterTracerFile(t time.Time) string { return "tracer-raw-" + demeterTime(t) + ".csv" }

// DemeterTreeFile is the name of an export in the older layout.
func DemeterTreeFile(t time.Time) string { return "inject-" + demeterTime(t) + ".csv" }

// DemeterTracer writes tracer rows `start,end,depth,class#method,thread`, without
// a header. Times are ms.
type DemeterTracer struct {
	W   io.Writer
	buf []byte
}

// Row writes one call. name and thread are quoted.
func (d *DemeterTracer) Row(start, end, depth int64, name, thread Columns) error {
	b := appendMillis(d.buf[:0], start)
	b = append(b, ',')
	b = appendMillis(b, end)
	b = append(b, ',')
	b = strconv.AppendInt(b, depth, 10)
	b = append(b, ',')
	b = append(b, name...)
	b = append(b, ',')
	b = append(b, thread...)
	b = append(b, '\n')
	d.buf = b
	_, err := d.W.Write(b)
	return err
}

// DemeterTreeHeader is the first line of the older layout.
const DemeterTreeHeader = "depth,init time (ms),warning level,thread,class#method\n"

// DemeterTree writes rows of the older layout: the calls of one thread after the
// other, each call before those inside it.
type DemeterTree struct {
	W   io.Writer
	buf []byte
}

// Row writes one call. name and thread are quoted.
func (d *DemeterTree) Row(depth, duration int64, thread, name Columns) error {
	b := strconv.AppendInt(d.buf[:0], depth, 10)
	b = append(b, ',')
	b = appendMillis(b, duration)
	b = append(b, ',')
	b = strconv.AppendInt(b, min(WarningLevel(duration), 150), 10)
	b = append(b, ',')
	b = append(b, thread...)
	b = append(b, ',')
	b = append(b, name...)
	b = append(b, '\n')
	d.buf = b
	_, err := d.W.Write(b)
	return err
}

// appendMillis appends ns as ms with up to six digits behind the point.
func appendMillis(b []byte, ns int64) []byte {
	if ns < 0 {
		b = append(b, '-')
		ns = -ns
	}
	b = strconv.AppendInt(b, ns/1e6, 10)
	if rest := ns % 1e6; rest != 0 {
		digits := strconv.FormatInt(1e6+rest, 10)[1:]
		b = append(b, '.')
		b = append(b, strings.TrimRight(digits, "0")...)
	}
	return b
}

// WarningLevel returns the highest of 0, 16, 50, 150 and 700 ms that a duration
// on the main thread reached. ns in, ms out. Demeter's own levels end at 150.
func WarningLevel(ns int64) int64 {
	for _, ms := range []int64{700, 150, 50, 16} {
		if ns >= ms*1e6 {
			return ms
		}
	}
	return 0
}
