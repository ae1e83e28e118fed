# Writes jags.csv: means, quantiles and their Monte Carlo errors by JAGS. See README.md.
suppressPackageStartupMessages({library(rjags); library(posterior)})
demo <- read.csv("demo.csv")
data <- list(time = demo$time, response = demo$response, low = min(demo$time), high = max(demo$time), sd = sd(demo$response))
program <- "model {
  cp_1 ~ dt(low, 4/(high - low)^2, 1) T(low, high)
  cp_2 ~ dt(low, 4/(high - low)^2, 1) T(cp_1, high)
  int_1 ~ dt(0, 1/(3*sd)^2, 3)
  int_3 ~ dt(0, 1/(3*sd)^2, 3)
  time_2 ~ dt(0, ((high - low)/sd)^2, 3)
  time_3 ~ dt(0, ((high - low)/sd)^2, 3)
  sigma_1 ~ dnorm(0, 1/sd^2) T(0, )
  late <- step(cp_1 - 25)
  for (i in 1:length(time)) {
    mean[i] <- ifelse(time[i] < cp_2, int_1 + step(time[i] - cp_1)*time_2*(time[i] - cp_1), int_3 + time_3*(time[i] - cp_2))
    response[i] ~ dnorm(mean[i], 1/sigma_1^2)
  }
}"
began <- proc.time()[1]
inits <- lapply(1:4, function(k) list(.RNG.name = "base::Mersenne-Twister", .RNG.seed = k))
m <- jags.model(textConnection(program), data, inits, n.chains = 4, n.adapt = 1500, quiet = TRUE)
update(m, 1500, progress.bar = "none")
names <- c("cp_1", "cp_2", "int_1", "int_3", "sigma_1", "time_2", "time_3", "late")
draws <- coda.samples(m, names, 500000, progress.bar = "none")
cat("CPU seconds:", proc.time()[1] - began, "\n")
row <- function(name) {
  x <- sapply(draws, function(chain) chain[, name])
  of <- function(p) c(quantile(x, p), if (name == "late") 0 else mcse_quantile(x, p))
  c(name, trimws(formatC(c(mean(x), mcse_mean(x), of(0.025), of(0.975)), digits = 7, format = "fg")))
}
out <- t(sapply(names, row))
colnames(out) <- c("name", "mean", "mean_se", "low", "low_se", "high", "high_se")
write.csv(out, "jags.csv", row.names = FALSE, quote = FALSE)
cat("R", as.character(getRversion()), "JAGS", as.character(jags.version()), "\n")
