package evaluation

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"image/color"
	"strconv"

	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/gradient"
)

// modelNames are the paper's models, in its order.
var modelNames = []string{"temperature", "textmsg", "influenza"}

// An estimatorSpec is an estimator under the name that it has in the paper.
type estimatorSpec struct {
	name, label string
	estimator   vi.Estimator
	color       color.RGBA // of Okabe and Ito's colour-blind-safe palette
}

// estimators are the paper's three, and facet's own.
var estimators = []estimatorSpec{
	{"score", "Score", vi.Score{}, color.RGBA{0xE6, 0x9F, 0x00, 0xff}},
	{"reparam", "Reparam", vi.Reparam{}, color.RGBA{0xD5, 0x5E, 0x00, 0xff}},
	{"ours", "Ours (one guard)", gradient.SingleGuard(), color.RGBA{0x56, 0xB4, 0xE9, 0xff}},
	{"facet", "facet (all guards)", vi.Boundary{}, color.RGBA{0x00, 0x5A, 0x9C, 0xff}},
}

func estimatorNames() []string {
	var names []string
	for _, e := range estimators {
		names = append(names, e.name)
	}
	return names
}

// estimatorNamed returns the estimator of that name, one of estimatorNames.
func estimatorNamed(name string) estimatorSpec {
	for _, e := range estimators {
		if e.name == name {
			return e
		}
	}
	panic("reproduce: no estimator " + name)
}

// The paper's measurements along a run.
const (
	elboEvery     = 100  // iterations between evaluations of the ELBO
	elboDraws     = 1000 // samples in each
	varianceDraws = 16   // gradients that the variance at an iteration is taken from
	sameDraws     = 1000 // gradients of each estimator at the same θ; ours, not the paper's
)

// A runSpec is all that a run's numbers depend on, but for the program itself.
type runSpec struct {
	Model     string  `json:"model"`
	StepSize  float64 `json:"step_size"`
	Samples   int     `json:"samples"`
	Estimator string  `json:"estimator"`
	Steps     int     `json:"steps"`
	Seed      uint64  `json:"seed"`
}

// plan lists the runs in the order of the tables.
func (s settings) plan() []runSpec {
	var runs []runSpec
	for _, model := range s.Models {
		for _, step := range s.StepSizes {
			for _, n := range s.Samples {
				for _, e := range s.Estimators {
					runs = append(runs, runSpec{model, step, n, e, s.Steps, s.Seed})
				}
			}
		}
	}
	return runs
}

// key names the run among those of one plan; files are named after it.
func (r runSpec) key() string {
	return fmt.Sprintf("%s-%s-N%d-%s", r.Model, number(r.StepSize), r.Samples, r.Estimator)
}

// String is the run in a line of progress.
func (r runSpec) String() string {
	return fmt.Sprintf("%s, step size %s, N = %d, %s", r.Model, number(r.StepSize), r.Samples, r.Estimator)
}

// stream is the seed of one of the run's random streams. It depends on the run
// alone, so that a run is the same in every plan.
func (r runSpec) stream(purpose string) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %s", r.key(), r.Steps, r.Seed, purpose))
	return binary.LittleEndian.Uint64(sum[:])
}

// measuresVariance reports whether the run is one of those of Table 1.
func (r runSpec) measuresVariance() bool { return r.Samples == 1 }

// comparesAll reports whether all estimators are measured along this run.
func (r runSpec) comparesAll() bool { return r.Samples == 1 && r.Estimator == "facet" }

// number is the shortest form of x that reads back as x.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
