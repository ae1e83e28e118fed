// f[i + 1] is that of month i.
data {
	int n;
	vector[n] y;
}
parameters {
	vector[n] v;
	vector[n] w;
	vector[n + 1] f;
}
model {
	real a = 0;
	real b = 0;
	real c = 0;
	v ~ normal(0, 0.023);
	w ~ normal(0, 0.112);
	f[1] ~ normal(0, 1);
	for (i in 1:n) {
		real next = 1.406 * a - 0.622 * b + v[i];
		b = a;
		a = next;
		c = -0.312 * c + 0.21 + w[i];
		f[i + 1] ~ normal(f[i] > 0 ? 0.67 : -0.67, 1);
		y[i] ~ normal(f[i + 1] > 0 ? a : a + c, 0.002);
	}
}
generated quantities {
	vector[n] guard;
	for (i in 1:n)
		guard[i] = f[i + 1] > 0;
}
