package collect

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/jiffyperf/jiffy/runtime-collector/procfs"
)

const (
	processHeader = "mono_ns,boot_ns,wall_ns,pid,starttime,state,utime,stime,cutime,cstime,num_threads,minflt,majflt,rss_pages,final\n"
	threadHeader  = "mono_ns,pid,tid,starttime,event,comm,state,utime,stime,run_ns,wait_ns,slices\n"
)

// sampleFile is a CSV file that grows by whole rows. Rows gather in a reused
// buffer until flush.
type sampleFile struct {
	file  *os.File
	buf   []byte
	comm  []byte // scratch
	whole int64  // length of the file's whole rows, bytes
}

func createSampleFile(path, header string) (*sampleFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	s := &sampleFile{file: f, buf: append(make([]byte, 0, 64<<10), header...)}
	if err := s.flush(); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// flush writes the gathered rows. When that fails the file is cut back to its
// last whole row and the gathered rows are dropped.
func (s *sampleFile) flush() error {
	_, err := s.file.Write(s.buf)
	if err == nil {
		s.whole += int64(len(s.buf))
		s.buf = s.buf[:0]
		return nil
	}
	s.buf = s.buf[:0]
	if cut := s.cutBack(); cut != nil {
		return fmt.Errorf("%w (and cutting off the torn row: %w)", err, cut)
	}
	return err
}

// cutBack removes what follows the last whole row.
func (s *sampleFile) cutBack() error {
	if err := s.file.Truncate(s.whole); err != nil {
		return err
	}
	_, err := s.file.Seek(s.whole, io.SeekStart)
	return err
}

func (s *sampleFile) close() error { return s.file.Close() }

// processRow adds a sample of a process.
func (s *sampleFile) processRow(c procfs.Clocks, p *procfs.Stat, final bool) {
	b := s.buf
	b = appendInt(b, c.Mono)
	b = appendInt(b, c.Boot)
	b = appendInt(b, c.Wall)
	b = appendInt(b, int64(p.PID))
	b = appendUint(b, p.Starttime)
	b = append(b, p.State, ',')
	b = appendUint(b, p.Utime)
	b = appendUint(b, p.Stime)
	b = appendInt(b, p.Cutime)
	b = appendInt(b, p.Cstime)
	b = appendInt(b, int64(p.NumThreads))
	b = appendUint(b, p.Minflt)
	b = appendUint(b, p.Majflt)
	b = appendInt(b, p.RSS)
	if final {
		b = append(b, '1', '\n')
	} else {
		b = append(b, '0', '\n')
	}
	s.buf = b
}

// threadRow adds a sample of a thread, or its exit.
func (s *sampleFile) threadRow(pid int, t *procfs.ThreadSample) {
	b := s.buf
	b = appendInt(b, t.Mono)
	b = appendInt(b, int64(pid))
	b = appendInt(b, int64(t.TID))
	b = appendUint(b, t.Starttime)
	if t.Exited {
		s.buf = append(b, "exited,,,,,,,\n"...)
		return
	}
	b = append(b, "sample,"...)
	s.comm = procfs.AppendComm(s.comm[:0], t.Stat.Comm)
	b = append(appendCSV(b, s.comm), ',', t.Stat.State, ',')
	b = appendUint(b, t.Stat.Utime)
	b = appendUint(b, t.Stat.Stime)
	if !t.HasSched {
		s.buf = append(b, ",,\n"...)
		return
	}
	b = appendUint(b, t.Sched.Run)
	b = appendUint(b, t.Sched.Wait)
	b = strconv.AppendUint(b, t.Sched.Slices, 10)
	s.buf = append(b, '\n')
}

func appendInt(b []byte, v int64) []byte   { return append(strconv.AppendInt(b, v, 10), ',') }
func appendUint(b []byte, v uint64) []byte { return append(strconv.AppendUint(b, v, 10), ',') }

// appendCSV appends a field, quoted where RFC 4180 asks for it. Leading and
// trailing spaces are quoted too: many readers trim them otherwise.
func appendCSV(b, field []byte) []byte {
	spaced := len(field) > 0 && (field[0] == ' ' || field[len(field)-1] == ' ')
	if !spaced && bytes.IndexByte(field, ',') < 0 && bytes.IndexByte(field, '"') < 0 {
		return append(b, field...)
	}
	b = append(b, '"')
	for _, c := range field {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}
