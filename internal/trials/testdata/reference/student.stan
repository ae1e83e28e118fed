data { int n; vector[n] y; }
parameters { real<lower=0> sl; real<lower=0> so; real first; vector[n - 1] e; }
transformed parameters {
	vector[n] level;
	level[1] = first;
	for (k in 2:n) level[k] = level[k - 1] + sl * e[k - 1];
}
model {
	sl ~ normal(0, 0.5);
	so ~ normal(0, 2);
	first ~ normal(10, 3);
	e ~ normal(0, 1);
	y ~ student_t(4, level, so);
}
