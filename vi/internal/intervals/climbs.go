package intervals

import (
	"cmp"
	"math"
	"slices"

	"github.com/facetvi/facet/vi/internal/newton"
)

// climbAll climbs until all of f.todo have arrived or failed.
func (f *Fitter) climbAll() error {
	each := 2*len(f.rest) + 1
	for ; len(f.todo) > 0; slices.Reverse(f.todo) { // slots of batches go back by the way that they came
		x := f.gradients()
		for batch := range slices.Chunk(f.todo, x.N/each) {
			for s, j := range batch {
				x.put(j, s*each, (s+1)*each)
				f.climbs[j].Put(x.Executor, s*each, f.rest, f.scale)
			}
			if err := x.Run(); err != nil {
				return err
			}
			for s, j := range batch {
				c := &f.climbs[j]
				c.Read(x.Executor, s*each, f.rest, f.scale)
				if c.Advance(x.Out[s*each]); c.State == newton.Arrived {
					f.arrive(c)
				} else if c.Tries > mostPasses {
					c.State = newton.Failed
				}
			}
		}
		if err := f.look(); err != nil {
			return err
		}
		f.todo = slices.DeleteFunc(f.todo, func(j int) bool { return f.climbs[j].State >= newton.Arrived })
	}
	return nil
}

// look ends climbs whose first step is their last, as all are where log r is quadratic: by the gradient there, in one column each.
func (f *Fitter) look() error {
	first := f.pending[:0]
	for _, j := range f.todo {
		if c := &f.climbs[j]; c.State == newton.Climbing && c.Tries == 1 && c.Damping == 0 {
			first = append(first, j)
		}
	}
	f.pending = first
	x := f.grad
	for batch := range slices.Chunk(first, x.N) {
		for k, j := range batch {
			x.column(k, j, f.climbs[j].Trial)
		}
		if err := x.Run(); err != nil {
			return err
		}
		for k, j := range batch {
			c := &f.climbs[j]
			for i, at := range f.rest {
				c.NextG[i] = x.at(at, k) * f.scale[i]
			}
			if c.Glance(x.Out[k]) {
				f.arrive(c)
			}
		}
	}
	return nil
}

// arrive keeps where c has arrived.
func (f *Fitter) arrive(c *climb) {
	copy(c.mode, c.Trial)
	c.top = c.Value + c.Gain
	c.logZ = c.LogNormal() + f.parts[c.interval].offset
	for _, s := range f.scale {
		c.logZ += math.Log(s)
	}
}

// unimodal compares each climb's end with those of its neighbours, in its own interval, and
// climbs again from what is higher. It reports whether all ends are one mode's.
func (f *Fitter) unimodal() (bool, error) {
	const rounds = 6
	best := math.Inf(-1)
	for j := range f.climbs {
		if c := &f.climbs[j]; c.State == newton.Arrived {
			best = max(best, c.logZ)
		}
	}
	for range rounds {
		again, several := false, false
		err := f.eachNeighbour(func(j, of int, value float64) {
			c, o := &f.climbs[j], &f.climbs[of]
			switch {
			case c.State == newton.Arrived && c.logZ < best-farBelow && value < c.top+sameMode:
				return // it does not count
			case c.State == newton.Failed || value > c.top+sameMode:
				if c.State == newton.Arrived && c.logZ > best-farBelow/2 {
					several = true
				}
				c.Begin()
				copy(c.Trial, o.mode)
				f.todo = append(f.todo, j)
				again = true
			case f.apart(c, o.mode) > apartSquare && c.top-value < apartFall/2*f.apart(c, o.mode):
				several = true
			}
		})
		if err != nil || several {
			return false, err
		}
		if !again {
			break
		}
		if err := f.climbAll(); err != nil {
			return false, err
		}
		for j := range f.climbs {
			if c := &f.climbs[j]; c.State == newton.Arrived {
				best = max(best, c.logZ)
			}
		}
	}
	for j := range f.climbs {
		if f.climbs[j].State != newton.Arrived {
			return false, nil
		}
	}
	return !math.IsInf(best, -1), nil
}

// apart is the squared distance of a point from the mode, in standard deviations.
func (f *Fitter) apart(c *climb, mode []float64) (sum float64) {
	n := len(mode)
	for j := range n {
		y := 0.0 // of Lᵀ·(mode − c.mode)
		for i := j; i < n; i++ {
			y += c.Root[i*n+j] * (mode[i] - c.mode[i])
		}
		sum += y * y
	}
	return sum
}

// eachNeighbour calls visit with log r in interval j at the end of the climb in interval of.
func (f *Fitter) eachNeighbour(visit func(j, of int, value float64)) error {
	x := f.value
	batch, count := f.pairs, 0
	run := func() error {
		if count == 0 {
			return nil
		}
		for k := count; k < x.N; k++ {
			x.column(k, batch[0][0], f.climbs[batch[0][1]].mode)
		}
		err := x.Run()
		for k, p := range batch[:count] {
			if f.climbs[p[0]].State != newton.Begun {
				visit(p[0], p[1], x.Out[k])
			}
		}
		count = 0
		return err
	}
	for j := range f.climbs {
		for _, of := range [2]int{j - 1, j + 1} {
			if of < 0 || of >= len(f.climbs) || f.climbs[of].State != newton.Arrived {
				continue
			}
			batch[count] = [2]int{j, of}
			x.column(count, j, f.climbs[of].mode)
			if count++; count == len(batch) {
				if err := run(); err != nil {
					return err
				}
			}
		}
	}
	return run()
}

// keep chooses the intervals that matter.
func (f *Fitter) keep(lost float64) {
	f.kept = f.kept[:0]
	best, total := math.Inf(-1), 0.0
	for j := range f.climbs {
		f.kept = append(f.kept, j)
		best = max(best, f.climbs[j].logZ)
	}
	for j := range f.climbs {
		total += math.Exp(f.climbs[j].logZ - best)
	}
	for j := range f.climbs {
		f.mass[j] = math.Exp(f.climbs[j].logZ-best) / total
	}
	slices.SortStableFunc(f.kept, func(a, b int) int { return cmp.Compare(f.mass[b], f.mass[a]) })
	f.spread()
	f.lost = 0
	for last := len(f.kept) - 1; last > 0; last-- {
		j := f.kept[last]
		if f.lost+f.mass[j] > lost/lostPart || !f.leaves(j, lostSquare*lost) {
			break
		}
		f.lost += f.mass[j]
		f.kept = f.kept[:last]
	}
}

// cleared is a list of n zeros, in list if there is room.
func cleared(list []float64, n int) []float64 {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}
