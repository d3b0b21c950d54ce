package procfs

import "bytes"

// ParseCPUList counts the CPUs in a list such as "0-3,5,8-11", the format of
// /sys/devices/system/cpu/{possible,online} (cpuset(7), List format). An empty
// list counts 0; the error is ErrFormat.
func ParseCPUList(b []byte) (int, error) {
	n := 0
	rest := bytes.TrimSpace(b)
	for more := len(rest) > 0; more; {
		var part []byte
		part, rest, more = bytes.Cut(rest, []byte{','})
		first, last, isRange := bytes.Cut(part, []byte{'-'})
		if !isRange {
			last = first
		}
		lo, ok := parseUint(first)
		hi, ok2 := parseUint(last)
		if !ok || !ok2 || hi < lo || hi > 1<<20 {
			return 0, formatError("cpu list", "range", b)
		}
		n += int(hi-lo) + 1
	}
	return n, nil
}
