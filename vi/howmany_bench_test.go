package vi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCalibrate is a thousand fits to data from the prior of a change point, with their ranks.
func BenchmarkCalibrate(b *testing.B) {
	d := changing(b, 20, 2, false)
	for b.Loop() {
		_, err := Calibrate(context.Background(), d, Calibrating{Fits: 1000, Fit: Settings{Seed: 1, Method: Cells{Quick: true}}})
		require.NoError(b, err)
	}
}

// BenchmarkLOO and BenchmarkSensitivity ask a fit of the eight schools.
func BenchmarkLOO(b *testing.B) {
	p, err := Fit(context.Background(), schools(b), Settings{Seed: 1})
	require.NoError(b, err)
	for b.Loop() {
		_, err := p.LOO()
		require.NoError(b, err)
	}
}

func BenchmarkSensitivity(b *testing.B) {
	p, err := Fit(context.Background(), schools(b), Settings{Seed: 1})
	require.NoError(b, err)
	for b.Loop() {
		_, err := p.Sensitivity()
		require.NoError(b, err)
	}
}
