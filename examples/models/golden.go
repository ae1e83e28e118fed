package models

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed golden
var goldenFiles embed.FS

// Golden is one of the files of golden/: a model's data, its initial parameters and the exact values at them, all from
// programs that are independent of this module.
type Golden struct {
	// Latents are the names of the n latents in the order of sampling.
	Latents []string `json:"latents_in_order"`
	// Ifs is how many ifs the authors' program meets, coincident guards counted each time.
	Ifs int `json:"n_ifs"`
	// ThetaNames and ThetaInit have length 2n: μ and ρ of each latent, interleaved, with scale log(1 + exp ρ).
	ThetaNames []string  `json:"theta_names"`
	ThetaInit  []float64 `json:"theta_init"`
	// Observations are what the model conditions on, in order.
	Observations []float64 `json:"observations"`
	// Guards are the ifs in program order.
	Guards []GoldenGuard `json:"guards_in_order"`
	// Constants holds a float64, or a []any of two float64 for a prior's mean and sd, under each name.
	Constants map[string]any `json:"constants"`
	// Exact holds the exact values at ThetaInit.
	Exact Exact `json:"exact_at_theta_init"`

	// Days, Thresholds and AllCounts are in textmsg only: the days whose counts are Observations, the values Φ⁻¹(day/75)
	// at which the guards sit, and the counts of days 1 to 74.
	Days       []int     `json:"day_indices_used"`
	Thresholds []float64 `json:"thresholds"`
	AllCounts  []float64 `json:"all_counts_days_1_to_74"`
	// Mortality is in influenza only: all 132 months, of which Observations are the first 12.
	Mortality []float64 `json:"mortality_full_132"`
}

// Exact holds the closed-form ELBO (natural logarithm) and its gradient with respect to θ, each slice of length 2n.
type Exact struct {
	ELBO float64 `json:"elbo"`
	// Gradient is RepGrad + BouContr.
	Gradient []float64 `json:"gradient"`
	RepGrad  []float64 `json:"repgrad"`
	BouContr []float64 `json:"boucontr"`
	// BouContrUnmerged is what the boundary part becomes when coincident guards flip one at a time, which is wrong.
	BouContrUnmerged []float64 `json:"boucontr_flipping_guards_one_at_a_time"`
}

// GoldenGuard is the guard C0 + Σ Coef·latent > 0.
type GoldenGuard struct {
	C0    float64      `json:"c0"`
	Terms []GoldenTerm `json:"terms"`
}

// GoldenTerm is one latent of a guard with its coefficient.
type GoldenTerm struct {
	Coef   float64
	Latent string
}

// UnmarshalJSON reads the pair [coefficient, "latent"].
func (t *GoldenTerm) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&t.Coef, &t.Latent})
}

// LoadGolden reads the golden values of temperature, textmsg or influenza. It returns an error for any other name.
func LoadGolden(name string) (Golden, error) {
	data, err := goldenFiles.ReadFile("golden/" + name + ".json")
	if err != nil {
		return Golden{}, fmt.Errorf("models: no golden values of %q: %w", name, err)
	}
	var g Golden
	if err := json.Unmarshal(data, &g); err != nil {
		return Golden{}, fmt.Errorf("models: golden values of %q: %w", name, err)
	}
	return g, g.addTextMsg(data)
}

// addTextMsg copies the fields that textmsg.json keeps under other names than the other two files do.
func (g *Golden) addTextMsg(data []byte) error {
	var own struct {
		Observations []float64 `json:"observations_used"`
		Mean         float64   `json:"lognorm_mean"`
		Std          float64   `json:"lognorm_std"`
		ObsMean      float64   `json:"obs_mean"`
	}
	if err := json.Unmarshal(data, &own); err != nil {
		return fmt.Errorf("models: golden values: %w", err)
	}
	if own.Observations == nil {
		return nil
	}
	g.Observations = own.Observations
	g.Constants = map[string]any{"lognorm_mean": own.Mean, "lognorm_std": own.Std, "obs_mean": own.ObsMean}
	return nil
}

// mustGolden is LoadGolden for the names that are embedded.
func mustGolden(name string) Golden {
	g, err := LoadGolden(name)
	if err != nil {
		panic(err)
	}
	return g
}
