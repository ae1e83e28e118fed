package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// compare fits the series without Beam.
func compare(ctx context.Context, in string, fits []Fit) error {
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	var all []Series
	for line := range strings.Lines(string(text)) {
		if x, err := parseSeries(strings.TrimSuffix(line, "\n")); err == nil {
			all = append(all, x)
		}
	}
	d, err := density()
	if err != nil {
		return err
	}
	want, _ := fitAll(ctx, d, all, *seed)
	byKey := func(a, b Fit) int { return strings.Compare(a.Key, b.Key) }
	slices.SortFunc(want, byKey)
	slices.SortFunc(fits, byKey)
	if len(fits) != len(want) {
		return fmt.Errorf("%d fits, and vi.FitAll has %d", len(fits), len(want))
	}
	for k, f := range fits {
		if f != want[k] {
			return fmt.Errorf("%s: %+v, and by vi.FitAll %+v", f.Key, f, want[k])
		}
	}
	return nil
}
