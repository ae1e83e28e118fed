// Sums over the last years before the earlier and the later shift.
functions {
	// Row i, column j ≥ i: log density of shifts after years i and j. Either of the two may be the earlier.
	matrix pairs(vector y, vector level, real noise) {
		int n = rows(y);
		vector[n] a = cumulative_sum(-0.5 * square((y - level[1]) / noise));
		vector[n] b = cumulative_sum(-0.5 * square((y - level[2]) / noise));
		vector[n] c = cumulative_sum(-0.5 * square((y - level[3]) / noise));
		matrix[n - 1, n - 1] lp = rep_matrix(negative_infinity(), n - 1, n - 1);
		for (i in 1:(n - 1))
			for (j in i:(n - 1))
				lp[i, j] = (i < j ? log(2) : 0) + a[i] + b[j] - b[i] + c[n] - c[j];
		return lp;
	}

	// The log density summed over all pairs, in one pass from the last year back.
	real total(vector y, vector level, real noise) {
		int n = rows(y);
		vector[n] early = cumulative_sum(-0.5 * (square((y - level[1]) / noise) - square((y - level[2]) / noise)));
		vector[n] late = cumulative_sum(-0.5 * (square((y - level[2]) / noise) - square((y - level[3]) / noise)));
		vector[n - 1] first;
		real later = negative_infinity();
		for (k in 1:(n - 1)) {
			int i = n - k;
			first[i] = early[i] + log_sum_exp(late[i], log(2) + later);
			later = log_sum_exp(late[i], later);
		}
		return log_sum_exp(first) - 0.5 * sum(square((y - level[3]) / noise)) - n * log(noise);
	}
}
data {
	int n;
	vector[n] y;
}
parameters {
	vector[3] level;
	real<lower=0> noise;
}
model {
	level ~ normal(9, 2);
	noise ~ normal(0, 2);
	target += total(y, level, noise);
}
generated quantities {
	matrix[n, 2] guard = rep_matrix(0, n, 2);
	{
		vector[(n - 1) * (n - 1)] all = softmax(to_vector(pairs(y, level, noise)));
		matrix[n - 1, n - 1] p = to_matrix(all, n - 1, n - 1);
		for (i in 1:(n - 1))
			for (s in 1:2)
				guard[i, s] = 0.5 * (sum(p[i:]) + sum(p[, i:]));
	}
}
