package plot_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
)

// Two pictures, one below the other: the rate of disasters in coal mines with the counts, and until when the old rate held. It is the
// picture of the README.
func ExampleSave() {
	density, err := coalmining.Model(coalmining.Disasters).Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	predicted, err := fit.Predict(10000, 1)
	if err != nil {
		log.Fatal(err)
	}
	years := make([]float64, len(coalmining.Disasters))
	for i := range years {
		years[i] = coalmining.FirstYear + float64(i)
	}
	rate, err1 := plot.Predictive(predicted, "rate", years)
	counts, err2 := plot.Points(years, coalmining.Disasters)
	old, err3 := plot.Guards(fit, density.Named("old"), years)
	if err := errors.Join(err1, err2, err3); err != nil {
		log.Fatal(err)
	}
	rate.Add(counts)
	rate.Title.Text, rate.X.Label.Text, rate.Y.Label.Text = "Disasters in British coal mines", "", "disasters a year"
	old.X.Label.Text, old.Y.Label.Text = "year", "probability of the old rate"

	dir, err := os.MkdirTemp("", "plots")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "coalmining.png")
	if err := plot.Save(rate, file, old); err != nil {
		log.Fatal(err)
	}
	_, err = os.Stat(file)
	fmt.Println(err)
	// Output:
	// <nil>
}
