package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// SVG writes p as an element for a page of HTML: as wide as what holds it, in the proportions of width and height, which are
// in points. Its background is clear, and it has no ids, so that a page can hold many. label is what a screen reader says of it.
func SVG(w io.Writer, p *plot.Plot, width, height vg.Length, label string) error {
	c := vgsvg.New(width, height)
	clear := *p
	clear.BackgroundColor = nil
	clear.Draw(draw.Crop(draw.New(c), margin, -margin, margin, -margin))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, rest, _ := strings.Cut(b.String(), "<svg")
	_, rest, _ = strings.Cut(rest, ">") // its attributes
	_, err := fmt.Fprintf(w, `<svg role="img" aria-label="%s" viewBox="0 0 %v %v">%s`, html.EscapeString(label), width.Points(), height.Points(), rest)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}
