// Sums over the signs of f, a Markov chain of two states, forwards; state 1 is f > 0.
data {
	int n;
	vector[n] y;
}
transformed data {
	matrix[2, 2] move = log([[Phi(0.67), Phi(-0.67)], [Phi(-0.67), Phi(0.67)]]);
}
parameters {
	vector[n] v;
	vector[n] w;
}
transformed parameters {
	matrix[n, 2] seen; // log density of y[i] in each state
	matrix[n, 2] forward;
	{
		real a = 0;
		real b = 0;
		real c = 0;
		for (i in 1:n) {
			real next = 1.406 * a - 0.622 * b + v[i];
			b = a;
			a = next;
			c = -0.312 * c + 0.21 + w[i];
			seen[i, 1] = normal_lpdf(y[i] | a, 0.002);
			seen[i, 2] = normal_lpdf(y[i] | a + c, 0.002);
			for (s in 1:2)
				forward[i, s] = seen[i, s] + (i == 1 ? log(0.5) : log_sum_exp(forward[i - 1] + move[s]));
		}
	}
}
model {
	v ~ normal(0, 0.023);
	w ~ normal(0, 0.112);
	target += log_sum_exp(forward[n]);
}
generated quantities {
	vector[n] guard;
	{
		row_vector[2] backward = [0, 0];
		for (k in 1:n) {
			int i = n + 1 - k;
			row_vector[2] both = forward[i] + backward;
			row_vector[2] onward = seen[i] + backward;
			guard[i] = exp(both[1] - log_sum_exp(both));
			for (s in 1:2)
				backward[s] = log_sum_exp(onward + move[s]);
		}
	}
}
