// Package cells finds the parts of a posterior between which its density falls off
// cliffs, and a distribution for each.
//
// Inside a cell, log r with the signs of the guards forced is smooth everywhere, also
// beyond the cell. So its mode and its curvature there are a matter of a few Newton steps,
// and make a normal that is near the posterior inside; confined to the cell (family.Normal.Confine),
// it is a proposal for importance sampling with weights near 1, which give the cell's
// evidence.
//
//	             ┌─ what log r of this cell is everywhere
//	      ╱▔▔▔╲ ╱
//	     ╱  ┃▓▓▓▓▓╲┃
//	____╱   ┃▓▓▓▓▓▓┃___   cells: between the guards where log r falls
//
// The mixture of the cells, weighted by their evidences, is the posterior:
//
//	points ─▶ spans ─▶ mode ─▶ evidence ─▶ neighbours, scans ─▶ … ─▶ Finish
//
// A span is as much of the line of parallel guards as log r does not change on. Neighbours are
// the regions across a cell's sides, to which latents whose priors have jumped follow
// (graph.Density.Across); scans look along the lines of many parallel guards, such as the
// years of a change point. The region where log r is highest is looked at first, until many in a row were worth
// nothing. A cell that cannot matter, neither to the mass nor to the variance of a latent, is known by an upper bound,
// and costs no draws.
//
// Where there are too many cells to look at, as with a threshold for each of 24
// groups, switches (derive.Density.Switches) are summed out (package sumout), and cells are those of the other latents.
//
// Switches with hundreds of intervals, as the splits of a decision tree below its root, leave log r with many modes in the other latents. Given the
// intervals of all it is like a normal, and what one group of switches adds to it does not depend on the others: so some dozen modes say how it is in
// all intervals together (around). That makes a mixture of normals for a cell (mix); a cell asks those beside it for the modes that they have,
// and again when others are found (beside).
//
// Where one normal is not near, as in a funnel, a cell gets several: normals are fitted to
// weighted draws by expectation maximisation, and draws of these weighted again (refine).
//
// Of much data log r is a sum over its terms that is taken once: exactly (Compact), or to second order near
// a mode (Near), with few intervals of a switch with many.
//
// Package vi makes fits of it. From the bottom: lines, totals and cell say what there is; mode climbs in one cell; finder and leads know
// where to look, found what there was; evaluate says how much of the posterior a cell has; compact and near are for much data; normals,
// refine, proposal, pool and bridge make mixtures of normals; around, beside and mixed are for switches with many intervals; neighbours and search go
// from cell to cell; finish keeps those that matter, and where describes them.
package cells
