package vi_test

import (
	"fmt"
	"log"
	"strings"
)

// The effect of the drug is no latent: it is with − without. Every number of a fit has its standard error.
func ExamplePosterior_Expect() {
	fit := dosed()
	effect, err := fit.Expect(func(x []float64) float64 { return x[2] - x[1] }) // latents in the order of the program
	if err != nil {
		log.Fatal(err)
	}
	median, err := fit.Quantile("threshold", 0.5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("effect %.1f, with a standard error below 0.01: %v\n", effect.Value, effect.SE < 0.01)
	fmt.Printf("median of the threshold %.1f\n", median.Value)
	// Output:
	// effect 1.9, with a standard error below 0.01: true
	// median of the threshold 6.5
}

// Draws have equal weights. As CmdStan's CSV they are read by ArviZ, cmdstanpy and posterior.
func ExamplePosterior_Draws() {
	draws, err := dosed().Draws(1000, 1)
	if err != nil {
		log.Fatal(err)
	}
	var file strings.Builder
	if err := draws.WriteCSV(&file); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(file.String()) {
		if !strings.HasPrefix(line, "#") {
			fmt.Print(line)
			break
		}
	}
	threshold, err := draws.Of("threshold")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(threshold), "draws of the threshold")
	// Output:
	// lp__,lp_approx__,threshold,without,with
	// 1000 draws of the threshold
}
