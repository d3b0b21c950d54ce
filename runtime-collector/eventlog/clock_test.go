package eventlog

import "testing"

func TestClocks(t *testing.T) {
	const slept = 1_000_000
	pairings := []Pairing{
		{Mono: 1000, Boot: 1010, Uncertainty: 20},
		{Mono: 2000, Boot: 1995, Uncertainty: 10},
		{Mono: -1, Boot: 5, Uncertainty: 1},
		{Mono: 3000, Boot: -1, Uncertainty: 1},
		{Mono: 4000, Boot: 4000 + slept, Uncertainty: 10},
		{Mono: 5000, Boot: 5004 + slept, Uncertainty: 10},
	}
	c := NewClocks(pairings)
	if len(c.steps) != 2 {
		t.Fatalf("%d steps, want one before and one after the suspend: %v", len(c.steps), c.steps)
	}
	// Offsets −10 … 5 fit both readings before the suspend, −6 … 10 those after.
	tests := map[string]struct {
		clock Clock
		in    int64
		want  int64
	}{
		"nanoTime is monotonic":    {NanoTime, 1234, 1234},
		"before the first pairing": {ElapsedRealtimeNanos, 10, 13},
		"before the suspend":       {ElapsedRealtimeNanos, 1500, 1503},
		"just before the suspend":  {ElapsedRealtimeNanos, 2994, 2997},
		"inside the suspend":       {ElapsedRealtime, 1995 + slept/2, 2998},
		"just after the suspend":   {ElapsedRealtimeNanos, slept + 3001, 2999},
		"after the suspend":        {ElapsedRealtimeNanos, 6000 + slept, 5998},
	}
	for name, test := range tests {
		if got := c.Mono(test.clock, test.in); got != test.want {
			t.Errorf("%s: Mono(%s, %d) = %d, want %d", name, test.clock, test.in, got, test.want)
		}
	}
	if none := NewClocks(nil); none.Known(ElapsedRealtime) || !none.Known(NanoTime) {
		t.Error("without pairings only nanoTime is known")
	}
}
