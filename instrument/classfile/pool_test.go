package classfile_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

func parsed(t *testing.T) *classfile.Class {
	t.Helper()
	var c classfile.Class
	if err := c.Parse(small.bytes(t)); err != nil {
		t.Fatal(err)
	}
	return &c
}

// written parses what a class is written as.
func written(t *testing.T, c *classfile.Class) *classfile.Class {
	t.Helper()
	var again classfile.Class
	if err := again.Parse(c.Append(nil, nil)); err != nil {
		t.Fatal(err)
	}
	return &again
}

func TestAddedConstantsAreFoundBeforeAndAfterWriting(t *testing.T) {
	c := parsed(t)
	count := c.Pool.Count()
	ref := c.Pool.AddMethodref("io/github/Owner", "run", "(J)V")
	long := c.Pool.AddLong(math.MinInt64)
	after := c.Pool.AddUtf8("behind a long")
	if int(after) != int(long)+2 {
		t.Errorf("a long at #%d, the next constant at #%d", long, after)
	}
	for _, p := range []*classfile.Pool{&c.Pool, &written(t, c).Pool} {
		got, ok := p.Ref(ref)
		if !ok || string(got.Class) != "io/github/Owner" || string(got.Name) != "run" || string(got.Desc) != "(J)V" {
			t.Errorf("%s.%s%s", got.Class, got.Name, got.Desc)
		}
		if want := []byte{5, 0x80, 0, 0, 0, 0, 0, 0, 0}; !bytes.Equal(p.Constant(long), want) {
			t.Errorf("the long is % X", p.Constant(long))
		}
		if p.Tag(long+1) != 0 || p.Constant(long+1) != nil {
			t.Errorf("the second index of a long is used")
		}
		if string(p.Utf8(after)) != "behind a long" {
			t.Errorf("#%d is %q", after, p.Utf8(after))
		}
		if p.Count() != count+6+2+1 || p.Room() != 65535-p.Count() {
			t.Errorf("%d constants were %d, room for %d", p.Count(), count, p.Room())
		}
	}
}

func TestConstantsAreSharedWhereThatHelps(t *testing.T) {
	c := parsed(t)
	first := c.Pool.AddMethodref("Owner", "a", "()V")
	count := c.Pool.Count()
	if again := c.Pool.AddMethodref("Owner", "a", "()V"); again != first || c.Pool.Count() != count {
		t.Errorf("the same method twice: #%d and #%d", first, again)
	}
	if other := c.Pool.AddMethodref("Owner", "b", "()V"); other == first || c.Pool.Count() != count+3 {
		t.Errorf("a method that differs by name: #%d, %d constants more, not 3", other, c.Pool.Count()-count)
	}
	if c.Pool.AddUtf8("prefix") == c.Pool.AddUtf8("pref") {
		t.Error("a string and its beginning share a constant")
	}
	if own := c.Pool.AddClass("T"); own != c.This {
		t.Errorf("the class itself is added again as #%d", own)
	}
	if c.Pool.FindClass("T") != c.This || c.Pool.FindClass("m") != 0 {
		t.Error("a class is found where there is none, or not where there is one")
	}
}

func TestAttributeNamesAreReused(t *testing.T) {
	c := parsed(t)
	if got := c.Pool.AttributeName(classfile.AttrCode); string(c.Pool.Utf8(got)) != "Code" || int(got) >= c.Pool.Count() || got != 5 {
		t.Errorf("Code is #%d", got)
	}
	name := c.Pool.AttributeName(classfile.AttrStackMapTable)
	if string(c.Pool.Utf8(name)) != "StackMapTable" || c.Pool.AttributeName(classfile.AttrStackMapTable) != name {
		t.Errorf("StackMapTable is #%d, %q", name, c.Pool.Utf8(name))
	}
	if got := written(t, c).Pool.Attribute(name); got != classfile.AttrStackMapTable {
		t.Errorf("the name is read as attribute %d", got)
	}
}

