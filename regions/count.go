package regions

import "math/big"

// MaxRegions returns a number of regions that the arrangement cannot exceed, from the numbers of its planes alone. It is the product over
// groups of planes that share no coordinates, and for a group in d coordinates with k_1, k_2, … parallel planes of each normal
//
//	Σ_{i≤d} e_i(k_1, k_2, …)
//
// with the elementary symmetric polynomials e_i, the number of ways to choose i planes no two of which are parallel. For L planes no two
// of which are parallel it is Σ_{i≤d} C(L, i), the number of regions if the planes are in general position (Buck, Partition of Space,
// 1943; Zaslavsky, Facing up to Arrangements, 1975). Where all planes of each group are parallel it is the exact number.
func (a *Arrangement) MaxRegions() *big.Int {
	product := big.NewInt(1)
	for _, b := range a.blocks() {
		product.Mul(product, b.maxCells())
	}
	return product
}

// maxCells multiplies the polynomials 1 + k_f·x up to the power d, and sums the coefficients.
func (b *block) maxCells() *big.Int {
	e := make([]*big.Int, len(b.coords)+1)
	for i := range e {
		e[i] = new(big.Int)
	}
	e[0].SetInt64(1)
	for _, f := range b.families {
		k := big.NewInt(int64(len(f.levels)))
		for i := len(e) - 1; i > 0; i-- {
			e[i].Add(e[i], new(big.Int).Mul(k, e[i-1]))
		}
	}
	sum := new(big.Int)
	for _, x := range e {
		sum.Add(sum, x)
	}
	return sum
}
