package boundary

import "github.com/facetvi/facet/regions"

// Which latents share a curve. Onto Φ = 0 a latent i moves alone, with the weight
//
//	w_i = ρ_i·h_i/|∂_iΦ|,   ρ_i = x_i/Σ_{j∈P} x_j,   x_j = (∂_jΦ)²·v_j,
//
// its density h_i and its variance v_i given all others. Any set P of latents that Φ = 0
// can be solved for will do if at almost every point of the curve one of them has a
// slope: the ρ add up to 1 there, and no piece is missed. In the set of all of them
// weights are bounded, w_i·|∂_kΦ| ≤ h_i·√(v_i/v_k); without some the bound is divided by
// σ, what is left of Σx at the point.
//
// A latent covers the curve if Φ rises or falls strictly with it, wherever the others are:
// its slope is nowhere 0, and alone it misses no piece. Where some cover the curve, latents
// that cost more are left out, of two kinds:
//
//   - Those of many planes, for the signs of all of them are needed at the points. This is
//     decided for the model.
//   - Those with roots that cost more than a quotient, where latents that Φ is straight in
//     have enough of Σx at the mean of q. This is decided for each member of a family.
//     Such a latent k has to be separate, Φ = a·z_i + g(z_k) + …: where its slope is large
//     g is, so that z_i would be far out, and h_i is small.

const (
	// mostUses is how many times as many planes a latent may be in as one that covers.
	mostUses = 8
	// enough is the share of Σx from which latents that Φ is straight in stand for
	// others. Where it is less, few samples would see much of the curve.
	enough = 0.1
)

// covers reports whether latent k of curve.Latents covers it.
func covers(curve *regions.Curve, k int) bool {
	return curve.Trend(k) != 0 && curve.WhyNot(k) == "" && curve.Roots(k) == 1
}

// sharing are the positions of the latents that have pieces of a curve, given how many planes use each latent. The first latents are
// parameters, which do not move.
func sharing(curve *regions.Curve, uses []int, params int) (pivots []int) {
	least := 0
	for k, i := range curve.Latents() {
		if i >= params && covers(curve, k) && (least == 0 || uses[i] < least) {
			least = uses[i]
		}
	}
	for _, k := range curve.Pivots() {
		if i := curve.Latents()[k]; i >= params && (least == 0 || uses[i] <= mostUses*least) {
			pivots = append(pivots, k)
		}
	}
	return pivots
}

// Sharing writes which of the latents with pieces of a curve, of the given positions, share
// it, given x at the mean of q, and reports whether that depends on x.
func Sharing(counts []bool, curve *regions.Curve, pivots []int, x []float64) (depends bool) {
	total, straight := 0.0, 0.0
	some, others := false, false
	for _, k := range pivots {
		total += x[k]
		if curve.Straight(k) {
			straight += x[k]
			some = true
		} else if curve.Separate(k) {
			others = true
		}
	}
	stand := straight > 0 && straight >= enough*total
	clear(counts)
	for _, k := range pivots {
		counts[k] = !stand || curve.Straight(k) || !curve.Separate(k)
	}
	return some && others
}
