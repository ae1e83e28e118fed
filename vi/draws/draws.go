package draws

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/weighted"
)

// Draws are samples of the posterior. Values[k][i] is draw k of the latent
// Names[i], on the program's own scale.
type Draws struct {
	Names  []string
	Values [][]float64
	index  map[string]int

	// Where the draws come from: z[k] holds draw k's unconstrained coordinates.
	density *graph.Density
	q       family.Q
	z       [][]float64
}

// Of returns all draws of the latent with the given name, or of the component of a vector, as w[1].
func (d Draws) Of(name string) ([]float64, error) {
	out := make([]float64, len(d.Values))
	if i, ok := d.index[name]; ok {
		for k, row := range d.Values {
			out[k] = row[i]
		}
		return out, nil
	}
	i := slices.Index(d.components(), name)
	if i < 0 {
		return nil, fmt.Errorf("draws: no latent %q among the draws", name)
	}
	for k, z := range d.z {
		out[k] = d.density.ComponentsAt(z)[i]
	}
	return out, nil
}

// components are the names of those of vectors; none where the draws have no points of a density to compute them from.
func (d Draws) components() []string {
	if d.density == nil || len(d.z) != len(d.Values) {
		return nil
	}
	return d.density.Components()
}

// table is what files have of the draws: the program's latents, with the components of vectors in place of those that these are
// computed from.
func (d Draws) table() (names []string, rows [][]float64) {
	components := d.components()
	if len(components) == 0 {
		return d.Names, d.Values
	}
	rows = make([][]float64, len(d.z))
	for i, name := range d.Names {
		if d.density.InVector(i) {
			continue
		}
		names = append(names, name)
		for k, row := range d.Values {
			rows[k] = append(rows[k], row[i])
		}
	}
	for k, z := range d.z {
		rows[k] = append(rows[k], d.density.ComponentsAt(z)...)
	}
	return append(names, components...), rows
}

// Points are the draws in unconstrained coordinates, which must not be changed.
func (d Draws) Points() [][]float64 { return d.z }

// Of returns n draws of the posterior with equal weights; the seed fixes them. It weighs new draws of the pool's proposal, so many
// that few of the n are duplicates (see weighted.Sample.Oversampling), and resamples these. If the pool has the draws of chains,
// it chooses among these, and if n is larger than their number some are there more than once.
func Of(ctx context.Context, pool *weighted.Sample, n int, seed uint64) (Draws, error) {
	density, q := pool.Density(), pool.Proposal()
	if n < 0 {
		return Draws{}, fmt.Errorf("draws: %d draws", n)
	}
	if err := check(density, q, n); err != nil {
		return Draws{}, err
	}
	z := make([][]float64, n)
	if n > 0 {
		s := pool
		if !pool.Correlated() {
			var err error
			s, err = weighted.Draw(ctx, density, q, max(fewest, int(math.Ceil(pool.Oversampling()*float64(n)))), seed)
			if err != nil {
				return Draws{}, fmt.Errorf("draws: %w", err)
			}
		}
		for k, from := range s.Resample(n, parallel.NewRand(parallel.Mix(seed, uint64(n)))) {
			z[k] = s.Point(from)
		}
	}
	return At(density, q, z), nil
}

// fewest is the least number of draws that Of resamples.
const fewest = 100

// check reports a distribution that is not one of the density's latents, and more
// draws than there is memory for: of latents, data and deterministic expressions.
func check(density *graph.Density, q family.Q, n int) error {
	err := family.Check(q, density)
	if err == nil {
		numbers := q.Dim() + len(density.Data()) + len(density.Deterministics())
		err = memory.Check(fmt.Sprintf("%d draws", n), float64(n)*(100+16*float64(numbers)))
	}
	if err != nil {
		return fmt.Errorf("draws: %w", err)
	}
	return nil
}

// At makes Draws of given unconstrained coordinates z. q, a distribution near the posterior, is what WriteCSV has the densities
// lp_approx__ of.
func At(density *graph.Density, q family.Q, z [][]float64) Draws {
	d := Draws{Names: density.Latents(), Values: make([][]float64, len(z)), index: map[string]int{}}
	for i, name := range d.Names {
		d.index[name] = i
	}
	for k := range z {
		d.Values[k] = density.Constrain(z[k])
	}
	d.density, d.q, d.z = density, q.Clone(), z
	return d
}

// With are the same draws for another program, whose latents are among those of the draws, by name and in any order.
func (d Draws) With(density *graph.Density) (Draws, error) {
	out := Draws{Names: density.Latents(), Values: make([][]float64, len(d.z)), index: map[string]int{}, density: density, z: make([][]float64, len(d.z))}
	from := make([]int, len(out.Names))
	for i, name := range out.Names {
		j, ok := d.index[name]
		if !ok {
			return Draws{}, fmt.Errorf("draws: the other program has a latent %q, of which there are no draws", name)
		}
		out.index[name], from[i] = i, j
	}
	for k, z := range d.z {
		row := make([]float64, len(from))
		for i, j := range from {
			x := d.Values[k][j]
			row[i] = z[j]
			if density.ConstrainOne(i, z[j]) == x { // the coordinates are the same, and have more digits
				continue
			}
			u, err := density.UnconstrainOne(i, x)
			if err == nil && !(math.Abs(density.ConstrainOne(i, u)-x) <= 1e-9*(1+math.Abs(x))) {
				err = fmt.Errorf("draws: the latent %s of the other program cannot be %v", out.Names[i], x)
			}
			if err != nil {
				return Draws{}, err
			}
			row[i] = u
		}
		out.z[k], out.Values[k] = row, density.Constrain(row)
	}
	return out, nil
}
