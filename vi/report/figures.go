package report

import (
	"html/template"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/facetvi/facet/vi/plot"
)

// Sizes in points: of marginals, of which some stand side by side, and of what is over time.
const (
	smallWidth, smallHeight = 250, 150
	wideWidth, wideHeight   = 370, 200

	mostSeries = 12 // pictures over time
)

// A figure is a picture, or why there is none.
type figure struct {
	SVG     template.HTML
	Caption string
}

// draw is a plot as a figure, or why there is none.
func draw(p *gonum.Plot, err error, label, caption string, width, height int) figure {
	var b strings.Builder
	if err == nil {
		err = plot.SVG(&b, p, vg.Length(width), vg.Length(height), label)
	}
	if err != nil {
		return figure{Caption: label + " is not drawn: " + strings.TrimPrefix(err.Error(), "plot: ")}
	}
	return figure{SVG: template.HTML(b.String()), Caption: caption}
}
