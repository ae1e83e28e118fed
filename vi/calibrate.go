package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/sbc"
)

// Calibrating are the settings of Calibrate.
type Calibrating struct {
	Fits int      // 100 if 0
	Fit  Settings // of each; Progress is told of all
	// From, if not nil, is the program that draws latents and data, in place of the one that is fitted, with observations of the same
	// names. Then latents, guards and expressions are compared that both have by name.
	From *graph.Density
	// Given are names of observations that stay as they are. Latents are then drawn from the posterior given these, and only the others
	// are replicated and fitted beside them: posterior calibration, which asks about fits to data like these (Säilynoja, Schmitt,
	// Bürkner and Vehtari, 2025). A second copy of all observations under another name asks about fits to twice as many.
	Given []string
	// OfQ ranks among draws of the fits' Q itself, without weights: it asks how near the family of a Climb comes to the posterior.
	OfQ bool
}

// Calibrate asks whether the fits of a program are right, by simulation: it draws latents from the prior and data given these,
// fits the program to each data set by FitAll, and looks at the ranks of what was drawn among draws of the fits: of each latent,
// named guard and named expression, and of the log likelihood of the data; see package sbc. Print the result. Latents and data are drawn as
// by [PredictPrior]: a program with a Factor is no prior to draw from, and what the factor says is seen as a fault.
// It is an error if none of the data sets can be fitted, and if a guard compares what was observed ([graph.Model.Observed]).
func Calibrate(ctx context.Context, d *graph.Density, c Calibrating) (Calibration, error) {
	if ctx == nil || d == nil {
		return Calibration{}, errors.New("vi: a nil context or density")
	}
	if c.Fits == 0 {
		c.Fits = 100
	}
	from := c.From
	if from == nil {
		from = d
	}
	r, err := c.of(ctx, d, from)
	if err != nil {
		return Calibration{}, fmt.Errorf("vi: calibrating: %w", err)
	}
	return r, nil
}

// of is Calibrate of fits of d to data from a program.
func (c Calibrating) of(ctx context.Context, d, from *graph.Density) (Calibration, error) {
	if c.Fits < 0 {
		return Calibration{}, errors.New("a negative number of fits")
	}
	if err := c.replicated(from); err != nil {
		return Calibration{}, err
	}
	from, err := onlyGiven(from, c.Given)
	if err != nil {
		return Calibration{}, err
	}
	truths, err := c.truths(ctx, from)
	if err != nil {
		return Calibration{}, err
	}
	positions, err := observedAt(from)
	if err != nil {
		return Calibration{}, err
	}
	sets := func(yield func(string, map[string][]float64) bool) {
		for k, z := range truths {
			if !yield(fmt.Sprint(k), c.replicate(from, positions, z, parallel.NewRand(parallel.Mix(c.Fit.Seed, uint64(k))))) {
				return
			}
		}
	}
	var quantities []sbc.Quantity
	var failed []error
	untrusted, k := 0, -1
	for f := range FitAll(ctx, d, sets, c.Fit) {
		if k++; f.Err != nil || k >= len(truths) {
			failed = append(failed, f.Err)
			continue
		}
		if f.Fit.findings.Verdict.Trust == TrustNothing { // a climb that was not judged has none
			untrusted++
		}
		if err := c.rank(&quantities, from, truths[k], f.Fit, parallel.NewRand(parallel.Mix(^c.Fit.Seed, uint64(k)))); err != nil {
			return Calibration{}, err
		}
	}
	if ctx.Err() != nil {
		return Calibration{}, cause(ctx)
	}
	if len(failed) == c.Fits {
		return Calibration{}, fmt.Errorf("none of %d data sets could be fitted: %w", c.Fits, failed[0])
	}
	r := sbc.Of(quantities)
	r.Errors, r.Untrusted = failed, untrusted
	return r, nil
}

// rank adds the ranks of what data were drawn at, z of a program, among draws of the fit to them.
func (c Calibrating) rank(list *[]sbc.Quantity, from *graph.Density, z []float64, fit *Posterior, rng *rand.Rand) error {
	points, err := fit.fewPoints(c.OfQ, rng)
	if err != nil {
		return err
	}
	source, fitted := askedOf(from), askedOf(fit.Density)
	if c.From == nil && len(from.Observations()) > 0 {
		fitted.likelihood()
		source = fitted
	}
	addRanks(list, source, z, fitted, points, rng)
	return nil
}

