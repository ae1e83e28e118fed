package smc

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/regions"
)

// Surfaces are where log r changes with a guard's sign: walls, where it jumps, and others.
type surfaces struct {
	arr     *regions.Arrangement
	n       int                   // points of a batch
	wall    []bool                // by plane
	latents [][]int               // by plane
	levels  *levels               // of affine functions first
	forms   regions.Forms         // the functions that are affine
	normals regions.Forms         // these without constants
	bends   []*bend               // the other functions
	others  []int                 // planes that are no walls
	curves  []*regions.CurveBatch // of others; nil where affine
	normal  []float64             // a wall's, of all latents
	width   int                   // their number, up to a multiple of 4, for vector loops
	room    []float64
}

func newSurfaces(arr *regions.Arrangement, local *derive.LocalJumps, n int) surfaces {
	w := surfaces{arr: arr, n: n, levels: &levels{n: n}, normal: make([]float64, arr.Dim()), room: make([]float64, arr.Dim()), width: (arr.Dim() + 3) &^ 3}
	var flat, bent []int
	for l := range arr.Len() {
		w.wall, w.latents = append(w.wall, local.Jumps(l)), append(w.latents, arr.Latents(l))
		switch c := arr.Curve(l); {
		case local.Jumps(l) && c == nil:
			flat = append(flat, l)
		case local.Jumps(l):
			bent = append(bent, l)
		case local.Depends(l):
			w.others, w.curves = append(w.others, l), append(w.curves, nil)
			if c != nil {
				w.curves[len(w.curves)-1] = c.Bind(n)
			}
		}
	}
	w.add(flat, func(l int) { w.forms.Add(arr.Plane(l)) })
	w.normals = w.forms
	w.normals.Const = make([]float64, len(w.forms.Const))
	w.add(bent, func(l int) { w.bends = append(w.bends, newBend(arr.Curve(l), w.levels, n)) })
	w.levels.below = make([]float64, n*len(w.levels.from))
	return w
}

// add adds walls. Those that differ in their constants alone are levels of one function, which function makes of one of them.
func (w *surfaces) add(planes []int, function func(l int)) {
	number, groups := map[string]int{}, [][]int(nil)
	for _, l := range planes {
		h := w.arr.Plane(l)
		normal := fmt.Sprint(h.Index, h.Coef)
		k, ok := number[normal]
		if !ok {
			k, number[normal], groups = len(groups), len(groups), append(groups, nil)
		}
		groups[k] = append(groups[k], l)
	}
	for _, group := range groups {
		function(group[0])
		first := w.arr.Plane(group[0]).Const
		slices.SortFunc(group, func(a, b int) int { return cmp.Compare(w.arr.Plane(b).Const, w.arr.Plane(a).Const) })
		var thresholds []float64
		for _, l := range group {
			thresholds = append(thresholds, first-w.arr.Plane(l).Const)
		}
		w.levels.add(group, thresholds)
	}
}

// A mass is what walls need of the covariance C of velocities.
type mass struct {
	covariance *linear
	pushes     []push // by affine function
}

func (w *surfaces) newMass(c *linear) *mass {
	m := &mass{c, make([]push, len(w.forms.Const))}
	for k := range m.pushes {
		from, to := w.forms.From[k], w.forms.From[k+1]
		m.pushes[k] = push{latents: w.forms.Index[from:to], a: w.forms.Coef[from:to]}
		w.aim(&m.pushes[k], c)
	}
	return m
}

// aim finds what a push along its normal does.
func (w *surfaces) aim(e *push, c *linear) {
	if e.reach == nil {
		n := len(w.forms.Const)
		e.both = make([]float64, n+w.width)
		e.reach = e.both[n:][:len(w.normal)]
	}
	clear(w.normal)
	for j, i := range e.latents {
		w.normal[i] = e.a[j]
	}
	c.apply(e.reach, w.normal, w.room, 1)
	e.q = 0
	for j, i := range e.latents {
		e.q += e.a[j] * e.reach[i]
	}
	w.normals.AtBatch(e.both[:len(w.forms.Const)], e.reach, 1)
}
