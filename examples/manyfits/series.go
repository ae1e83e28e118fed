package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/facetvi/facet/graph"
)

// points is the length of a series.
const points = 100

// newDensity compiles the program: a level that shifts once, at a time that nobody knows.
func newDensity() (*graph.Density, error) {
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, points))
	before, after := m.Sample("before", graph.Normal(0, 3)), m.Sample("after", graph.Normal(0, 3))
	for i := range points {
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)+0.5), after, before), 1), 0)
	}
	return m.Compile()
}

// A Series is a data set with its key.
type Series struct {
	Key string
	Y   []float64
}

// simulated is series number k: three in four shift, and one in 500 has lost its last points.
func simulated(k int) Series {
	rng := rand.New(rand.NewPCG(uint64(k), 17))
	s := Series{Key: fmt.Sprintf("series-%06d", k)}
	at, before, after := 50+15*rng.NormFloat64(), 2*rng.NormFloat64(), 2*rng.NormFloat64()
	if k%4 == 0 {
		after = before
	}
	n := points
	if k%500 == 499 {
		n -= 10
	}
	for i := range n {
		level := before
		if float64(i) >= at {
			level = after
		}
		s.Y = append(s.Y, level+rng.NormFloat64())
	}
	return s
}

// writeSeries writes n simulated series as CSV: a key, and the points.
func writeSeries(file string, n int) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	for k := range n {
		s := simulated(k)
		record := []string{s.Key}
		for _, y := range s.Y {
			record = append(record, format(y))
		}
		if err := w.Write(record); err != nil {
			f.Close()
			return err
		}
	}
	if w.Flush(); w.Error() != nil {
		f.Close()
		return w.Error()
	}
	return f.Close()
}

// parseSeries reads a line of CSV.
func parseSeries(line string) (s Series, err error) {
	record, err := parseRecord(line)
	if err != nil {
		return s, err
	}
	s.Key = record[0]
	for _, text := range record[1:] {
		y, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return s, err
		}
		s.Y = append(s.Y, y)
	}
	return s, nil
}

// format writes a number to its last bit.
func format(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// readAll reads all records of a file of CSV, of any lengths.
func readAll(r io.Reader) ([][]string, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	return c.ReadAll()
}
