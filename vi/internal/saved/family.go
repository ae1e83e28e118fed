package saved

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/climb"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
)

// A Named is a family.Family or a gradient.Estimator.
type Named interface{ Name() string }

// families are those that a saved fit can have, beside a program's own.
var families = []family.Family{
	family.MeanField{}, family.Softplus{}, family.Structured{}, family.FullRank{}, family.LowRank{},
	mixture.Cells{}, family.Sequence{}, sumout.Family{},
}

// A Family is a family in a file: in JSON by its name and its fields, in a journal by its number.
type Family struct {
	family.Family
	Number int
	text   Value    // as it was read, for Find
	member family.Q // to clone, or nil
}

// A Value is a Named in JSON, by its name and its fields.
type Value struct {
	Name   string
	Fields json.RawMessage `json:",omitempty"`
}

// ValueOf is x in JSON.
func ValueOf(x Named) (n Value, err error) {
	n.Name = x.Name()
	n.Fields, err = json.Marshal(x)
	return n, err
}

// Find decodes n into the type of that name among known; nil if there is none.
func Find[T Named](n Value, known []T) (x Named, err error) {
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
func (f Family) MarshalJSON() ([]byte, error) {
	n, err := ValueOf(f.Family)
	if err != nil {
		return nil, err
	}
	return json.Marshal(n)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Family) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &f.text) }

// Find finds a family that was read among facet's and a program's own.
func (f *Family) Find(own []Named) error {
	if f.text.Name == "" {
		return nil
	}
	x, err := Find(f.text, families)
	if x == nil {
		x, err = Find(f.text, own)
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
func (f Family) new(d *graph.Density) (family.Q, error) {
	if f.member != nil {
		return f.member.Clone(), nil
	}
	return f.New(d)
}

// A Q is a member of a family.
type Q struct {
	Family Family
	Theta  mc.Numbers // of a family.Composite what Decompose says
	Held   []int      `json:",omitempty"` // latents, of a start that a user gave
	Parts  []Q        `json:",omitempty"` // of a family.Composite
}

// QOf is q in a file.
func QOf(q family.Q) Q {
	s := Q{Family: Family{Family: q.Family()}, Theta: q.Theta(), Held: climb.HeldBy(q)}
	if c, ok := q.(family.Composite); ok {
		theta, parts := c.Decompose()
		s.Theta, s.Parts = theta, slices.Grow(s.Parts, len(parts))
		for _, part := range parts {
			s.Parts = append(s.Parts, QOf(part))
		}
	}
	return s
}

// Of rebuilds the saved distribution for d's latents.
func (s Q) Of(d *graph.Density) (family.Q, error) {
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
	if err := climb.Hold(q, s.Held); err != nil {
		return nil, err
	}
	return q, family.Check(q, d)
}

// compose makes a member of f from parts.
func (s Q) compose(f family.Composer, d *graph.Density) (family.Q, error) {
	var parts []family.Q
	for k, part := range s.Parts {
		q, err := part.Of(d)
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

// Each calls visit for all families.
func (s *Q) Each(visit func(*Family) error) error {
	err := visit(&s.Family)
	for k := range s.Parts {
		err = errors.Join(err, s.Parts[k].Each(visit))
	}
	return err
}

// CheckKept reports a family or an estimator that JSON does not keep.
func CheckKept(x Named) error {
	n, err := ValueOf(x)
	if err == nil {
		var y Named
		if y, err = Find(n, []Named{x}); err == nil && reflect.DeepEqual(x, y) {
			return nil
		}
	}
	return fmt.Errorf("vi: saving the fit: %q is not what JSON says of it, and cannot be saved: %w", x.Name(), cmp.Or(err, errLost))
}

var errLost = errors.New("it has fields that JSON loses")
