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

// Count returns the exact number of regions, without a list of them: the product over groups of planes that share no coordinates, each
// of which may have up to limit regions of its own. The error wraps [ErrTooMany] if one has more.
func (a *Arrangement) Count(limit int) (*big.Int, error) {
	_, total, err := enumerate(a.blocks(), limit)
	return total, err
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
		for j := range len(b.families[0].levels) + 1 {
			if _, ok := b.families[0].between(j); !ok {
				continue
			}
			if err := w.found(slabs{j}); err != nil {
				return nil, err
			}
		}
		return w.out, nil
	}
	w.solver = newSolver(b)
	start := make([]float64, len(b.coords)+1)
	start[len(b.coords)] = 1
	return w.out, w.descend(nil, start)
}

// A walk goes through the tree whose nodes at depth f are the cells of the first f families.
type walk struct {
	*solver
	b     *block
	limit int
	out   []slabs
}

func (w *walk) found(j slabs) error {
	if len(w.out) >= w.limit {
		return fmt.Errorf("regions: more than %d regions: %w", w.limit, ErrTooMany)
	}
	w.out = append(w.out, slices.Clone(j))
	return nil
}

// descend visits the cells of all families inside the cell j of the first ones, in which the homogeneous point x lies. The slabs of the
// next family that meet the cell follow one another, since the cell is convex: it goes down and up from the one where x is.
func (w *walk) descend(j slabs, x []float64) error {
	f := len(j)
	if f == len(w.b.families) {
		return w.found(j)
	}
	walls := w.walls(j)
	here := 0
	for here < len(w.cut[f]) && dot(w.cut[f][here], x) > 0 {
		here++
	}
	visit := func(k int) (bool, error) {
		y, err := w.enter(walls, f, k, k, x)
		if y == nil || err != nil {
			return false, err
		}
		return true, w.descend(append(slices.Clip(j), k), y)
	}
	for k := here; k >= 0; k-- {
		met, err := visit(k)
		if err == nil && !met && k > 0 {
			// Too thin a slab hides none behind it.
			var y []float64
			if y, err = w.enter(walls, f, 0, k-1, x); y == nil && err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	last := len(w.cut[f])
	for k := here + 1; k <= last; k++ {
		met, err := visit(k)
		if err == nil && !met && k < last {
			var y []float64
			if y, err = w.enter(walls, f, k+1, last, x); y == nil && err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter returns a point within the walls and slabs low to high of family f, or nil if there is none. It is x if that is well inside.
func (w *walk) enter(walls [][]float64, f, low, high int, x []float64) ([]float64, error) {
	const well = 1e-3
	slab := w.slabWalls(f, low, high)
	inside := true
	for _, row := range slab {
		inside = inside && dot(row, x) > well
	}
	if inside {
		return x, nil
	}
	t, y, err := margin(slices.Concat(walls, slab))
	if err != nil || t <= thin {
		return nil, err
	}
	return y, nil
}
