package climb

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/mc"
)

// Assemble is the result of fits in the given states: that with the
// best ELBO, of those that have not failed if there are any.
func Assemble(d *graph.Density, s Job, states []State) (Result, error) {
	p := Result{States: states}
	kept := 0
	for r := range states {
		st := &states[r]
		q := st.result()
		elbo, err := compare(d, q, parallel.Mix(s.Seed, streams.Judge))
		if err != nil {
			return Result{}, err
		}
		p.Restarts = append(p.Restarts, Restart{Start: st.Start, Q: q, ELBO: elbo, Steps: st.Step, Err: st.Err})
		if better(p.Restarts[r], p.Restarts[kept]) {
			kept = r
		}
	}
	p.Restarts[kept].Kept = true
	for r := range states {
		if w := s.warning(d, r, &states[r], p.Restarts[r]); w != "" {
			p.Warnings = append(p.Warnings, w)
		}
	}
	st := states[kept]
	p.Q, p.Steps, p.Optimizer, p.Trace = p.Restarts[kept].Q, st.Step, st.optimizer(), st.Trace
	p.Warnings = append(p.Warnings, runaways(d, p.Q)...)
	return p, nil
}

// compare is an ELBO to compare q by with others: by the same samples of each, and
// some on the rare sides of guards, which may bring most.
func compare(d *graph.Density, q family.Q, seed uint64) (mc.Estimate, error) {
	return measured(q, func(q family.Q) (mc.Estimate, error) {
		r, err := check.LikeliestRareSides(d, q, compareSamples, comparedSides, seed)
		if err != nil { // log r is not finite somewhere
			return check.ELBO(d, q, compareSamples, seed)
		}
		return r.Corrected, nil
	})
}

func better(a, b Restart) bool {
	switch {
	case (a.Err == "") != (b.Err == ""):
		return a.Err == ""
	case math.IsNaN(b.ELBO.Value):
		return !math.IsNaN(a.ELBO.Value)
	}
	return a.ELBO.Value > b.ELBO.Value
}

// warning is what a user should know of fit r, in the state st; "" if that is nothing.
func (s Job) warning(d *graph.Density, r int, st *State, now Restart) string {
	over := st.Step >= s.Steps
	switch {
	case now.Err != "" && !now.Kept:
		return fmt.Sprintf("restart %d failed: %s", r, now.Err)
	case !now.Kept:
		return ""
	case st.Cut:
		return fmt.Sprintf("Settings.Budget = %v of CPU time was over after step %d of %d: the fit depends on the machine; resume it to go on", s.Budget, st.Step, s.Steps)
	case s.Stop == After && over && (unfinished(st.Window.Gain) || st.Window.Steep != "" || st.runawayWarning(d, now.Q) != ""):
		return fmt.Sprintf("the fit has not finished in %d steps: the ELBO still rose by %v towards the end; resume it with more Steps%s%s",
			st.Step, st.Window.Gain, st.Window.steepWarning(), st.runawayWarning(d, now.Q))
	case s.Stop == Automatic && over && !st.Done:
		return fmt.Sprintf(
			"the fit has not settled in %d steps: the ELBO changed by %v over the last window, and the tolerance is %v; resume it with more Steps, or raise Samples%s%s",
			s.Steps, st.Window.Gain, s.Tolerance, st.Window.steepWarning(), st.runawayWarning(d, now.Q))
	}
	return ""
}

// steepWarning names a parameter that the optimiser has not moved far enough.
func (w window) steepWarning() string {
	if w.Steep == "" {
		return ""
	}
	return fmt.Sprintf(". The ELBO rises steeply with %s: after gradients that were far larger, steps may be too short for it", w.Steep)
}

// runawayWarning names a latent whose scale seems to have no end, if the state ends at q.
func (s *State) runawayWarning(d *graph.Density, q family.Q) string {
	if s.Window.Before == nil {
		return ""
	}
	before := q.Clone()
	before.Set(s.Window.Before)
	for i, name := range d.Latents() {
		if was, sd := before.SD(i), q.SD(i); sd > runaway*was {
			return fmt.Sprintf(". The scale of %s grew from %.3g to %.3g: if that has no end, the posterior is not a distribution", name, was, sd)
		}
	}
	return ""
}

// mostBeyond is the probability up to which a parameter counts as beyond what it is compared with.
const mostBeyond = 0.01

// runaways are warnings of parameters that stand in guards alone and are, under the fit, above
// or below all that these compare them with: there the ELBO is flat, and where it rises
// towards that it has no maximum.
func runaways(d *graph.Density, q family.Q) (warnings []string) {
	arr := d.Arrangement()
	for _, i := range d.Engine().Thresholds() {
		if i >= d.Params() {
			continue
		}
		least, most := 1.0, 0.0 // of the probabilities that the parameter is above
		for l, h := range arr.Planes() {
			if !slices.Contains(arr.Latents(l), i) {
				continue
			}
			k := slices.Index(h.Index, i)
			if arr.Curve(l) != nil || k < 0 {
				least, most = 0, 1
				break
			}
			above := q.Law(h).Above(0)
			if h.Coef[k] < 0 {
				above = 1 - above
			}
			least, most = min(least, above), max(most, above)
		}
		side := "above"
		switch {
		case most < mostBeyond:
			side = "below"
		case least < 1-mostBeyond:
			continue
		}
		name := d.Latents()[i]
		value := d.Coordinate(i).Value(q.Mean(i))
		warnings = append(warnings, fmt.Sprintf("parameter %q = %.4g is %s all that guards compare it with: nothing in the ELBO holds it there; bound it (graph.Between), or sample it from a prior",
			name, value, side))
	}
	return warnings
}
