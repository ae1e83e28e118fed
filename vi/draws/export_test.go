package draws

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/weighted"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// exported are draws of latents that have names of every kind.
func exported(t *testing.T) Draws {
	m := graph.NewModel()
	m.Sample("rate", graph.Gamma(2, 1))
	for j := range 3 {
		for i := range 2 { // the first index runs first
			m.Sample(fmt.Sprintf("w[%d,%d]", i, j), graph.Normal(float64(10*i+j), 0.1))
		}
	}
	m.Sample("q1-noise", graph.Normal(0, 1e-3))
	for i := range 4 {
		m.Sample(fmt.Sprintf("theta[%d]", i), graph.Normal(1e6*float64(i), 2))
	}
	m.Sample("gap[2]", graph.Uniform(-1, 1))
	m.Sample("gap[5]", graph.Beta(1, 3))
	m.Sample("μ", graph.LogNormal(0, 0.5))
	d := vitest.Compile(t, m)
	return drawsOf(t, d, family.Independent(d.PriorStart()), 300, *seed)
}

// drawsOf are draws of the posterior with equal weights, by q.
func drawsOf(t testing.TB, d *graph.Density, q family.Q, n int, seed uint64) Draws {
	t.Helper()
	draws, err := Of(context.Background(), poolOf(t, d, q), n, seed)
	require.NoError(t, err)
	return draws
}

// poolOf are weighted draws of q.
func poolOf(t testing.TB, d *graph.Density, q family.Q) *weighted.Sample {
	t.Helper()
	pool, err := weighted.Draw(context.Background(), d, q, 1000, 0)
	require.NoError(t, err)
	return pool
}

func TestTensors(t *testing.T) {
	draws := exported(t)
	m, x := draws.Dense(), draws.Tensor()
	rows, columns := m.Dims()
	require.Equal(t, []int{len(draws.Values), len(draws.Names)}, []int{rows, columns})
	require.Equal(t, tensor.Shape{rows, columns}, x.Shape())
	for k, row := range draws.Values {
		require.Equal(t, row, m.RawRowView(k))
		require.Equal(t, row, x.Float64s()[k*columns:(k+1)*columns])
	}
	m.Set(0, 0, -1) // a copy
	require.NotEqual(t, -1.0, draws.Values[0][0])

	none := draws
	none.Values = nil
	require.True(t, none.Dense().IsEmpty())
	require.Equal(t, tensor.Shape{0, columns}, none.Tensor().Shape())
}

// arrays is what the files should hold: each array by name, its elements in
// order of their indices.
func arrays(d Draws) map[string][][]float64 {
	want := map[string][]string{
		"rate": {"rate"}, "q1-noise": {"q1-noise"}, "μ": {"μ"}, "gap[2]": {"gap[2]"}, "gap[5]": {"gap[5]"},
		"theta": {"theta[0]", "theta[1]", "theta[2]", "theta[3]"},
		"w":     {"w[0,0]", "w[0,1]", "w[0,2]", "w[1,0]", "w[1,1]", "w[1,2]"},
	}
	out := map[string][][]float64{}
	for name, elements := range want {
		for k := range d.Values {
			var row []float64
			for _, e := range elements {
				row = append(row, d.Values[k][d.index[e]])
			}
			out[name] = append(out[name], row)
		}
	}
	return out
}

func TestWriteNPZ(t *testing.T) {
	draws := exported(t)
	var file bytes.Buffer
	require.NoError(t, draws.WriteNPZ(&file))
	z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	want := arrays(draws)
	require.Len(t, z.File, len(want))
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		require.True(t, ok)
		r, err := f.Open()
		require.NoError(t, err)
		x := tensor.New(tensor.Of(tensor.Float64))
		require.NoError(t, x.ReadNpy(r), name)
		shape := tensor.Shape{len(draws.Values)}
		switch name {
		case "theta":
			shape = append(shape, 4)
		case "w":
			shape = append(shape, 2, 3)
		}
		require.Equal(t, shape, x.Shape(), name)
		require.Equal(t, flatten(want[name]), x.Float64s(), name)
	}

	var again bytes.Buffer
	require.NoError(t, draws.WriteNPZ(&again))
	require.Equal(t, file.Bytes(), again.Bytes(), "a file has no time of its own")
	draws.Values = nil
	require.ErrorContains(t, draws.WriteNPZ(&again), "no draws")
}

func flatten(rows [][]float64) []float64 {
	var out []float64
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}

