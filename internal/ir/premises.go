package ir

// A Literal is a formula, or its negation.
type Literal struct {
	Formula ID
	Holds   bool
}

// Premises are what literals say of formulas.
type Premises struct {
	s     *Store
	known map[ID]Truth
	first ID // of formulas below it nothing is known
}

type Truth uint8

const (
	Open Truth = iota
	Always
	Never
)

func TruthOf(holds bool) Truth {
	if holds {
		return Always
	}
	return Never
}

// Suppose returns what follows where all of the literals hold.
func (s *Store) Suppose(literals []Literal) *Premises {
	p := &Premises{s: s, known: map[ID]Truth{}, first: NoRow}
	var learn func(id ID, holds bool)
	learn = func(id ID, holds bool) {
		if p.known[id] != Open {
			return
		}
		p.known[id], p.first = TruthOf(holds), min(p.first, id)
		switch n := s.At(id); {
		case n.Kind == Not:
			learn(n.A, !holds)
		case n.Kind == And && holds:
			learn(n.A, true)
			learn(n.B, true)
		}
	}
	for _, l := range literals {
		learn(l.Formula, l.Holds)
	}
	return p
}

// TruthOf says whether the formula id holds.
func (p *Premises) TruthOf(id ID) Truth {
	if v, ok := p.s.IsConst(id); ok {
		return TruthOf(v != 0)
	}
	if id < p.first {
		return Open
	}
	return Remembered(p.known, id, func() Truth {
		switch n := p.s.At(id); n.Kind {
		case Not:
			return [...]Truth{Open: Open, Always: Never, Never: Always}[p.TruthOf(n.A)]
		case And:
			a, b := p.TruthOf(n.A), p.TruthOf(n.B)
			switch {
			case a == Never || b == Never:
				return Never
			case a == Always && b == Always:
				return Always
			}
		}
		return Open
	})
}
