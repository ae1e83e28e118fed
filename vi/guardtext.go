package vi

import (
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// guardPlaces lists for each hyperplane the files and lines of the user's
// program that compare there.
func guardPlaces(d *graph.Density) [][]string {
	places := make([][]string, d.Arrangement().Len())
	for _, g := range d.Guards() {
		if p := &places[g.Side.Plane]; !slices.Contains(*p, g.Place()) {
			*p = append(*p, g.Place())
		}
	}
	return places
}

// placesText is a cell of a table.
func placesText(places []string) string {
	if len(places) > 3 {
		return strings.Join(places[:3], ", ") + ", …"
	}
	return strings.Join(places, ", ")
}

// guardText is one side of a hyperplane, or with "=" the hyperplane itself, in
// the latents' names: "rate > 2" on the program's own scale if it has one
// latent, else "2·x - y > 1" in unconstrained coordinates.
func guardText(d *graph.Density, plane int, relation string) string {
	h, names := d.Arrangement().Plane(plane), d.Latents()
	flip := map[string]string{"<": ">", ">": "<", "=": "="}
	if len(h.Index) == 1 {
		if h.Coef[0] < 0 {
			relation = flip[relation]
		}
		i := h.Index[0]
		return names[i] + " " + relation + " " + short(d.ConstrainOne(i, -h.Const/h.Coef[0])+0)
	}
	var b strings.Builder
	for k, i := range h.Index {
		if k == 4 {
			b.WriteString(" + …")
			break
		}
		switch c := h.Coef[k]; {
		case k > 0 && c > 0:
			b.WriteString(" + ")
		case k > 0:
			b.WriteString(" - ")
		case c < 0:
			b.WriteString("-")
		}
		if c := math.Abs(h.Coef[k]); c != 1 {
			b.WriteString(short(c) + "·")
		}
		b.WriteString(names[i])
	}
	return b.String() + " " + relation + " " + short(-h.Const+0)
}

// sideText is a side in the latents' names.
func sideText(d *graph.Density, s regions.Side) string {
	if s.Positive {
		return guardText(d, s.Plane, ">")
	}
	return guardText(d, s.Plane, "<")
}
