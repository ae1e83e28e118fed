package trials

import (
	"embed"
	"encoding/csv"
	"strconv"
)

//go:embed testdata/*.csv testdata/reference/*.csv
var files embed.FS

// rows are those of a file, by the names of its columns.
func rows(file string) (names []string, list [][]string) {
	f, err := files.Open("testdata/" + file + ".csv")
	if err != nil {
		panic(err) // it is embedded
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		panic(err)
	}
	return all[0], all[1:]
}

func number(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return x
}

// columns are those of a file, by name.
func columns(file string) map[string][]float64 {
	names, list := rows(file)
	data := map[string][]float64{}
	for _, row := range list {
		for k, name := range names {
			data[name] = append(data[name], number(row[k]))
		}
	}
	return data
}
