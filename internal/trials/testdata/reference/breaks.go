package main

import (
	"math"
	"slices"
	"sync/atomic"
)

// grid are values of a standard deviation from low to high, in equal ratios.
func grid(low, high float64, n int) (s []float64, ratio float64) {
	ratio = math.Pow(high/low, 1/float64(n-1))
	for k := range n {
		s = append(s, low*math.Pow(ratio, float64(k)))
	}
	return s, ratio
}

var chain atomic.Uint64

// A before is a noise, and the rows before each break.
type before struct {
	s    float64
	rows [3]int
}

var breaking struct {
	sums   []leaf // of the first rows
	ratio  float64
	states []before
	pick   chooser
}

// width is that of the places of a break that is after so many rows of n.
func width(rows, n int) float64 {
	if rows == 0 || rows == n {
		return 0.5
	}
	return 1
}

// enumerate fills breaking.
func enumerate(y []float64) {
	n := len(y)
	t := &breaking
	t.sums = make([]leaf, n+1)
	for k, v := range y {
		t.sums[k+1] = t.sums[k]
		t.sums[k+1].add(v)
	}
	var scales, logs []float64
	scales, t.ratio = grid(1.3, 4, 100)
	top := math.Inf(-1)
	for _, s := range scales {
		segment := make([][]float64, n+1)
		for i := range segment {
			segment[i] = make([]float64, n+1)
			for j := i; j <= n; j++ {
				segment[i][j] = t.sums[j].minus(t.sums[i]).evidence(0, 5, s)
			}
		}
		prior := -s*s/50 + math.Log(s)
		for a := range n + 1 {
			for b := a; b <= n; b++ {
				for c := b; c <= n; c++ {
					same := 1.0
					switch {
					case a == b && b == c:
						same = 6
					case a == b || b == c:
						same = 2
					}
					v := prior + segment[0][a] + segment[a][b] + segment[b][c] + segment[c][n]
					if v < top-40 {
						continue
					}
					top = max(top, v)
					t.states = append(t.states, before{s, [3]int{a, b, c}})
					logs = append(logs, v+math.Log(width(a, n)*width(b, n)*width(c, n)/same))
				}
			}
		}
	}
	t.pick = newChooser(logs)
}

// breaks is independent draws: of the noise from a grid and the rows before each break, by enumeration; and of the rest,
// given those.
func breaks() *moments {
	y := column("realint.csv", "r")
	n, t := len(y), &breaking
	if t.states == nil {
		enumerate(y)
	}
	rng := random(chain.Add(1))
	m := newMoments("at_least", "at_gap[0]", "at_gap[1]", "level[0]", "level[1]", "level[2]", "level[3]", "sd")
	logit := func(x float64) float64 { return math.Log(x / (float64(n) - x)) }
	for range 500_000 {
		x := t.states[t.pick.draw(rng)]
		s := x.s * math.Pow(t.ratio, rng.Float64()-0.5)
		at := make([]float64, 3)
		for k, c := range x.rows {
			at[k] = max(0, float64(c)-0.5) + width(c, n)*rng.Float64()
		}
		slices.Sort(at)
		level, from := make([]float64, 4), 0
		for k, to := range append(x.rows[:], n) {
			level[k] = t.sums[to].minus(t.sums[from]).draw(0, 5, s, rng)
			from = to
		}
		m.add(1, at[0], logit(at[1])-logit(at[0]), logit(at[2])-logit(at[1]), level[0], level[1], level[2], level[3], s)
	}
	return m
}
