data {
	int n;
	vector[n] y;
}
parameters {
	real<lower=1871, upper=1970> shift[2];
	real level[3];
	real<lower=0> noise;
}
model {
	level ~ normal(9, 2);
	noise ~ normal(0, 2);
	for (i in 1:n)
		y[i] ~ normal(level[3 - (shift[1] > 1870 + i) - (shift[2] > 1870 + i)], noise);
}
generated quantities {
	matrix[n, 2] guard;
	for (i in 1:n)
		for (s in 1:2)
			guard[i, s] = shift[s] > 1870 + i;
}
