package plot

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/facetvi/facet/vi"
)

const (
	regionDraws = 300 // of the fit
	namedLines  = 4   // hyperplanes that the legend names; if there are more, it counts them
)

// Regions draws two latents of a fit, on the program's own scale: the regions
// between hyperplanes in two tints, of which neighbours never share one, the
// hyperplanes, draws of the fit, and the contours that hold 50 %, 90 % and 99 % of
// two densities: of the model's own posterior within the figure, which jumps at
// hyperplanes, and of the fit. Where these differ, the family does not follow the
// posterior. Contours are those of densities of the unconstrained
// coordinates.
//
// Other latents are fixed: the model's density and the hyperplanes that involve
// them are those of the slice through the fit's mean, as the title then says. If the
// fit's latents are independent, its own contours and draws are the same on every
// slice.
//
// It returns an error if x or y is not the name of a latent, or both are the same.
func Regions(fit *vi.Posterior, x, y string) (*plot.Plot, error) {
	var at [2]int
	for k, name := range []string{x, y} {
		i, ok := fit.Density.Latent(name)
		if !ok {
			return nil, fmt.Errorf("plot: no latent %q in the model", name)
		}
		at[k] = i
	}
	if x == y {
		return nil, fmt.Errorf("plot: regions of %s and itself; name two latents", x)
	}
	s, err := newSlice(fit, at[0], at[1])
	if err != nil {
		return nil, fmt.Errorf("plot: regions of %s and %s: %w", x, y, err)
	}
	p := newPlot(sliceTitle(fit, at[0], at[1]), x, y)
	l := addLegend(p)
	lines := s.lines()
	if err := s.addCells(p, lines); err != nil {
		return nil, err
	}
	dots, err := s.draws()
	if err != nil {
		return nil, err
	}
	p.Add(dots)
	if err := s.addContours(p, l); err != nil {
		return nil, fmt.Errorf("plot: regions of %s and %s: %w", x, y, err)
	}
	l.add("draws of the fit", dots)
	if err := s.addLines(p, l, lines); err != nil {
		return nil, err
	}
	frame := s.show(s.corners())
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = frame[0].X, frame[2].X, frame[0].Y, frame[2].Y
	if !(p.X.Min < p.X.Max && p.Y.Min < p.Y.Max) {
		return nil, fmt.Errorf("plot: regions of %s and %s: the posterior is all at a bound", x, y)
	}
	return p, nil
}

// sliceTitle says where the other latents are.
func sliceTitle(fit *vi.Posterior, x, y int) string {
	var others []string
	for i, name := range fit.Density.Latents() {
		if i != x && i != y {
			others = append(others, fmt.Sprintf("%s = %.3g", name, fit.Density.ConstrainOne(i, fit.Q.Mean(i))))
		}
	}
	switch {
	case len(others) == 0:
		return ""
	case len(others) <= 3:
		return "slice at " + strings.ReplaceAll(strings.Join(others, ", "), "-", "−")
	}
	return fmt.Sprintf("slice at the fitted means of the other %d latents", len(others))
}

// addCells draws the regions.
func (s *slice) addCells(p *plot.Plot, lines []line) error {
	cells, odd := s.cells(lines)
	for k, cell := range cells {
		polygon, err := plotter.NewPolygon(s.showLines(append(cell, cell[0])))
		if err != nil {
			return fmt.Errorf("plot: region: %w", err)
		}
		polygon.LineStyle.Width = 0
		polygon.Color = pale(orange, 0.12)
		if odd[k] {
			polygon.Color = pale(sky, 0.22)
		}
		p.Add(polygon)
	}
	return nil
}

// draws are draws of the fit inside the window.
func (s *slice) draws() (*plotter.Scatter, error) {
	var points plotter.XYs
	d, err := s.fit.Draws(regionDraws, 0)
	if err != nil {
		return nil, err
	}
	frame := s.show(s.corners())
	low, high := frame[0], frame[2]
	for _, v := range d.Values {
		if at := (plotter.XY{X: v[s.x], Y: v[s.y]}); at.X > low.X && at.X < high.X && at.Y > low.Y && at.Y < high.Y {
			points = append(points, at)
		}
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return nil, fmt.Errorf("plot: draws: %w", err)
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: pale(vermilion, 0.65), Radius: 0.9, Shape: draw.CircleGlyph{}}
	return dots, nil
}

// addContours draws those of the model and of the fit.
func (s *slice) addContours(p *plot.Plot, l *legend) error {
	model, err := s.model(sliceNodes)
	if err != nil {
		return err
	}
	var posterior []plotter.XYs
	for _, level := range model.levels() {
		posterior = append(posterior, model.contour(level)...)
	}
	fitted, err := s.fitContours()
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name  string
		lines []plotter.XYs
		style draw.LineStyle
	}{
		{"posterior: 50, 90, 99 %", posterior, draw.LineStyle{Color: blue, Width: 1.2}},
		{"fit: 50, 90, 99 %", fitted, draw.LineStyle{Color: vermilion, Width: 1.2, Dashes: dashes[1]}},
	} {
		for _, points := range c.lines {
			line, err := plotter.NewLine(s.show(points))
			if err != nil {
				return err
			}
			line.LineStyle = c.style
			p.Add(line)
		}
		l.add(c.name, &plotter.Line{LineStyle: c.style})
	}
	return nil
}

// addLines draws the hyperplanes.
func (s *slice) addLines(p *plot.Plot, l *legend, lines []line) error {
	sides, err := s.fit.Sides()
	if err != nil {
		return err
	}
	corners := s.corners()
	for k, cut := range lines {
		var ends plotter.XYs
		for i, a := range corners {
			b := corners[(i+1)%len(corners)]
			if fa, fb := cut.at(a), cut.at(b); (fa > 0) != (fb > 0) {
				t := fa / (fa - fb)
				ends = append(ends, plotter.XY{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)})
			}
		}
		segment, err := plotter.NewLine(s.showLines(ends))
		if err != nil {
			return fmt.Errorf("plot: hyperplane: %w", err)
		}
		segment.LineStyle = draw.LineStyle{Color: black, Width: 1}
		if len(lines) <= namedLines {
			segment.Dashes = hyperplaneDashes[k]
		}
		p.Add(segment)
		switch {
		case len(lines) <= namedLines:
			l.add(lineName(sides[cut.plane]), segment)
		case k == 0:
			l.add(fmt.Sprintf("%d hyperplanes", len(lines)), segment)
		}
	}
	return nil
}

// hyperplaneDashes tell apart the lines that the legend names.
var hyperplaneDashes = [namedLines][]vg.Length{nil, {6, 2}, {1, 1.5}, {6, 2, 1, 2}}

// lineName is the name of a guard on the hyperplane, or what its positive side
// says.
func lineName(s vi.SideProb) string {
	for _, g := range s.Guards {
		if g.Name() != "" {
			return g.Name()
		}
	}
	return s.Condition
}
