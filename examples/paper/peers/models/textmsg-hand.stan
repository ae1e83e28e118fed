// Sums over how many of the observations, 0 to n, are before the change.
data {
	int n;
	vector[n] y;
	vector[n] day;
	real mu;
	real sigma;
}
transformed data {
	vector[n + 1] prior = log((append_row(day, 75) - append_row(0, day)) / 75);
}
parameters {
	real x0;
	real x1;
}
transformed parameters {
	vector[n + 1] lp;
	{
		vector[n] gain = cumulative_sum(y * (x0 - x1) - (exp(x0) - exp(x1)));
		lp = prior + append_row(0, gain) + sum(y * x1 - exp(x1));
	}
}
model {
	x0 ~ normal(mu, sigma);
	x1 ~ normal(mu, sigma);
	target += log_sum_exp(lp);
}
generated quantities {
	vector[n] guard;
	{
		vector[n + 1] p = softmax(lp);
		for (i in 1:n)
			guard[i] = sum(p[(i + 1):]);
	}
}
