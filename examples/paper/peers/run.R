# One run of one tool on one model: Rscript examples/paper/peers/run.R TOOL MODEL SEED WORK, from the module's root.
# Appends tool, model, seed, error, CPU seconds, log evidence, its standard error and what the tool warned of to WORK/results.csv.

source("examples/paper/peers/data.R")
suppressPackageStartupMessages(library(rstan)) # its measures judge JAGS too
args <- commandArgs(TRUE)
tool <- args[1]
model <- args[2]
seed <- as.integer(args[3])
work <- args[4]
exact <- fromJSON("examples/paper/peers/exact.json")[[model]]$guards
name <- if (grepl("-hand$", tool)) paste0(model, "-hand") else model

cpu <- function() sum(proc.time()[c(1, 2, 4, 5)])

# caught runs f and returns its value with the warnings that it gave.
caught <- function(f) {
	said <- character()
	value <- withCallingHandlers(f(), warning = function(w) {
		said <<- c(said, conditionMessage(w))
		invokeRestart("muffleWarning")
	})
	list(value = value, warnings = said)
}

# brief shortens Stan's warnings to what they say.
brief <- function(said) {
	known <- c("([0-9]+) divergent transitions" = "\\1 divergent", "maximum treedepth" = "tree depth", "Fraction of Missing" = "BFMI",
		"largest R-hat is ([0-9.]+|NA|Inf)" = "R-hat \\1", "Bulk Effective" = "bulk ESS", "Tail Effective" = "tail ESS",
		"Pareto k diagnostic value is ([0-9]+\\.[0-9]+|Inf)" = "k-hat \\1")
	out <- character()
	for (pattern in names(known)) {
		for (w in grep(pattern, said, value = TRUE)) {
			at <- regmatches(w, regexpr(pattern, w))
			out <- c(out, sub(pattern, known[[pattern]], at))
		}
	}
	paste(sub(" NA$", "", unique(out)), collapse = ", ")
}

jags <- function() {
	suppressPackageStartupMessages(library(rjags))
	data <- observed(model)
	started <- cpu()
	inits <- lapply(1:3, function(chain) list(.RNG.name = "base::Mersenne-Twister", .RNG.seed = 100 * seed + chain))
	m <- suppressWarnings(jags.model(file.path("examples/paper/peers/models", paste0(name, ".jags")), data, inits, 3, 1000, quiet = TRUE))
	latents <- c(textmsg = "x0 x1", coalmining = "before after", nile = "level noise", temperature = "theta", influenza = "v w")
	draws <- coda.samples(m, c(strsplit(latents[[model]], " ")[[1]], "guard"), 10000, progress.bar = "none")
	seconds <- cpu() - started
	chains <- simplify2array(lapply(draws, as.matrix)) # iteration, name, chain
	# JAGS itself says nothing; these are the limits at which rstan warns.
	rhat <- suppressWarnings(apply(chains, 2, Rhat))
	bulk <- suppressWarnings(apply(chains, 2, ess_bulk))
	said <- c(if (any(rhat > 1.05, na.rm = TRUE)) sprintf("R-hat %.2f", max(rhat, na.rm = TRUE)),
		if (any(bulk < 300, na.rm = TRUE)) "bulk ESS")
	guards <- apply(chains, 2, mean)[grep("^guard", dimnames(chains)[[2]])]
	list(guards = guards, seconds = seconds, said = paste(said, collapse = ", "))
}

stan <- function(variational) {
	program <- readRDS(file.path(work, paste0(name, ".rds")))
	data <- observed(model)
	started <- cpu()
	fit <- caught(function() {
		if (variational) vb(program, data, seed = seed, refresh = 0) else sampling(program, data, seed = seed, refresh = 0)
	})
	seconds <- cpu() - started
	list(guards = colMeans(as.matrix(fit$value, pars = "guard")), seconds = seconds, said = brief(fit$warnings))
}

facet <- function() {
	started <- cpu()
	out <- system2(file.path(work, "posterior"), c("-model", model, "-seed", seed, "-json"), stdout = TRUE)
	fit <- fromJSON(paste(out, collapse = "\n"))
	list(guards = fit$guards, seconds = cpu() - started, evidence = fit$log_evidence, se = fit$log_evidence_se, said = fit$verdict)
}

# compared is the largest error of a guard. Guards that hold always or never may be left out, and nile's two shifts, which are
# interchangeable, may come in turn or one after the other: their mean counts.
compared <- function(guards) {
	if (model == "nile") {
		half <- length(guards) / 2
		in_turn <- any(diff(guards[1:half]) > 1e-9)
		pairs <- matrix(guards, ncol = 2, byrow = in_turn)
		guards <- rowMeans(pairs)
		exact <- exact[1:100]
	}
	if (length(guards) < length(exact)) exact <- exact[exact > 0 & exact < 1]
	stopifnot(length(guards) == length(exact))
	max(abs(guards - exact))
}

run <- tryCatch(
	switch(tool, facet = facet(), jags = , "jags-hand" = jags(), advi = stan(TRUE), stan(FALSE)),
	error = function(e) list(said = paste("stopped:", sub("[.] .*", "", sub("^stan::[^ ]* ", "", gsub("\\s+", " ", conditionMessage(e)))))))
if (is.null(run$guards)) run[c("guards", "seconds")] <- NA
line <- data.frame(tool, model, seed, error = if (anyNA(run$guards)) NA else signif(compared(run$guards), 3), seconds = signif(run$seconds, 3),
	evidence = c(run[["evidence"]], NA)[1], se = c(run[["se"]], NA)[1], said = run$said)
print(line)
file <- file.path(work, "results.csv")
write.table(line, file, sep = ",", row.names = FALSE, col.names = !file.exists(file), append = file.exists(file))
