package evaluation

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
)

// A seriesFile is one of a run's CSV files. Its rows begin with the run, so
// that files can be put one after the other. Numbers read back to the last bit.
type seriesFile struct {
	name   string
	header string
	of     func(runSpec) bool // whether a run has it
	encode func(*result) []byte
	decode func(*result, []byte) error
}

const (
	elboHeader     = "model,step_size,samples,estimator,iteration,elbo,elbo_se,elbo_exact\n"
	varianceHeader = "model,step_size,samples,estimator,iteration,avg_var,norm_var\n"
)

// seriesFiles are the ELBO along each run; the variance of the run's own
// estimator at each iteration; and that of all estimators along facet's run.
var seriesFiles = []seriesFile{
	{"elbo.csv", elboHeader, func(runSpec) bool { return true }, encodeELBO, decodeELBO},
	{
		"variance.csv", varianceHeader, runSpec.measuresVariance,
		func(r *result) []byte { return encodeVariance(r.Run, r.Variance) },
		func(r *result, data []byte) (err error) { r.Variance, err = decodeVariance(data); return err },
	},
	{
		"same_theta.csv", varianceHeader, runSpec.comparesAll,
		func(r *result) []byte { return encodeVariance(r.Run, r.Same) },
		func(r *result, data []byte) (err error) { r.Same, err = decodeVariance(data); return err },
	},
}

// files are those that the result has.
func (r *result) files() []seriesFile {
	var files []seriesFile
	for _, f := range seriesFiles {
		if f.of(r.Run) {
			files = append(files, f)
		}
	}
	return files
}

func encodeELBO(r *result) []byte {
	b := []byte(elboHeader)
	for _, p := range r.ELBO {
		b = appendRow(b, r.Run, r.Run.Estimator, p.Iteration, p.MonteCarlo, p.SE, p.Exact)
	}
	return b
}

func encodeVariance(run runSpec, points []variancePoint) []byte {
	b := []byte(varianceHeader)
	for _, p := range points {
		b = appendRow(b, run, p.Estimator, p.Iteration, p.Avg, p.Norm)
	}
	return b
}

func appendRow(b []byte, run runSpec, estimator string, iteration int, values ...float64) []byte {
	b = fmt.Appendf(b, "%s,%s,%d,%s,%d", run.Model, number(run.StepSize), run.Samples, estimator, iteration)
	for _, x := range values {
		b = strconv.AppendFloat(append(b, ','), x, 'g', -1, 64)
	}
	return append(b, '\n')
}

func decodeELBO(r *result, data []byte) error {
	return eachRow(data, elboHeader, func(_ string, iteration int, v []float64) {
		r.ELBO = append(r.ELBO, elboPoint{Iteration: iteration, MonteCarlo: v[0], SE: v[1], Exact: v[2]})
	})
}

func decodeVariance(data []byte) (points []variancePoint, err error) {
	err = eachRow(data, varianceHeader, func(estimator string, iteration int, v []float64) {
		points = append(points, variancePoint{iteration, estimator, v[0], v[1]})
	})
	return points, err
}

// eachRow calls f with each row's estimator, iteration and values. It reuses
// the values.
func eachRow(data []byte, header string, f func(estimator string, iteration int, values []float64)) error {
	body, ok := bytes.CutPrefix(data, []byte(header))
	if !ok {
		return errors.New("another header")
	}
	const before = 5 // columns before the values
	rows := csv.NewReader(bytes.NewReader(body))
	rows.FieldsPerRecord = bytes.Count([]byte(header), []byte(",")) + 1
	all, err := rows.ReadAll()
	if err != nil {
		return err
	}
	values := make([]float64, rows.FieldsPerRecord-before)
	for _, row := range all {
		iteration, err := strconv.Atoi(row[before-1])
		if err != nil {
			return err
		}
		for k := range values {
			if values[k], err = strconv.ParseFloat(row[before+k], 64); err != nil {
				return err
			}
		}
		f(row[before-2], iteration, values)
	}
	return nil
}
