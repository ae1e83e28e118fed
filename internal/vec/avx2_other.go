//go:build !amd64

package vec

// There are no vector loops for this architecture: these are never true.
var useAVX2, useAVX512 = false, false

const none = "vec: no vector loops on this architecture"

func affineAVX2(_, _ *float64, _ int, _, _ float64)         { panic(none) }
func addScaledAVX2(_, _ *float64, _ int, _ float64)         { panic(none) }
func affine2AVX2(_, _, _ *float64, _ int, _, _, _ float64)  { panic(none) }
func andStepAVX2(_, _, _ *float64, _ int, _ float64)        { panic(none) }
func addAVX2(_, _, _ *float64, _ int)                       { panic(none) }
func mulAVX2(_, _, _ *float64, _ int)                       { panic(none) }
func divAVX2(_, _, _ *float64, _ int)                       { panic(none) }
func largerAVX2(_, _, _, _ *float64, _ int)                 { panic(none) }
func polesAVX2(_, _, _ *float64, _ int)                     { panic(none) }
func addMulAVX2(_, _, _ *float64, _ int)                    { panic(none) }
func gatedMulAVX2(_, _, _ *float64, _ int, _ float64)       { panic(none) }
func selectAVX2(_, _, _, _ *float64, _ int)                 { panic(none) }
func lookup1AVX2(_, _ *float64, _ int, _ *[8]float64)       { panic(none) }
func lookup2AVX2(_, _, _ *float64, _ int, _ *[8]float64)    { panic(none) }
func lookup3AVX2(_, _, _, _ *float64, _ int, _ *[8]float64) { panic(none) }
func gateAVX2(_, _, _ *float64, _ int, _ float64)           { panic(none) }
func addGateAVX2(_, _, _ *float64, _ int, _ float64)        { panic(none) }
func stepAVX2(_, _ *float64, _ int, _, _ float64)           { panic(none) }
func sumAVX2(_ *float64, _ int) float64                     { panic(none) }

func sumRowsAVX2(_, _ *float64, _ *int32, _ int) { panic(none) }

func addSumDotRowsAVX2(_, _, _, _ *float64, _, _ int)       { panic(none) }
func affineRowsAVX2(_, _ *float64, _, _ int, _, _ *float64) { panic(none) }
func stepRowsAVX2(_, _ *float64, _ int, _ *StepRow, _ int)  { panic(none) }

func sparseAVX2(_, _, _ *float64, _, _, _, _ int, _ *float64, _, _ *int32, _ *float64) { panic(none) }
func addSparseAVX2(_, _ *float64, _, _ int, _, _ *int32, _ *float64, _, _ int)         { panic(none) }
func addDotsAVX2(_, _, _ *float64, _ int, _, _ *int32, _ int)                          { panic(none) }

func expAVX2(_, _ *float64, _ int, _ *[12][4]float64)     { panic(none) }
func logAVX2(_, _ *float64, _ int, _ *[19][4]float64) int { panic(none) }
func log1pAVX2(_, _ *float64, _ int, _ *[19][4]float64)   { panic(none) }

func normalsAVX2(_ *float64, _ *[16]float64, _ int, _, _ uint64, _ *[31][4]uint64) {
	panic(none)
}
func normalsAVX512(_ *float64, _ *[16]float64, _ int, _, _ uint64, _ *[31][4]uint64) {
	panic(none)
}
