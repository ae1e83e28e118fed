package vi

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/smc"
)

// savedFound is what is known of a fit that was judged, in JSON.
type savedFound struct {
	Cells              []savedCell
	Tried              int
	Left, Unfinished   mc.Number
	LogEvidence, Scout Estimate
	Moments            []Moments
	Draws              int
	Verdict            Verdict
	Cut                []string `json:",omitempty"`
	Warnings           []string
	Run                *savedRun `json:",omitempty"` // of the sampler
}

// savedRun is what a sampler has found: Z has its draws, one after the other, in base64, 8 bytes a number.
type savedRun struct {
	Z         string // base64
	Chains    int
	Islands   mc.Numbers
	Effective mc.Number
	Weights   string `json:",omitempty"` // if they are not all the same
	Proposed  int    `json:",omitempty"`
}

func (f *findings) savedRun() *savedRun {
	if f.run == nil {
		return nil
	}
	r, draws := f.run, make([][]float64, f.sample.Len())
	for k := range draws {
		draws[k] = f.sample.Point(k)
	}
	return &savedRun{encoded(draws...), r.Chains, r.Islands, mc.Number(r.Effective), encoded(r.Weights), r.Proposed}
}

// encoded are numbers in base64, 8 bytes each.
func encoded(rows ...[]float64) string {
	var raw []byte
	for _, row := range rows {
		for _, x := range row {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// decoded are the numbers of encoded.
func decoded(text string) ([]float64, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err == nil && len(raw)%8 != 0 {
		err = fmt.Errorf("%d bytes", len(raw))
	}
	list := make([]float64, len(raw)/8)
	for k := range list {
		list[k] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*k:]))
	}
	return list, err
}

// points are encoded draws of so many latents.
func points(text string, dim int) (list [][]float64, err error) {
	z, err := decoded(text)
	if err != nil {
		return nil, fmt.Errorf("draws: %w", err)
	}
	if len(z)%dim != 0 {
		return nil, fmt.Errorf("%d numbers of draws of %d latents", len(z), dim)
	}
	for ; len(z) > 0; z = z[dim:] {
		if !finite(floats.Sum(z[:dim])) {
			return nil, errors.New("draws that are not finite")
		}
		list = append(list, z[:dim:dim])
	}
	return list, nil
}

// restore makes the posterior of the draws.
func (s *savedRun) restore(p *Posterior, evidence Estimate) error {
	z, err := points(s.Z, p.Density.Dim())
	if err != nil {
		return err
	}
	weights, err := decoded(s.Weights)
	if err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	r := smc.Result{Chains: s.Chains, Islands: s.Islands, Effective: float64(s.Effective), LogEvidence: evidence, Beta: 1, Proposed: s.Proposed}
	if s.Chains < 2 || len(s.Islands) < 2 || s.Chains%len(s.Islands) != 0 || len(z) == 0 || len(z)%s.Chains != 0 {
		return fmt.Errorf("%d draws by %d chains in %d groups", len(z), s.Chains, len(s.Islands))
	}
	r.Z = z
	if len(weights) > 0 {
		if len(weights) != len(r.Z) || !(floats.Min(weights) >= 0) || !finite(floats.Sum(weights)) || floats.Sum(weights) == 0 {
			return fmt.Errorf("%d weights of %d draws", len(weights), len(r.Z))
		}
		r.Weights = weights
	}
	if s.Proposed < 0 || s.Proposed >= len(r.Z) || s.Proposed%s.Chains != 0 {
		return fmt.Errorf("%d of %d draws are not a sampler's", s.Proposed, len(r.Z))
	}
	r.Diagnose(p.Density.Arrangement())
	p.findings.run = &r
	p.findings.sample = ofRun(p.Density, p.Q, r, nil, nil)
	r.Z, r.Island = nil, nil
	return nil
}

type savedCell struct {
	Where             string
	Weight            mc.Number
	ELBO, LogEvidence Estimate
	KHat              mc.Number
}

// saved returns what a file keeps of the findings; nil if the fit was not judged.
func (f *findings) saved(warnings []string) *savedFound {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Verdict.Trust == "" {
		return nil
	}
	s := &savedFound{
		Tried: f.Tried, Left: mc.Number(f.Left), Unfinished: mc.Number(f.Unfinished),
		LogEvidence: f.LogEvidence, Scout: f.Scout, Verdict: f.Verdict, Cut: f.Cut, Warnings: warnings,
		Moments: f.moments, Draws: f.draws, Run: f.savedRun(),
		Cells: make([]savedCell, 0, len(f.Cells)),
	}
	for _, c := range f.Cells {
		s.Cells = append(s.Cells, savedCell{c.Where, mc.Number(c.Weight), c.ELBO, c.LogEvidence, mc.Number(c.KHat)})
	}
	return s
}

// restore writes the saved findings to p, which has its Q already. It returns an error for values that no fit can have found.
func (s *savedFound) restore(p *Posterior) error {
	if s == nil {
		return nil
	}
	m, ok := p.Q.(*mixture.Mixture)
	if !ok {
		m = mixture.New([]float64{0}, []family.Q{p.Q})
	}
	switch {
	case len(s.Cells) != m.Len():
		return fmt.Errorf("descriptions of %d cells for %d", len(s.Cells), m.Len())
	case len(s.Moments) != p.Q.Dim() && (s.Moments != nil || s.Verdict.Trust != TrustNothing):
		return fmt.Errorf("moments of %d latents for %d", len(s.Moments), p.Q.Dim())
	case s.Draws < 0 || s.Draws > mostSampled*evidenceDraws && s.Run == nil:
		return fmt.Errorf("%d draws", s.Draws)
	case s.Verdict.Trust != TrustFit && s.Verdict.Trust != TrustNothing:
		return fmt.Errorf("the verdict is %q", s.Verdict.Trust)
	case ok && s.Tried < len(s.Cells):
		return fmt.Errorf("%d cells of %d that were tried", len(s.Cells), s.Tried)
	case !(s.Left >= 0 && s.Unfinished >= 0):
		return fmt.Errorf("parts of %v and %v of the posterior were left out", s.Left, s.Unfinished)
	}
	f := p.findings
	f.Tried, f.Left, f.Unfinished = s.Tried, float64(s.Left), float64(s.Unfinished)
	f.LogEvidence, f.Scout, f.Verdict, f.Cut, p.Warnings = s.LogEvidence, s.Scout, s.Verdict, s.Cut, s.Warnings
	for _, c := range s.Cells {
		f.Cells = append(f.Cells, Cell{c.Where, float64(c.Weight), c.ELBO, c.LogEvidence, float64(c.KHat)})
	}
	f.moments, f.draws = s.Moments, s.Draws
	if s.Run != nil {
		return s.Run.restore(p, s.LogEvidence)
	}
	return nil
}
