package procfs

import "unicode/utf8"

// commLen is the longest name of a user thread in bytes: TASK_COMM_LEN (16)
// less the terminating zero.
const commLen = 15

// ParseComm returns the name in the contents of /proc/<pid>/comm or
// /proc/<pid>/task/<tid>/comm (proc_pid_comm(5)): all but the newline the
// kernel adds. The name may hold newlines of its own.
func ParseComm(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		return b[:n-1]
	}
	return b
}

// AppendComm appends comm to dst as printable UTF-8. A name is any 15 bytes:
// control characters and bytes that are not UTF-8 are written as \xNN, and a
// character that the kernel's limit cut in two is left out.
func AppendComm(dst, comm []byte) []byte {
	const hex = "0123456789abcdef"
	for i := 0; i < len(comm); {
		r, size := utf8.DecodeRune(comm[i:])
		if r == utf8.RuneError && size <= 1 && len(comm) == commLen && !utf8.FullRune(comm[i:]) {
			break
		}
		if r < 0x20 || r == 0x7f || r == utf8.RuneError && size <= 1 {
			dst = append(dst, '\\', 'x', hex[comm[i]>>4], hex[comm[i]&15])
		} else {
			dst = append(dst, comm[i:i+size]...)
		}
		i += size
	}
	return dst
}
