package cells

import (
	"cmp"
	"math"
	"slices"
)

// climbAll climbs until all of f.todo have arrived or failed.
func (f *Intervals) climbAll() error {
	n := len(f.rest)
	columns := 2*n + 1
	for ; len(f.todo) > 0; slices.Reverse(f.todo) { // slots of batches go back by the way that they came
		x := f.gradients()
		for batch := range slices.Chunk(f.todo, x.N/columns) {
			for s, j := range batch {
				first := s * columns
				x.put(j, first, first+columns)
				c := &f.climbs[j]
				for k, i := range f.rest {
					row := x.Z[i*x.N:][first : first+columns]
					for e := range row {
						row[e] = c.trial[k] * f.scale[k]
					}
					w := c.differences(k, n)
					row[1+2*k] = (c.trial[k] + w) * f.scale[k]
					row[2+2*k] = (c.trial[k] - w) * f.scale[k]
				}
			}
			if err := x.Run(); err != nil {
				return err
			}
			for s, j := range batch {
				f.advance(&f.climbs[j], x, s*columns)
			}
		}
		if err := f.look(); err != nil {
			return err
		}
		f.todo = slices.DeleteFunc(f.todo, func(j int) bool { return f.climbs[j].state >= arrived })
	}
	return nil
}

// look ends climbs whose first step is their last, as all are where log r is quadratic: by the gradient there, in one column each.
func (f *Intervals) look() error {
	first := f.pending[:0]
	for _, j := range f.todo {
		if c := &f.climbs[j]; c.state == climbing && c.tries == 1 && c.damping == 0 {
			first = append(first, j)
		}
	}
	f.pending = first
	x := f.grad
	for batch := range slices.Chunk(first, x.N) {
		for k, j := range batch {
			x.column(k, j, f.climbs[j].trial)
		}
		if err := x.Run(); err != nil {
			return err
		}
		for k, j := range batch {
			c := &f.climbs[j]
			was, v := c.value, x.Out[k]
			if !finite(v) || v < was {
				continue
			}
			c.u, c.trial, c.value = c.trial, c.u, v
			copy(f.noise, c.g)
			for i, at := range f.rest {
				c.g[i] = x.at(at, k) * f.scale[i]
			}
			if cholesky(f.lower, c.h, len(c.u), 0) && f.newton(c) < intervalGain {
				f.arrive(c)
				continue
			}
			c.u, c.trial, c.value = c.trial, c.u, was
			copy(c.g, f.noise)
		}
	}
	return nil
}

// differences is the width of the differences along latent k of n.
func (c *climb) differences(k, n int) float64 {
	if c.state == climbing {
		if p := c.h[k*n+k]; p > 1 {
			return modeInterval / math.Sqrt(p)
		}
	}
	return modeInterval
}

// advance looks at log r and its derivatives at c.trial, in the columns of x from first on, and decides
// where to look next.
func (f *Intervals) advance(c *climb, x *intervalBatch, first int) {
	n := len(f.rest)
	c.tries++
	v := x.Out[first]
	at := func(i, column int) float64 { return x.at(f.rest[i], first+column) * f.scale[i] }
	better := finite(v) && (c.state == begun || v >= c.value)
	if better {
		g, h := f.step, f.lower // scratch
		for i := range n {
			g[i] = at(i, 0)
			better = better && finite(g[i])
			wi := c.differences(i, n)
			for j := range i + 1 {
				wj := c.differences(j, n)
				ij := (at(i, 2*j+2) - at(i, 2*j+1)) / (2 * wj)
				ji := (at(j, 2*i+2) - at(j, 2*i+1)) / (2 * wi)
				h[i*n+j] = (ij + ji) / 2
				h[j*n+i] = h[i*n+j]
				better = better && finite(h[i*n+j])
			}
		}
		if better {
			if c.state == climbing {
				if c.damping /= 10; c.damping < leastDamping {
					c.damping = 0
				}
			}
			c.state, c.value = climbing, v
			copy(c.u, c.trial)
			copy(c.g, g)
			copy(c.h, h)
			if cholesky(f.lower, c.h, n, 0) && f.newton(c) < intervalGain {
				f.arrive(c)
				return
			}
		}
	}
	if c.state == begun || c.tries > intervalPasses {
		c.state = failed
		return
	}
	if !better {
		c.damping = max(modeDamping, 10*c.damping)
	}
	for !cholesky(f.lower, c.h, n, c.damping) {
		if c.damping = max(modeDamping, 10*c.damping); c.damping > 1e12 {
			c.state = failed
			return
		}
	}
	f.newton(c)
	for i := range n {
		c.trial[i] = c.u[i] + f.step[i]
	}
}

