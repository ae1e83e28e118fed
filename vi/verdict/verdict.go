package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/weighted"
)

// A Trust says whether the numbers of a fit can be relied on.
type Trust string

// TrustFit says that all numbers of the summary are right that have a finite standard error: means to a
// twentieth of a standard deviation, standard deviations to a twentieth of themselves, probabilities to a hundredth. TrustNothing says that this is not known.
const (
	TrustFit     Trust = "trust"
	TrustNothing Trust = "do not trust"
)

// A Verdict says whether the numbers of a fit are those of the posterior.
type Verdict struct {
	Trust   Trust
	Reasons []string // why, the worst first
	Try     []string // what may help
}

// String is the verdict in a line or a few.
func (v Verdict) String() string {
	s := string(v.Trust)
	if len(v.Reasons) > 0 {
		s += ": " + strings.Join(v.Reasons, "; ")
	}
	if len(v.Try) > 0 {
		s += "\ntry " + strings.Join(v.Try, "; or ")
	}
	return s
}

// What a verdict goes by.
const (
	scoutErrors    = 4    // standard errors of a scout, which come from few islands
	scoutNats      = 0.15 // beside them
	unevenIslands  = 0.5  // of the scout's log evidence, a standard error
	leastEffective = 0.1  // of the draws
	fewEffective   = 0.3  // of the draws, where k-hat is high; and
	noMean         = 1    // k-hat of weights that have no mean
	mostSE         = 0.1  // of a log evidence, in nats
	scoutDraws     = 1000 // that are looked at, at least, and
	mostScoutDraws = 4000
	cheapParts     = 100  // with more, they are fewer
	mostMissed     = 0.04 // of the scout's draws, or of the mass that was found
	outOfSight     = 7    // log of the posterior over the proposal, at a draw that weights do not see
)

// A Fit is what is known of a fit beside its draws.
type Fit struct {
	Cells       bool        // it is of cells
	Left        float64     // how much of the posterior is in cells that were found and not kept
	Unfinished  float64     // how much of it cells may have that were not looked at
	Cut         bool        // its budget was over
	LogEvidence mc.Estimate // by the draws and what was left
	Seed        uint64
}

// Differ reports whether a log evidence that is higher than another by gap, with the standard error se, is so by more than chance.
func Differ(gap, se float64) bool { return gap > scoutErrors*se+scoutNats }

// A judgement is a verdict that is being made, question by question.
type judgement struct {
	Verdict
	n      *Numbers
	s      *weighted.Sample
	sample scout.Result
	fit    Fit
	other  string      // a fit to try
	seen   []precision // errors of the moments, as the scout sees them
	doubts []string    // that are no reason to refuse
}

func (j *judgement) refuse(try, format string, args ...any) {
	j.Trust = TrustNothing
	j.Reasons = append(j.Reasons, fmt.Sprintf(format, args...))
	if !slices.Contains(j.Try, try) {
		j.Try = append(j.Try, try)
	}
}
