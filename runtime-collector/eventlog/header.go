package eventlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"
)

// Header is the start of a file.
type Header struct {
	Version    uint32
	Properties map[string]string
	// Damaged is set when the checksum doesn't fit. The chunks may be good all
	// the same; Properties is then empty.
	Damaged bool
}

// parseHeader reads the file header from the start of a file. prefix holds its
// first HeaderPrefix bytes, rest what follows them.
func parseHeader(prefix, rest []byte) (Header, int64) {
	damaged := Header{Damaged: true}
	if len(prefix) < HeaderPrefix || string(prefix[:8]) != Magic {
		return damaged, 0
	}
	n := binary.LittleEndian.Uint32(prefix[12:])
	if n%8 != 0 || uint64(len(rest)) < uint64(n)+HeaderSuffix {
		return damaged, HeaderPrefix
	}
	sum := crc32.Update(crc32.ChecksumIEEE(prefix), crc32.IEEETable, rest[:n])
	if sum != binary.LittleEndian.Uint32(rest[n:]) {
		return damaged, HeaderPrefix
	}
	h := Header{
		Version:    binary.LittleEndian.Uint32(prefix[8:]),
		Properties: ParseProperties(rest[:n]),
	}
	return h, HeaderPrefix + int64(n) + HeaderSuffix
}

// ParseProperties reads lines `key=value`. Lines without `=` are left out; of a
// key that is there twice the last value counts.
func ParseProperties(text []byte) map[string]string {
	props := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if key, value, ok := strings.Cut(line, "="); ok {
			props[key] = unescape(value)
		}
	}
	return props
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case '\\':
			b.WriteByte('\\')
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// FileName is what a log's file name says.
type FileName struct {
	Folded    bool
	PID       int
	StartTime uint64 // field 22 of /proc/<pid>/stat, ticks since boot; 0 not known
	N         int    // several runtimes in one process count up
	Slot      int    // folded files only: 0 or 1
}

// ParseFileName reads `events-<pid>-<starttime>-<n>.jiffy` and
// `folded-<pid>-<starttime>-<n>-<slot>.jiffy`.
func ParseFileName(path string) (FileName, error) {
	name := filepath.Base(path)
	parts := strings.Split(strings.TrimSuffix(name, ".jiffy"), "-")
	folded := parts[0] == "folded"
	if !strings.HasSuffix(name, ".jiffy") || !folded && parts[0] != "events" ||
		folded && len(parts) != 5 || !folded && len(parts) != 4 {
		return FileName{}, fmt.Errorf("%s: not the name of an event log", path)
	}
	var numbers [4]uint64
	for i, part := range parts[1:] {
		bits := 31
		if i == 1 {
			bits = 64
		}
		n, err := strconv.ParseUint(part, 10, bits)
		if err != nil {
			return FileName{}, fmt.Errorf("%s: not the name of an event log: %q is not a number", path, part)
		}
		numbers[i] = n
	}
	return FileName{
		Folded:    folded,
		PID:       int(numbers[0]),
		StartTime: numbers[1],
		N:         int(numbers[2]),
		Slot:      int(numbers[3]),
	}, nil
}
