package smc

import (
	"slices"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/regions"
)

// Surfaces are where log r changes with a guard's sign: walls, where it jumps, and others.
type surfaces struct {
	arr     *regions.Arrangement
	n       int                   // points of a batch
	plane   []int                 // of the arrangement, by wall: those that are affine first
	wall    []int                 // by plane; −1 if it is none
	latents [][]int               // by plane
	forms   regions.Forms         // of the walls that are affine
	normals regions.Forms         // these without constants
	across  []float64             // by affine wall
	bends   []*bend               // the other walls,
	bendOf  []*bend               // by wall
	others  []int                 // planes that are no walls
	curves  []*regions.CurveBatch // of others; nil where affine
}

func newSurfaces(arr *regions.Arrangement, local *derive.LocalJumps, n int) surfaces {
	w := surfaces{arr: arr, n: n}
	var bent []int
	for l := range arr.Len() {
		w.wall, w.latents = append(w.wall, -1), append(w.latents, arr.Latents(l))
		switch c := arr.Curve(l); {
		case local.Jumps(l) && c == nil:
			w.wall[l] = len(w.plane)
			w.plane, w.bendOf = append(w.plane, l), append(w.bendOf, nil)
			w.forms.Add(arr.Plane(l))
		case local.Jumps(l):
			bent = append(bent, l)
		case local.Depends(l):
			w.others, w.curves = append(w.others, l), append(w.curves, nil)
			if c != nil {
				w.curves[len(w.curves)-1] = c.Bind(n)
			}
		}
	}
	w.normals, w.across = w.forms, make([]float64, len(w.forms.Const))
	w.normals.Const = make([]float64, len(w.forms.Const))
	w.bend(bent)
	return w
}

// bend adds walls of planes that are not affine.
func (w *surfaces) bend(planes []int) {
	var first []regions.Hyperplane
	for _, l := range planes {
		h := w.arr.Plane(l)
		k := slices.IndexFunc(first, func(o regions.Hyperplane) bool {
			return slices.Equal(h.Index, o.Index) && slices.Equal(h.Coef, o.Coef)
		})
		if k < 0 {
			k, first = len(first), append(first, h)
			w.bends = append(w.bends, newBend(w.arr.Curve(l), w.n, w.arr.Dim()))
		}
		b, number := w.bends[k], first[k].Const-h.Const
		at, _ := slices.BinarySearch(b.at, number)
		b.at, b.walls = slices.Insert(b.at, at, number), slices.Insert(b.walls, at, len(w.plane))
		w.wall[l] = len(w.plane)
		w.plane, w.bendOf = append(w.plane, l), append(w.bendOf, b)
	}
}

// A mass is what walls need of the covariance C of velocities.
type mass struct {
	covariance *linear
	reach      [][]float64 // C·a, by affine wall
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
		w.along(meet, 1, reach)
		m.reach, m.meet = append(m.reach, reach), append(m.meet, meet)
	}
	return m
}

// along adds a multiple of a·v of each affine wall to dst.
func (w *surfaces) along(dst []float64, by float64, v []float64) {
	for k := range dst {
		for e := w.forms.From[k]; e < w.forms.From[k+1]; e++ {
			dst[k] += by * w.forms.Coef[e] * v[w.forms.Index[e]]
		}
	}
}
