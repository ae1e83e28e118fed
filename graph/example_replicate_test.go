package graph_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// A thermostat: what a person asks of it is recorded beside the latents. Heating
// is a named guard, the power that it takes a deterministic expression, and
// replicated data are what the meter would read.
func ExampleDensity_Replicate() {
	m := graph.NewModel()
	room := m.Sample("room", graph.Normal(20, 2))
	heating := m.Name("heating", graph.Less(room, 19))
	power := m.Deterministic("power", graph.If(heating, graph.Mul(500, graph.Sub(21, room)), 0))
	m.Observe("meter", graph.Normal(power, 10), 1200)
	density, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(density.Guards()[0].Name(), "is", density.Guards()[0])

	rng := rand.New(rand.NewPCG(4, 2))
	for range 4 {
		z := density.PriorDraw(nil, rng)
		on := density.Named("heating")[0].Holds(density.Arrangement().Signs(z))
		power := density.DeterministicAt(nil, z)[0]
		meter := density.Replicate(nil, z, rng)[0]
		fmt.Printf("room %.1f, heating %v, power %.0f, meter %.0f\n", z[0], on, power, meter)
	}
	// Output:
	// heating is room < 19
	// room 18.8, heating true, power 1104, meter 1108
	// room 20.0, heating false, power 0, meter -12
	// room 17.2, heating true, power 1918, meter 1917
	// room 20.6, heating false, power 0, meter 19
}
