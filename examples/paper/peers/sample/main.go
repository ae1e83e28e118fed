// Command sample writes draws of a trial's posterior for run.sh beside it, and prints what they cost.
//
//	go run ./examples/paper/peers/sample -trial chick -seed 1 -out draws.f64
//
// The file has 64-bit numbers, little-endian: for each latent, in unconstrained coordinates, the first state of each particle, then the
// second of each, and so on.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/trials"
	"github.com/facetvi/facet/vi"
)

func main() {
	log.SetFlags(0)
	name := flag.String("trial", "schools", "the trial's `name`")
	seed := flag.Uint64("seed", 1, "of the fit")
	draws := flag.Int("draws", 4000, "effective `draws` that are asked for")
	out := flag.String("out", "", "the `file` of draws")
	flag.Parse()
	if err := run(*name, *seed, *draws, *out); err != nil {
		log.Fatal("sample: ", err)
	}
}

func run(name string, seed uint64, draws int, out string) (err error) {
	x, err := trials.Find(name)
	if err != nil {
		return err
	}
	before := cputime.Seconds()
	d, err := x.Density()
	if err != nil {
		return err
	}
	compiled := cputime.Seconds()
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: seed, Method: vi.Sampler{Draws: draws}})
	if err != nil {
		return err
	}
	took := cputime.Seconds() - compiled
	verdict, err := fit.Verdict()
	if err != nil {
		return err
	}
	s, err := fit.Sample()
	if err != nil {
		return err
	}
	said, err := json.Marshal(map[string]any{"latents": d.Latents(), "draws": s.Len(), "compile": compiled - before, "seconds": took, "verdict": verdict.String()})
	if err != nil {
		return err
	}
	fmt.Println(string(said))
	if out == "" {
		return nil
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if err := binary.Write(w, binary.LittleEndian, s.Z); err != nil {
		return err
	}
	return w.Flush()
}
