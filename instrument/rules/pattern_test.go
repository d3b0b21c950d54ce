package rules

import (
	"strings"
	"testing"
)

func TestPatternMatchClass(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		yes, not []string // internal names
	}{
		{"com.acme.Foo",
			[]string{"com/acme/Foo", "com/acme/Foo$Bar", "com/acme/Foo$1", "com/acme/Foo$Bar$2"},
			[]string{"com/acme/Foobar", "com/acme/Fo", "com/acme/foo", "acme/Foo", "x/com/acme/Foo", "com/acme/Foo/Bar"}},
		{"com.acme.Foo$Bar",
			[]string{"com/acme/Foo$Bar", "com/acme/Foo$Bar$1"},
			[]string{"com/acme/Foo", "com/acme/Foo$Barn", "com/acme/Foo$Baz"}},
		{"com/acme/Foo", []string{"com/acme/Foo"}, []string{"com/acme/Bar"}},
		{"com.acme.*",
			[]string{"com/acme/Foo", "com/acme/Foo$Bar", "com/acme/X"},
			[]string{"com/acme/sub/Foo", "com/Foo", "com/acmes/Foo"}},
		{"com.acme.**",
			[]string{"com/acme/Foo", "com/acme/Foo$Bar", "com/acme/a/b/c/Foo"},
			[]string{"com/acme", "com/acmes/Foo", "com/Foo"}},
		{"com.acme.**.*Test",
			[]string{"com/acme/FooTest", "com/acme/a/b/FooTest", "com/acme/Test", "com/acme/FooTest$1"},
			[]string{"com/acme/Foo", "com/acme/FooTests", "com/acme/FooTest/Bar", "com/FooTest"}},
		{"**", []string{"Foo", "com/acme/Foo"}, nil},
		{"*", []string{"Foo", "Foo$Bar"}, []string{"com/Foo"}},
		{"**.Foo", []string{"Foo", "com/Foo", "com/acme/Foo", "Foo$1"}, []string{"com/MyFoo", "com/Foo/Bar"}},
		{"**Foo", []string{"Foo", "com/MyFoo", "com/Foo$1"}, []string{"com/Food"}},
		{"com.**.impl.*", []string{"com/impl/A", "com/a/b/impl/A", "com/impl/impl/A"}, []string{"com/implement/A", "com/a/impl/b/A"}},
		{"com.acme**", []string{"com/acme/Foo", "com/acmes/a/Foo", "com/acme"}, []string{"com/acm/Foo"}},
		{"com.acme.F?o", []string{"com/acme/Foo", "com/acme/Fxo", "com/acme/Foo$1"}, []string{"com/acme/Fo", "com/acme/Fooo", "com/acme/F/o"}},
		{"com.*.Foo", []string{"com/a/Foo"}, []string{"com/Foo", "com/a/b/Foo"}},
		{"com.acme.Foo$*", []string{"com/acme/Foo$Bar"}, []string{"com/acme/Foo"}},
		{"*.*.*a*a*a*b", nil, []string{"x/y/" + strings.Repeat("a", 5000)}}, // takes forever with backtracking
		{"com.acme.Größe", []string{"com/acme/Größe"}, []string{"com/acme/Grosse"}},
	} {
		p, err := Parse(test.pattern)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.pattern, err)
			continue
		}
		for _, name := range test.yes {
			if !p.MatchClass([]byte(name)) {
				t.Errorf("%s does not match %s", p, name)
			}
		}
		for _, name := range test.not {
			if p.MatchClass([]byte(name)) {
				t.Errorf("%s matches %s", p, name)
			}
		}
	}
}

