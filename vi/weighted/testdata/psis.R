# Writes psis.json: PSIS of R's package loo on fixed log ratios. See README.md.
suppressPackageStartupMessages(library(loo))
set.seed(2024)

rounded <- function(x) signif(x, 12) # so that decimal text is the whole number
cases <- list(
  light       = runif(200),                      # bounded weights: k < 0
  normal      = rnorm(500, sd = 0.8),
  pareto_0.3  = 0.3 * rexp(1000),                # weights Pareto of shape k
  pareto_0.7  = 0.7 * rexp(500),
  pareto_1.5  = 1.5 * rexp(225),                 # tail 45 = 0.2·S = 3·√S
  wide        = rnorm(300, sd = 30),             # most weights underflow
  far_away    = 1e5 + rnorm(100),
  far_below   = -5e5 * (runif(150) < 0.1) + 0.4 * rexp(150),
  ties        = rep(rnorm(60), each = 2),        # every weight twice
  smallest    = rnorm(21),                       # a tail of 5
  too_short   = rnorm(20),                       # a tail of 4: no fit
  two_values  = rep(c(0, 1), c(190, 10))         # a tail that is mostly its cutoff: no fit
)

number <- function(x) sprintf("%.17g", x)
list_of <- function(x) paste0("[", paste(number(x), collapse = ","), "]")
entry <- function(name) {
  x <- rounded(cases[[name]])
  fit <- suppressWarnings(psis(x, r_eff = 1))
  log_weights <- as.vector(weights(fit, log = TRUE, normalize = FALSE))
  w <- as.vector(weights(fit, log = FALSE, normalize = TRUE))
  sprintf(
    '{"name":"%s","tail":%d,"pareto_k":"%s","n_eff":%s,\n "log_ratios":%s,\n "log_weights":%s}',
    name, as.integer(attr(fit, "tail_len")), number(fit$diagnostics$pareto_k), number(1 / sum(w^2)),
    list_of(x), list_of(log_weights))
}
cat("[\n", paste(vapply(names(cases), entry, ""), collapse = ",\n"), "\n]\n", sep = "", file = "psis.json")
cat("R", as.character(getRversion()), "loo", as.character(packageVersion("loo")), "\n")
