"""Values and derivatives of the functions of package kernel: python3 functions.py > functions.csv

Each line is a function, its arguments (exact decimals of float64), its value and
its derivatives by each argument, by mpmath 1.3.0 with at least 60 digits more than
cancel. The incomplete functions are their power series, 1 less that above the middle.
"""
from mpmath import mp, mpf, erf, erfc, log, exp, expm1, atan, pi, sqrt, loggamma, erfinv, log1p, sin, cos, tan, tanh

mp.dps = 60


def phi(x):  # the normal distribution function
    return erfc(-x / sqrt(mpf(2))) / 2


def gamma_below(a, x):
    if x == 0 or a == 0:
        return mpf(0 if x == 0 else 1)
    term = total = mpf(1)
    n = 0
    while term > total * mpf(10) ** -mp.dps:
        n += 1
        term *= x / (a + n)
        total += term
    return exp(a * log(x) - x - loggamma(a + 1)) * total


def beta_below(x, a, b):
    if x > (a + 1) / (a + b + 2):
        return 1 - rising(1 - x, b, a)
    return rising(x, a, b)


def rising(x, a, b):
    term = total = mpf(1)
    n = 0
    while term > total * mpf(10) ** -mp.dps:
        term *= (a + b + n) * x / (a + 1 + n)
        total += term
        n += 1
    return exp(a * log(x) + b * log(1 - x) + loggamma(a + b) - loggamma(a + 1) - loggamma(b)) * total


def student(t, nu):
    w, rest = nu / (nu + t * t), t * t / (nu + t * t)
    if w > 0.5:  # the middle, which converges faster, and half of the rest
        small = (1 - rising(rest, mpf(1) / 2, nu / 2)) / 2
    else:
        small = beta_below(w, nu / 2, mpf(1) / 2) / 2
    return small if t < 0 else 1 - small


FUNCTIONS = {
    "exp": exp,
    "log": log,
    "log1p": log1p,
    "expm1": expm1,
    "sqrt": sqrt,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "tanh": tanh,
    "sigmoid": lambda x: 1 / (1 + exp(-x)),
    "softplus": lambda x: log1p(exp(x)),
    "square": lambda x: x * x,
    "recip": lambda x: 1 / x,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "erf": erf,
    "normalcdf": phi,
    "lognormalcdf": lambda x: log(phi(x)),
    "normalquantile": lambda p: sqrt(mpf(2)) * erfinv(2 * p - 1),
    "logerf": lambda x: log(erf(x)),
    "lognormalmass": lambda a, b: log(phi(b) - phi(a)) if b < 0 else log(phi(-a) - phi(-b)),
    "logexponentialcdf": lambda x: log(-expm1(-exp(x))),
    "loglaplacecdf": lambda x: x - log(2) if x < 0 else log1p(-exp(-x) / 2),
    "logcauchycdf": lambda x: log(mp.atan2(1, -x) / pi),
    "loghalfcauchycdf": lambda x: log(2 * atan(x) / pi),
    "logstudentcdf": lambda t, nu: log(student(t, nu)),
    "loggammap": lambda a, x: log(gamma_below(a, x)),
    "loggammaq": lambda a, x: log(1 - gamma_below(a, x)),
    "logbetabelow": lambda x, a, b: log(beta_below(x, a, b)),
    "logbetaabove": lambda x, a, b: log(1 - beta_below(x, a, b)),
    "logaddexp": lambda a, b: log(exp(a) + exp(b)),
    "logdiffexp": lambda a, b: log(exp(a) - exp(b)),
    "log1mexp": lambda x: log(1 - exp(x)),
    "logquotient": lambda a, b: log(a / b),
    "lgamma": loggamma,
}


