package expect_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/internal/cputime"
)

// BenchmarkGuards is a conjunction of L guards on paths of L steps, in batches of 1000 draws.
func BenchmarkGuards(b *testing.B) {
	for _, l := range []int{50, 100, 200, 400} {
		b.Run(fmt.Sprint(l), func(b *testing.B) {
			m, f := digital(l)
			e, err := expect.Of(m, f)
			if err != nil {
				b.Fatal(err)
			}
			step := e.Steps(1000)
			if err := step(context.Background(), 0); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			start := cputime.Seconds()
			for i := range b.N {
				if err := step(context.Background(), uint64(i)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cputime.Seconds()-start)*1e6/float64(b.N)/1000, "CPU-µs/draw")
		})
	}
}

// BenchmarkDigital is a digital option that may be knocked out on 50 dates, by 200 000 draws.
func BenchmarkDigital(b *testing.B) {
	m, f := digital(50)
	e, err := expect.Of(m, f)
	if err != nil {
		b.Fatal(err)
	}
	start := cputime.Seconds()
	for i := range b.N {
		if _, err := e.Estimate(context.Background(), 200_000, uint64(i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cputime.Seconds()-start)/float64(b.N), "CPU-s")
}
