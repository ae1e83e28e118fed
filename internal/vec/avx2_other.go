//go:build !amd64

package vec

// There are no vector loops for this architecture.
const useAVX2, useAVX512 = false, false
