package plot

import (
	"maps"
	"slices"

	"gonum.org/v1/plot/plotter"
)

// Contours by marching squares: where a field crosses the level, on the edges of
// its grid, is joined within each cell of the grid. Gonum's own contours join by
// equal coordinates, which panics on fields with jumps.

// An edge of the grid: the one from node k to its right, 2k, or to the one above,
// 2k+1.
type edge int

// contour is the lines on which f is at the level.
func (f *field) contour(level float64) (lines []plotter.XYs) {
	next := map[edge][]edge{}
	at := map[edge]plotter.XY{}
	cols := len(f.u)
	for r := range len(f.v) - 1 {
		for c := range cols - 1 {
			k := r*cols + c
			corners := [4]int{k, k + 1, k + 1 + cols, k + cols}
			edges := [4]edge{edge(2 * k), edge(2*(k+1) + 1), edge(2 * (k + cols)), edge(2*k + 1)}
			var cut []edge
			mean := 0.0
			for i, e := range edges {
				a, b := corners[i], corners[(i+1)%4]
				mean += f.log[a] / 4
				if (f.log[a] > level) != (f.log[b] > level) {
					cut = append(cut, e)
					at[e] = f.crossing(a, b, level)
				}
			}
			if len(cut) == 4 && (f.log[k] > level) != (mean > level) {
				// A saddle: cut off the first corner and the one across from it.
				cut = []edge{cut[0], cut[3], cut[1], cut[2]}
			}
			for i := 0; i < len(cut); i += 2 {
				next[cut[i]] = append(next[cut[i]], cut[i+1])
				next[cut[i+1]] = append(next[cut[i+1]], cut[i])
			}
		}
	}
	return join(next, at)
}

// crossing is where the field, linear between two nodes, is at the level.
func (f *field) crossing(a, b int, level float64) plotter.XY {
	t := (level - f.log[a]) / (f.log[b] - f.log[a])
	cols := len(f.u)
	p, q := plotter.XY{X: f.u[a%cols], Y: f.v[a/cols]}, plotter.XY{X: f.u[b%cols], Y: f.v[b/cols]}
	return plotter.XY{X: p.X + t*(q.X-p.X), Y: p.Y + t*(q.Y-p.Y)}
}

// join follows the edges, each of which has one neighbour or two: first from the
// ends that lie at the rim, then round the loops.
func join(next map[edge][]edge, at map[edge]plotter.XY) (lines []plotter.XYs) {
	order := slices.Sorted(maps.Keys(next))
	done := map[edge]bool{}
	follow := func(e edge) {
		first := e
		var line plotter.XYs
		for !done[e] {
			done[e] = true
			line = append(line, at[e])
			for _, n := range next[e] {
				if !done[n] {
					e = n
					break
				}
			}
		}
		if len(next[first]) == 2 {
			line = append(line, line[0])
		}
		lines = append(lines, line)
	}
	for _, ends := range []int{1, 2} {
		for _, e := range order {
			if !done[e] && len(next[e]) == ends {
				follow(e)
			}
		}
	}
	return lines
}