func TestPatternMatchMethod(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		yes, not [][2]string
	}{
		{"com.acme.Foo", [][2]string{{"bar", "()V"}, {"<init>", "()V"}}, nil},
		{"com.acme.Foo#bar", [][2]string{{"bar", "()V"}, {"bar", "(I)V"}}, [][2]string{{"bars", "()V"}, {"ba", "()V"}}},
		{"com.acme.Foo#bar(I)V", [][2]string{{"bar", "(I)V"}}, [][2]string{{"bar", "()V"}, {"bar", "(I)I"}}},
		{"com.acme.Foo#bar(Ljava.lang.String;[[I)V", [][2]string{{"bar", "(Ljava/lang/String;[[I)V"}}, [][2]string{{"bar", "()V"}}},
		{"**#on*", [][2]string{{"onCreate", "()V"}, {"on", "()V"}}, [][2]string{{"upon", "()V"}}},
		{"**#*", [][2]string{{"x", "()V"}, {"<init>", "()V"}}, nil},
		{"**#<init>", [][2]string{{"<init>", "(I)V"}}, [][2]string{{"init", "()V"}}},
		{"**#get?", [][2]string{{"getX", "()I"}}, [][2]string{{"get", "()I"}, {"getXY", "()I"}}},
		{"**#bar(*)V", [][2]string{{"bar", "()V"}, {"bar", "(Ljava/lang/String;I)V"}}, [][2]string{{"bar", "()I"}}},
		{"**#bar(L*;)*", [][2]string{{"bar", "(La/B;)V"}, {"bar", "(La/B;)I"}}, [][2]string{{"bar", "(I)V"}}},
		{"**#lambda$x$0", [][2]string{{"lambda$x$0", "()V"}}, [][2]string{{"lambda$x", "()V"}}},
	} {
		p, err := Parse(test.pattern)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.pattern, err)
			continue
		}
		for _, m := range test.yes {
			if !p.MatchMethod([]byte(m[0]), []byte(m[1])) {
				t.Errorf("%s does not match %s%s", p, m[0], m[1])
			}
		}
		for _, m := range test.not {
			if p.MatchMethod([]byte(m[0]), []byte(m[1])) {
				t.Errorf("%s matches %s%s", p, m[0], m[1])
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	const form = "a descriptor is written as in the class file, such as (ILjava/lang/String;)V"
	for _, test := range []struct{ pattern, want string }{
		{"", `pattern "", character 1: a class is missing; ** stands for all`},
		{"#bar", `pattern "#bar", character 1: a class is missing; ** stands for all`},
		{"com..acme", `pattern "com..acme", character 5: a package name is missing between two dots`},
		{".com", `pattern ".com", character 1: a package name is missing before the dot`},
		{"com.acme.", `pattern "com.acme.", character 9: it ends in a dot; com.acme.** is a package and all below it`},
		{"com.acme.***", `pattern "com.acme.***", character 12: *** means nothing; * is any part of one name, ** crosses dots`},
		{"com.acme Foo", `pattern "com.acme Foo", character 9: a class name can't hold ' '`},
		{"über;", `pattern "über;", character 5: a class name can't hold ';'`},
		{"com.acme.Foo(I)V", `pattern "com.acme.Foo(I)V", character 13: a class name can't hold '('`},
		{"com/acme/Foo.class", `pattern "com/acme/Foo.class", character 13: it names a file; leave out .class`},
		{"Foo#", `pattern "Foo#", character 5: a method name is missing; * stands for all`},
		{"Foo#a.b", `pattern "Foo#a.b", character 6: a method name can't hold '.'`},
		{"Foo#a#b", `pattern "Foo#a#b", character 6: a method name can't hold '#'`},
		{"Foo#a**", `pattern "Foo#a**", character 6: ** is for classes; * stands for any part of a method name`},
		{"Foo#a(", `pattern "Foo#a(", character 6: the ) is missing; ` + form},
		{"Foo#a(int)", `pattern "Foo#a(int)", character 7: ` + form},
		{"Foo#a(I)", `pattern "Foo#a(I)", character 8: the return type is missing; ` + form},
		{"Foo#a(V)V", `pattern "Foo#a(V)V", character 7: ` + form},
		{"Foo#a(IX)V", `pattern "Foo#a(IX)V", character 8: ` + form},
		{"Foo#a([)V", `pattern "Foo#a([)V", character 7: ` + form},
		{"Foo#a(Lx)V", `pattern "Foo#a(Lx)V", character 7: ` + form},
		{"Foo#a()void", `pattern "Foo#a()void", character 8: ` + form},
		{"*" + strings.Repeat("x", 300), `pattern "*` + strings.Repeat("x", 300) + `", character 1: it has more than 255 characters after its first wildcard`},
	} {
		_, err := Parse(test.pattern)
		if err == nil || err.Error() != test.want {
			t.Errorf("Parse(%q):\ngot error  %v\nwant error %s", test.pattern, err, test.want)
		}
	}
}

func TestClosest(t *testing.T) {
	classes := []string{"com.acme.shop.Cart", "com.acme.shop.Cart$Item", "com.acme.Main", "org.other.Thing"}
	for _, test := range []struct{ pattern, want string }{
		{"com.acem.**", "com.acme.**"},
		{"com.acme", "com.acme.**"},
		{"com.acme.shop", "com.acme.shop.**"},
		{"com.acme.shop.cart", "com.acme.shop.Cart"},
		{"com.acme.shop.Crat#add", "com.acme.shop.Cart"},
		{"com.acme.*.*.*", "com.acme.**"},
		{"org/other/Thong", "org.other.Thing"},
	} {
		p, err := Parse(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Closest(classes); got != test.want {
			t.Errorf("closest to %s is %s, want %s", p, got, test.want)
		}
	}
}

// FuzzPattern checks that whatever Parse accepts can be matched, and that errors are one line.
func FuzzPattern(f *testing.F) {
	f.Add("com.acme.**.Foo#bar*(I*)V", "com/acme/a/Foo$1")
	f.Add("**", "x")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := Parse(pattern)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error has several lines: %q", err)
			}
			return
		}
		p.MatchMethod([]byte(name), []byte(name))
		matched := p.MatchClass([]byte(name))
		if matched && !p.MatchClass([]byte(name+"$Nested")) {
			t.Fatalf("%s matches %q, but not what is nested in it", p, name)
		}
	})
}
