package models

import (
	"slices"
	"strings"
	"testing"
)

func TestSpecsAreConsistent(t *testing.T) {
	for _, spec := range All() {
		if n := spec.Oracle.Dim(); len(spec.Latents) != n || len(spec.ThetaInit) != 2*n {
			t.Errorf("%s: %d latents, %d parameters, oracle of dimension %d", spec.Name, len(spec.Latents), len(spec.ThetaInit), n)
		}
		if spec.Model() == nil {
			t.Errorf("%s: no model", spec.Name)
		}
	}
}

func TestSpecOfOtherDataHasTheGoldenLatents(t *testing.T) {
	for _, spec := range []Spec{TemperatureSpec(TemperatureData()), InfluenzaSpec(InfluenzaData())} {
		if want := mustGolden(spec.Name).Latents; !slices.Equal(spec.Latents, want) {
			t.Errorf("%s: latents %v, want %v", spec.Name, spec.Latents, want)
		}
	}
}

func TestByName(t *testing.T) {
	if spec, err := ByName("textmsg"); err != nil || spec.Name != "textmsg" {
		t.Errorf("ByName(textmsg) = %q, %v", spec.Name, err)
	}
	_, err := ByName("weather")
	if err == nil || !strings.Contains(err.Error(), "proposition, temperature, textmsg, influenza") {
		t.Errorf("ByName(weather): error %v, want one that lists the names", err)
	}
}
