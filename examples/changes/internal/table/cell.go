package table

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// missing are the cells, in small letters, that stand for a number that is not known.
var missing = []string{"", "na", "n/a", "nan", "null", "none", "-", ".", "?"}

var errNumber = errors.New("is not a number")

// number reads a cell; it is NaN if that is missing. decimal says that numbers have commas in place of points.
func number(cell string, decimal bool) (float64, error) {
	if slices.Contains(missing, strings.ToLower(cell)) {
		return math.NaN(), nil
	}
	plain := cell
	if decimal && strings.Count(cell, ",") == 1 && !strings.Contains(cell, ".") {
		plain = strings.Replace(cell, ",", ".", 1)
	}
	x, err := strconv.ParseFloat(plain, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("is beyond the largest number")
	case err != nil && strings.Trim(cell, "0123456789,") == "":
		return 0, errors.New("is not a number: write it without commas between thousands")
	case err != nil:
		return 0, errNumber
	case math.IsInf(x, 0):
		return 0, errors.New("is infinite; leave the cell empty if the number is missing")
	}
	return x, nil
}
