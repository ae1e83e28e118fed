package saved

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// A Model is what a fit remembers of its model.
type Model struct {
	Latents      []string
	Guards       int // surfaces
	Observations int
	Fingerprint  string // of the program
	Data         string // digest of the observations
}

// ModelOf is that of d.
func ModelOf(d *graph.Density) Model {
	return Model{
		Latents: d.Latents(), Guards: d.Arrangement().Len(), Observations: len(d.Data()),
		Fingerprint: d.Fingerprint(), Data: DataDigest(d),
	}
}

// DataDigest is the digest of the observations.
func DataDigest(d *graph.Density) string {
	data := d.Data()
	raw := make([]byte, 0, 8*len(data))
	for _, x := range data {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// Check reports how the model of a saved fit differs from another.
func (m Model) Check(now Model) error {
	const prefix = "the fit is of another model: "
	for i := range min(len(m.Latents), len(now.Latents)) {
		if m.Latents[i] != now.Latents[i] {
			return fmt.Errorf(prefix+"its latent %d is %q, here it is %q", i, m.Latents[i], now.Latents[i])
		}
	}
	switch {
	case len(m.Latents) != len(now.Latents):
		return fmt.Errorf(prefix+"it has %d latents, here are %d", len(m.Latents), len(now.Latents))
	case m.Guards != now.Guards:
		return fmt.Errorf(prefix+"its guards are %d different ones, here are %d", m.Guards, now.Guards)
	case m.Observations != now.Observations:
		return fmt.Errorf(prefix+"it has %d observations, here are %d", m.Observations, now.Observations)
	case m.Fingerprint != now.Fingerprint:
		return fmt.Errorf(prefix+"latents are named alike, but expressions or guards differ (fingerprint %.8s, here %.8s)", m.Fingerprint, now.Fingerprint)
	case m.Data != now.Data:
		return errors.New("the fit is of other observations: the program is the same, but values of the data differ")
	}
	return nil
}
