package main

import (
	"encoding/json"
	"io"

	"github.com/facetvi/facet/vi/mc"
)

// An object is what -json prints. NaN and the infinities are strings.
type object struct {
	Model         string                   `json:"model"`
	Seconds       float64                  `json:"seconds"`
	Cells         int                      `json:"cells"`
	ELBO          mc.Number                `json:"elbo"`
	ELBOSE        mc.Number                `json:"elbo_se"`
	LogEvidence   mc.Number                `json:"log_evidence"`
	LogEvidenceSE mc.Number                `json:"log_evidence_se"`
	Verdict       string                   `json:"verdict"`
	Guards        []float64                `json:"guards"`
	Latents       map[string]objectMoments `json:"latents"`
}

type objectMoments struct {
	Mean mc.Number `json:"mean"`
	SD   mc.Number `json:"sd"`
}

func objectOf(p problem, f *fitted) object {
	o := object{
		Model: p.name, Seconds: f.seconds, Cells: len(f.cells),
		ELBO: mc.Number(f.elbo.Value), ELBOSE: mc.Number(f.elbo.SE),
		LogEvidence: mc.Number(f.logEvidence.Value), LogEvidenceSE: mc.Number(f.logEvidence.SE),
		Verdict: string(f.verdict.Trust), Guards: f.answer.guards, Latents: map[string]objectMoments{},
	}
	for i, name := range f.latents {
		o.Latents[name] = objectMoments{mc.Number(f.answer.latents[i].Mean), mc.Number(f.answer.latents[i].SD)}
	}
	return o
}

func writeJSON(out io.Writer, p problem, f *fitted) error {
	return json.NewEncoder(out).Encode(objectOf(p, f))
}
