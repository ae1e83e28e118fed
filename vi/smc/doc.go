// Package smc samples posteriors, by sequential Monte Carlo along a path of distributions
//
//	π_β ∝ q0^(1−β)·r^β,    β = 0 → 1,
//
// from a normal q0 that covers the posterior to the posterior itself, with moves along gradients.
//
//	q0 ──▶ weigh, resample, move ──▶ weigh, resample, move ──▶ … ──▶ move, until enough draws are effective
//	β = 0      β with half of the        β                                β = 1
//	           states effective
//
// The states after every move are the sample of the next temperature (Dau and Chopin, Waste-free
// sequential Monte Carlo, 2022). Particles are in islands that exchange nothing: their evidences and draws tell
// how far the result can be relied on, see [Diagnostics].
//
// Where the program requires something there is a path before, on which what does not hold costs more and more, by how far a point is from where it does.
//
// Of more than 100 latents q0 is fitted to states that a pilot has moved at β = 1: a normal in which each latent depends on its
// neighbours in the program, and spreads as the scales say. Of more than an eighth as many latents as there are states of a temperature, the covariance is that of
// particles of other islands.
//
// A move is a trajectory of Hamiltonian dynamics, with the particles' covariance as inverse mass, in coordinates in which latents have the same spread for all values of
// their scales, as far as there are no walls; and then moves
// of the residuals that priors leave of latents, as package scout makes them, and of scales: what log r has in products with a scale is divided by what it is multiplied by, and distances from
// observations are multiplied, so that no funnel's neck holds it. Where many more moves are needed at β = 1, the covariance is learned again
// from these, and trajectories are lengthened as long as that gives more effective draws of a gradient. Where latents are summed out and drawn again, states half-way of
// trajectories are kept, too: rare values of such latents need many states. At β = 1 points may be proposed from a distribution that is fitted
// to the draws, too, which go from mode to mode. Values in ascending order, as of the components of a mixture, are taken out and put in
// elsewhere, with all that belongs to them; and what the distribution misses most is proposed in coordinates in which they have labels. Where log r jumps, at a guard,
// trajectories reflect and refract:
//
//	   ΔU > p²/2          ΔU < p²/2
//	╲       │              ╲      │
//	 ╲      │               ╲     │
//	  ╲____▶│                ╲____│
//	  ╱     │                     │╲__   slower behind a wall that costs
//	 ╱      │                     │   ╲
//
// So steps are as long as the smooth parts of log r allow, and discrete latents that are not summed out, which are switches with
// cuts, move along as well. Walls may be curves. Trajectories are exact in any case: only how often they are accepted depends on
// what they pay.
package smc

// The files of this package read in one direction; none uses a later one:
//
//	linear, sparse, scales, normal              q0
//	states, chains, result, diagnose            points, those of all moves, and what is told of them
//	noncentred                                  coordinates of trajectories
//	flight, levels, bends, surfaces,            a point's way through the walls, and
//	guide, path, walls                          to where requirements hold
//	settings, relocate, relabel, move, residual the moves of a block of points
//	sampler, temper, pilot, require             those of all islands: on the way to β = 1,
//	near, finish                                and there
//	smc                                         a run
