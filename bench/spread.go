package main

import (
	"fmt"
	"slices"
)

// A spread is what several runs of one measurement gave.
type spread []float64

// median returns the middle value, or the mean of the two in the middle.
func (s spread) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// String gives the median with the smallest and the largest value, to three digits or so.
func (s spread) String() string {
	return fmt.Sprintf("%s (%s–%s)", digits(s.median()), digits(slices.Min(s)), digits(slices.Max(s)))
}

func digits(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}
