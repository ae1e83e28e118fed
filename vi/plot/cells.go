package plot

import (
	"fmt"

	"gonum.org/v1/plot"

	"github.com/facetvi/facet/vi"
)

const (
	mostBars  = 15
	mostWhere = 64 // letters
	whereSize = 8  // points
)

// Cells draws the weights of a fit's cells as bars, the highest on top, 15 at most; what all
// others weigh is written below. A fit of one family has one bar, "everywhere".
func Cells(fit *vi.Posterior) (*plot.Plot, error) { return cellBars(fit.Cells()) }

func cellBars(cells []vi.Cell) (*plot.Plot, error) {
	f := newFigure("weight", "")
	var weights []float64
	var labels []plot.Tick
	add := func(weight float64, label string) {
		if r := []rune(label); len(r) > mostWhere {
			label = string(r[:mostWhere-1]) + "…"
		}
		labels = append(labels, plot.Tick{Value: -float64(len(labels)), Label: label})
		weights = append(weights, weight)
	}
	rest := 0.0
	for k, c := range cells {
		if k < mostBars {
			add(c.Weight, c.Where)
		} else {
			rest += c.Weight
		}
	}
	if more := len(cells) - mostBars; more > 0 {
		add(rest, fmt.Sprintf("%d others: %.2g", more, rest))
	}
	for k, w := range weights[:min(mostBars, len(weights))] {
		at := -float64(k)
		f.band([]float64{0, w}, []float64{at - 0.36, at - 0.36}, []float64{at + 0.36, at + 0.36}, blue)
	}
	f.X.Min = 0
	f.Y.Min, f.Y.Max = 0.4-float64(len(weights)), 0.6
	f.Y.Tick.Marker = plot.ConstantTicks(labels)
	f.Y.Tick.Length, f.Y.Tick.Label.Font.Size = 0, whereSize
	return f.done()
}
