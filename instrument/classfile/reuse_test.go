package classfile

import "testing"

// The tables by index grow by different amounts when constants are added, so that one may have room for the next class and
// the other not.
func TestPoolIsReusedWhateverRoomItsTablesHave(t *testing.T) {
	for _, room := range [][2]int{{100, 8}, {8, 100}, {8, 8}, {100, 100}} {
		p := Pool{offsets: make([]uint32, 5, room[0]), known: make([]Attribute, 5, room[1])}
		p.offsets[3], p.known[3] = 7, AttrCode
		p.grow(50)
		if len(p.offsets) != 50 || len(p.known) != 50 {
			t.Fatalf("room %v: %d offsets and %d names for 50 constants", room, len(p.offsets), len(p.known))
		}
		if p.offsets[3] != 0 || p.known[3] != AttrUnknown {
			t.Errorf("room %v: the class before shows through", room)
		}
	}
}
