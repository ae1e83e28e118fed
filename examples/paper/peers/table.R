# Prints docs/peers.md from WORK/results.csv: Rscript examples/paper/peers/table.R WORK, from the module's root.

work <- commandArgs(TRUE)[1]
runs <- read.csv(file.path(work, "results.csv"), na.strings = "NA")
runs$said[is.na(runs$said)] <- ""
exact <- jsonlite::fromJSON("examples/paper/peers/exact.json")
compile <- subset(read.csv(file.path(work, "compile.csv"), header = FALSE), sub("-hand$", "", V1) %in% names(exact))$V2
models <- names(exact)
tools <- c("facet" = "facet, default", "jags-hand" = "JAGS, switches by hand", "jags" = "JAGS, as written",
	"stan-hand" = "Stan (NUTS), switches by hand", "stan" = "Stan (NUTS), with the `if`", "advi" = "Stan (ADVI), with the `if`")

cell <- function(tool, model) {
	r <- runs[runs$tool == tool & runs$model == model, ]
	if (nrow(r) == 0) return("–")
	stopped <- sum(is.na(r$error))
	done <- r[!is.na(r$error), ]
	notes <- c(if (nrow(r) < 3) sprintf("%d of 3 runs", nrow(r)), if (stopped > 0) sprintf("%d of %d stopped with an error", stopped, nrow(r)))
	if (nrow(done) > 0) {
		warned <- if (tool == "facet") sum(!grepl("^trust", done$said)) else sum(done$said != "")
		warning <- if (warned == 0) "silent" else if (warned == nrow(done)) "warned" else sprintf("warned %d of %d", warned, nrow(done))
		worst <- sprintf("%s in %s s", sub("^0", "", sprintf("%.3f", max(done$error))), signif(max(done$seconds), 2))
		notes <- c(worst, warning, notes)
	}
	paste(notes, collapse = ", ")
}
row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
said <- function(tool) {
	for (model in models) {
		r <- runs[runs$tool == tool & runs$model == model, ]
		if (nrow(r) > 0) row(tools[[tool]], model, sprintf("%s", paste(ifelse(r$said == "", "nothing", r$said), collapse = "; ")))
	}
}

cat(sprintf("# Beside JAGS and Stan

<!-- Written by examples/paper/peers/run.sh. -->

The five models of examples/ whose exact answers are known, in facet, JAGS and Stan, at the settings that a user would take, with
seeds 1 to 3. A cell has the largest error of the probability of any guard, the CPU seconds, both the worst of the three runs, and
in how many runs the tool warned.

"))
row("", models)
row("---", rep("---", length(models)))
for (tool in names(tools)) if (any(runs$tool == tool)) row(tools[[tool]], sapply(models, cell, tool = tool))
if (!any(runs$tool == "facet")) {
	cat("\nThe row of facet is left out: there was no internal/posterior to run.\n")
} else {
	cat("\nOf these tools only facet gives the log evidence by itself:\n\n")
	row("", models)
	row("---", rep("---", length(models)))
	row("exact", sapply(models, function(m) sprintf("%.3f", exact[[m]]$log_evidence)))
	row("facet, worst of three", sapply(models, function(m) {
		r <- runs[runs$tool == "facet" & runs$model == m, ]
		r <- r[which.max(abs(r$evidence - exact[[m]]$log_evidence)), ]
		if (nrow(r) == 0) "–" else sprintf("%.3f ± %.3f", r$evidence, r$se)
	}))
}
cat(sprintf("
Not in the seconds of Stan: compiling a program, %.0f to %.0f s. All seconds are of a %s and change with its load.

", min(compile), max(compile), "shared machine with two processors"))
if (file.exists(file.path(work, "smooth.md"))) cat(readLines(file.path(work, "smooth.md")), "", sep = "\n")
cat(readLines("examples/paper/peers/notes.md"), sep = "\n")
cat("\n## What the tools said, run by run\n\n")
row("tool", "model", "seeds 1; 2; 3")
row("---", "---", "---")
for (tool in names(tools)) said(tool)
