package report

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/jiffyperf/jiffy/csvexport"
	"github.com/jiffyperf/jiffy/instrument/mapping"
)

// Unmapped stands in the class column for a method whose id is in no map.
const Unmapped = "unmapped"

// name is what a probe id stands for, with the columns that calls.csv and
// Demeter's layouts repeat for every call.
type name struct {
	row     mapping.Row
	mapped  bool
	columns csvexport.Columns // class, method, descriptor
	short   csvexport.Columns // class#method
}

func (m *maker) name(id uint64) name {
	n, ok := m.names[id]
	if ok {
		return n
	}
	n.row, n.mapped = m.probes.Lookup(id)
	if !n.mapped {
		n.row = mapping.Row{ID: id, Class: Unmapped, Method: fmt.Sprintf("%012x", id)}
	}
	n.columns = csvexport.Quote(n.row.Class, n.row.Method, n.row.Descriptor)
	n.short = csvexport.Quote(n.row.Class + "#" + n.row.Method)
	m.names[id] = n
	return n
}

// findMap reads the probe maps: those given, else those in the run directory,
// else those on the class paths that the logs' headers name.
func (m *maker) findMap() error {
	var sources []mapping.Source
	paths := m.o.Maps
	if len(paths) == 0 {
		paths = m.run.Maps
	}
	for _, path := range paths {
		sources = append(sources, mapping.Source{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	if len(sources) == 0 {
		sources = m.classPathMaps()
	}
	var err error
	if m.probes, err = mapping.LoadSources(sources...); err != nil {
		return err
	}
	if m.probes.Len() == 0 && len(m.logs) > 0 {
		m.warn("no probe map in the run or on its class path: methods have no names; give one with --mapping")
	}
	return nil
}

// classPathMaps looks for maps where the processes loaded their classes from.
func (m *maker) classPathMaps() []mapping.Source {
	var sources []mapping.Source
	seen := map[string]bool{}
	for _, l := range m.logs {
		log := l.Events
		if log == nil {
			log = l.Folded
		}
		props := log.Header.Properties
		found, err := mapping.FindInClassPath(props["java_class_path"], props["user_dir"])
		inModules, errModules := mapping.FindInModulePath(props["java_module_path"], props["user_dir"])
		for _, err := range []error{err, errModules} {
			if err != nil {
				m.warn("looking for a probe map: %v", firstLine(err))
			}
		}
		for _, s := range slices.Concat(found, inModules) {
			if !seen[s.Name] {
				seen[s.Name] = true
				sources = append(sources, s)
			}
		}
	}
	return sources
}
