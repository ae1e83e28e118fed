package graph

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/internal/ir"
)

// A Coordinate is one of the coordinates of a Density, parameters first and then latents: how a value comes of it.
type Coordinate struct{ of *latent }

// Coordinate is coordinate i. It panics unless i is less than Dim.
func (d *Density) Coordinate(i int) Coordinate { return Coordinate{&d.made().m.latents[i]} }

// Value is the value, of the latent or the parameter, where the coordinate is u.
func (c Coordinate) Value(u float64) float64 { return c.of.Constrain(u) }

// Slope is the derivative of Value, of a continuous latent or a parameter.
func (c Coordinate) Slope(u float64) float64 { return c.of.support.Slope(u) }

// Inverse is the coordinate where the value is x. An x outside the open support of the
// latent's prior is an error that names the latent and where it was sampled.
func (c Coordinate) Inverse(x float64) (float64, error) {
	u := c.of.support.Inverse(x)
	if math.IsNaN(u) || math.IsInf(u, 0) {
		return math.NaN(), fmt.Errorf("graph: %v: latent %s cannot be %v: its prior is %s", c.of.place, c.of.name, x, c.of.prior.Name())
	}
	return u, nil
}

// Transformed reports whether Value is not the coordinate itself.
func (c Coordinate) Transformed() bool { return c.of.discrete != nil || c.of.prior.Transformed() }

// Bounds are those of the value of a parameter, which it does not reach; infinite where there are none.
func (c Coordinate) Bounds() (lo, hi float64) { return c.of.support.Bounds() }

// InVector reports whether the latent is not what a program speaks of, but what Components are computed from: the part of a stick of
// a Dirichlet, the least of ordered values or a gap between two.
func (c Coordinate) InVector() bool { return c.of.inVector }

// Place is the file and line where the latent or the parameter was made.
func (c Coordinate) Place() string { return fmt.Sprint(c.of.place) }

// Parents lists for each latent, ascending, the earlier latents from which the parameters of its prior are
// computed. Latents that only decide which value an If chooses do not count. Nor do the parents of a parent, unless the
// prior's expressions have them too. A latent whose prior has only numbers as parameters has none.
func (d *Density) Parents() [][]int {
	parameters := make([][]ir.ID, d.Dim())
	for i := range parameters {
		parameters[i] = d.m.latents[i].prior.Nodes()
	}
	return d.nodes.Latents(parameters)
}

// Constrain maps z, Dim unconstrained coordinates, to the values that the
// program's latents have there. It panics unless len(z) is Dim().
func (d *Density) Constrain(z []float64) []float64 {
	d.checkLen(z)
	x := make([]float64, len(z))
	for i := range z {
		x[i] = d.Coordinate(i).Value(z[i])
	}
	return x
}
