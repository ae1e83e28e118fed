package main

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// readFits reads what fitLine has written.
func readFits(file string) (fits []Fit, err error) {
	r, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	records, err := readAll(r)
	if err != nil {
		return nil, err
	}
	for _, rec := range records {
		if len(rec) != len(header) {
			return nil, fmt.Errorf("%s: %d fields, not %d: %q", file, len(rec), len(header), rec)
		}
		f := Fit{Key: rec[0], Trust: rec[len(rec)-1]}
		for i, to := range []*float64{&f.LogEvidence, &f.LogEvidenceSE, &f.When, &f.WhenSD, &f.Before, &f.BeforeSD, &f.After, &f.AfterSD} {
			if *to, err = strconv.ParseFloat(rec[1+i], 64); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// shifted reports whether the level before and that after are apart by more than what is not known of them.
func shifted(f Fit) bool { return math.Abs(f.After-f.Before) > 3*math.Hypot(f.BeforeSD, f.AfterSD) }

// picture shows how many series shifted, and when.
func picture(file string, fits []Fit) error {
	var when plotter.Values
	for _, f := range fits {
		if shifted(f) {
			when = append(when, f.When)
		}
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%d of %d series shifted", len(when), len(fits))
	p.X.Label.Text, p.Y.Label.Text = "time of the shift", "series"
	p.X.Min, p.X.Max = 0, points
	if len(when) > 0 {
		h, err := plotter.NewHist(when, points/4)
		if err != nil {
			return err
		}
		p.Add(h)
	}
	fmt.Println(p.Title.Text)
	return p.Save(16*vg.Centimeter, 8*vg.Centimeter, file)
}