func TestRollback(t *testing.T) {
	c := parsed(t)
	kept := c.Pool.AddMethodref("Kept", "m", "()V")
	mark, before := c.Pool.Mark(), c.Append(nil, nil)
	c.Pool.AddMethodref("Kept", "gone", "(I)V")
	c.Pool.AddClass("Gone")
	c.Pool.AddLong(1)
	c.Pool.Rollback(mark)

	if !bytes.Equal(c.Append(nil, nil), before) {
		t.Error("the class is not what it was at the mark")
	}
	if got := c.Pool.AddMethodref("Kept", "m", "()V"); got != kept {
		t.Errorf("what was there before the mark is added again, as #%d", got)
	}
	if c.Pool.FindClass("Gone") != 0 || c.Pool.FindClass("T") != c.This {
		t.Error("the classes found are not those of the mark")
	}
	// What takes the place of what is gone must not be mistaken for it.
	fresh := c.Pool.AddMethodref("Kept", "fresh", "(I)V")
	gone := c.Pool.AddMethodref("Kept", "gone", "(I)V")
	again := written(t, c)
	if ref, _ := again.Pool.Ref(fresh); string(ref.Name) != "fresh" {
		t.Errorf("#%d is %s", fresh, ref.Name)
	}
	if ref, _ := again.Pool.Ref(gone); string(ref.Name) != "gone" {
		t.Errorf("#%d is %s", gone, ref.Name)
	}
	c.Pool.Rollback(c.Pool.Mark())
	if !bytes.Equal(c.Append(nil, nil), again.Data) {
		t.Error("a rollback to the present changes something")
	}
}

func TestRollbackToTheParsedClass(t *testing.T) {
	c := parsed(t)
	mark := c.Pool.Mark()
	for range 3 {
		c.Pool.AddMethodref("Owner", "m", "()V")
		c.Pool.Rollback(mark)
	}
	if !bytes.Equal(c.Append(nil, nil), small.bytes(t)) {
		t.Error("not the class that was parsed")
	}
}

func TestAClassKnowsNothingOfTheOneBefore(t *testing.T) {
	c := parsed(t)
	c.Pool.AddMethodref("Owner", "m", "()V")
	c.Pool.AddLong(7)
	if err := c.Parse(small.bytes(t)); err != nil {
		t.Fatal(err)
	}
	if c.Pool.FindClass("Owner") != 0 {
		t.Error("a class of the pool before is found")
	}
	if !bytes.Equal(c.Append(nil, nil), small.bytes(t)) {
		t.Error("constants of the class before are written")
	}
	if ref, ok := c.Pool.Ref(c.Pool.AddMethodref("Owner", "m", "()V")); !ok || string(ref.Class) != "Owner" {
		t.Errorf("%s", ref.Class)
	}
}

func TestQuestionsThatHaveNoAnswer(t *testing.T) {
	c := parsed(t)
	askPool(&c.Pool)
	p := &c.Pool
	const utf8, class, behind = 1, 2, 7
	for _, i := range []uint16{0, behind, 65535} {
		if p.Tag(i) != 0 || p.Constant(i) != nil || p.Utf8(i) != nil || p.ClassName(i) != nil || p.Attribute(i) != classfile.AttrUnknown {
			t.Errorf("#%d is something", i)
		}
	}
	if p.Utf8(class) != nil || p.ClassName(utf8) != nil {
		t.Error("a constant is taken for one of another kind")
	}
	if _, _, ok := p.Pair(utf8); ok {
		t.Error("a Utf8 is a pair")
	}
	if _, ok := p.Ref(class); ok {
		t.Error("a class is a reference to a member")
	}
}

// The pool ends at 65,534: constant_pool_count is a u2 and one more than the last index.
func TestFullPoolIsWrittenWhole(t *testing.T) {
	c := parsed(t)
	for c.Pool.Room() > 2 {
		c.Pool.AddLong(int64(c.Pool.Room()))
	}
	last := c.Pool.AddUtf8("last")
	for c.Pool.Room() > 0 {
		last = c.Pool.AddUtf8("the very last")
	}
	again := written(t, c)
	if again.Pool.Count() != 65535 || again.Pool.Room() != 0 || len(again.Pool.Utf8(last)) == 0 {
		t.Errorf("%d constants, room for %d, the last is %q", again.Pool.Count(), again.Pool.Room(), again.Pool.Utf8(last))
	}
	if string(again.Name()) != "T" || len(again.Methods) != 1 {
		t.Errorf("%s with %d methods", again.Name(), len(again.Methods))
	}
}

// Thousands of names that end alike, as generated code has them, must all be found.
func TestFindClassAmongNamesThatEndAlike(t *testing.T) {
	c := parsed(t)
	want := map[string]uint16{}
	for i := range 2000 {
		name := "com/acme/" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + "_Factory"
		want[name] = c.Pool.AddClass(name)
	}
	again := written(t, c)
	for name, i := range want {
		if got := again.Pool.FindClass(name); got != i {
			t.Fatalf("%s is #%d, not #%d", name, got, i)
		}
	}
	if got := again.Pool.FindClass("com/acme/none_Factory"); got != 0 {
		t.Errorf("a class that isn't there is #%d", got)
	}
}
