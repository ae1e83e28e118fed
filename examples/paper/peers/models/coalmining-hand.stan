// Sums over the last year before the change, 1 to n − 1.
data {
	int n;
	vector[n] y;
}
parameters {
	real<lower=0> before;
	real<lower=0> after;
}
transformed parameters {
	vector[n - 1] lp;
	{
		vector[n] gain = cumulative_sum(y * log(before / after) - (before - after));
		lp = -log(n - 1) + gain[:(n - 1)] + sum(y * log(after) - after);
	}
}
model {
	before ~ exponential(0.5);
	after ~ exponential(0.5);
	target += log_sum_exp(lp);
}
generated quantities {
	vector[n] guard = rep_vector(0, n);
	{
		vector[n - 1] p = softmax(lp);
		for (i in 1:(n - 1))
			guard[i] = sum(p[i:]);
	}
}
