package programs

import (
	"fmt"
	"strings"
)

// String writes the program.
func (p *Program) String() string {
	var b strings.Builder
	for i, v := range p.params {
		fmt.Fprintf(&b, "v%d = param%v\n", i, v)
	}
	writeBlock(&b, p.body, "")
	return b.String()
}

func writeBlock(b *strings.Builder, list []stmt, indent string) {
	for _, s := range list {
		fmt.Fprintf(b, "%s%s", indent, s.op)
		switch s.op {
		case "sample", "let", "collect":
			fmt.Fprintf(b, " v%d", s.i)
		case "plate":
			fmt.Fprintf(b, " %d", s.n)
		case "if", "name", "require":
			fmt.Fprintf(b, " %v", s.g)
		}
		fmt.Fprintf(b, " %v %s %v\n", s.e, s.law.Kinds, s.xs)
		writeBlock(b, s.then, indent+"  ")
		if s.othw != nil {
			fmt.Fprintf(b, "%selse\n", indent)
			writeBlock(b, s.othw, indent+"  ")
		}
	}
}

func (x expr) String() string {
	switch x.op {
	case "const":
		return fmt.Sprintf("%.3g", x.v)
	case "column":
		return fmt.Sprintf("column%d%.3g", x.deep, x.xs)
	case "index":
		return fmt.Sprintf("w%d[%d%v]", x.i, x.deep, x.at)
	case "var":
		return fmt.Sprint("v", x.i)
	case "if":
		return fmt.Sprintf("if%v", append([]any{*x.g}, x.kids[0], x.kids[1]))
	}
	return fmt.Sprint(x.op, x.kids)
}

func (g guard) String() string {
	if g.kids != nil {
		return fmt.Sprint(g.op, g.kids)
	}
	return fmt.Sprintf("(%v %s %v)", g.a, g.op, g.b)
}
