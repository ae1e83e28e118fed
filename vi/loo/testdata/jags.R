# Writes jags.json: PSIS-LOO by R's package loo of 200 000 draws by JAGS. See README.md.
suppressPackageStartupMessages({library(rjags); library(loo)})
people <- c(1100, 1500, 3600, 4791, 7400, 8000, 9200, 13000, 17500, 275000)
contact <- c(1, 1, 1, 2, 2, 2, 2, 1, 2, 1)
tools <- c(13, 22, 24, 43, 33, 19, 40, 28, 55, 71)
effect <- c(28, 8, -3, 7, -1, 1, 18, 12)
sd <- c(15, 10, 16, 11, 9, 11, 10, 18)
of <- list(
  schools = list(list(y = effect, s = sd), "model { mu ~ dnorm(0, 1/25); tau ~ dt(0, 1/25, 1) T(0,)
    for (i in 1:8) { off[i] ~ dnorm(0, 1); m[i] <- mu + tau*off[i]; y[i] ~ dnorm(m[i], 1/(s[i]*s[i])) } }"),
  islands = list(list(y = tools, x = as.vector(scale(log(people))), contact = contact), "model { for (c in 1:2) { a[c] ~ dnorm(3, 4); b[c] ~ dnorm(0, 25) }
    for (i in 1:10) { log(m[i]) <- a[contact[i]] + b[contact[i]]*x[i]; y[i] ~ dpois(m[i]) } }"),
  plain = list(list(y = tools), "model { a ~ dnorm(3, 4); for (i in 1:10) { m[i] <- exp(a); y[i] ~ dpois(m[i]) } }"))
number <- function(x) sprintf("%.6f", x)
list_of <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
entry <- function(name) {
  data <- of[[name]][[1]]
  inits <- lapply(1:4, function(k) list(.RNG.name = "base::Mersenne-Twister", .RNG.seed = k))
  j <- jags.model(textConnection(of[[name]][[2]]), data, inits, n.chains = 4, quiet = TRUE)
  update(j, 1000)
  draws <- coda.samples(j, "m", 50000)
  x <- array(0, c(50000, 4, length(data$y)))
  for (c in 1:4) for (i in seq_along(data$y)) {
    m <- as.matrix(draws[[c]])[, i]
    x[, c, i] <- if (name == "schools") dnorm(data$y[i], m, data$s[i], log = TRUE) else dpois(data$y[i], m, log = TRUE)
  }
  r <- suppressWarnings(loo(x, r_eff = relative_eff(exp(x))))
  sprintf('"%s": {"elpd": %s, "se": %s, "pointwise": %s, "pointwise_se": %s}', name, number(r$estimates[1, 1]), number(r$estimates[1, 2]),
          list_of(r$pointwise[, "elpd_loo"]), list_of(r$pointwise[, "mcse_elpd_loo"]))
}
cat("{", paste(vapply(names(of), entry, ""), collapse = ",\n"), "}\n", file = "jags.json")
cat("R", as.character(getRversion()), "loo", as.character(packageVersion("loo")), "JAGS", as.character(jags.version()), "\n")
