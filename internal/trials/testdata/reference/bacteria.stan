data { int n; int<lower=0, upper=1> y[n]; vector[n] drug_; vector[n] late; int id[n]; }
parameters { real a; real drug; real week; real<lower=0> tau; vector[50] e; }
transformed parameters { vector[50] u = tau * e; }
model {
	a ~ normal(0, 3);
	drug ~ normal(0, 3);
	week ~ normal(0, 3);
	tau ~ normal(0, 2);
	e ~ normal(0, 1);
	y ~ bernoulli_logit(a + drug * drug_ + week * late + u[id]);
}
