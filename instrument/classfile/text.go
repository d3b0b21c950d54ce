package classfile

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Text turns the modified UTF-8 of JVMS §4.4.7 (a zero in two bytes, supplementary characters as two surrogates of three
// bytes each) into UTF-8. What is neither becomes U+FFFD: names are for people to read here.
func Text(b []byte) string {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return decodeText(b)
		}
	}
	return string(b)
}

func decodeText(b []byte) string {
	var units []uint16
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c < 0x80:
			units = append(units, uint16(c))
			i++
		case c>>5 == 0b110 && i+1 < len(b) && continues(b[i+1]):
			units = append(units, uint16(c&0x1F)<<6|uint16(b[i+1]&0x3F))
			i += 2
		case c>>4 == 0b1110 && i+2 < len(b) && continues(b[i+1]) && continues(b[i+2]):
			units = append(units, uint16(c&0x0F)<<12|uint16(b[i+1]&0x3F)<<6|uint16(b[i+2]&0x3F))
			i += 3
		default:
			units = append(units, utf8.RuneError)
			i++
		}
	}
	return string(utf16.Decode(units))
}

func continues(c byte) bool { return c>>6 == 0b10 }