func TestWriteCSV(t *testing.T) {
	draws := exported(t)
	var file bytes.Buffer
	require.NoError(t, draws.WriteCSV(&file))
	for _, line := range []string{ // what readers look for
		"# model = facet\n", "# method = sample\n", "#     num_samples = 300\n", "#     num_warmup = 0\n",
		"#     save_warmup = 0\n", "#     thin = 1\n", "#     algorithm = fixed_param\n", "# id = 1\n",
	} {
		require.Contains(t, file.String(), line)
	}
	r := csv.NewReader(&file)
	r.Comment = '#'
	rows, err := r.ReadAll()
	require.NoError(t, err)
	require.Equal(t, "lp__ lp_approx__ rate w.1.1 w.2.1 w.1.2 w.2.2 w.1.3 w.2.3 q1_noise theta.1 theta.2 theta.3 theta.4 gap_2_ gap_5_ μ",
		strings.Join(rows[0], " "))
	require.Len(t, rows, 1+len(draws.Values))

	for k, row := range rows[1:] {
		x := make([]float64, len(row))
		for j, cell := range row {
			x[j], err = strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
		}
		require.Equal(t, draws.Values[k], x[2:]) // this program samples in Stan's order

		z := unconstrain(draws.Values[k], draws.Names)
		want, err := draws.density.LogProb(z)
		require.NoError(t, err)
		require.InEpsilon(t, want, x[0], 1e-9)
		logQ := 0.0
		for i := range z {
			logQ += distuv.Normal{Mu: draws.q.Mean(i), Sigma: draws.q.SD(i)}.LogProb(z[i])
		}
		require.InEpsilon(t, logQ, x[1], 1e-8)
	}
}

// unconstrain inverts the transforms of exported's latents.
func unconstrain(x []float64, names []string) []float64 {
	z := append([]float64(nil), x...)
	logit := func(p float64) float64 { return math.Log(p) - math.Log1p(-p) }
	for i, name := range names {
		switch name {
		case "rate", "μ":
			z[i] = math.Log(x[i])
		case "gap[2]":
			z[i] = logit((x[i] + 1) / 2)
		case "gap[5]":
			z[i] = logit(x[i])
		}
	}
	return z
}

func TestStanColumns(t *testing.T) {
	names, columns, err := stanColumns([]string{"x[2]", "a b,c", "x[1]", "1st", "q__", "σ²", "x[3]"})
	require.NoError(t, err)
	require.Equal(t, []string{"x.1", "x.2", "x.3", "a_b_c", "x1st", "q", "σ_"}, names)
	require.Equal(t, []int{2, 0, 6, 1, 3, 4, 5}, columns)
	_, _, err = stanColumns([]string{"a-b", "a.b"})
	require.ErrorContains(t, err, "latents a-b and a.b would both be a_b")

	for want, x := range map[string]float64{
		"inf": math.Inf(1), "-inf": math.Inf(-1), "NaN": math.NaN(), "0.1": 0.1, "5e-324": 5e-324, "-0": math.Copysign(0, -1),
	} {
		require.Equal(t, want, stanNumber(x))
	}
}

// The seed fixes draws.
func TestOf(t *testing.T) {
	d := exported(t)
	require.Equal(t, d, drawsOf(t, d.density, d.q, 300, *seed))
	require.NotEqual(t, d.Values, drawsOf(t, d.density, d.q, 300, *seed+1).Values)
	x, err := d.Of("rate")
	require.NoError(t, err)
	require.Len(t, x, 300)
	require.Equal(t, d.Values[7][0], x[7])
	_, err = d.Of("nobody")
	require.ErrorContains(t, err, `"nobody"`)
	none, err := drawsOf(t, d.density, d.q, 0, 1).Of("rate")
	require.NoError(t, err)
	require.Empty(t, none)
	pool := poolOf(t, d.density, d.q)
	_, err = Of(context.Background(), pool, -1, 1)
	require.EqualError(t, err, "draws: -1 draws")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Of(ctx, pool, 300, 1)
	require.ErrorIs(t, err, context.Canceled)
}

// Draws and files have the components of vectors, and not the latents that these are computed from.
func TestVectorsInFiles(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.SampleVector("share", graph.Dirichlet(1, 2, 3))
	m.Factor(x)
	d := vitest.Compile(t, m)
	z := [][]float64{{0.25, 0, 1}, {-1, 2, 0}}
	draws := At(d, family.Independent(make([]float64, 3), []float64{1, 1, 1}), z)
	require.Equal(t, []string{"x", "share[0]", "share[1]", "share[2]"}, draws.Names)
	require.Equal(t, append([]float64{-1}, d.ComponentsAt(z[1])...), draws.Values[1])
	require.Equal(t, tensor.Shape{2, 4}, draws.Tensor().Shape())
	sticks, err := draws.Of(d.Latents()[1])
	require.NoError(t, err)
	require.Equal(t, []float64{d.Coordinate(1).Value(0), d.Coordinate(1).Value(2)}, sticks)
	again, err := draws.With(d)
	require.NoError(t, err)
	require.Equal(t, draws.Values, again.Values)
	var csv, npz bytes.Buffer
	require.NoError(t, draws.WriteCSV(&csv))
	require.Contains(t, csv.String(), "\nlp__,lp_approx__,x,share.1,share.2,share.3\n")
	lines := strings.Split(strings.TrimSpace(csv.String()), "\n")
	for k, line := range lines[len(lines)-2:] {
		want := stanNumber(z[k][0])
		for _, share := range d.ComponentsAt(z[k]) {
			want += "," + stanNumber(share)
		}
		require.True(t, strings.HasSuffix(line, ","+want), "%s does not end with %s", line, want)
	}
	require.NoError(t, draws.WriteNPZ(&npz))
	files, err := zip.NewReader(bytes.NewReader(npz.Bytes()), int64(npz.Len()))
	require.NoError(t, err)
	require.Len(t, files.File, 2)
	require.Equal(t, "share.npy", files.File[1].Name)
}

