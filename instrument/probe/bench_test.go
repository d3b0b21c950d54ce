package probe_test

import (
	"testing"

	"github.com/jiffyperf/jiffy/instrument/probe"
)

// BenchmarkClass rewrites every fixture class once per operation, without checking what comes out and with.
func BenchmarkClass(b *testing.B) {
	var corpus [][]byte
	for _, file := range fixtureClasses(b) {
		corpus = append(corpus, read(b, file))
	}
	for _, verify := range []bool{false, true} {
		name := "rewrite"
		if verify {
			name = "verify"
		}
		b.Run(name, func(b *testing.B) {
			in := probe.New(probe.Options{Match: everything{}, Verify: verify})
			size := 0
			for _, class := range corpus {
				size += len(class)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, class := range corpus {
					if _, err := in.Class(class); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
