// The threshold is summed out: between two neighbouring bases the likelihood does not depend on it.
data {
	int n; int y[n]; vector[n] trt; vector[n] log_base; vector[n] v4; int subject[n];
	int order[59];                          // subjects by base
	int intervals; vector[intervals + 1] cut; // of the threshold
	int below[intervals];                   // how many subjects have no jump in each
}
parameters { real a; real b; real trt_; real jump; real v4_; real<lower=0> tau; vector[59] u; }
transformed parameters {
	vector[intervals] lp;
	{
		vector[n] eta = a + b * log_base + trt_ * trt + v4_ * v4 + u[subject];
		vector[n] rate = exp(eta);
		vector[59] without = rep_vector(0, 59);
		vector[59] gain = rep_vector(0, 59);
		vector[59] sorted;
		for (k in 1:n) {
			without[subject[k]] += y[k] * eta[k] - rate[k];
			gain[subject[k]] += y[k] * jump - rate[k] * expm1(jump);
		}
		sorted = cumulative_sum(gain[order]);
		for (j in 1:intervals) lp[j] = log(cut[j + 1] - cut[j]) + sum(without) + sorted[59] - (below[j] > 0 ? sorted[below[j]] : 0);
	}
}
model {
	a ~ normal(0, 2);
	b ~ normal(0, 2);
	trt_ ~ normal(0, 1);
	jump ~ normal(0, 1);
	v4_ ~ normal(0, 1);
	tau ~ normal(0, 1);
	u ~ normal(0, tau);
	target += log_sum_exp(lp);
}
generated quantities {
	real thr;
	{
		int j = categorical_logit_rng(lp);
		thr = uniform_rng(cut[j], cut[j + 1]);
	}
}
