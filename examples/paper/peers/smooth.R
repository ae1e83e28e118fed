# Effective draws a CPU second of smooth models, in Stan and in facet:
#   Rscript examples/paper/peers/smooth.R TOOL MODEL SEED WORK     from the module's root, adds a run to WORK/smooth.csv
#   Rscript examples/paper/peers/smooth.R table WORK               prints the table
# The Stan programs and data are those of internal/trials/testdata/reference.

args <- commandArgs(TRUE)

added <- function(tool, model, seed, work) {
	suppressPackageStartupMessages({library(jsonlite); library(posterior); library(rstan)})
	source("internal/trials/testdata/reference/data.R", local = globalenv())
	file <- file.path(work, "draws.f64")
	# facet says which latents there are; Stan is not asked for others.
	said <- fromJSON(system2(file.path(work, "sample"), c("-trial", model, "-seed", seed, "-out", file), stdout = TRUE, env = "GOMAXPROCS=1"))
	if (tool == "facet") {
		n <- length(said$latents)
		particles <- 512
		x <- aperm(array(readBin(file, "double", n * said$draws), c(particles, said$draws / particles, n)), c(2, 1, 3))
		seconds <- said$seconds
		compile <- said$compile
		warned <- !startsWith(said$verdict, "trust")
	} else {
		program <- readRDS(file.path(work, paste0(model, ".rds")))
		compile <- tail(subset(read.csv(file.path(work, "compile.csv"), header = FALSE), V1 == model)$V2, 1)
		warned <- FALSE
		fit <- withCallingHandlers(sampling(program, observed(model), seed = as.integer(seed), refresh = 0), warning = function(w) {
			warned <<- TRUE
			invokeRestart("muffleWarning")
		})
		seconds <- sum(get_elapsed_time(fit)) # of a CPU; without what R does with the draws
		x <- as.array(fit)
		x <- x[, , match(said$latents, named(model, dimnames(x)[[3]]))]
	}
	bulk <- apply(x, 3, ess_bulk)
	line <- data.frame(tool, model, seed, latents = length(bulk), effective = round(min(bulk)), seconds = signif(seconds, 3), compile = signif(compile, 3), warned)
	print(line)
	out <- file.path(work, "smooth.csv")
	write.table(line, out, sep = ",", row.names = FALSE, col.names = !file.exists(out), append = file.exists(out))
}

what <- c(schools = "eight schools, not centred", bacteria = "bacteria: a logistic hierarchy", chick = "ChickWeight: slopes and intercepts of 50 chicks",
	student = "Nile: a level with Student noise")

printed <- function(work) {
	runs <- read.csv(file.path(work, "smooth.csv"))
	row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
	row("", "latents", "facet", "Stan (NUTS)", "compiling: facet", "Stan")
	row(rep("---", 6))
	rate <- function(r) {
		each <- sort(r$effective / r$seconds)
		note <- if (any(r$warned)) sprintf(", warned %d of %d", sum(r$warned), nrow(r)) else ""
		sprintf("**%s** (%s to %s; %s in %s s)%s", signif(median(each), 2), signif(min(each), 2), signif(max(each), 2),
			signif(median(r$effective), 2), signif(median(r$seconds), 2), note)
	}
	for (model in intersect(names(what), runs$model)) {
		facet <- runs[runs$model == model & runs$tool == "facet", ]
		stan <- runs[runs$model == model & runs$tool == "stan", ]
		row(what[[model]], facet$latents[1], rate(facet), rate(stan), sprintf("%s s", signif(median(facet$compile), 2)), sprintf("%.0f s", median(stan$compile)))
	}
}

if (args[1] == "table") printed(args[2]) else added(args[1], args[2], args[3], args[4])
