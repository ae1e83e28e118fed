package cells

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/internal/sumout"
)

// How the sums near a mode are found.
const (
	nearRounds = 10
	nearEnd    = 0.1 // squared standard deviations that a mode is from the point of the sums at most
	nearFar    = 1e6 // and where it is lost
)

// A Mode is where log r of much data is highest, near where a climb began, and log r around it.
type Mode struct {
	// Density is log r by its sums near Z (see derive.Density.Sums), with few intervals of a switch with many, as Compact
	// has them.
	Density   *graph.Density
	Z         []float64
	precision *mat.SymDense // −∂²log r/∂z² there
	rest      []int         // smooth latents
	// Log is the log of the integral of the normal that is like log r in Z's region.
	Log float64
}

// Near climbs from z. Each round takes the sums of log r near where the last one ended, all that depends on the data
// as squares, and goes to their highest mode: among all intervals of each switch with many, each by partial sums of the
// jumps and Newton's step. So the cost is that of some evaluations of log r. Where that has no end it climbs in
// z's region first, by all data and damped steps. It is nil where there are no sums, and where that has no end either.
func Near(ctx context.Context, d *graph.Density, z []float64) (*Mode, error) {
	m, err := approach(ctx, d, z)
	if err != nil || m != nil {
		return m, err
	}
	climb, err := NewModeFinder(d, nil)
	if err != nil || climb == nil {
		return nil, err
	}
	at := slices.Clone(z)
	if precision, _, err := climb.extend(ctx, at, d.Arrangement().Signs(z)); err != nil || precision == nil {
		return nil, err
	}
	for _, w := range d.Engine().Switches() {
		at[w.Latent] = z[w.Latent]
	}
	return approach(ctx, d, at)
}

// approach is Near without a climb by all data.
func approach(ctx context.Context, d *graph.Density, z []float64) (*Mode, error) {
	switches := d.Engine().Switches()
	m := &Mode{Z: slices.Clone(z), rest: sumout.Without(d.Dim(), switches)}
	for range nearRounds {
		was := slices.Clone(m.Z)
		sums := d.Engine().Sums(m.Z)
		if sums == nil {
			return nil, nil
		}
		list := groupsOf(switches, sums)
		var err error
		if m.Density, err = regroup(ctx, d, sums, list, [][]float64{m.Z}, nil); err != nil {
			return nil, err
		}
		m.Z = slices.Clone(m.Z)
		for _, g := range list {
			if g.at == nil {
				return nil, nil
			}
			for _, i := range m.rest {
				m.Z[i] = g.at[i]
			}
			m.Z[g.w.Latent] = g.at[g.w.Latent]
		}
		climb, err := NewModeFinder(m.Density, nil)
		if err != nil || climb == nil {
			return nil, err
		}
		at := slices.Clone(m.Z)
		m.precision, m.Log, err = climb.extend(ctx, at, m.Density.Arrangement().Signs(m.Z))
		if err != nil || m.precision == nil {
			return nil, err
		}
		for _, i := range m.rest {
			m.Z[i] = at[i]
		}
		if far := m.squared(was); far < nearEnd {
			return m, nil
		} else if !(far < nearFar*nearFar) {
			return nil, nil
		}
	}
	return nil, nil
}

// squared is the squared distance of z from the mode, in standard deviations.
func (m *Mode) squared(z []float64) (sum float64) {
	for _, i := range m.rest {
		for _, j := range m.rest {
			sum += (z[i] - m.Z[i]) * m.precision.At(i, j) * (z[j] - m.Z[j])
		}
	}
	return math.Abs(sum)
}

// Modes are the points of those given that climbs, each with the signs where it is, lead to different modes from: where
// these are more than modeApart standard deviations apart. There are none where they are too many to climb from.
func Modes(ctx context.Context, d *graph.Density, points [][]float64) (list [][]float64, err error) {
	climb, err := NewModeFinder(d, nil)
	if err != nil || climb == nil {
		return nil, err
	}
	switches := d.Engine().Switches()
	rest := sumout.Without(d.Dim(), switches)
	var modes []*Mode
	for _, z := range points {
		m := &Mode{Z: slices.Clone(z), rest: rest}
		if m.precision, m.Log, err = climb.extend(ctx, m.Z, d.Arrangement().Signs(z)); err != nil {
			return nil, err
		}
		if m.precision == nil || slices.ContainsFunc(modes, m.Same) {
			continue
		}
		for _, w := range switches {
			m.Z[w.Latent] = z[w.Latent]
		}
		if modes, list = append(modes, m), append(list, m.Z); len(list) > mostModes {
			return nil, nil
		}
	}
	return list, nil
}

// Same reports whether two modes are near each other, by the normals of both.
func (m *Mode) Same(o *Mode) bool { return max(m.squared(o.Z), o.squared(m.Z)) < modeApart*modeApart }
