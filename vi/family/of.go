package family

import (
	"errors"
	"fmt"
	"reflect"
)

// Of returns the member of family f that is nearest to q. Where f has q's
// correlations it is q itself; else means and standard deviations agree.
func Of(f Family, p Program, q Q) (Q, error) {
	_, has := q.(*masses)
	same := q.Family() == f && len(programUnits(q)) == p.Params() && has == hasMasses(f, p)
	if same && f != (Structured{}) { // of which a member of another program may have other parents
		return q.Clone(), nil
	}
	to, err := f.New(p)
	if err != nil {
		return nil, err
	}
	if same && edgesOf(to).equal(edgesOf(q)) {
		return q.Clone(), nil
	}
	imitate(to, q)
	return to, nil
}

// edgesOf are those of a sequential normal, also beside masses; or nil.
func edgesOf(q Q) *edges {
	switch q := q.(type) {
	case *Normal:
		return q.edges
	case *masses:
		return edgesOf(q.rest)
	}
	return nil
}

// imitate makes to, a member of another family, as near to q as it can be.
func imitate(to, q Q) {
	if from, ok := q.(*masses); ok {
		if to, ok := to.(*masses); ok {
			imitate(to.rest, from.rest)
			copy(to.theta[len(to.rest.Theta()):], from.theta[len(from.rest.Theta()):])
			to.collect()
			return
		}
	}
	if from, ok := q.(*Normal); ok {
		base, ok := to.(*Normal)
		if c, confined := to.(*confined); confined {
			base, ok = c.normal, true
		}
		if ok && base.embed(from) {
			return
		}
	}
	mean, sd := make([]float64, q.Dim()), make([]float64, q.Dim())
	for i := range mean {
		mean[i], sd[i] = q.Mean(i), q.SD(i)
	}
	copy(sd, programUnits(q))
	to.Place(mean, sd)
}

// programUnits are the units of q's first latents, those that are parameters of the program.
func programUnits(q Q) (units []float64) {
	if c, ok := q.(Composite); ok {
		if _, parts := c.Decompose(); len(parts) > 0 {
			return programUnits(parts[0])
		}
	}
	for k, x := range q.Theta() {
		if q.Param(k).Is("unit") {
			units = append(units, x)
		}
	}
	return units
}

// Check reports a member that is not one of p's latents, with finite numbers.
func Check(q Q, p Program) error {
	switch {
	case isNil(p):
		return errors.New("a nil density")
	case isNil(q):
		return errors.New("no member of a family")
	}
	if q.Dim() != p.Dim() {
		return fmt.Errorf("a family of %d latents for %d", q.Dim(), p.Dim())
	}
	if m, ok := q.(*masses); ok {
		if err := m.check(p); err != nil {
			return err
		}
	}
	k := q.Fault()
	if k < 0 {
		return nil
	}
	of := q.Param(k)
	if of.Latent < 0 {
		return fmt.Errorf("parameter %s is %v", of.Symbol, q.Theta()[k])
	}
	return fmt.Errorf("latent %s: parameter %s is %v", p.Latents()[of.Latent], of.Symbol, q.Theta()[k])
}

// isNil reports an interface without a value, or with a nil pointer.
func isNil(x any) bool {
	v := reflect.ValueOf(x)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
