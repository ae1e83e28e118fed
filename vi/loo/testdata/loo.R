# Writes loo.json: PSIS-LOO and stacking by R's package loo of the log likelihoods in *.csv. See README.md.
suppressPackageStartupMessages(library(loo))
number <- function(x) sprintf("%.12g", x)
list_of <- function(x) paste0("[", paste(number(x), collapse = ","), "]")
of <- list()
for (name in c("schools", "islands", "plain")) {
  x <- as.matrix(read.csv(paste0(name, ".csv"), header = FALSE))
  of[[name]] <- suppressWarnings(loo(x, r_eff = rep(1, ncol(x))))
}
entry <- function(name) {
  r <- of[[name]]
  sprintf('"%s": {"elpd": %s, "se": %s, "p": %s, "p_se": %s, "pointwise": %s, "k": %s}', name, number(r$estimates[1, 1]),
          number(r$estimates[1, 2]), number(r$estimates[2, 1]), number(r$estimates[2, 2]), list_of(r$pointwise[, 1]), list_of(r$diagnostics$pareto_k))
}
both <- cbind(of$islands$pointwise[, 1], of$plain$pointwise[, 1])
d <- both[, 1] - both[, 2]
cat("{\n", paste(vapply(names(of), entry, ""), collapse = ",\n"),
    sprintf(',\n"difference": %s, "difference_se": %s, "stacking": %s\n}\n', number(sum(d)), number(sqrt(length(d) * var(d))),
            list_of(as.vector(stacking_weights(both)))), sep = "", file = "loo.json")
cat("R", as.character(getRversion()), "loo", as.character(packageVersion("loo")), "\n")
