data {
	int n;
	int y[n];
	vector[n] threshold;
	real mu;
	real sigma;
}
parameters {
	real x0;
	real x1;
	real z;
}
model {
	x0 ~ normal(mu, sigma);
	x1 ~ normal(mu, sigma);
	z ~ normal(0, 1);
	for (i in 1:n)
		y[i] ~ poisson_log(z > threshold[i] ? x0 : x1);
}
generated quantities {
	vector[n] guard;
	for (i in 1:n)
		guard[i] = z > threshold[i];
}
