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

// savedRun is what a sampler has found: Z has its draws, one after the other, 8 bytes a number.
type savedRun struct {
	Z         string // base64
	Chains    int
	Islands   mc.Numbers
	Effective mc.Number
}

func (f *findings) savedRun() *savedRun {
	if f.run == nil {
		return nil
	}
	var z []byte
	for _, row := range f.run.Z {
		for _, x := range row {
			z = binary.LittleEndian.AppendUint64(z, math.Float64bits(x))
		}
	}
	return &savedRun{base64.StdEncoding.EncodeToString(z), f.run.Chains, f.run.Islands, mc.Number(f.run.Effective)}
}

// restore makes the posterior of the draws.
func (s *savedRun) restore(p *Posterior, evidence Estimate) error {
	raw, err := base64.StdEncoding.DecodeString(s.Z)
	if err != nil {
		return fmt.Errorf("draws: %w", err)
	}
	r := smc.Result{Chains: s.Chains, Islands: s.Islands, Effective: float64(s.Effective), LogEvidence: evidence, Beta: 1}
	n, dim := len(raw)/8, p.Density.Dim()
	if s.Chains < 2 || len(s.Islands) < 2 || s.Chains%len(s.Islands) != 0 || n == 0 || 8*n != len(raw) || n%(dim*s.Chains) != 0 {
		return fmt.Errorf("%d bytes of draws of %d latents by %d chains in %d groups", len(raw), dim, s.Chains, len(s.Islands))
	}
	for k := range n / dim {
		z := make([]float64, dim)
		for i := range z {
			z[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*(k*dim+i):]))
		}
		if !finite(floats.Sum(z)) {
			return errors.New("draws that are not finite")
		}
		r.Z = append(r.Z, z)
	}
	r.Diagnose(p.Density.Arrangement())
	p.findings.run = &r
	p.findings.sample = ofRun(p.Density, p.Q, r, nil)
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
