package lower

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"
	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/internal/kernel"
)

// DOT draws the graph in the language of Graphviz, results at the top. Equal
// programs give equal text.
func (g *Graph) DOT() ([]byte, error) {
	drawn := simple.NewDirectedGraph()
	number := map[*gorgonia.Node]dotNode{}
	var visit func(n *gorgonia.Node) dotNode
	visit = func(n *gorgonia.Node) dotNode {
		if v, ok := number[n]; ok {
			return v
		}
		v := dotNode{id: int64(len(number)), label: dotLabel(n)}
		number[n] = v
		drawn.AddNode(v)
		for _, c := range kernel.Operands(n) {
			to := visit(c)
			if to.id != v.id {
				drawn.SetEdge(simple.Edge{F: v, T: to})
			}
		}
		return v
	}
	visit(g.Out)
	if g.Grad != nil {
		visit(g.Grad)
	}
	return dot.Marshal(drawn, "facet", "", "  ")
}

// DOT draws the Gorgonia graph of the program for one sample.
func (p *Program) DOT() ([]byte, error) {
	g, err := p.Graph(1)
	if err != nil {
		return nil, err
	}
	return g.DOT()
}

func dotLabel(n *gorgonia.Node) string {
	if n.Op() == nil {
		return fmt.Sprintf("%s %v", n.Name(), n.Shape())
	}
	return fmt.Sprintf("%v %v", n.Op(), n.Shape())
}

type dotNode struct {
	id    int64
	label string
}

// ID implements gonum's graph.Node.
func (n dotNode) ID() int64 { return n.id }

// DOTID implements dot.Node.
func (n dotNode) DOTID() string { return "n" + strconv.FormatInt(n.id, 10) }

// Attributes implements encoding.Attributer.
func (n dotNode) Attributes() []encoding.Attribute {
	return []encoding.Attribute{{Key: "label", Value: strconv.Quote(n.label)}}
}
