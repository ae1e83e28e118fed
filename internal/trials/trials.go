package trials

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
)

// A Trial is a program.
type Trial struct {
	Name      string
	Build     func(m *graph.Model)
	reference string // the file, without its ending
}

// Ordinary trials are what a person might take another sampler for.
var Ordinary = []Trial{
	{"schools", schools(false), "schools"},
	{"schools centred", schools(true), "schools"},
	{"ranking", ranking, "ranking"},
	{"chick", chick, "chick"},
	{"bacteria", bacteria, "bacteria"},
	{"epil", epil, "epil"},
	{"nile", nile(false), "nile"},
	{"nile by switches", nile(true), "nile"},
	{"student", student, "student"},
	{"horseshoe", horseshoe, "horseshoe"},
	{"utilities", utilities, "utilities"},
}

// Hard trials have many modes or many guards.
var Hard = []Trial{
	{"galaxies", mixture(3), "galaxies"},
	{"galaxies of six", mixture(6), "galaxies of six"},
	{"breaks", breaks, "breaks"},
	{"pedestrian", pedestrian, "pedestrian"},
	{"tree", tree, "tree"},
	{"lockdown", lockdown, "lockdown"},
}

// Find is the trial of that name.
func Find(name string) (Trial, error) {
	for _, x := range slices.Concat(Ordinary, Hard) {
		if x.Name == name {
			return x, nil
		}
	}
	return Trial{}, fmt.Errorf("trials: no trial %q", name)
}

// Named is Find that panics if there is none.
func Named(name string) Trial {
	x, err := Find(name)
	if err != nil {
		panic(err)
	}
	return x
}

// Density compiles the program.
func (x Trial) Density() (*graph.Density, error) {
	m := graph.NewModel()
	x.Build(m)
	return m.Compile()
}

// A Reference is what is known of a latent, or of its logarithm: mean and standard deviation, each with its Monte Carlo error.
type Reference struct {
	Latent                 string
	Log                    bool
	Mean, SD, MeanSE, SDSE float64
}

// References are those of the latents of d, in their order.
func (x Trial) References(d *graph.Density) (list []Reference, err error) {
	_, all := rows("reference/" + x.reference)
	known := map[string][]Reference{}
	for _, row := range all {
		r := Reference{Mean: number(row[1]), SD: number(row[2]), MeanSE: number(row[3]), SDSE: number(row[4])}
		r.Latent, r.Log = strings.CutPrefix(row[0], "log ")
		known[r.Latent] = append(known[r.Latent], r)
	}
	for _, name := range d.Latents() {
		if known[name] == nil {
			return nil, fmt.Errorf("trials: %s has no reference of %s", x.Name, name)
		}
		list = append(list, known[name]...)
	}
	return list, nil
}

// Off is how far a method is from references at worst.
type Off struct {
	Mean, SD     float64 // means in posterior standard deviations, and standard deviations as parts of these
	ofMean, ofSD string
}

// mostUnknown is up to what part of itself a reference's standard deviation is known where it is compared: without a
// variance, as under half Cauchy priors of scales, it is not, and the logarithm's is there.
const mostUnknown = 0.02

// Add compares with a reference.
func (o *Off) Add(ref Reference, mean, sd float64) {
	name := ref.Latent
	if ref.Log {
		name = "log " + name
	}
	if ref.SDSE > mostUnknown*ref.SD {
		return
	}
	if off := math.Abs(mean-ref.Mean) / ref.SD; !(off <= o.Mean) {
		o.Mean, o.ofMean = off, name
	}
	if off := math.Abs(sd/ref.SD - 1); !(off <= o.SD) {
		o.SD, o.ofSD = off, name
	}
}

func (o Off) String() string {
	return fmt.Sprintf("the mean of %s is off by %.3f sd, the sd of %s by %.1f %%", o.ofMean, o.Mean, o.ofSD, 100*o.SD)
}
