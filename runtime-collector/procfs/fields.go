package procfs

// fields walks the blank-separated fields of one line without allocating.
type fields struct {
	rest []byte
}

// next returns the next field, or nil at the end.
func (f *fields) next() []byte {
	i := 0
	for i < len(f.rest) && isBlank(f.rest[i]) {
		i++
	}
	start := i
	for i < len(f.rest) && !isBlank(f.rest[i]) {
		i++
	}
	field := f.rest[start:i]
	f.rest = f.rest[i:]
	if len(field) == 0 {
		return nil
	}
	return field
}

// skip passes over n fields.
func (f *fields) skip(n int) {
	for ; n > 0; n-- {
		f.next()
	}
}

// uint reads the next field as an unsigned decimal number.
func (f *fields) uint() (uint64, bool) {
	return parseUint(f.next())
}

// int reads the next field as a signed decimal number.
func (f *fields) int() (int64, bool) {
	b := f.next()
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	u, ok := parseUint(b)
	if !ok || u > 1<<63-1 {
		return 0, false
	}
	if negative {
		return -int64(u), true
	}
	return int64(u), true
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// parseUint reads all of b as an unsigned decimal number; strconv would need a
// string, and with it an allocation.
func parseUint(b []byte) (uint64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	var u uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || u > (1<<64-1-d)/10 {
			return 0, false
		}
		u = u*10 + d
	}
	return u, true
}
