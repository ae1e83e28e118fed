package vec

// setLoops says which loops run.
func setLoops(avx512, avx2 bool) { useAVX512, useAVX2 = avx512, avx2 }
