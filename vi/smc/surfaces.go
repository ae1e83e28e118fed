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
	plane   []int                 // of the arrangement, by wall
	wall    []int                 // by plane; −1 if it is none
	latents [][]int               // by plane
	levels  *levels               // of affine functions first
	forms   regions.Forms         // the functions that are affine
	normals regions.Forms         // these without constants
	across  []float64             // by affine function
	bends   []*bend               // the other functions
	others  []int                 // planes that are no walls
	curves  []*regions.CurveBatch // of others; nil where affine
}

func newSurfaces(arr *regions.Arrangement, local *derive.LocalJumps, n int) surfaces {
	w := surfaces{arr: arr, n: n, levels: &levels{n: n}}
	var flat, bent []int
	for l := range arr.Len() {
		w.wall, w.latents = append(w.wall, -1), append(w.latents, arr.Latents(l))
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
	w.normals, w.across = w.forms, make([]float64, len(w.forms.Const))
	w.normals.Const = make([]float64, len(w.forms.Const))
	w.add(bent, func(l int) { w.bends = append(w.bends, newBend(arr.Curve(l), w.levels, n, arr.Dim())) })
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
		var walls []int
		var thresholds []float64
		for _, l := range group {
			w.wall[l] = len(w.plane)
			walls, thresholds = append(walls, len(w.plane)), append(thresholds, first-w.arr.Plane(l).Const)
			w.plane = append(w.plane, l)
		}
		w.levels.add(walls, thresholds)
	}
}

// A mass is what walls need of the covariance C of velocities.
type mass struct {
	covariance *linear
	reach      [][]float64 // C·a, by affine function
	meet       [][]float64 // a_k·C·a_l
}

func (w *surfaces) newMass(c *linear) *mass {
	m, dim := &mass{covariance: c}, w.arr.Dim()
	a, room := make([]float64, dim), make([]float64, dim)
	n := len(w.forms.Const)
	for l := range n {
		clear(a)
		for e := w.forms.From[l]; e < w.forms.From[l+1]; e++ {
			a[w.forms.Index[e]] = w.forms.Coef[e]
		}
		reach, meet := make([]float64, dim), make([]float64, n)
		c.apply(reach, a, room, 1)
		w.along(meet, reach)
		m.reach, m.meet = append(m.reach, reach), append(m.meet, meet)
	}
	return m
}

// along stores a·v of each affine function in dst.
func (w *surfaces) along(dst, v []float64) {
	for k := range dst {
		dst[k] = 0
		for e := w.forms.From[k]; e < w.forms.From[k+1]; e++ {
			dst[k] += w.forms.Coef[e] * v[w.forms.Index[e]]
		}
	}
}
