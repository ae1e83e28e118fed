data {
	int n;
	int y[n];
}
parameters {
	real<lower=1851, upper=1962> change;
	real<lower=0> before;
	real<lower=0> after;
}
model {
	before ~ exponential(0.5);
	after ~ exponential(0.5);
	for (i in 1:n)
		y[i] ~ poisson(1850 + i < change ? before : after);
}
generated quantities {
	vector[n] guard;
	for (i in 1:n)
		guard[i] = 1850 + i < change;
}
