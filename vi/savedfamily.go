package vi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/mc"
)

// A Named is a family.Family or a gradient.Estimator.
type Named interface{ Name() string }

// families are those that a saved fit can have, beside a program's own.
var families = []family.Family{
	family.MeanField{}, family.Softplus{}, family.Structured{}, family.FullRank{}, family.LowRank{},
	family.Cells{}, family.Sequence{}, sumout.Family{},
}

// savedFamily is a family: in JSON by its name and its fields, in a journal by its number.
type savedFamily struct {
	family.Family
	Number int
	text   named    // as it was read, for find
	member family.Q // to clone, or nil
}

// named is a value in JSON, by its name and its fields.
type named struct {
	Name   string
	Fields json.RawMessage `json:",omitempty"`
}

func inJSON(x Named) (n named, err error) {
	n.Name = x.Name()
	n.Fields, err = json.Marshal(x)
	return n, err
}

// findNamed decodes n into the type of that name among known; nil if there is none.
func findNamed[T Named](n named, known []T) (x Named, err error) {
	for _, k := range known {
		if k.Name() == n.Name {
			v := reflect.New(reflect.TypeOf(k))
			err := json.Unmarshal(n.Fields, v.Interface())
			return v.Elem().Interface().(Named), err
		}
	}
	return nil, nil
}

// MarshalJSON implements json.Marshaler.
func (f savedFamily) MarshalJSON() ([]byte, error) {
	n, err := inJSON(f.Family)
	if err != nil {
		return nil, err
	}
	return json.Marshal(n)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *savedFamily) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &f.text) }

// own are the families and the estimator of a fit by the settings.
func (s job) own() (own []Named) {
	if s.Family != nil {
		own = append(own, s.Family)
	}
	if s.Start != nil {
		own = append(own, s.Start.Family())
	}
	if s.Estimator != nil {
		own = append(own, s.Estimator)
	}
	return own
}

// find finds a family that was read among facet's and a program's own.
func (f *savedFamily) find(own []Named) error {
	if f.text.Name == "" {
		return nil
	}
	x, err := findNamed(f.text, families)
	if x == nil {
		x, err = findNamed(f.text, own)
	}
	if err != nil {
		return err
	}
	var ok bool
	if f.Family, ok = x.(family.Family); !ok {
		return fmt.Errorf("unknown family %q: Load takes it after the density", f.text.Name)
	}
	return nil
}

// new makes a member of the saved family for d's latents.
func (f savedFamily) new(d *graph.Density) (family.Q, error) {
	if f.member != nil {
		return f.member.Clone(), nil
	}
	return f.New(d)
}

// savedQ is a member of a family.
type savedQ struct {
	Family savedFamily
	Theta  mc.Numbers // of a family.Composite what Decompose says
	Held   []int      `json:",omitempty"` // latents, of a start that a user gave
	Parts  []savedQ   `json:",omitempty"` // of a family.Composite
}

func saveQ(q family.Q) savedQ {
	s := savedQ{Family: savedFamily{Family: q.Family()}, Theta: q.Theta(), Held: heldBy(q)}
	if c, ok := q.(family.Composite); ok {
		theta, parts := c.Decompose()
		s.Theta, s.Parts = theta, slices.Grow(s.Parts, len(parts))
		for _, part := range parts {
			s.Parts = append(s.Parts, saveQ(part))
		}
	}
	return s
}

// of rebuilds the saved distribution for d's latents.
func (s savedQ) of(d *graph.Density) (family.Q, error) {
	if s.Family.Family == nil {
		return nil, errors.New("no family")
	}
	if f, ok := s.Family.Family.(family.Composer); ok {
		return s.compose(f, d)
	}
	q, err := s.Family.new(d)
	if err != nil {
		return nil, err
	}
	if len(s.Theta) != len(q.Theta()) {
		return nil, fmt.Errorf("%d parameters for %d", len(s.Theta), len(q.Theta()))
	}
	q.Set(s.Theta)
	if err := checkHeld(s.Held, d.Dim()); err != nil {
		return nil, err
	}
	if h, ok := q.(holder); ok {
		h.Hold(s.Held)
	}
	return q, family.Check(q, d)
}

// compose makes a member of f from parts.
func (s savedQ) compose(f family.Composer, d *graph.Density) (family.Q, error) {
	var parts []family.Q
	for k, part := range s.Parts {
		q, err := part.of(d)
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", k, err)
		}
		parts = append(parts, q)
	}
	q, err := f.Compose(d, s.Theta, parts)
	if err != nil {
		return nil, err
	}
	return q, family.Check(q, d)
}

func (s *savedQ) each(visit func(*savedFamily) error) error {
	err := visit(&s.Family)
	for k := range s.Parts {
		err = errors.Join(err, s.Parts[k].each(visit))
	}
	return err
}

// checkKept reports a family or an estimator that JSON does not keep.
func checkKept(x Named) error {
	n, err := inJSON(x)
	if err == nil {
		var y Named
		if y, err = findNamed(n, []Named{x}); err == nil && reflect.DeepEqual(x, y) {
			return nil
		}
	}
	return fmt.Errorf("vi: saving the fit: %q is not what JSON says of it, and cannot be saved: %w", x.Name(), cmp.Or(err, errLost))
}

var errLost = errors.New("it has fields that JSON loses")
