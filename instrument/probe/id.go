package probe

import (
	"encoding/binary"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/mapping"
)

const kindMethod = "method"

// row describes the method that the body was parsed from.
func (in *Instrumenter) row(m *classfile.Member, class string) mapping.Row {
	c := &in.class
	name, desc := c.Pool.Utf8(m.Name), c.Pool.Utf8(m.Desc)
	signature := classfile.Text(append(append(in.names[:0], name...), desc...)) // one string for both
	split := strings.LastIndexByte(signature, '(')
	if split < 0 {
		split = len(signature)
	}
	return mapping.Row{
		ID:         in.id(kindMethod, c.Name(), name, desc, 0),
		Kind:       kindMethod,
		Class:      class,
		Method:     signature[:split],
		Descriptor: signature[split:],
		File:       in.file,
		Line:       in.body.FirstLine(),
		Flags:      in.flags(m),
		BodyHash:   in.hasher.hash(&in.body),
		BodySize:   len(in.body.Code),
	}
}

// flags are what a report has to say about a method's numbers.
func (in *Instrumenter) flags(m *classfile.Member) string {
	flags := ""
	add := func(is bool, name string) {
		if is && flags != "" {
			flags += " "
		}
		if is {
			flags += name
		}
	}
	add(m.Access&classfile.AccSynchronized != 0, "synchronized") // the wait for the monitor lies outside the probe
	add(isConstructor(&in.class, m), "constructor")
	add(isSuspend(&in.class, m), "suspend")
	add(in.opts.Exits == ExitsAll && !in.reportsThrown(), "normal-exits")
	return flags
}

// id is the content address of a probe: the first 48 bits of a hash of what it is, so that every class can be rewritten
// alone and base and head of a pull request agree. 0 is taken by the event log.
func (in *Instrumenter) id(kind string, class, method, desc []byte, site int) uint64 {
	s := append(in.names[:0], in.opts.Salt...)
	s = append(append(s, 0), kind...)
	s = append(append(s, 0), class...)
	s = append(append(s, 0), method...)
	s = append(append(s, 0), desc...)
	in.names = binary.BigEndian.AppendUint32(s, uint32(site))
	return max(1, xxhash.Sum64(in.names)>>16)
}