// replicated is an error if a name of Given is that of no observation, or if all are given.
func (c Calibrating) replicated(from *graph.Density) error {
	names := from.Observations()
	for _, name := range c.Given {
		if !slices.Contains(names, name) {
			return fmt.Errorf("no observation %q is there to be given", name)
		}
		names = slices.DeleteFunc(names, func(other string) bool { return other == name })
	}
	if len(c.Given) > 0 && len(names) == 0 {
		return errors.New("all observations are given, and none is left to be replicated: observe a second copy of them under another name")
	}
	return nil
}

// truths are the points that data are drawn at, of a program whose observations are missing but for those that are given.
func (c Calibrating) truths(ctx context.Context, given *graph.Density) ([][]float64, error) {
	if len(c.Given) == 0 {
		return priorDraws(given, c.Fits, c.Fit.Seed)
	}
	s := c.Fit
	s.Checkpoint, s.Method = "", nil
	p, err := Fit(ctx, given, s)
	if err != nil {
		return nil, err
	}
	if v, err := p.Verdict(); err != nil || v.Trust == TrustNothing {
		return nil, fmt.Errorf("the fit given %q: %v", c.Given, v)
	}
	list, err := p.Draws(c.Fits, s.Seed)
	return list.Points(), err
}

// observedAt is the place of each observation among those that the program makes at a point, which must not depend on the branches
// that the point takes; −1 if it is never made.
func observedAt(d *graph.Density) ([]int, error) {
	rng, z := parallel.NewRand(0), make([]float64, d.Dim())
	list := slices.Repeat([]int{-1}, len(d.Data()))
	for range pathDraws {
		at := 0
		for i, y := range d.Replicate(nil, d.PriorDraw(z, rng), rng) {
			if math.IsNaN(y) {
				continue
			}
			if list[i] >= 0 && list[i] != at {
				return nil, fmt.Errorf("observation %d, of %s, is the %d-th in one branch and the %d-th in another", i, d.Observations()[i], list[i]+1, at+1)
			}
			list[i] = at
			at++
		}
	}
	return list, nil
}

// replicate is a data set at z by names. An observation on the other side of a branch is that in the same place on z's side.
func (c Calibrating) replicate(from *graph.Density, positions []int, z []float64, rng *rand.Rand) map[string][]float64 {
	y := from.Replicate(nil, z, rng)
	var made []float64
	for _, x := range y {
		if !math.IsNaN(x) {
			made = append(made, x)
		}
	}
	data, sets := from.Data(), map[string][]float64{}
	for i, name := range from.Observations() {
		x := y[i]
		switch at := positions[i]; {
		case slices.Contains(c.Given, name):
			x = data[i]
		case math.IsNaN(x) && at >= 0 && at < len(made):
			x = made[at]
		}
		sets[name] = append(sets[name], x)
	}
	return sets
}

// rankDraws is how many draws of a fit a value is ranked among, of so many that are weighed.
const (
	rankDraws    = 255
	rankWeighted = 1000
)

// addRanks adds the ranks of what is asked of a program at z among the same of another program at points.
func addRanks(list *[]sbc.Quantity, asked asked, z []float64, of asked, points [][]float64, rng *rand.Rand) {
	if *list == nil {
		for _, name := range asked.names {
			if slices.Contains(of.names, name) {
				*list = append(*list, sbc.Quantity{Name: name})
			}
		}
	}
	truth, draws := asked.at(z), make([][]float64, len(points))
	for l, z := range points {
		draws[l] = of.at(z)
	}
	values := make([]float64, 0, len(points))
	for k := range *list {
		q := &(*list)[k]
		i, j := slices.Index(asked.names, q.Name), slices.Index(of.names, q.Name)
		values = values[:0]
		for _, x := range draws {
			if !math.IsNaN(x[j]) {
				values = append(values, x[j])
			}
		}
		if !math.IsNaN(truth[i]) {
			q.Ranks = append(q.Ranks, sbc.Rank(truth[i], values, rng.Float64()))
		}
	}
}

// fewPoints are draws of the posterior with equal weights, or of Q.
func (p *Posterior) fewPoints(ofQ bool, rng *rand.Rand) (points [][]float64, err error) {
	if ofQ {
		for range rankDraws {
			z := make([]float64, p.Density.Dim())
			p.Q.Rand(z, rng)
			points = append(points, z)
		}
		return points, nil
	}
	p = p.known()
	p.findings.mu.Lock()
	defer p.findings.mu.Unlock()
	s := p.findings.sample
	if s == nil {
		if s, err = p.draw(context.Background(), rankWeighted); err != nil {
			return nil, err
		}
	}
	for _, k := range s.Resample(rankDraws, rng) {
		points = append(points, s.Point(k))
	}
	return points, nil
}
