// The noises are integrated out, and drawn again.
data { int i[20]; int j[20]; }
parameters { vector[10] skill; }
model {
	skill ~ normal(0, 1);
	for (k in 1:20) target += log(0.01 + 0.98 * Phi(skill[i[k]] - skill[j[k]]));
}
generated quantities {
	real noise[20];
	for (k in 1:20) {
		real least = skill[j[k]] - skill[i[k]]; // above it the noise makes i win
		real above = Phi(-least);
		real q = bernoulli_rng(0.99 * above / (0.01 + 0.98 * above)) ? -inv_Phi(above * uniform_rng(0, 1)) : inv_Phi((1 - above) * uniform_rng(0, 1));
		noise[k] = q;
	}
}
