package truncnorm

import "math"

const (
	invSqrt2 = 0.707106781186547524400844362105
	density0 = 0.398942280401432677939946059934 // φ(0)
	rootPi2  = 1.253314137315500251207882642406 // √(π/2)
)

// tails are Φ(x) and Φ(−x).
func tails(x float64) (below, above float64) {
	small, far := 0.0, math.Abs(x)
	if near := far * invSqrt2; near < 0.84375 || far > 37 { // where Erfc takes no exponential, or they are subnormal
		small = 0.5 * math.Erfc(near)
	} else {
		small = density0 * math.Exp(-0.5*x*x) * mills(far)
	}
	if x < 0 {
		return small, 1 - small
	}
	return 1 - small, small
}

// mills is R(x) = Φ(−x)/φ(x) for x ≥ 0, √(π/2)·exp(y²)·erfc(y) at y = x/√2, by
// Cody's rational approximations (Math. Comp. 23, 1969).
func mills(x float64) float64 {
	y := x * invSqrt2
	switch {
	case y <= 0.46875:
		return rootPi2 * math.Exp(y*y) * math.Erfc(y)
	case y <= 4:
		top, bottom := middleTop[0]*y, y
		for k, c := range middleTop[1:8] {
			top = (top + c) * y
			bottom = (bottom + middleBottom[k]) * y
		}
		return rootPi2 * (top + middleTop[8]) / (bottom + middleBottom[7])
	}
	z := 1 / (y * y)
	top, bottom := farTop[0]*z, z
	for k, c := range farTop[1:5] {
		top = (top + c) * z
		bottom = (bottom + farBottom[k]) * z
	}
	return rootPi2 * (invSqrtPi - z*(top+farTop[5])/(bottom+farBottom[4])) / y
}

const invSqrtPi = 0.564189583547756286948079451561

var (
	middleTop = [...]float64{
		2.15311535474403846343e-8, 5.64188496988670089180e-1, 8.88314979438837594118, 6.61191906371416294775e1, 2.98635138197400131132e2,
		8.81952221241769090411e2, 1.71204761263407058314e3, 2.05107837782607146532e3, 1.23033935479799725272e3,
	}
	middleBottom = [...]float64{
		1.57449261107098347253e1, 1.17693950891312499305e2, 5.37181101862009857509e2, 1.62138957456669018874e3,
		3.29079923573345962678e3, 4.36261909014324715820e3, 3.43936767414372163696e3, 1.23033935480374942043e3,
	}
	farTop = [...]float64{
		1.63153871373020978498e-2, 3.05326634961232344035e-1, 3.60344899949804439429e-1, 1.25781726111229246204e-1,
		1.60837851487422766278e-2, 6.58749161529837803157e-4,
	}
	farBottom = [...]float64{
		2.56852019228982242072, 1.87295284992346047209, 5.27905102951428412248e-1, 6.05183413124413191178e-2, 2.33520497626869185443e-3,
	}
)
