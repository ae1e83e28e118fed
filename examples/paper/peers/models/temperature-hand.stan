// The controller without its noise, which is 500 standard deviations short of changing a state. theta[i + 1] is that of step i.
data {
	int n;
	vector[n + 1] y;
}
parameters {
	vector[n + 1] theta;
}
model {
	int on = 0;
	theta[1] ~ normal(20, 0.001);
	y ~ normal(theta, 1);
	for (i in 1:n) {
		on = theta[i] < 18 ? 0 : theta[i] > 22 ? 1 : on;
		theta[i + 1] ~ normal(theta[i] + (32 - theta[i] - 21 * on) / 15, on ? 0.44 : 0.4);
	}
}
generated quantities {
	vector[n] guard;
	{
		int on = 0;
		for (i in 1:n) {
			on = theta[i] < 18 ? 0 : theta[i] > 22 ? 1 : on;
			guard[i] = on;
		}
	}
}
