package vi_test

import (
	"context"
	"fmt"

	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// Which numbers of a fit can be relied on? Cells are the years in which a rate may have
// changed. A normal has the most probable of them and is too sure of it.
func ExamplePosterior_Verdict() {
	d, err := change()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []vi.Settings{{Seed: 1}, {Seed: 1, Method: vi.Climb{Family: family.MeanField{}}}} {
		fit, err := vi.Fit(context.Background(), d, s)
		if err != nil {
			fmt.Println(err)
			return
		}
		verdict, err := fit.Verdict()
		if err != nil {
			fmt.Println(err)
			return
		}
		sd, err := fit.SD("when")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s; when ± %.1f\n", fit.Q.Family().Name(), verdict.Trust, sd.Value) // Println(verdict) prints why, too
		for _, c := range fit.Cells() {
			if c.Weight > 0.02 {
				fmt.Printf("  %s: %.2f\n", c.Where, c.Weight)
			}
		}
	}
	// Output:
	// cells: trust; when ± 0.4
	//   when in (5.5, 6.5): 0.93
	//   when in (4.5, 5.5): 0.04
	// mean field: do not trust; when ± 0.4
	//   everywhere: 1.00
}
