package report

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/facetvi/facet/vi"
)

// A drawing is a program as boxes in layers, latents above guards above what is observed and named, and arrows to what depends on
// them. Lengths are in units of the page at a telephone's width.
type drawing struct {
	Width, Height float64
	Arrows        []arrow
	Boxes         []box
	Left          int // nodes that are not drawn
}

type box struct {
	X, Y, W, H, R float64
	Class         string
	Text, Name    string // Name is the whole of it
	TextX, TextY  float64
}

func (b box) middle() float64 { return b.X + b.W/2 }

type arrow struct {
	Path, Head string // paths
	Class      string
}

const (
	sheet     = 400.0 // the width
	boxHeight = 28.0
	letter    = 6.4 // the mean width of one
	gapX      = 14.0
	gapY      = 20.0 // between rows of a layer
	layerGap  = 60.0
	headRoom  = 34.0 // for arrows above the first row
	mostBoxes = 12   // of a layer
	longest   = 26   // letters
)

// pointsOfDrawing are how many points of the posterior the program is looked at near to.
const pointsOfDrawing = 4

// some are n draws of the posterior, at equal distances by weight.
func some(fit *vi.Posterior, n int) (points [][]float64, err error) {
	s, err := fit.Sample()
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for k, w := range s.Weights {
		for sum += w; len(points) < n && sum > (float64(len(points))+0.5)/float64(n); {
			points = append(points, slices.Clone(s.Point(k)))
		}
	}
	return points, nil
}

// newDrawing draws the program of a fit.
func newDrawing(fit *vi.Posterior) (*drawing, error) {
	points, err := some(fit, pointsOfDrawing)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	nodes := depends(fit.Density, points)
	guarded := slices.ContainsFunc(nodes, func(n node) bool { return n.kind == guardNode })
	p, at := &drawing{Width: sheet}, map[int]box{}
	y := 2.0
	if hasLoops(nodes) {
		y = headRoom
	}
	for _, x := range []struct {
		kinds []int
		align float64 // from the left, 0, to the right, 1: arrows from latents go past the guards
	}{{[]int{latentNode}, 0.5}, {[]int{guardNode}, 0.1}, {[]int{observedNode, expressionNode}, 0.75}} {
		if !guarded {
			x.align = 0.5
		}
		var layer []int
		for k, n := range nodes {
			if slices.Contains(x.kinds, n.kind) {
				layer = append(layer, k)
			}
		}
		if len(layer) == 0 {
			continue
		}
		if more := len(layer) - mostBoxes; more > 0 {
			p.Left += more
			layer = layer[:mostBoxes]
		}
		y = p.place(nodes, layer, y, x.align, at) + layerGap
	}
	p.Height = y - layerGap + 6
	p.connect(nodes, at)
	for k := range nodes {
		if b, ok := at[k]; ok {
			p.Boxes = append(p.Boxes, b)
		}
	}
	return p, nil
}

// hasLoops reports whether there are arrows from latents to latents, which go over their boxes.
func hasLoops(nodes []node) bool {
	return slices.ContainsFunc(nodes, func(n node) bool { return n.kind == latentNode && len(n.latents) > 0 })
}

// place puts the nodes of a layer into rows from y on, and returns where these end.
func (p *drawing) place(nodes []node, layer []int, y, align float64, at map[int]box) float64 {
	class := map[int]string{latentNode: "latent", guardNode: "guard", observedNode: "observed", expressionNode: "expression"}
	var row []int
	width := -gapX
	flush := func() {
		x := (sheet - width) * align
		for _, k := range row {
			b := at[k]
			b.X, b.Y = x, y
			b.TextX, b.TextY = x+b.W/2, y+boxHeight/2+4
			at[k] = b
			x += b.W + gapX
		}
		row, width = nil, -gapX
	}
	for _, k := range layer {
		n := nodes[k]
		b := box{H: boxHeight, Class: class[n.kind], Name: n.name, Text: n.name}
		if n.kind == latentNode {
			b.R = boxHeight / 2
		}
		if r := []rune(b.Text); len(r) > longest {
			b.Text = string(r[:longest-1]) + "…"
		}
		if n.count > 1 {
			b.Text += fmt.Sprintf(" ×%d", n.count)
		}
		b.W = letter*float64(utf8.RuneCountInString(b.Text)) + 22
		if width+gapX+b.W > sheet-2 && len(row) > 0 {
			flush()
			y += boxHeight + gapY
		}
		at[k] = b
		row, width = append(row, k), width+gapX+b.W
	}
	flush()
	return y + boxHeight
}

// connect draws the arrows.
func (p *drawing) connect(nodes []node, at map[int]box) {
	for to, n := range nodes {
		target, ok := at[to]
		if !ok {
			continue
		}
		for from := range nodes {
			source, ok := at[from]
			switch {
			case !ok:
			case n.latents[from]:
				p.arrow(source, target, "plain")
			case n.guards[from]:
				p.arrow(source, target, "jump")
			}
		}
	}
}

// arrow is from one box to another: down between layers, up from a guard to a latent, and over the boxes within a layer.
func (p *drawing) arrow(from, to box, class string) {
	x0, x1 := from.middle(), to.middle()
	switch {
	case from == to:
		x, y := from.X+from.W-14, from.Y
		p.add(class, fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x, y, x-2, y-24, x+24, y-20, x+8, y-4), x+7, y-1, -0.3, 1)
	case to.Y > from.Y:
		y0, y1 := from.Y+from.H, to.Y
		bend := (y1 - y0) / 2
		p.add(class, fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x0, y0, x0, y0+bend, x1, y1-bend, x1, y1-5), x1, y1, 0, 1)
	case to.Y < from.Y:
		x0, x1 = x0+8, x1+8 // beside the arrow down
		y0, y1 := from.Y, to.Y+to.H
		bend := (y0 - y1) / 2
		p.add(class, fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x0, y0, x0, y0-bend, x1, y1+bend, x1, y1+5), x1, y1, 0, -1)
	default:
		y := from.Y
		p.add(class, fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x0, y, x0, y-26, x1, y-30, x1, y-5), x1, y, 0, 1)
	}
}

// add adds an arrow with its head at (x, y), in direction (dx, dy).
func (p *drawing) add(class, line string, x, y, dx, dy float64) {
	const long, half = 7, 3.2
	head := fmt.Sprintf("M%.1f %.1fL%.1f %.1fL%.1f %.1fZ", x, y,
		x-long*dx-half*dy, y-long*dy+half*dx, x-long*dx+half*dy, y-long*dy-half*dx)
	p.Arrows = append(p.Arrows, arrow{line, head, class})
}
