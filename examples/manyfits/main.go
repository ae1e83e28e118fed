// Manyfits fits one program, a level that shifts once, to many series with Apache Beam: in this process, or on a cluster. README.md has more.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"log"
	"math/rand/v2"
	"reflect"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/report"
)

const points, shards = 100, 16

// program is compiled once in each process. Its fits share what they compute with.
var program = sync.OnceValues(func() (*graph.Density, error) {
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, points))
	before, after := m.Sample("before", graph.Normal(0, 3)), m.Sample("after", graph.Normal(0, 3))
	for i := range points {
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)+0.5), after, before), 1), 0)
	}
	return m.Compile()
})

// A Series is a line of JSON.
type Series struct {
	Key string
	Y   []float64
}

// read reads a line, and gives the series a shard by its key. Of a line that is none the fit fails.
func read(line string) (shard int, x Series) {
	if err := json.Unmarshal([]byte(line), &x); err != nil {
		x = Series{Key: fmt.Sprintf("%.40s: %v", line, err)}
	}
	return int(crc32.ChecksumIEEE([]byte(x.Key)) % shards), x
}

// A fitter fits the series of a shard on all processors of a worker, and says the moments of when, before and after. A fit depends on
// its key, its data and the seed alone.
type fitter struct {
	Seed uint64
	Keep string // the folder, if any, of what is fitted: a shard that is tried again goes on where it was
}

func (f *fitter) ProcessElement(ctx context.Context, shard int, next func(*Series) bool, fitted, failed func(string)) error {
	d, err := program()
	if err != nil {
		return err
	}
	settings := vi.Settings{Seed: f.Seed, Method: vi.Cells{Quick: true}}
	if f.Keep != "" {
		settings.Checkpoint = fmt.Sprintf("%s/%d", f.Keep, shard)
	}
	for x := range vi.FitAll(ctx, d, func(yield func(string, map[string][]float64) bool) {
		for x := (Series{}); next(&x) && yield(x.Key, map[string][]float64{"y": x.Y}); x = (Series{}) {
		}
	}, settings) {
		if x.Err != nil {
			failed(fmt.Sprintf("%s: %v", x.Key, x.Err))
			continue
		}
		fit, err1 := report.LineOf(x.Key, x.Fit)
		line, err2 := json.Marshal(fit)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		fitted(string(line))
	}
	return ctx.Err() // if the job was stopped, which is no fault of the series
}

func main() {
	in, series := flag.String("in", "", "files of series, as lines {\"Key\": …, \"Y\": […]}"), flag.Int("series", 1000, "series that are drawn from the program, if there is no -in")
	out, keep, seed := flag.String("out", ".", "folder of fits.jsonl and failures.txt"), flag.String("keep", "", "folder of what is fitted, for the next time"), flag.Uint64("seed", 1, "fixes all fits")
	html := flag.String("html", "", "`file` for a page of the fits")
	flag.Parse()
	beam.RegisterFunction(read)
	beam.RegisterType(reflect.TypeFor[Series]())
	beam.RegisterType(reflect.TypeFor[fitter]())
	beam.Init()
	d, err := program()
	if err != nil {
		log.Fatal(err)
	}
	var drawn []string
	for rng := rand.New(rand.NewPCG(1, 17)); len(drawn) < *series; {
		line, _ := json.Marshal(Series{fmt.Sprint("series", len(drawn)), d.Replicate(nil, d.PriorDraw(nil, rng), rng)})
		drawn = append(drawn, string(line))
	}
	p, s := beam.NewPipelineWithRoot()
	lines := beam.CreateList(s, drawn)
	if *in != "" {
		lines = textio.Read(s, *in)
	}
	fits, failures := beam.ParDo2(s, &fitter{*seed, *keep}, beam.GroupByKey(s, beam.ParDo(s, read, lines)))
	textio.Write(s, *out+"/fits.jsonl", fits)
	textio.Write(s, *out+"/failures.txt", failures)
	err = beamx.Run(context.Background(), p)
	if err == nil && *html != "" {
		about := "Each series has 100 numbers, of a level that shifts once: when, and from which level to which. What cannot be fitted is named in failures.txt."
		err = report.SaveLines(*html, *out+"/fits.jsonl", d.Latents(), report.Options{Title: "Shifts in many series", About: about})
	}
	if err != nil {
		log.Fatal(err)
	}
}
