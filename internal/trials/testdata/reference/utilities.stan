// The utilities are integrated out, and drawn again.
data { int n; matrix[n, 2] x; int y[n]; }
parameters { vector[3] w; }
transformed parameters { vector[n] eta = w[1] + x * w[2:3]; }
model {
	w ~ normal(0, 1);
	for (k in 1:n) target += log(0.01 + 0.98 * Phi((2 * y[k] - 1) * eta[k]));
}
generated quantities {
	vector[n] u;
	for (k in 1:n) {
		real sign = 2 * y[k] - 1;
		real right = Phi(sign * eta[k]);
		u[k] = eta[k] + sign * (bernoulli_rng(0.99 * right / (0.01 + 0.98 * right)) ? -inv_Phi(right * uniform_rng(0, 1)) : inv_Phi((1 - right) * uniform_rng(0, 1)));
	}
}
