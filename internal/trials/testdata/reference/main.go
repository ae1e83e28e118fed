// Reference writes the moments of the latents of models whose posteriors it samples by other ways than package smc:
//
//	go run ./internal/trials/testdata/reference breaks > internal/trials/testdata/reference/breaks.csv
//
// It shares no code with the library. Run it from the module's root.
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
)

func main() {
	models := map[string]func(seed uint64) *moments{
		"galaxies":        func(seed uint64) *moments { return galaxies(3, 500_000, seed) },
		"galaxies of six": func(seed uint64) *moments { return galaxies(6, 1_000_000, seed) },
		"chick":           chick,
		"breaks":          func(uint64) *moments { return breaks() },
		"tree":            func(uint64) *moments { return tree() },
		"pedestrian":      pedestrian,
		"lockdown":        lockdown,
	}
	if len(os.Args) != 2 || models[os.Args[1]] == nil {
		log.Fatal("which of chick, galaxies, galaxies of six, breaks, tree, pedestrian, lockdown?")
	}
	const chains = 8
	var all []*moments
	for seed := range uint64(chains) {
		all = append(all, models[os.Args[1]](seed))
	}
	write(all)
}

// Moments are sums over the draws of one chain.
type moments struct {
	names       []string
	weight      float64
	sum, square []float64
}

func newMoments(names ...string) *moments {
	return &moments{names: names, sum: make([]float64, len(names)), square: make([]float64, len(names))}
}

func (m *moments) add(weight float64, x ...float64) {
	m.weight += weight
	for i, v := range x {
		m.sum[i] += weight * v
		m.square[i] += weight * v * v
	}
}

// write writes means, standard deviations, and their errors from what chains differ.
func write(chains []*moments) {
	fmt.Println("latent,mean,sd,mcse,mcse_sd")
	n := float64(len(chains))
	for i, name := range chains[0].names {
		var means, sds [2]float64 // sums, and those of squares
		mean, square := 0.0, 0.0
		for _, c := range chains {
			m, q := c.sum[i]/c.weight, c.square[i]/c.weight
			mean, square = mean+m/n, square+q/n
			sd := math.Sqrt(q - m*m)
			means[0], means[1], sds[0], sds[1] = means[0]+m, means[1]+m*m, sds[0]+sd, sds[1]+sd*sd
		}
		se := func(s [2]float64) float64 { return math.Sqrt(max(0, s[1]-s[0]*s[0]/n) / (n - 1) / n) }
		fmt.Printf("%s,%.6g,%.5g,%.2g,%.2g\n", name, mean, math.Sqrt(square-mean*mean), se(means), se(sds))
	}
}

// column is one of a file in testdata.
func column(file, name string) (x []float64) {
	f, err := os.Open("internal/trials/testdata/" + file)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	for k, title := range rows[0] {
		for _, row := range rows[1:] {
			if title == name {
				v, err := strconv.ParseFloat(row[k], 64)
				if err != nil {
					log.Fatal(err)
				}
				x = append(x, v)
			}
		}
	}
	return x
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2026)) }

// names are of a vector of n.
func names(stem string, n int) (list []string) {
	for k := range n {
		list = append(list, fmt.Sprintf("%s[%d]", stem, k))
	}
	return list
}

// choose draws an index by the logarithms of weights.
func choose(logs []float64, rng *rand.Rand) int {
	top, sum := math.Inf(-1), 0.0
	for _, v := range logs {
		top = max(top, v)
	}
	for _, v := range logs {
		sum += math.Exp(v - top)
	}
	u := sum * rng.Float64()
	for k, v := range logs {
		if u -= math.Exp(v - top); u < 0 {
			return k
		}
	}
	return len(logs) - 1
}

// A chooser draws indices by the logarithms of weights, many of them.
type chooser []float64

func newChooser(logs []float64) chooser {
	top, sum := math.Inf(-1), 0.0
	for _, v := range logs {
		top = max(top, v)
	}
	c := make(chooser, len(logs))
	for k, v := range logs {
		sum += math.Exp(v - top)
		c[k] = sum
	}
	return c
}

func (c chooser) draw(rng *rand.Rand) int {
	u := rng.Float64() * c[len(c)-1]
	low, high := 0, len(c)-1
	for low < high {
		if middle := (low + high) / 2; c[middle] > u {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// leaf is what observations with a normal mean and the noise s say: n of them with a sum and a sum of squares.
type leaf struct{ n, sum, square float64 }

func (l *leaf) add(y float64) { l.n, l.sum, l.square = l.n+1, l.sum+y, l.square+y*y }

func (l leaf) minus(o leaf) leaf { return leaf{l.n - o.n, l.sum - o.sum, l.square - o.square} }

// evidence is its logarithm where the mean is Normal(mu, tau).
func (l leaf) evidence(mu, tau, s float64) float64 {
	sum, square := l.sum-l.n*mu, l.square-2*mu*l.sum+l.n*mu*mu
	v, t := s*s, tau*tau
	return -l.n/2*math.Log(2*math.Pi*v) - 0.5*math.Log(1+l.n*t/v) - 0.5/v*(square-sum*sum/(l.n+v/t))
}

// draw draws the mean.
func (l leaf) draw(mu, tau, s float64, rng *rand.Rand) float64 {
	precision := 1/(tau*tau) + l.n/(s*s)
	return (mu/(tau*tau)+l.sum/(s*s))/precision + rng.NormFloat64()/math.Sqrt(precision)
}
