package mapping

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// A Map finds rows by probe id. The zero Map is empty and ready for use.
type Map struct {
	rows    []Row
	index   map[uint64]int32 // id → position in rows
	names   map[uint64][]Row // ambiguous ids: every probe that has it
	options map[string][]string
	hashes  []string
}

// Read reads a map from r. Several maps may follow each other, each with its header.
func Read(r io.Reader) (*Map, error) {
	m := new(Map)
	if err := m.Add(r); err != nil {
		return nil, err
	}
	return m, nil
}

// ReadRows reads the rows of a map, options too, in their order.
func ReadRows(r io.Reader) ([]Row, error) {
	var rows []Row
	err := decode(r, func(r Row) { rows = append(rows, r) })
	return rows, err
}

// Load reads the maps in the files at paths into one.
func Load(paths ...string) (*Map, error) {
	sources := make([]Source, len(paths))
	for i, path := range paths {
		sources[i] = Source{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
	}
	return LoadSources(sources...)
}

// LoadSources reads the maps of all sources into one.
func LoadSources(sources ...Source) (*Map, error) {
	m := new(Map)
	for _, s := range sources {
		if err := m.addSource(s); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Map) addSource(s Source) error {
	r, err := s.Open()
	if err != nil {
		return err // names the file already
	}
	defer r.Close()
	if err := m.Add(r); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// Add reads further rows from r. A row that is already there is not added again, so that the same map on two class paths
// does no harm.
func (m *Map) Add(r io.Reader) error {
	sum := xxhash.New()
	if err := decode(io.TeeReader(r, sum), m.AddRow); err != nil {
		return err
	}
	if h := hashOf(sum.Sum64()); !slices.Contains(m.hashes, h) {
		m.hashes = append(m.hashes, h)
		slices.Sort(m.hashes)
	}
	return nil
}

// AddRow adds one row.
func (m *Map) AddRow(r Row) {
	if r.Kind == KindOption {
		m.addOption(r.Class, r.Method)
		return
	}
	at, ok := m.index[r.ID]
	if !ok {
		if m.index == nil {
			m.index = make(map[uint64]int32)
		}
		m.index[r.ID] = int32(len(m.rows))
		m.rows = append(m.rows, r)
		return
	}
	m.collide(at, r)
}

// collide adds r, whose id the row at index at already has.
func (m *Map) collide(at int32, r Row) {
	same := func(o Row) bool { return o.SameProbe(r) }
	known, ambiguous := m.names[r.ID]
	if !ambiguous {
		if same(m.rows[at]) {
			return
		}
		known = []Row{m.rows[at]}
	} else if slices.ContainsFunc(known, same) {
		return
	}
	if m.names == nil {
		m.names = make(map[uint64][]Row)
	}
	known = append(known, r)
	m.names[r.ID] = known

	merged := Row{ID: r.ID, Kind: r.Kind, Class: FlagAmbiguous, Flags: FlagAmbiguous, Method: known[0].Name()}
	for _, k := range known[1:] {
		merged.Method += " or " + k.Name()
	}
	m.rows[at] = merged
}

func (m *Map) addOption(key, value string) {
	if m.options == nil {
		m.options = make(map[string][]string)
	}
	if !slices.Contains(m.options[key], value) {
		m.options[key] = append(m.options[key], value)
	}
}

// Lookup returns the row of a probe id. If several probes share the id (a collision of hashes), the row has the flag
// FlagAmbiguous, "ambiguous" as its class, and all their names as its method; AmbiguousRows tells them apart.
func (m *Map) Lookup(id uint64) (Row, bool) {
	at, ok := m.index[id]
	if !ok {
		return Row{}, false
	}
	return m.rows[at], true
}

// AmbiguousRows returns the rows that share id, or nil if it isn't ambiguous.
func (m *Map) AmbiguousRows(id uint64) []Row { return m.names[id] }

// Rows returns all probes, each id once, in the order in which they were first read. The slice must not be changed.
func (m *Map) Rows() []Row { return m.rows }

// Len returns the number of probe ids.
func (m *Map) Len() int { return len(m.rows) }

// Option returns the values of a build option in the maps that were read: none if no map has it, several if they differ.
func (m *Map) Option(key string) []string { return m.options[key] }

// Hashes returns the hashes of the contents that were read, sorted, each once. For a map that lies in a jar it is the
// hash in its file name.
func (m *Map) Hashes() []string { return m.hashes }
