package dump

import (
	"strconv"
	"strings"
)

// frames prints a StackMapTable (JVMS §4.7.4), frame by frame as it is encoded: the kind, the pc it is for, and what it
// says of locals and stack.
func (p *printer) frames(r *reader) {
	pc := -1
	for n := r.u2(); n > 0 && !r.bad; n-- {
		tag := r.u1()
		var delta int
		var what string
		switch {
		case tag < 64:
			delta, what = tag, "same"
		case tag < 128:
			delta, what = tag-64, "same stack ["+p.vtypes(r, 1)+"]"
		case tag < 247:
			p.line("    frame with the reserved tag %d", tag)
			return
		case tag == 247:
			delta = int(r.u2())
			what = "same stack [" + p.vtypes(r, 1) + "] extended"
		case tag < 251:
			delta, what = int(r.u2()), "chop "+strconv.Itoa(251-tag)
		case tag == 251:
			delta, what = int(r.u2()), "same extended"
		case tag < 255:
			delta = int(r.u2())
			what = "append [" + p.vtypes(r, tag-251) + "]"
		default:
			delta = int(r.u2())
			what = "full locals [" + p.vtypes(r, int(r.u2())) + "]"
			what += " stack [" + p.vtypes(r, int(r.u2())) + "]"
		}
		pc += delta + 1
		p.line("    frame %d %s", pc, what)
	}
}

// vtypes prints verification types.
func (p *printer) vtypes(r *reader, n int) string {
	var types []string
	for ; n > 0 && !r.bad; n-- {
		names := []string{"top", "int", "float", "double", "long", "null", "uninitializedThis"}
		switch tag := r.u1(); {
		case tag < len(names):
			types = append(types, names[tag])
		case tag == 7:
			types = append(types, text(p.pool.ClassName(r.u2())))
		case tag == 8:
			types = append(types, "uninitialized@"+strconv.Itoa(int(r.u2())))
		default:
			types = append(types, "?")
		}
	}
	return strings.Join(types, ", ")
}
