# Data sets and maximum likelihood fits of R's packages survival and pscl:
#
#	Rscript references.R
#
# writes ovarian.csv, lung.csv, biochemists.csv and fits.csv: of each fit its log
# likelihood and coefficients.
library(survival)
suppressMessages(library(pscl))

fits <- file("fits.csv", "w")
put <- function(name, loglik, coefficients) {
  writeLines(paste(c(name, trimws(formatC(c(loglik, coefficients), digits = 17, format = "g"))), collapse = ","), fits)
}

survival_fits <- function(name, data, formula) {
  for (dist in c("weibull", "lognormal")) {
    f <- survreg(formula, data, dist = dist, control = survreg.control(rel.tolerance = 1e-14, toler.chol = 1e-14, maxiter = 100))
    put(paste(name, dist), f$loglik[2], c(coef(f), log(f$scale)))
  }
}
write.csv(ovarian[, c("futime", "fustat", "age")], "ovarian.csv", row.names = FALSE, quote = FALSE)
write.csv(lung[, c("time", "status", "sex")], "lung.csv", row.names = FALSE, quote = FALSE)
survival_fits("ovarian", ovarian, Surv(futime, fustat) ~ age)
survival_fits("lung", lung, Surv(time, status) ~ sex)

b <- data.frame(art = bioChemists$art, fem = as.integer(bioChemists$fem == "Women"), ment = bioChemists$ment)
write.csv(b, "biochemists.csv", row.names = FALSE, quote = FALSE)
log_theta <- function(theta) if (is.null(theta) || anyNA(theta)) NULL else log(theta)
for (dist in c("poisson", "negbin")) {
  f <- zeroinfl(art ~ fem + ment, data = b, dist = dist, reltol = 1e-15)
  put(paste("zeroinfl", dist), f$loglik, c(f$coefficients$count, f$coefficients$zero, log_theta(f$theta)))
  f <- hurdle(art ~ fem + ment, data = b, dist = dist, reltol = 1e-15)
  put(paste("hurdle", dist), f$loglik, c(f$coefficients$count, f$coefficients$zero, log_theta(f$theta["count"])))
}
close(fits)
