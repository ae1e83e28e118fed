package cells

import (
	"context"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// How the evidence is estimated by a bridge.
const (
	bridgeFitted = 4096    // draws that a mixture is fitted to
	bridgeDraws  = 4096    // of the posterior and of the proposal at first, for each half;
	bridgeMost   = 1 << 16 // so many at most, until the standard error is
	bridgeSE     = 0.01    // nats
	mostBridged  = 128     // latents, of which a covariance is well known
)

// Bridge is the log evidence by bridge sampling (Meng and Wong, Statistica Sinica 1996): between the posterior and mixtures of normals that are
// fitted to the draws of one half of the chains, with the draws of the other half, and the other way round. The standard error is of
// independent draws of the mixture, and of the means of chains (Frühwirth-Schnatter, Econometrics Journal 2004), or half the difference of the
// two if that is more. It is infinite where there are too many latents or too few draws. Switches are summed out of d, and what draws have of them counts for
// nothing. More draws than it begins with are taken as long as log r is computed at no more points than most.
func Bridge(ctx context.Context, d *graph.Density, p weighted.Chains, switches []derive.SwitchLatent, most int, seed uint64) (mc.Estimate, error) {
	b, err := newRest(d, switches)
	if err != nil || len(b.latents) > mostBridged || p.N < 4 || len(p.Z) < 2*p.N {
		return unknown, err
	}
	rng := parallel.NewRand(seed)
	var q [2]family.Q
	for h := range q {
		if q[h] = mixtureOf(ctx, b.half(p, h, bridgeFitted).z, false, rng); q[h] == nil {
			return unknown, ctx.Err()
		}
	}
	for n := bridgeDraws; ; {
		var x [2]*pool
		for h := range q {
			if x[h], err = newPool(ctx, b, b.half(p, 1-h, n), n, rng); err == nil {
				err = x[h].propose(ctx, q[h])
			}
			if err != nil {
				return unknown, err
			}
		}
		e := evidenceOf(x)
		if e.SE <= bridgeSE || n >= bridgeMost || math.IsInf(e.SE, 1) {
			return e, nil
		}
		times := e.SE / bridgeSE
		if n = min(bridgeMost, int(float64(n)*min(4, max(1.5, 1.2*times*times)))); 4*n > most {
			return e, nil
		}
	}
}
