package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/weighted"
)

// How the evidence is estimated by a bridge.
const (
	bridgeFitted = 4096    // draws that a mixture is fitted to
	bridgeDraws  = 4096    // of the posterior and of the proposal at first, for each half;
	bridgeMost   = 1 << 16 // so many at most, until the standard error is
	bridgeSE     = 0.01    // nats
	bridgeRounds = 100
	bridgeGain   = 1e-9 // nats
	mostBridged  = 128  // latents, of which a covariance is well known
)

// Bridge is the log evidence by bridge sampling (Meng and Wong, Statistica Sinica 1996): between the posterior and mixtures of normals that are
// fitted to the draws of one half of the chains, with the draws of the other half, and the other way round. The standard error is of
// independent draws of the mixture, and of the means of chains (Frühwirth-Schnatter, Econometrics Journal 2004), or half the difference of the
// two if that is more. It is infinite where there are too many latents or too few draws. Switches are summed out of d, and what draws have of them counts for
// nothing. More draws than it begins with are taken as long as log r is computed at no more points than most.
func Bridge(ctx context.Context, d *graph.Density, p weighted.Chains, switches []derive.SwitchLatent, most int, seed uint64) (mc.Estimate, error) {
	unknown := mc.Estimate{Value: math.NaN(), SE: math.Inf(1)}
	b, err := newBridge(d, switches)
	if err != nil || len(b.latents) > mostBridged || p.N < 4 || len(p.Z) < 2*p.N {
		return unknown, err
	}
	rng := parallel.NewRand(seed)
	var q [2]side
	for h := range q {
		if q[h].q = mixtureOf(ctx, b.half(p, h, bridgeFitted).z, rng); q[h].q == nil {
			return unknown, ctx.Err()
		}
	}
	for n := bridgeDraws; ; {
		var by [2]mc.Estimate
		for h := range q {
			if err = b.propose(ctx, &q[h], n, rng); err != nil {
				return unknown, err
			}
			if by[h], err = b.between(ctx, &q[h], b.half(p, 1-h, n)); err != nil {
				return unknown, err
			}
		}
		v, w := 1/(by[0].SE*by[0].SE), 1/(by[1].SE*by[1].SE)
		if !finite(v) || !finite(w) || v+w == 0 {
			return unknown, nil
		}
		e := mc.Estimate{Value: (v*by[0].Value + w*by[1].Value) / (v + w), SE: 1 / math.Sqrt(v+w)}
		if e.SE = max(e.SE, math.Abs(by[0].Value-by[1].Value)/2); e.SE <= bridgeSE || n >= bridgeMost {
			return e, nil
		}
		times := e.SE / bridgeSE
		if n = min(bridgeMost, int(float64(n)*min(4, max(1.5, 1.2*times*times)))); 4*n > most {
			return e, nil
		}
	}
}

// A bridge evaluates log r at points of the latents that are not summed out.
type bridge struct {
	d        *graph.Density
	latents  []int
	at       []float64 // a point, for the others
	constant float64   // the log of their prior there
}

func newBridge(d *graph.Density, switches []derive.SwitchLatent) (*bridge, error) {
	prior, err := d.Residuals(1)
	if err != nil {
		return nil, err
	}
	prior.Follow() // to their centers
	b := &bridge{d: d, at: prior.Z}
	for _, w := range switches {
		b.constant += prior.LogPriorOf(w.Latent, 0)
	}
	b.latents = sumout.Without(d.Dim(), switches)
	return b, nil
}

// logR is log r at points of the rest, without the prior of what is summed out.
func (b *bridge) logR(ctx context.Context, points [][]float64) (logs []float64, err error) {
	whole := make([][]float64, len(points))
	for k, x := range points {
		whole[k] = slices.Clone(b.at)
		for j, i := range b.latents {
			whole[k][i] = x[j]
		}
	}
	if logs, err = draws.LogR(b.d, whole); err == nil {
		err = ctx.Err()
	}
	for k, v := range logs {
		if logs[k] = v - b.constant; math.IsNaN(v) {
			logs[k] = math.Inf(-1)
		}
	}
	return logs, err
}

// A half are draws of some chains.
type chainHalf struct {
	z         [][]float64
	chains    int
	effective float64
}

// half are about n draws of the first half of the chains, or of the second.
func (b *bridge) half(p weighted.Chains, h, n int) chainHalf {
	moves, per := len(p.Z)/p.N, p.N/2
	f, stride := chainHalf{chains: per}, max(1, (moves*per+n-1)/n)
	for t := stride - 1; t < moves; t += stride {
		for c := range per {
			f.z = append(f.z, pick(p.Z[t*p.N+h*per+c], b.latents))
		}
	}
	f.effective = max(1, min(p.Effective/2, float64(len(f.z))))
	return f
}

// A side is a distribution that is bridged to the posterior, and log r/q at draws of it.
type side struct {
	q      family.Q
	ratios []float64
}

// propose makes the draws of a side n.
func (b *bridge) propose(ctx context.Context, q *side, n int, rng *rand.Rand) error {
	draws := make([][]float64, n-len(q.ratios))
	for k := range draws {
		draws[k] = make([]float64, q.q.Dim())
		q.q.Rand(draws[k], rng)
	}
	more, err := b.logRatios(ctx, q.q, draws)
	q.ratios = append(q.ratios, more...)
	return err
}

// logRatios are log r/q at points of the rest.
func (b *bridge) logRatios(ctx context.Context, q family.Q, z [][]float64) ([]float64, error) {
	logs, err := b.logR(ctx, z)
	if err == nil {
		floats.Sub(logs, mixture.LogProbs(q, z))
	}
	return logs, err
}

// between is the log evidence by a bridge from the draws of a side to the posterior's.
func (b *bridge) between(ctx context.Context, q *side, posterior chainHalf) (e mc.Estimate, err error) {
	of, n := q.ratios, len(q.ratios)
	at, err := b.logRatios(ctx, q.q, posterior.z)
	if err != nil {
		return e, err
	}
	total := posterior.effective + float64(n)
	s, t := math.Log(posterior.effective/total), math.Log(float64(n)/total)
	e.Value = floats.LogSumExp(of) - math.Log(float64(n))
	for range bridgeRounds {
		// Of the evidence R the ratios r/(s·r + t·R·q) are averaged at draws of q, and R·q/(s·r + t·R·q) at the posterior's.
		var f mc.Moments
		for _, l := range of {
			f.Add(math.Exp(l - logAdd(s+l, t+e.Value)))
		}
		chains := make([]mc.Moments, posterior.chains)
		for k, l := range at {
			chains[k%len(chains)].Add(math.Exp(e.Value - logAdd(s+l, t+e.Value)))
		}
		var g mc.Moments
		for _, c := range chains {
			g.Add(c.Mean)
		}
		gain := math.Log(f.Mean / g.Mean)
		e.Value += gain
		e.SE = math.Hypot(f.Estimate().SE/f.Mean, g.Estimate().SE/g.Mean)
		if !(math.Abs(gain) > bridgeGain) {
			break
		}
	}
	return e, nil
}