// newton puts the step from u in f.step, for the factor in f.lower, and returns what it gains.
func (f *Intervals) newton(c *climb) (gain float64) {
	n := len(f.rest)
	copy(f.step, c.g)
	solveLower(f.lower, f.step, n)
	solveUpper(f.lower, f.step, n)
	for i, s := range f.step {
		gain += s * c.g[i] / 2
	}
	return gain
}

// arrive makes the Newton step in f.step the last one.
func (f *Intervals) arrive(c *climb) {
	n := len(f.rest)
	c.state, c.top = arrived, c.value
	copy(c.root, f.lower)
	c.logZ = 0.5 * float64(n) * math.Log(2*math.Pi)
	for i, s := range f.step {
		c.mode[i] = c.u[i] + s
		c.top += s * c.g[i] / 2
		c.logZ += math.Log(f.scale[i] / c.root[i*n+i])
	}
	c.logZ += c.top + f.parts[c.interval].offset
}

// unimodal compares each climb's end with those of its neighbours, in its own interval, and
// climbs again from what is higher. It reports whether all ends are one mode's.
func (f *Intervals) unimodal() (bool, error) {
	const rounds = 6
	best := math.Inf(-1)
	for j := range f.climbs {
		if c := &f.climbs[j]; c.state == arrived {
			best = max(best, c.logZ)
		}
	}
	for range rounds {
		again, several := false, false
		err := f.eachNeighbour(func(j, of int, value float64) {
			c, o := &f.climbs[j], &f.climbs[of]
			switch {
			case c.state == arrived && c.logZ < best-intervalFar && value < c.top+sameMode:
				return // it does not count
			case c.state == failed || value > c.top+sameMode:
				if c.state == arrived && c.logZ > best-intervalFar/2 {
					several = true
				}
				c.state, c.damping, c.tries = begun, 0, 0
				copy(c.trial, o.mode)
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
			if c := &f.climbs[j]; c.state == arrived {
				best = max(best, c.logZ)
			}
		}
	}
	for j := range f.climbs {
		if f.climbs[j].state != arrived {
			return false, nil
		}
	}
	return !math.IsInf(best, -1), nil
}

// apart is the squared distance of a point from the mode, in standard deviations.
func (f *Intervals) apart(c *climb, mode []float64) (sum float64) {
	n := len(mode)
	for j := range n {
		y := 0.0 // of Lᵀ·(mode − c.mode)
		for i := j; i < n; i++ {
			y += c.root[i*n+j] * (mode[i] - c.mode[i])
		}
		sum += y * y
	}
	return sum
}

// eachNeighbour calls visit with log r in interval j at the end of the climb in interval of.
func (f *Intervals) eachNeighbour(visit func(j, of int, value float64)) error {
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
			if f.climbs[p[0]].state != begun {
				visit(p[0], p[1], x.Out[k])
			}
		}
		count = 0
		return err
	}
	for j := range f.climbs {
		for _, of := range [2]int{j - 1, j + 1} {
			if of < 0 || of >= len(f.climbs) || f.climbs[of].state != arrived {
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
func (f *Intervals) keep(lost float64) {
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
		if f.lost+f.mass[j] > lost/intervalLost || !f.leaves(j, lostSquare*lost) {
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
