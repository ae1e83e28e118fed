package verdict

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// Numbers are those of a summary, by weighted draws, and how well they are known.
type Numbers struct {
	Sample  *weighted.Sample
	Moments []Moments // of the latents
	guards  []Guard
	final   bool            // no more draws will be taken
	middle  [][]mc.Estimate // quantiles of latents, where they are known
	known   []known         // when it has been asked for
	heavy   bool            // a standard deviation among them is not known, for the tail is heavy
}

// A Guard is what a guard is called, and the standard error of its probability.
type Guard struct {
	What string
	SE   float64
}

// NumbersOf are the numbers by draws that give the moments of the latents, and the probabilities of guards.
func NumbersOf(s *weighted.Sample, moments []Moments, guards []Guard) *Numbers {
	return &Numbers{Sample: s, Moments: moments, guards: guards}
}

// A known is a number of the summary with its standard error, divided by the accepted one and by the wanted one.
type known struct {
	what             string
	accepted, wanted float64
}

// leastSD is the least standard deviation of a discrete latent, in steps between its values, that must be known well: below it only
// its masses count.
const leastSD = 0.15

// list lists the numbers with their standard errors.
func (n *Numbers) list() []known {
	if n.known == nil {
		n.known = n.listed()
	}
	return n.known
}

func (n *Numbers) listed() (list []known) {
	s := n.Sample
	add := func(what string, se, accepted, wanted float64) {
		if s.Chains() > 0 {
			accepted *= ofChains
		}
		list = append(list, known{what, se / accepted, se / wanted})
	}
	moments := func(name string, m Moments, q []mc.Estimate, quantiles func(...float64) []mc.Estimate) {
		spread := m.SD.Value
		if math.IsInf(m.SD.SE, 1) { // for which the median is
			if q == nil {
				q = quantiles(middle...)
			}
			spread, n.heavy = (q[2].Value-q[0].Value)/2, true
			add("the median of "+name, q[1].SE/spread, accepted.mean, wanted.mean)
		} else if spread > 0 {
			add("the standard deviation of "+name, m.SD.SE/spread, accepted.sd, wanted.sd)
		}
		if spread > 0 && !math.IsInf(m.Mean.SE, 1) {
			add("the mean of "+name, m.Mean.SE/spread, accepted.mean, wanted.mean)
		}
	}
	d := s.Density()
	for i, name := range d.Latents() {
		if i < d.Params() || d.Coordinate(i).InVector() {
			continue
		}
		m := n.Moments[i]
		if values, _ := d.Values(i); values != nil {
			for k, p := range s.Masses(i) {
				add(fmt.Sprintf("the probability that %s is %v", name, values[k]), p.SE, accepted.prob, wanted.prob)
			}
			if len(values) > 2 || len(values) == 2 && s.Chains() == 0 {
				add("the standard deviation of "+name, m.SD.SE/max(m.SD.Value, leastSD*(values[1]-values[0])), accepted.sd, wanted.sd)
			}
			continue
		}
		var q []mc.Estimate
		if n.middle != nil {
			q = n.middle[i]
		}
		moments(name, m, q, func(probs ...float64) []mc.Estimate { return s.Quantiles(i, probs...) })
	}
	names := d.Components()
	for i, x := range s.Components() {
		var m Moments
		var q []mc.Estimate
		quantiles := func(probs ...float64) []mc.Estimate { return s.QuantilesOf(x, probs...) }
		if m.Mean, m.SD = s.MomentsOf(x); n.final {
			_, q = heavyTailed(s, x, &m, quantiles)
		}
		moments(names[i], m, q, quantiles)
	}
	for _, g := range n.guards {
		add("the probability of "+g.What, g.SE, accepted.prob, wanted.prob)
	}
	return list
}

// Tails asks of all moments whether heavy tails keep them from being known; no more draws will be taken.
func (n *Numbers) Tails() {
	d, found := n.Sample.Density(), false
	n.middle = make([][]mc.Estimate, len(n.Moments))
	for i := range n.Moments {
		if values, _ := d.Values(i); i >= d.Params() && values == nil {
			var heavy bool
			heavy, n.middle[i] = heavyTailed(n.Sample, n.Sample.Latent(i), &n.Moments[i], func(p ...float64) []mc.Estimate { return n.Sample.Quantiles(i, p...) })
			found = found || heavy
		}
	}
	if n.final = true; found || len(d.Components()) > 0 {
		n.known = nil
	}
	n.list()
}

// Unknown are the latents of whose mean not even the error is known.
func (n *Numbers) Unknown() (latents []int) {
	for i, m := range n.Moments {
		if math.IsInf(m.Mean.SE, 1) {
			latents = append(latents, i)
		}
	}
	return latents
}

// Heavy reports whether a tail is too heavy for a standard deviation to be known.
func (n *Numbers) Heavy() bool {
	n.list()
	return n.heavy
}

// Unsettled reports whether a tail is heavy because a few of a sampler's chains have been there, as far as they tell.
func (n *Numbers) Unsettled() bool {
	for i, m := range n.Moments {
		if !math.IsInf(m.SD.SE, 1) {
			continue
		}
		square := make([]float64, n.Sample.Len())
		for k, x := range n.Sample.Latent(i) {
			square[k] = (x - m.Mean.Value) * (x - m.Mean.Value)
		}
		if n.Sample.ChainK(square) > noMean {
			return true
		}
	}
	return false
}

// Times is by how many times draws have to be more for numbers that can be accepted.
func (n *Numbers) Times() float64 {
	worst := 0.0
	for _, x := range n.list() {
		worst = max(worst, x.accepted)
	}
	return worst * worst
}

// cheapMore is how many times as many draws are taken at most to get from the accepted precision to the wanted one: of a density with more than
// cheapTerms terms fewer, but leastMore times.
const (
	cheapMore  = 12
	leastMore  = 2
	cheapTerms = 100
)

// spare is how many times as many draws are taken as seem to be needed.
const spare = 1.3

// Needed is how many draws the numbers need; first is how many were taken at first. There are at most so many times as many, and
// no more than what can be accepted needs if that is enough.
func (n *Numbers) Needed(first int, most float64, enough bool) int {
	accept, want := 0.0, 0.0
	for _, x := range n.list() {
		accept, want = max(accept, x.accepted), max(want, x.wanted)
	}
	now := float64(n.Sample.Len())
	if enough {
		want = 0
	}
	needed := min(now*want*want, max(leastMore, cheapMore*cheapTerms/max(cheapTerms, float64(n.Sample.Density().Terms())))*float64(first))
	if accept > 1 {
		needed = max(needed, min(spare*now*accept*accept, most*float64(first)))
	}
	if needed < spare*now { // not worth it
		return n.Sample.Len()
	}
	return int(needed)
}
