package probe_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/jiffyperf/jiffy/instrument/internal/assemble"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/proof/jdk"
)

// instrumentAll instruments a class whose methods are all timed, and returns their rows by name.
func instrumentAll(t *testing.T, class []byte, opts probe.Options) map[string]mapping.Row {
	t.Helper()
	opts.Match = everything{}
	res, err := probe.New(opts).Class(class)
	if err != nil || len(res.Skipped) > 0 {
		t.Fatal(res.Skipped, err)
	}
	rows := map[string]mapping.Row{}
	for _, p := range res.Probes {
		rows[p.Method] = p
	}
	return rows
}

func TestIDs(t *testing.T) {
	class, _ := assemble.Class{Name: "com/acme/Foo", Methods: []assemble.Method{
		{Name: "bar", Desc: "(I)V", Access: static, Locals: 1, Text: "return"},
		{Name: "baz", Desc: "(I)V", Access: static, Locals: 1, Text: "return"},
	}}.Bytes(t)
	plain, salted := instrumentAll(t, class, probe.Options{}), instrumentAll(t, class, probe.Options{Salt: "pinch"})

	// Ids are compared between builds and versions of jiffy: these numbers must never change.
	if got := fmt.Sprintf("%012x", plain["bar"].ID); got != "7089ccdf8b92" {
		t.Errorf("bar is %s", got)
	}
	if got := fmt.Sprintf("%012x", salted["bar"].ID); got != "9a7d897b4d9c" {
		t.Errorf("bar with salt is %s", got)
	}
	want := xxhash.Sum64String("\x00method\x00com/acme/Foo\x00baz\x00(I)V\x00\x00\x00\x00") >> 16
	if got := plain["baz"].ID; got != want || got>>48 != 0 {
		t.Errorf("baz is %012x, not %012x", got, want)
	}
	row := plain["bar"]
	if row.Class != "com.acme.Foo" || row.Method != "bar" || row.Descriptor != "(I)V" || row.Kind != "method" || row.BodySize != 1 {
		t.Errorf("%+v", row)
	}
	// The body is not a part of the id, and the id is not a part of the body's hash.
	if row.BodyHash != plain["baz"].BodyHash || row.BodyHash != salted["bar"].BodyHash {
		t.Errorf("equal bodies: %x, %x, with salt %x", row.BodyHash, plain["baz"].BodyHash, salted["bar"].BodyHash)
	}
}

// bodyHash is the hash of a method with the given code behind other methods of its class.
func bodyHash(t *testing.T, text string, before ...assemble.Method) uint64 {
	t.Helper()
	methods := append(before, assemble.Method{Name: "m", Desc: "()V", Access: static, Stack: 4, Locals: 4, Text: text})
	class, _ := assemble.Class{Methods: methods}.Bytes(t)
	return instrumentAll(t, class, probe.Options{})["m"].BodyHash
}

const hashed = `
	ldc 5
	pop
	ldc "text"
	pop
	ldc2_w 5L
	pop2
	ldc T
	pop
	ldc 6:T.m()V
	pop
	getstatic T.value:I
	pop
	invokestatic T.m()V
	bipush 3
	istore_1
	return
	.line 0 1`

func TestBodyHashKnowsNothingOfPlaces(t *testing.T) {
	other := assemble.Method{Name: "other", Desc: "()V", Access: static, Stack: 4, Locals: 4, Text: `
		ldc 6
		pop
		ldc2_w 7L
		pop2
		ldc "text"
		pop
		invokestatic U.n()V
		getstatic T.value:I
		pop
		return`}
	want := bodyHash(t, hashed)
	if got := bodyHash(t, hashed, other); got != want {
		t.Errorf("%x behind another method, %x alone", got, want)
	}
	if got := bodyHash(t, strings.Replace(hashed, ".line 0 1", ".line 0 100\n.var 0 3 0 name I", 1)); got != want {
		t.Errorf("%x on other lines, %x before", got, want)
	}
}