def grid():
    for x in [-700, -40, -3, -1e-9, 1e-300, 0.5, 2, 40, 700]:
        yield "exp", x
        yield "softplus", x
        yield "sigmoid", x
        yield "square", x / 10
        yield "expm1", x
        if abs(x) < 300:
            yield "tanh", x
    for x in [-19, -12, -5, -1, 0.1, 0.9, 5, 12, 19, 25]:
        yield "tanh", x
        yield "expm1", x
        yield "softplus", x
    for x in [1e-300, 1e-9, 0.3, 0.99999, 1.00001, 3, 1e9, 1e300]:
        yield "log", x
        yield "log1p", x
        yield "sqrt", x
        yield "recip", -x
        yield "div", x, 7.0
        yield "div", -0.3, x
        yield "pow", x, 0.3
        yield "pow", x, -0.9
    for x in [-0.999999, -0.5, -1e-9, -1e-300]:
        yield "log1p", x
    for x in [-1e9, -700, -3, -0.1, 1e-300, 1e-9, 0.7, 1.5, 1.57, 3.14, 30, 1e15]:
        yield "sin", x
        yield "cos", x
        yield "tan", x
    for a, b in [(2, 1000.5), (1e-200, 1.5), (3, 2), (7, 1e-9)]:
        yield "pow", a, b
    for x in [-6, -1.5, -1e-10, 0.3, 2, 5, 25]:
        yield "erf", x
    for x in [-37, -10, -1, -1e-5, 0.2, 3, 9]:
        yield "normalcdf", x
    for x in [-1e8, -1000, -38, -5, -1, 0, 0.5, 5, 20, 37]:
        yield "lognormalcdf", x
    for x in [1e-300, 1e-20, 1e-5, 0.01, 0.1, 0.3, 0.499, 0.5000001, 0.7, 0.99]:
        yield "normalquantile", x
    for x in [1e-300, 1e-5, 0.3, 0.499, 0.501, 2, 6, 20]:
        yield "logerf", x
    for a, b in [(-1, 2), (3, 3.5), (-40, -39), (-3, 30), (30, 31), (0.1, 0.1001), (-60, 1)]:
        yield "lognormalmass", a, b
    for x in [-1e5, -701, -699, -40, -1, -1e-9, 0.3, 1.5, 3, 5]:
        yield "logexponentialcdf", x
    for x in [-700, -2, -1e-9, 1e-9, 0.7, 30, 600]:
        yield "loglaplacecdf", x
    for x in [-1e150, -1e5, -1, -1e-9, 0.5, 1, 1e5, 1e150]:
        yield "logcauchycdf", x
    for x in [1e-300, 1e-5, 0.5, 0.99, 1.01, 30, 1e9, 1e100]:
        yield "loghalfcauchycdf", x
    for nu in [1e-6, 0.01, 0.1, 1, 4.5, 30, 1000]:
        for t in [-1e30, -1e6, -40, -3, -1.7, -1.8, -0.5, -1e-6, 1e-6, 0.3, 2, 9, 1000]:
            if nu < 100 or abs(t) < 50:
                yield "logstudentcdf", t, nu
    for nu in [20, 49, 51, 75, 100, 300, 1e4, 1e6, 1e9, 1e12, 1e15, 1e100]:
        for t in [-1e9, -1e3, -100, -40, -20, -9, -4, -2.5, -1.74, -1.73, -1.5, -0.9, -0.3, -1e-3, -1e-9, 1e-4, 0.5, 1.1, 1.72, 1.76, 3, 8, 30]:
            if abs(t) < 31 or t * t > nu:
                yield "logstudentcdf", t, nu
    for a in [1e-100, 1e-10, 1e-4, 1e-3, 5e-3, 0.00999, 0.01001]:
        for x in [1e-300, 1e-9, 0.1, 0.69, 0.71, 1, 3, 100]:
            yield "loggammap", a, x
            yield "loggammaq", a, x
    for a, b in [(1e-10, 2), (1e-10, 1e-10), (1e-10, 30), (1e-4, 0.5), (3, 1e-6), (1e4, 1e-3), (1e-3, 1e4), (1e-100, 2), (1e-6, 5e-3), (5e-3, 1e-6), (5e-3, 1e5), (1e5, 0.00999), (0.00999, 0.3), (0.01001, 8)]:
        for x in [1e-300, 1e-9, 0.2, 0.5, 0.9, 1 - 2**-30]:
            yield "logbetabelow", x, a, b
            yield "logbetaabove", x, a, b
    for a, b in [(1e3, 1e3), (0.3, 1e5), (10, 1e5)]:
        m, s = a / (a + b), (a * b / (a + b + 1)) ** 0.5 / (a + b)
        for d in [-30, -5, -0.1, 1, 6]:
            if 0 < m + d * s < 1:
                yield "logbetabelow", m + d * s, a, b
                yield "logbetaabove", m + d * s, a, b
    for a in [0.01, 0.3, 0.99, 1, 2.5, 10, 300, 10000, 1000000]:
        for r in [1e-200, 1e-8, 0.03, 0.5, 0.9, 1 - 3 / a**0.5, 1 - 0.5 / a**0.5, 1, 1 + 0.5 / a**0.5, 1 + 3 / a**0.5, 1.2, 2, 40]:
            if r > 0 and (a < 1e4 or 0.4 < r < 3) and (a < 1e6 or 0.98 < r < 1.02):
                yield "loggammap", a, a * r
                yield "loggammaq", a, a * r
        yield "loggammaq", a, a + 700
    for a in [0.02, 0.5, 1, 3, 40, 1000]:
        for b in [0.05, 1, 2.5, 60]:
            m, s = a / (a + b), (a * b / (a + b + 1)) ** 0.5 / (a + b)
            for x in [1e-200, 1e-9, 0.01, m - 5 * s, m - 0.3 * s, m, m + s, m + 5 * s, 0.5, 0.99, 1 - 2**-30]:
                if 0 < x < 1 and (a < 1000 or b == 60 and abs(x - m) < 8 * s):
                    yield "logbetabelow", x, a, b
                    yield "logbetaabove", x, a, b
    for a, b in [(0.1, 0.3), (-700, -720), (800, 799), (3, -50), (-1e10, -2)]:
        yield "logaddexp", a, b
    for a, b in [(0.3, 0.1), (-700, -720), (800, 799), (3, -50), (1, 0.9999999)]:
        yield "logdiffexp", a, b
    for x in [-1e-300, -1e-9, -0.6, -0.7, -3, -40, -700]:
        yield "log1mexp", x
    for a, b in [(1e300, 1e-300), (1.0000001, 1), (3, 8), (1e-305, 2), (1.5, 1), (5, 5.5)]:
        yield "logquotient", a, b
    for x in [1e-300, 0.03, 0.999, 1.0001, 1.4375, 2.001, 3.5, 40, 1e17]:
        yield "lgamma", x


