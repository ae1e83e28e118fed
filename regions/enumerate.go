package regions

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// ErrTooMany says that an arrangement has more regions than the caller's limit.
var ErrTooMany = errors.New("too many regions")

// Regions returns the sign vectors of all regions, those that are feasible in the sense of [Arrangement.Feasible], each once and in an
// order that the planes fix. If there are more than limit it returns none and an error that wraps [ErrTooMany]; limit bounds the
// time too.
//
// Planes that share no coordinates are enumerated apart and combined, parallel planes without a linear program. For the rest, the
// program adds one normal direction after another and keeps a point in each cell, so that only a side on which the point does not lie
// needs a linear program: their number is at most about that of regions × planes.
func (a *Arrangement) Regions(limit int) ([]Signs, error) {
	blocks := a.blocks()
	cells, total, err := enumerate(blocks, limit)
	if err != nil {
		return nil, err
	}
	if !total.IsInt64() || total.Int64() > int64(limit) {
		return nil, fmt.Errorf("regions: %v regions, with a limit of %d: %w", total, limit, ErrTooMany)
	}
	out := make([]Signs, 0, total.Int64())
	positive := make([]bool, len(a.planes))
	var combine func(k int)
	combine = func(k int) {
		if k == len(blocks) {
			out = append(out, NewSigns(positive))
			return
		}
		for _, j := range cells[k] {
			for f := range blocks[k].families {
				blocks[k].families[f].sign(positive, j[f])
			}
			combine(k + 1)
		}
	}
	combine(0)
	return out, nil
}

// enumerate returns the cells of each block and the product of their numbers.
func enumerate(blocks []block, limit int) (cells [][]slabs, total *big.Int, err error) {
	total = big.NewInt(1)
	for k := range blocks {
		c, err := blocks[k].cells(limit)
		if err != nil {
			return nil, nil, err
		}
		cells = append(cells, c)
		total.Mul(total, big.NewInt(int64(len(c))))
	}
	return cells, total, nil
}

// cells returns the cells of the block.
func (b *block) cells(limit int) ([]slabs, error) {
	w := &walk{b: b, limit: limit}
	if len(b.families) == 1 {
		err := w.between()
		return w.out, err
	}
	w.solver = newSolver(b)
	start := make([]float64, len(b.coords)+1)
	start[len(b.coords)] = 1
	err := w.descend(nil, start)
	return w.out, err
}

// A walk goes through the tree whose nodes at depth f are the cells of the first f families, and keeps its leaves.
type walk struct {
	*solver
	b     *block
	limit int
	out   []slabs
}

// found keeps a leaf.
func (w *walk) found(j slabs) error {
	if len(w.out) >= w.limit {
		return fmt.Errorf("regions: more than %d regions: %w", w.limit, ErrTooMany)
	}
	w.out = append(w.out, slices.Clone(j))
	return nil
}

// between finds the cells of a single family.
func (w *walk) between() error {
	f := &w.b.families[0]
	for j := range len(f.levels) + 1 {
		if _, ok := f.between(j); ok {
			if err := w.found(slabs{j}); err != nil {
				return err
			}
		}
	}
	return nil
}

// descend finds the leaves below node j, a cell in which the homogeneous point x lies. The next family cuts the cell into its children.
// They are neighbours in a row, because the cell is convex; so they are found from the child of x on, first downwards and then upwards.
func (w *walk) descend(j slabs, x []float64) error {
	f := len(j)
	if f == len(w.b.families) {
		return w.found(j)
	}
	walls := w.walls(j)
	here := w.slabAt(f, x)
	if err := w.visit(j, walls, x, here, -1); err != nil {
		return err
	}
	return w.visit(j, walls, x, here+1, 1)
}

// visit descends into the children of node j from slab number from of the next family on, in steps of 1 or −1. It ends where neither a
// slab nor all those behind it together meet the cell: a slab too thin to be seen hides no other.
func (w *walk) visit(j slabs, walls [][]float64, x []float64, from, step int) error {
	f := len(j)
	last := len(w.cut[f])
	for k := from; 0 <= k && k <= last; k += step {
		y, err := w.enter(walls, f, k, k, x)
		switch {
		case err != nil:
			return err
		case y != nil:
			err = w.descend(append(slices.Clip(j), k), y)
		case step < 0 && k > 0:
			y, err = w.enter(walls, f, 0, k-1, x)
		case step > 0 && k < last:
			y, err = w.enter(walls, f, k+1, last, x)
		}
		if y == nil || err != nil {
			return err
		}
	}
	return nil
}

// slabAt is the slab of family f in which the homogeneous point x lies.
func (w *walk) slabAt(f int, x []float64) int {
	for k, cut := range w.cut[f] {
		if dot(cut, x) <= 0 {
			return k
		}
	}
	return len(w.cut[f])
}

// enter returns a point within the walls and within slabs low to high of family f, or nil if there is none. It is x if x is well inside
// these slabs; x must be within the walls.
func (w *walk) enter(walls [][]float64, f, low, high int, x []float64) ([]float64, error) {
	const well = 1e-3
	slab := w.slabWalls(f, low, high)
	if !slices.ContainsFunc(slab, func(row []float64) bool { return dot(row, x) <= well }) {
		return x, nil
	}
	t, y, err := margin(slices.Concat(walls, slab))
	if err != nil || t <= thin {
		return nil, err
	}
	return y, nil
}