func TestBodyHashKnowsTheCode(t *testing.T) {
	seen := map[uint64]string{bodyHash(t, hashed): "the code as it is"}
	for old, changed := range map[string]string{
		"ldc 5":                "ldc 6",
		`ldc "text"`:           `ldc "test"`,
		"ldc2_w 5L":            "ldc2_w 4294967301L", // the same low word
		"ldc T":                "ldc U",
		"ldc 6:T.m()V":         "ldc 6:T.n()V",
		"ldc 6:":               "ldc 5:",
		"getstatic T.value:I":  "getstatic T.other:I",
		"getstatic T.":         "getstatic U.",
		"invokestatic T.m()V":  "invokestatic T.m()I",
		"bipush 3":             "bipush 4",
		"istore_1":             "istore_2",
		"\treturn":             "\tnop\nreturn",
		"ldc 5\n\tpop\n\tldc ": "ldc ",
	} {
		if !strings.Contains(hashed, old) {
			t.Fatalf("no %q", old)
		}
		hash := bodyHash(t, strings.Replace(hashed, old, changed, 1))
		if before, is := seen[hash]; is {
			t.Errorf("%q instead of %q: the hash of %s", changed, old, before)
		}
		seen[hash] = changed
	}
}

// The same source, compiled with a method more in front of it.
func TestBodyHashOfCompiledCode(t *testing.T) {
	found, err := jdk.Find()
	if err != nil {
		t.Skip(err)
	}
	const source = `
		int untouched(java.util.List<String> names) {
			int sum = 0;
			for (String name : names) {
				sum += name.length() * 31 + "text".hashCode();
			}
			Runnable r = () -> System.out.println(names);
			return switch (sum) { case 1 -> 10; case 100_000 -> 20; default -> 0; };
		}
	}`
	const more = `class C {
		static double more(String s) {
			Runnable first = () -> System.out.println(s + "another text" + 2.5);
			return java.util.Objects.hash(s, 100_001, first);
		}
	`
	rows := map[string]mapping.Row{}
	for name, text := range map[string]string{"alone": "class C {" + source, "behind": more + source} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "C.java"), text)
		if err := found[0].Compile(dir, nil, dir); err != nil {
			t.Fatal(err)
		}
		rows[name] = instrumentAll(t, read(t, filepath.Join(dir, "C.class")), probe.Options{})["untouched"]
	}
	alone, behind := rows["alone"], rows["behind"]
	if alone.BodyHash != behind.BodyHash || alone.BodySize != behind.BodySize || alone.ID != behind.ID {
		t.Errorf("alone %+v\nbehind another method %+v", alone, behind)
	}
	if alone.Line == behind.Line {
		t.Error("both stand on one line: nothing was compared")
	}
}

// What differs only in a bootstrap method's arguments, or in the exception table, is other code.
func TestBodyHashOfCodeThatDiffersOutsideItsBytes(t *testing.T) {
	found, err := jdk.Find()
	if err != nil {
		t.Skip(err)
	}
	const source = `class C {
		String concatenates(int n) { return "one " + n; }
		int catches(String s) { try { return s.length(); } catch (RuntimeException e) { return 0; } }
		Runnable makes() { return this::first; }
		void first() {}
		void second() {}
	}`
	hashes := func(source string) map[string]mapping.Row {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "C.java"), source)
		if err := found[0].Compile(dir, []string{"--release", "17"}, dir); err != nil {
			t.Fatal(err)
		}
		return instrumentAll(t, read(t, filepath.Join(dir, "C.class")), probe.Options{})
	}
	before := hashes(source)
	for method, change := range map[string][2]string{
		"concatenates": {"one ", "two "},
		"catches":      {"RuntimeException", "Error"},
		"makes":        {"this::first", "this::second"},
	} {
		after := hashes(strings.Replace(source, change[0], change[1], 1))
		for _, other := range []string{"concatenates", "catches", "makes"} {
			if same := before[other].BodyHash == after[other].BodyHash; same == (other == method) {
				t.Errorf("%q instead of %q: the hash of %s is the same: %v", change[1], change[0], other, same)
			}
		}
	}
}
