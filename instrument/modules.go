package instrument

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// findModules returns the names of the named modules among the inputs, each once, in their order. A multi-release jar may hold
// several descriptions of one module.
func findModules(in *archive.Inputs) ([]string, error) {
	var names []string
	var c classfile.Class
	for _, e := range in.Entries() {
		if !isModuleInfo(e.Name) {
			continue
		}
		content, err := e.Content()
		if err != nil {
			continue // listed when it is rewritten
		}
		if err := c.Parse(content); err != nil {
			continue
		}
		if name := moduleName(&c); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// isModuleInfo reports whether an entry describes the module that its jar is: module-info.class at the root, or in
// META-INF/versions/N.
func isModuleInfo(name string) bool {
	const file = "module-info.class"
	if name == file {
		return true
	}
	version, ok := strings.CutPrefix(name, "META-INF/versions/")
	return ok && strings.HasSuffix(version, "/"+file) && strings.Count(version, "/") == 1
}

// moduleName returns the name in the Module attribute (JVMS §4.7.25); "" if there is none.
func moduleName(c *classfile.Class) string {
	at := findAttribute(c, "Module")
	if body := c.Bytes(at); len(body) >= attributeHeader+2 {
		return moduleConstant(c, binary.BigEndian.Uint16(body[attributeHeader:]))
	}
	return ""
}

// withoutModulePackages returns a module-info without its ModulePackages attribute (JVMS §4.7.26), or nil if it has none. The
// attribute, which the jar tool adds, would have to list the package of the runtime that is added to the module. Without it,
// Java finds the packages by looking.
func withoutModulePackages(moduleInfo []byte) []byte {
	var c classfile.Class
	if c.Parse(moduleInfo) != nil {
		return nil
	}
	at := findAttribute(&c, "ModulePackages")
	if at.Empty() {
		return nil
	}
	count := classfile.Span{Start: c.Attributes.Start, End: c.Attributes.Start + 2}
	less := binary.BigEndian.AppendUint16(nil, binary.BigEndian.Uint16(c.Bytes(count))-1)
	return c.Append(nil, []classfile.Replacement{{Old: count, New: less}, {Old: at}})
}

// attributeHeader is the size of an attribute's name index and length (JVMS §4.7).
const attributeHeader = 6

// findAttribute returns where a class's attribute of that name is, header included; an empty span if there is none.
func findAttribute(c *classfile.Class, name string) classfile.Span {
	for pos := c.Attributes.Start + 2; pos+attributeHeader <= c.Attributes.End; {
		length := int(binary.BigEndian.Uint32(c.Data[pos+2:]))
		end := pos + attributeHeader + length
		if end > c.Attributes.End {
			break
		}
		if string(c.Pool.Utf8(binary.BigEndian.Uint16(c.Data[pos:]))) == name {
			return classfile.Span{Start: pos, End: end}
		}
		pos = end
	}
	return classfile.Span{}
}

// moduleConstant returns the name in a CONSTANT_Module (JVMS §4.4.11).
func moduleConstant(c *classfile.Class, index uint16) string {
	const tagModule = 19
	constant := c.Pool.Constant(index)
	if len(constant) != 3 || constant[0] != tagModule {
		return ""
	}
	return classfile.Text(c.Pool.Utf8(binary.BigEndian.Uint16(constant[1:])))
}
