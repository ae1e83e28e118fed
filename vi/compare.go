package vi

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/text"
)

// A Comparison says which of some models of the same data explains it best.
type Comparison struct {
	Models []ModelEvidence // in the order in which they were given
	Best   int             // the one with the highest evidence
	// Warnings are about fits whose verdict is not to trust them.
	Warnings []string
}

// ModelEvidence is what the data say of a model.
type ModelEvidence struct {
	Name        string     // "model 1" and so on, or that of the Program; a caller may change it
	Fit         *Posterior // of the model
	Trust       Trust      // of its fit
	LogEvidence Estimate   // in nats
	// LogBayes is the logarithm of the Bayes factor of the model against the best one:
	// 0 for that, else negative, but for the noise of the estimates.
	LogBayes Estimate
	// Prior is the probability of the model before the data, and Prob given them.
	Prior float64
	Prob  Estimate
	// LOO is how the model predicts each observation from the others, and Stacking its weight in the mixture of models that
	// predicts best, which is no probability: see loo.Stack. HowMany alone has them; without, LOO is empty, and Stacking NaN.
	LOO      LOO
	Stacking float64
}

// Compare compares models by the evidence of their fits,
//
//	P(model k | data) = Z_k / Σ_j Z_j,    log Z_k = fit k's LogEvidence,
//
// with standard errors of first order, if all had the same probability before the data. [HowMany] takes other ones. The models must observe the same numbers, in any
// order, whatever branches they take; other numbers are an error. Compare looks at what each model observes at 200 draws of its
// prior and 200 of its fit. It does not see transformed data, priors that are not
// normalised, and Factors, whose evidences cannot be compared.
func Compare(fits ...*Posterior) (Comparison, error) {
	models := make([]ModelEvidence, len(fits))
	for k, p := range fits {
		models[k] = ModelEvidence{Name: fmt.Sprintf("model %d", k+1), Fit: p, Stacking: math.NaN()}
	}
	return compareModels(models)
}

// compareModels is Compare of models that have names, fits and priors.
func compareModels(models []ModelEvidence) (Comparison, error) {
	if len(models) < 2 {
		return Comparison{}, errors.New("vi: comparing models: there are fewer than two fits")
	}
	c := Comparison{Models: models}
	var first []float64
	for k := range models {
		m := &models[k]
		if err := m.look(); err != nil {
			return Comparison{}, fmt.Errorf("vi: comparing models: %s: %w", m.Name, err)
		}
		data, err := m.Fit.observed()
		if err != nil {
			return Comparison{}, fmt.Errorf("vi: comparing models: %s observes other data in one branch than in another: %w", m.Name, err)
		}
		if k == 0 {
			first = data
		}
		if err := sameData(first, data); err != nil {
			return Comparison{}, fmt.Errorf("vi: comparing models: %s has other data than %s: %w", m.Name, models[0].Name, err)
		}
		if m.Trust == TrustNothing {
			verdict, _ := m.Fit.Verdict()
			c.Warnings = append(c.Warnings, m.Name+": "+verdict.String())
		}
		if m.LogEvidence.Value > models[c.Best].LogEvidence.Value {
			c.Best = k
		}
	}
	c.weigh()
	return c, nil
}

// look finds verdict and evidence.
func (m *ModelEvidence) look() error {
	verdict, err := m.Fit.Verdict()
	if err != nil {
		return err
	}
	m.Trust = verdict.Trust
	if m.LogEvidence, err = m.Fit.LogEvidence(); err == nil && !finite(m.LogEvidence.Value) {
		err = fmt.Errorf("its log evidence is %v", m.LogEvidence)
	}
	return err
}

// pathDraws is how many draws of a prior, and as many of a fit, say what a model observes.
const pathDraws = 200

// observed is what the model observes, sorted, or an error if that depends on the branches.
func (p *Posterior) observed() (first []float64, err error) {
	rng, z := parallel.NewRand(0), make([]float64, p.Density.Dim())
	for k := range 2 * pathDraws {
		if k%2 == 0 {
			p.Q.Rand(z, rng)
		} else {
			p.Density.PriorDraw(z, rng)
		}
		data := p.Density.DataAt(z)
		slices.Sort(data)
		if k == 0 {
			first = data
		}
		if err := sameData(first, data); err != nil {
			return nil, err
		}
	}
	return first, nil
}

// sameData reports how two sorted lists differ.
func sameData(a, b []float64) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d observations, not %d", len(b), len(a))
	}
	for k := range a {
		if math.Float64bits(a[k]) != math.Float64bits(b[k]) {
			return fmt.Errorf("in the order of their values, observation %d is %v, not %v", k, b[k], a[k])
		}
	}
	return nil
}

// weigh computes Bayes factors and probabilities.
func (c *Comparison) weigh() {
	best, total, priors := c.Models[c.Best].LogEvidence, 0.0, 0.0
	for _, m := range c.Models {
		priors += m.Prior
	}
	for k := range c.Models {
		m := &c.Models[k]
		if m.Prior /= priors; priors == 0 {
			m.Prior = 1 / float64(len(c.Models))
		}
		m.LogBayes = m.LogEvidence.Plus(Estimate{Value: -best.Value, SE: best.SE})
		if k == c.Best {
			m.LogBayes = Estimate{}
		}
		m.Prob.Value = m.Prior * math.Exp(m.LogBayes.Value)
		total += m.Prob.Value
	}
	for k := range c.Models {
		c.Models[k].Prob.Value /= total
	}
	for k := range c.Models { // ∂P_k/∂log Z_j = P_k·(δ_kj − P_j)
		variance := 0.0
		for j, m := range c.Models {
			slope := -m.Prob.Value
			if j == k {
				slope++
			}
			variance += slope * slope * m.LogEvidence.SE * m.LogEvidence.SE
		}
		c.Models[k].Prob.SE = c.Models[k].Prob.Value * math.Sqrt(variance)
	}
}

// String is a table with a row for each model, and the warnings.
func (c Comparison) String() string {
	rows := [][]string{{"model", "log evidence", "log Bayes factor", "prior", "probability", "stacking", "verdict"}}
	for k, m := range c.Models {
		bayes, prob, stacking := "best", text.Probability(m.Prob.Value), ""
		if k != c.Best {
			bayes = short(m.LogBayes)
		}
		if m.Prob.SE >= 0.0005 {
			prob += fmt.Sprintf(" ± %.3f", m.Prob.SE)
		}
		if !math.IsNaN(m.Stacking) {
			stacking = fmt.Sprintf("%.2f", m.Stacking)
		}
		rows = append(rows, []string{m.Name, short(m.LogEvidence), bayes, text.Probability(m.Prior), prob, stacking, string(m.Trust)})
	}
	var b strings.Builder
	b.WriteString(text.Table(rows, 1))
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}
