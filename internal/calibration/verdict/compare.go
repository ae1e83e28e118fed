package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
)

// What makes a number wrong.
const (
	wrongMean  = 0.05 // standard deviations
	wrongSD    = 0.05 // relative
	wrongProb  = 0.01
	wrongLog   = 0.05 // nats, and
	wrongLogSE = 5    // of its standard errors
	leastSD    = 0.15 // of a discrete latent: below it, only its masses are looked at
)

// A problem is a model with what is known of its posterior.
type problem struct {
	name    string
	text    string // its source
	classes []string
	density *graph.Density
	log     float64
	mean    map[string]float64 // of latents whose mean is known
	sd      map[string]float64
	probs   map[string][]float64 // of named guards
	masses  map[string][]float64 // of discrete latents, of the values 0, 1, …

	generated bool // a random program
}

// A wrong is a number that is wrong, and by how much of what it may be off.
type wrong struct {
	what        string
	exact, said float64
	off         float64
}

func (w wrong) String() string { return fmt.Sprintf("%s %.5g, exact %.5g", w.what, w.said, w.exact) }

// compare lists what a fit has wrong, the worst first.
func (p problem) compare(f fitted) (list []wrong) {
	check := func(what string, exact, said, most float64) {
		if off := math.Abs(said-exact) / most; !(off <= 1) {
			list = append(list, wrong{what, exact, said, off})
		}
	}
	for name, mean := range p.mean {
		if sd, ok := p.sd[name]; ok && (p.masses[name] == nil || sd >= leastSD) {
			check("mean of "+name, mean, f.mean[name], wrongMean*sd)
			check("sd of "+name, sd, f.sd[name], wrongSD*sd)
		}
	}
	for name, probs := range p.probs {
		for i, exact := range probs {
			label := name
			if len(probs) > 1 {
				label = fmt.Sprintf("%s[%d]", name, i)
			}
			check("P("+label+")", exact, f.probs[name][i], wrongProb)
		}
	}
	for name, exact := range p.masses {
		values, masses := f.masses(name)
		for k, mass := range exact {
			said := 0.0
			if at := slices.Index(values, float64(k)); at >= 0 {
				said = masses[at]
			}
			check(fmt.Sprintf("P(%s = %d)", name, k), mass, said, wrongProb)
		}
	}
	check("log evidence", p.log, f.log, max(wrongLog, wrongLogSE*f.logE))
	slices.SortFunc(list, func(a, b wrong) int {
		if a.off > b.off || math.IsNaN(a.off) && !math.IsNaN(b.off) {
			return -1
		}
		return 1
	})
	return list
}

// random is random program n of a seed with its posterior, or why it is left out.
func random(seed, n uint64) (p problem, why string) {
	prog := generate(seed, n)
	p = problem{name: fmt.Sprintf("program %d", n), text: prog.String(), generated: true}
	d, err := prog.model.Compile()
	if err != nil {
		return p, "not in the language: " + err.Error()
	}
	p.density = d
	post, doubtful, err := prog.posterior(seed, n)
	if err != nil {
		return p, err.Error()
	}
	p.classes = prog.class(d)
	p.log, p.mean, p.sd, p.probs, p.masses = post.logEvidence, map[string]float64{}, map[string]float64{}, map[string][]float64{}, map[string][]float64{}
	for i, l := range prog.latents {
		if !slices.Contains(doubtful, i) {
			p.mean[l.name], p.sd[l.name] = post.mean[i], post.sd[i]
		}
		if l.discrete() {
			p.masses[l.name] = post.masses[i]
		}
	}
	for i, name := range prog.names {
		p.probs[name] = []float64{post.probs[i]}
	}
	if len(doubtful) > 0 {
		p.classes = append(p.classes, "a latent without moments")
	}
	return p, ""
}

// posterior is the posterior by two quadratures that agree but for the moments of some
// latents, the doubtful ones: these do not exist, or are of tails beyond all sampling.
func (p *program) posterior(seed, n uint64) (post posterior, doubtful []int, err error) {
	w := p.pilot(source(seed, n))
	order := p.continuous()
	post, err = p.integrate(&w, order, false)
	if err != nil {
		return post, nil, err
	}
	order = slices.Clone(order)
	slices.Reverse(order)
	other, err := p.integrate(&w, order, true)
	if err != nil {
		return post, nil, err
	}
	if off := math.Abs(post.logEvidence - other.logEvidence); !(off <= sameLog) {
		return post, nil, fmt.Errorf("quadratures differ: log evidence by %.1e", off)
	}
	if log, se := w.logEvidence(); w.ess > 200 && math.Abs(log-post.logEvidence) > 5*se+1e-3 {
		return post, nil, fmt.Errorf("draws of the prior give another evidence: %.4f ± %.4f, not %.4f", log, se, post.logEvidence)
	}
	for i, prob := range post.probs {
		if off := math.Abs(prob - other.probs[i]); !(off <= sameProb) {
			return post, nil, fmt.Errorf("quadratures differ: a guard's probability by %.1e", off)
		}
	}
	for i := range p.latents {
		sd := post.sd[i]
		if !(math.Abs(post.mean[i]-other.mean[i]) <= sameMean*sd && math.Abs(sd-other.sd[i]) <= sameSD*sd) {
			doubtful = append(doubtful, i)
		}
	}
	return post, doubtful, nil
}

// class are the classes that a program is in.
func (p *program) class(d *graph.Density) (list []string) {
	n := len(p.continuous())
	list = append(list, fmt.Sprintf("%d continuous latent%s", n, map[bool]string{true: "s"}[n > 1]))
	if len(p.latents) > n {
		list = append(list, "discrete latents")
	}
	curved, planes := false, d.Arrangement().Len()
	for l := range planes {
		curved = curved || d.Arrangement().Curve(l) != nil
	}
	switch {
	case curved:
		list = append(list, "guards on curves")
	case planes > 0:
		list = append(list, "affine guards only")
	default:
		list = append(list, "no guards")
	}
	return list
}
