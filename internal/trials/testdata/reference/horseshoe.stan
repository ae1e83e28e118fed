data { int n; matrix[n, 7] x; int<lower=0, upper=1> low[n]; }
parameters { real a; real<lower=0> tau; vector<lower=0>[7] lambda; vector[7] e; }
model {
	a ~ normal(0, 3);
	tau ~ cauchy(0, 1);
	lambda ~ cauchy(0, 1);
	e ~ normal(0, 1);
	low ~ bernoulli_logit_glm(x, a, tau * (lambda .* e));
}
