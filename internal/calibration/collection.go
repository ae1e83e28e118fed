package calibration

import (
	"fmt"
	"sync"
)

// Cases builds the collection. It is the same at each call.
func Cases() []Case { return buildAll(collection()) }

// Names are the names of Cases, in their order.
func Names() (names []string) {
	for _, e := range collection() {
		names = append(names, e.name)
	}
	return names
}

// Named builds the case of that name alone. It panics if there is none.
func Named(name string) Case {
	for _, e := range collection() {
		if e.name == name {
			return e.build()
		}
	}
	panic(fmt.Sprintf("calibration: no case %q", name))
}

// buildAll builds the entries, two at a time.
func buildAll(entries []entry) []Case {
	cases := make([]Case, len(entries))
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < len(entries); i += 2 {
				cases[i] = entries[i].build()
			}
		})
	}
	wg.Wait()
	return cases
}

func collection() (all []entry) {
	for _, list := range [][]entry{
		steps(), twoChanges(), regressions(), regimes(), hurdles(), censoredData(), dense(), sharedSlopes(), hierarchies(), realSeries(), smoothModels(),
	} {
		all = append(all, list...)
	}
	return all
}
