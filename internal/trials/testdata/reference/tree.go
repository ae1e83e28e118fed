package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A split is by a variable, at a threshold between two neighbouring ranks.
type split struct {
	by       int
	low, up  float64
	logPrior float64
}

// A forest is all splits of the prices.
type forest struct {
	y      []float64
	x      [2][]float64
	order  [2][]int // rows by rank
	splits []split
}

func newForest() *forest {
	f := &forest{y: column("boston.csv", "medv")}
	for v, name := range []string{"rm", "lstat"} {
		raw := column("boston.csv", name)
		n := float64(len(raw))
		var cuts []float64
		for k := range raw {
			f.order[v] = append(f.order[v], k)
			below := 0.0
			for _, w := range raw {
				if w < raw[k] {
					below++
				}
			}
			f.x[v] = append(f.x[v], (below+0.5)/n)
		}
		slices.SortFunc(f.order[v], func(a, b int) int {
			if f.x[v][a] < f.x[v][b] {
				return -1
			} else if f.x[v][a] > f.x[v][b] {
				return 1
			}
			return 0
		})
		cuts = append(slices.Clone(f.x[v]), 0, 1)
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		for k := range len(cuts) - 1 {
			f.splits = append(f.splits, split{v, cuts[k], cuts[k+1], math.Log((cuts[k+1] - cuts[k]) / 2)})
		}
	}
	return f
}

// branch are the logarithms of the weights of all splits of the rows that are in, and their low leaves.
func (f *forest) branch(in func(k int) bool, s float64) (logs []float64, low []leaf, all leaf) {
	for k, y := range f.y {
		if in(k) {
			all.add(y)
		}
	}
	at, from := [2]int{}, [2]leaf{}
	for _, x := range f.splits {
		l, o := &from[x.by], f.order[x.by]
		for at[x.by] < len(o) && f.x[x.by][o[at[x.by]]] < (x.low+x.up)/2 {
			if k := o[at[x.by]]; in(k) {
				l.add(f.y[k])
			}
			at[x.by]++
		}
		logs = append(logs, x.logPrior+l.evidence(20, 10, s)+all.minus(*l).evidence(20, 10, s))
		low = append(low, *l)
	}
	return logs, low, all
}

func logSum(logs []float64) float64 {
	top, sum := slices.Max(logs), 0.0
	for _, v := range logs {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// side is the rows on one side of a split.
func (f *forest) side(x split, above bool) func(k int) bool {
	return func(k int) bool { return (f.x[x.by][k] > (x.low+x.up)/2) == above }
}

// A choice is a noise and the root's split.
type choice struct{ scale, root int }

// A bough is the splits of the rows on one side of the root's.
type bough struct {
	pick chooser
	low  []leaf
	all  leaf
}

func (b *bough) draw(f *forest, s float64, rng *rand.Rand) (x split, low, high float64) {
	k := b.pick.draw(rng)
	return f.splits[k], b.low[k].draw(20, 10, s, rng), b.all.minus(b.low[k]).draw(20, 10, s, rng)
}

// root is all noises and splits of the root, and the logarithms of their weights.
func (f *forest) root() (scales []float64, ratio float64, states []choice, logs []float64) {
	scales, ratio = grid(4.4, 6.6, 80)
	for i, s := range scales {
		for j, x := range f.splits {
			below, _, _ := f.branch(f.side(x, false), s)
			above, _, _ := f.branch(f.side(x, true), s)
			logs = append(logs, math.Log(s)-s*s/200+x.logPrior+logSum(below)+logSum(above))
			states = append(states, choice{i, j})
		}
	}
	return scales, ratio, states, logs
}

var trees struct {
	*forest
	scales []float64
	ratio  float64
	states []choice
	pick   chooser
	boughs map[choice][2]*bough
}

// tree is independent draws: of the noise from a grid and the root's split, by enumeration; and of all else, given those.
func tree() *moments {
	t := &trees
	if t.forest == nil {
		t.forest = newForest()
		var logs []float64
		t.scales, t.ratio, t.states, logs = t.root()
		t.pick, t.boughs = newChooser(logs), map[choice][2]*bough{}
	}
	rng := random(chain.Add(1))
	m := newMoments(slices.Concat(names("by", 3), names("at", 3), names("leaf", 4), []string{"sd"})...)
	for range 100_000 {
		c := t.states[t.pick.draw(rng)]
		x, s := t.splits[c.root], t.scales[c.scale]
		b, ok := t.boughs[c]
		if !ok {
			for k := range b {
				logs, low, all := t.branch(t.side(x, k == 1), s)
				b[k] = &bough{newChooser(logs), low, all}
			}
			t.boughs[c] = b
		}
		s *= math.Pow(t.ratio, rng.Float64()-0.5)
		below, l0, l1 := b[0].draw(t.forest, s, rng)
		above, l2, l3 := b[1].draw(t.forest, s, rng)
		at := func(x split) float64 { return x.low + (x.up-x.low)*rng.Float64() }
		m.add(1, float64(x.by), float64(below.by), float64(above.by), at(x), at(below), at(above), l0, l1, l2, l3, s)
	}
	return m
}
