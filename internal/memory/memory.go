// Package memory refuses what would need more memory than a machine has, before
// any is taken: a call that asks for b bytes is an error unless
//
//	b ≤ Most
//
//	numbers from a user ─▶ Check ─▶ allocation
//	                         └────▶ error: "… would need 3.1 TB of memory"
//
// Functions that take a number of draws, samples or latents ask it first.
package memory

import "fmt"

// Most is the memory, in bytes, that one call may ask for: 64 GiB.
const Most = 64 << 30

// Check returns an error that says what would need so many bytes, if they are
// more than Most:
//
//	Climb.Samples = 1000000000000 would need 1.3 TB of memory, and the limit is 69 GB
func Check(what string, bytes float64) error {
	if bytes <= Most {
		return nil
	}
	return fmt.Errorf("%s would need %s of memory, and the limit is %s", what, size(bytes), size(Most))
}

// size writes bytes with two digits.
func size(bytes float64) string {
	units := []string{"GB", "TB", "PB", "EB"}
	x, unit := bytes/1e9, 0
	for x >= 1000 && unit+1 < len(units) {
		x, unit = x/1000, unit+1
	}
	return fmt.Sprintf("%.2g %s", x, units[unit])
}
