data { int n; vector[n] y; vector[n] time; int chick[n]; }
parameters { real a; real b; real<lower=0> sa; real<lower=0> sb; real<lower=0> s; vector[50] u; vector[50] v; }
model {
	a ~ normal(4, 1);
	b ~ normal(0, 1);
	sa ~ normal(0, 1);
	sb ~ normal(0, 0.2);
	s ~ normal(0, 0.5);
	u ~ normal(0, sa);
	v ~ normal(0, sb);
	y ~ normal(a + u[chick] + (b + v[chick]) .* time, s);
}
