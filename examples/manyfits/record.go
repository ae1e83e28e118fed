// Fits and failures as lines of CSV.

package main

import (
	"encoding/csv"
	"fmt"
	"strings"
)

// header names the columns of fitLine.
var header = []string{"key", "log evidence", "its standard error", "when", "sd", "before", "sd", "after", "sd", "trust"}

// fitLine is a fit as a line of CSV, to the last bit.
func fitLine(f Fit) string {
	return record(f.Key, format(f.LogEvidence), format(f.LogEvidenceSE), format(f.When), format(f.WhenSD),
		format(f.Before), format(f.BeforeSD), format(f.After), format(f.AfterSD), f.Trust)
}

// failureLine is a failure as a line of CSV.
func failureLine(f Failure) string { return record(f.Key, f.Why) }

// record is a line of CSV.
func record(fields ...string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(fields) // a Builder does not fail
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// parseRecord reads a line of CSV.
func parseRecord(line string) ([]string, error) {
	records, err := readAll(strings.NewReader(line))
	if err == nil && len(records) != 1 {
		err = fmt.Errorf("%d records in a line", len(records))
	}
	if err != nil {
		return nil, err
	}
	return records[0], nil
}
