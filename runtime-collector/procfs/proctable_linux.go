package procfs

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Table finds the processes that have appeared in /proc since it last looked,
// for following a program through the processes it starts. Only a new process's
// stat file is opened, so that looking again costs one directory listing.
type Table struct {
	dir     file
	known   map[int]entry
	scan    uint64
	records []byte
	path    []byte
	buf     []byte
	stat    Stat
}

// entry is one known process. The inode number of /proc/<pid> is the directory
// entry's, and differs when a pid comes back as another process.
type entry struct {
	inode uint64
	scan  uint64
}

// OpenTable opens /proc.
func OpenTable() (*Table, error) {
	dir, err := openPath("/proc", unix.O_DIRECTORY)
	if err != nil {
		return nil, fmt.Errorf("/proc: %w", err)
	}
	return &Table{dir: dir, known: make(map[int]entry), records: make([]byte, 32<<10), buf: make([]byte, statSize)}, nil
}

// Appeared calls visit for every process that is new since the last call, in
// no useful order; the first call visits all. Processes that are hidden, or
// gone before their parent could be read, are passed over.
func (t *Table) Appeared(visit func(pid, ppid int)) error {
	if err := t.dir.rewind(); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	t.scan++
	for {
		b, err := t.dir.list(t.records)
		if err != nil {
			return fmt.Errorf("/proc: %w", err)
		}
		if len(b) == 0 {
			break
		}
		t.look(dirents{b}, visit)
	}
	for pid, e := range t.known {
		if e.scan != t.scan {
			delete(t.known, pid)
		}
	}
	return nil
}

func (t *Table) look(d dirents, visit func(pid, ppid int)) {
	for {
		pid, inode, ok := d.nextNumber()
		if !ok {
			return
		}
		e, known := t.known[pid]
		t.known[pid] = entry{inode, t.scan}
		if known && e.inode == inode {
			continue
		}
		if err := t.readStat(pid); err == nil {
			visit(pid, t.stat.PPID)
		}
	}
}

func (t *Table) readStat(pid int) error {
	t.path = strconv.AppendInt(t.path[:0], int64(pid), 10)
	f, err := t.dir.openAt(append(t.path, "/stat\x00"...), 0)
	if err != nil {
		return err
	}
	defer f.close()
	b, err := f.read(t.buf)
	if err != nil {
		return err
	}
	return ParseStat(b, &t.stat)
}

// Close gives the descriptor back.
func (t *Table) Close() { t.dir.close() }