func TestWriteCSVErrors(t *testing.T) {
	draws := exported(t)
	var file bytes.Buffer
	few := draws
	few.Values = few.Values[:10]
	require.ErrorContains(t, few.WriteCSV(&file), "300 draws were made, and 10 are here")
	require.ErrorContains(t, Draws{Names: draws.Names}.WriteCSV(&file), "not made by a Posterior")
	require.ErrorIs(t, draws.WriteCSV(brokenWriter{}), errBroken)
	require.ErrorIs(t, draws.WriteNPZ(brokenWriter{}), errBroken)
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// readBack reads both files as NumPy's users do, the CSV by the rules of ArviZ's
// from_cmdstan: comments, a header, columns x.i.j that fill arrays.
const readBack = `
import json, sys
import numpy as np

arrays = np.load(sys.argv[1])
npz = {name: arrays[name].tolist() for name in arrays.files}

with open(sys.argv[2], encoding="utf-8") as file:
    lines = [line.strip() for line in file if not line.startswith("#")]
header = lines[0].split(",")
data = np.array([line.split(",") for line in lines[1:]], dtype=np.float64)
groups = {}
for column, name in enumerate(header):
    key, *index = name.split(".")
    groups.setdefault(key, []).append((column, tuple(int(i) - 1 for i in index)))
csv = {}
for key, members in groups.items():
    shape = np.max([index for _, index in members], axis=0).astype(int) + 1
    array = np.full((len(data), *shape), np.nan)
    for column, index in members:
        array[(slice(None), *index)] = data[:, column]
    csv[key] = array.tolist()
print(json.dumps({"npz": npz, "csv": csv}))
`

// pythonWithNumPy returns an interpreter, or why there is none.
func pythonWithNumPy() (string, error) {
	var tried []error
	for _, python := range []string{"python3", "/usr/bin/python3"} { // the second is Debian's own
		out, err := exec.Command(python, "-c", "import numpy").CombinedOutput()
		if err == nil {
			return python, nil
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		tried = append(tried, fmt.Errorf("%s: %w %s", python, err, lines[len(lines)-1]))
	}
	return "", errors.Join(tried...)
}

func TestNumPyReads(t *testing.T) {
	python, err := pythonWithNumPy()
	if err != nil {
		t.Skipf("no Python with NumPy (apt-get install python3-numpy):\n%v", err)
	}
	draws := exported(t)
	dir := t.TempDir()
	npz, table := filepath.Join(dir, "draws.npz"), filepath.Join(dir, "draws.csv")
	for path, write := range map[string]func(f *os.File) error{
		npz:   func(f *os.File) error { return draws.WriteNPZ(f) },
		table: func(f *os.File) error { return draws.WriteCSV(f) },
	} {
		f, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, write(f))
		require.NoError(t, f.Close())
	}
	var complaint bytes.Buffer
	cmd := exec.Command(python, "-c", readBack, npz, table)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	require.NoError(t, err, complaint.String())
	var got struct{ NPZ, CSV map[string]any }
	require.NoError(t, json.Unmarshal(out, &got))

	want := arrays(draws)
	require.Len(t, got.NPZ, len(want))
	require.Len(t, got.CSV, len(want)+2)
	for name, rows := range want {
		inCSV := map[string]string{"q1-noise": "q1_noise", "gap[2]": "gap_2_", "gap[5]": "gap_5_"}[name]
		if inCSV == "" {
			inCSV = name
		}
		require.Equal(t, flatten(rows), leaves(got.NPZ[name]), name)
		require.Equal(t, flatten(rows), leaves(got.CSV[inCSV]), inCSV)
	}
	w := got.NPZ["w"].([]any)[0].([]any)
	require.Len(t, w, 2)
	require.Len(t, w[0], 3)
	require.Equal(t, got.NPZ["w"], got.CSV["w"])
}

// leaves lists the numbers in nested lists, in order.
func leaves(x any) []float64 {
	switch x := x.(type) {
	case float64:
		return []float64{x}
	case []any:
		var out []float64
		for _, y := range x {
			out = append(out, leaves(y)...)
		}
		return out
	}
	return nil
}
