package models

import (
	"fmt"
	"strings"

	"github.com/facetvi/facet/examples/models/exact"
	"github.com/facetvi/facet/graph"
)

// Spec is one experiment: a program, where its fit starts, and what is known of it.
type Spec struct {
	Name string
	// Model builds the facet program anew.
	Model func() *graph.Model
	// ThetaInit is where the fit starts: (μ_0, ρ_0, μ_1, …), with scale log(1 + exp ρ).
	ThetaInit []float64
	// Latents are the latents' names in the order of sampling, which is the order of θ and of the Oracle.
	Latents []string
	// Oracle is the same model in plain Go, with its exact ELBO.
	Oracle Oracle
	// Exact computes the exact posterior, in less than a second for the paper's data.
	Exact func() exact.Posterior
	// Golden holds the data and exact values from elsewhere; nil for the proposition and for data that are not the paper's.
	Golden *Golden
}

// All returns the experiments with the paper's data: proposition, temperature, textmsg and influenza.
func All() []Spec {
	return []Spec{
		{
			Name: "proposition", Model: Proposition, ThetaInit: PropositionThetaInit(),
			Latents: []string{"z"}, Oracle: PropositionOracle(), Exact: PropositionExact,
		},
		withGolden(TemperatureSpec(TemperatureData())),
		withGolden(Spec{Name: "textmsg", Model: TextMsg, Oracle: TextMsgOracle(), Exact: TextMsgExact}),
		withGolden(InfluenzaSpec(InfluenzaData())),
	}
}

// TemperatureSpec is temperature on other data, such as those of [SimulateTemperature]. It keeps obs and panics if obs is empty.
func TemperatureSpec(obs []float64) Spec {
	return Spec{
		Name:      "temperature",
		Model:     func() *graph.Model { return Temperature(obs) },
		ThetaInit: TemperatureThetaInit(obs),
		Latents:   temperatureLatents(len(obs) - 1),
		Oracle:    TemperatureOracle(obs),
		Exact:     func() exact.Posterior { return TemperatureExact(obs) },
	}
}

// InfluenzaSpec is influenza on other data, such as more of [Golden].Mortality. It keeps obs and panics if obs is empty.
func InfluenzaSpec(obs []float64) Spec {
	return Spec{
		Name:      "influenza",
		Model:     func() *graph.Model { return Influenza(obs) },
		ThetaInit: InfluenzaThetaInit(len(obs)),
		Latents:   influenzaLatents(len(obs)),
		Oracle:    InfluenzaOracle(obs),
		Exact:     func() exact.Posterior { return InfluenzaExact(obs) },
	}
}

// ByName returns the experiment of that name from All, or an error that lists the names.
func ByName(name string) (Spec, error) {
	var names []string
	for _, spec := range All() {
		if spec.Name == name {
			return spec, nil
		}
		names = append(names, spec.Name)
	}
	return Spec{}, fmt.Errorf("models: no model %q; there are %s", name, strings.Join(names, ", "))
}

// withGolden starts spec where its golden values do, to the last bit.
func withGolden(spec Spec) Spec {
	g := mustGolden(spec.Name)
	spec.Golden, spec.ThetaInit, spec.Latents = &g, g.ThetaInit, g.Latents
	return spec
}
