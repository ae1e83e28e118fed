data { vector[8] y; vector[8] sigma; }
parameters { real mu; real<lower=0> tau; vector[8] eta; }
transformed parameters { vector[8] theta = mu + tau * eta; }
model {
	mu ~ normal(0, 5);
	tau ~ cauchy(0, 5);
	eta ~ normal(0, 1);
	y ~ normal(theta, sigma);
}