def number(f, at):
    """f(at) with 30 right digits: digits are added until they do not matter."""
    mp.dps, last = 60, None
    while mp.dps <= 480:
        try:
            with_more = f(*[mpf(x) for x in at])
            if mp.isinf(with_more):
                raise ValueError
            if with_more != 0 and last is not None and abs(with_more - last) <= mpf(10) ** -30 * abs(last):
                return with_more
            last = with_more
        except ValueError:  # log 0
            last = None
        mp.dps *= 2
    raise ValueError((f, at))


def slope(f, at, i):
    def difference(*x):
        h = mpf(10) ** (-mp.dps // 4) * (abs(x[i]) or 1)
        digits = mp.dps
        mp.dps *= 3
        up, down = list(x), list(x)
        up[i] += h
        down[i] -= h
        d = (f(*up) - f(*down)) / (2 * h)
        mp.dps = digits
        return d

    return number(difference, at)


for name, *at in grid():
    f = FUNCTIONS[name]
    at = [float(x) for x in at]
    try:
        values = [number(f, at)] + [slope(f, at, i) for i in range(len(at))]
    except ValueError:  # a logarithm of 1 less a number below 10**-450
        continue
    print(",".join([name] + [repr(x) for x in at] + [mp.nstr(v, 20) for v in values]), flush=True)
