package draws

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/weighted"
)

// Draws are samples of the posterior. Values[k][i] is draw k of what Names[i] says, on the program's own scale: a latent, or after all of
// these a component of a vector, as w[1], in place of the latents that it is computed from.
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
	if d.density != nil && len(d.z) == len(d.Values) { // what components are computed from
		if i, ok := d.density.Latent(name); ok {
			for k, z := range d.z {
				out[k] = d.density.Coordinate(i).Value(z[i])
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("draws: no latent %q among the draws", name)
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
		if pool.Chains() == 0 {
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
func At(density *graph.Density, q family.Q, z [][]float64) Draws { return at(density, q.Clone(), z) }

func at(density *graph.Density, q family.Q, z [][]float64) Draws {
	d := Draws{Values: make([][]float64, len(z)), index: map[string]int{}, density: density, q: q, z: z}
	var own []int // latents that the program speaks of
	for i, name := range density.Latents() {
		if !density.Coordinate(i).InVector() {
			own, d.Names = append(own, i), append(d.Names, name)
		}
	}
	d.Names = append(d.Names, density.Components()...)
	for i, name := range d.Names {
		d.index[name] = i
	}
	for k, point := range z {
		x := density.Constrain(point)
		if len(own) < len(x) {
			row := make([]float64, 0, len(d.Names))
			for _, i := range own {
				row = append(row, x[i])
			}
			x = append(row, density.ComponentsAt(point)...)
		}
		d.Values[k] = x
	}
	return d
}

// With are the same draws for another program, whose latents are among those of the draws, by name and in any order.
func (d Draws) With(density *graph.Density) (Draws, error) {
	if d.density == nil {
		return Draws{}, errors.New("draws: these draws are of several programs")
	}
	latents := density.Latents()
	from := make([]int, len(latents))
	for i, name := range latents {
		j, ok := d.density.Latent(name)
		if !ok {
			return Draws{}, fmt.Errorf("draws: the other program has a latent %q, of which there are no draws", name)
		}
		from[i] = j
	}
	all := make([][]float64, len(d.z))
	for k, z := range d.z {
		row := make([]float64, len(from))
		for i, j := range from {
			x := d.density.Coordinate(j).Value(z[j])
			row[i] = z[j]
			if density.Coordinate(i).Value(z[j]) == x { // the coordinates are the same, and have more digits
				continue
			}
			u, err := density.Coordinate(i).Inverse(x)
			if err == nil && !(math.Abs(density.Coordinate(i).Value(u)-x) <= 1e-9*(1+math.Abs(x))) {
				err = fmt.Errorf("draws: the latent %s of the other program cannot be %v", latents[i], x)
			}
			if err != nil {
				return Draws{}, err
			}
			row[i] = u
		}
		all[k] = row
	}
	return at(density, nil, all), nil
}
