package long

import (
	"flag"
	"os"
	"testing"
)

// Main is the TestMain of a package with tests of pgregory.net/rapid: its draws are the same at
// each run, unless -rapid.seed varies them, and 20 for each test, or 100 with -tags long, unless
// -rapid.checks says how many. Of 100, rapid tries a fifth with -short.
func Main(m *testing.M) {
	flag.Parse()
	defaults := map[string]string{"rapid.seed": "1", "rapid.checks": Or("20", "100")}
	if testing.Short() {
		defaults["rapid.checks"] = "100"
	}
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
