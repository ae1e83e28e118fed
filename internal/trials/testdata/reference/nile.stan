// The switches are summed out, and drawn again.
data { int n; vector[n] y; }
parameters { real<lower=0> sl; real<lower=0> so; real<lower=0, upper=1> p; real first; vector[n - 1] e; }
transformed parameters {
	vector[n] level;
	level[1] = first;
	for (k in 2:n) level[k] = level[k - 1] + sl * e[k - 1];
}
model {
	sl ~ normal(0, 0.5);
	so ~ normal(0, 2);
	p ~ beta(1, 19);
	first ~ normal(10, 3);
	e ~ normal(0, 1);
	for (k in 1:n) target += log_mix(p, normal_lpdf(y[k] | level[k], 5 * so), normal_lpdf(y[k] | level[k], so));
}
generated quantities {
	vector[n] out;
	for (k in 1:n)
		out[k] = inv_logit(logit(p) + normal_lpdf(y[k] | level[k], 5 * so) - normal_lpdf(y[k] | level[k], so));
}
