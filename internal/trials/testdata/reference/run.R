# Makes NAME.csv, the moments of all latents of a model, by a long run of Stan (NUTS), or of JAGS beside it:
#   Rscript run.R NAME [ITERATIONS [TOOL]]
# from this folder. Compiled programs are kept in REFERENCE_WORK. With jags the moments are printed beside those of NAME.csv instead.

suppressPackageStartupMessages({library(posterior); library(rstan)})
if (!nzchar(rstan_options("boost_lib"))) rstan_options(boost_lib = "/usr/include") # as Debian has it
source("data.R")
args <- commandArgs(TRUE)
model <- args[1]
iterations <- as.integer(c(args[-1], 6000)[1])
tool <- c(args[-(1:2)], "stan")[1]
work <- Sys.getenv("REFERENCE_WORK", "/tmp/facet-reference")
dir.create(work, FALSE)
cpu <- function() sum(proc.time()[c(1, 2, 4, 5)])

compiled <- function() {
	file <- file.path(work, paste0(model, ".rds"))
	source <- paste0(model, ".stan")
	if (file.exists(file) && file.mtime(source) < file.mtime(file)) return(readRDS(file))
	program <- stan_model(source, save_dso = TRUE)
	saveRDS(program, file)
	program
}

# nuts are the draws of four chains, warmup apart.
nuts <- function() {
	program <- compiled()
	began <- cpu()
	fit <- sampling(program, observed(model), iter = iterations + 1000, warmup = 1000, chains = 4, seed = 1, refresh = 1000, control = list(adapt_delta = switch(model, horseshoe = 0.998, epil = 0.8, 0.95), metric = if (model == "chick") "dense_e" else "diag_e", max_treedepth = 12))
	check_hmc_diagnostics(fit)
	cat("CPU seconds:", cpu() - began, "\n")
	as_draws_array(as.array(fit))
}

jags <- function() {
	suppressPackageStartupMessages(library(rjags))
	load.module("glm", quiet = TRUE)
	began <- cpu()
	inits <- lapply(1:4, function(chain) list(.RNG.name = "base::Mersenne-Twister", .RNG.seed = chain))
	m <- jags.model(paste0(model, ".jags"), observed(model), inits, 4, 2000, quiet = TRUE)
	out <- coda.samples(m, latents[[model]], iterations, thin = max(1, iterations %/% 10000), progress.bar = "none")
	cat("CPU seconds:", cpu() - began, "\n")
	as_draws_array(out)
}

draws <- if (tool == "jags") jags() else nuts()
draws <- draws[, , !is.na(named(model, variables(draws)))]
variables(draws) <- named(model, variables(draws))
for (x in intersect(positive[[model]], variables(draws))) { # as the sampler sees them
	more <- draws[, , x]
	variables(more) <- paste("log", x)
	draws <- bind_draws(draws, log(more), along = "variable")
}
s <- summarise_draws(draws, mean, sd, mcse_mean, mcse_sd, ess_bulk, rhat)
out <- grep("^out\\[", s$variable)
s$sd[out] <- sqrt(s$mean[out] * (1 - s$mean[out])) # their draws are probabilities
s$mcse_sd[out] <- abs(1 - 2 * s$mean[out]) / (2 * s$sd[out]) * s$mcse_mean[out]
cat("worst: mcse", max(s$mcse_mean / s$sd), "sd, rhat", max(s$rhat), "\n")
digits <- function(x, n) signif(as.numeric(x), n)
moments <- data.frame(latent = s$variable, mean = digits(s$mean, 6), sd = digits(s$sd, 5), mcse = digits(s$mcse_mean, 3), mcse_sd = digits(s$mcse_sd, 3))
if (tool == "jags") {
	known <- merge(moments, read.csv(paste0(model, ".csv")), by = "latent", suffixes = c("", ".stan"))
	z <- with(known, (mean - mean.stan) / sqrt(mcse^2 + mcse.stan^2))
	cat("beside Stan: |z| up to", max(abs(z)), "mean square", mean(z^2), "sd ratio", range(known$sd / known$sd.stan), "\n")
	print(known[order(-abs(z)), ][1:5, ])
} else {
	write.csv(moments, paste0(model, ".csv"), row.names = FALSE, quote = FALSE)
}
