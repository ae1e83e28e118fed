# The examples' data, read from their sources: golden/*.json of examples/models, and slices of float64 in Go.

library(jsonlite)

golden <- function(model) fromJSON(file.path("examples/models/golden", paste0(model, ".json")))

# go_slice finds name in some file of examples/ and returns its numbers.
go_slice <- function(name) {
	declared <- paste0("\\b", name, " = \\[\\]float64\\{([^}]*)\\}")
	for (file in list.files("examples", "\\.go$", recursive = TRUE, full.names = TRUE)) {
		text <- paste(readLines(file, warn = FALSE), collapse = " ")
		at <- regmatches(text, regexec(declared, text, ignore.case = TRUE))[[1]]
		if (length(at) == 2) return(as.numeric(regmatches(at[2], gregexpr("[-0-9.e]+", at[2]))[[1]]))
	}
	stop("no slice ", name, " in examples")
}

observed <- function(model) {
	switch(model,
		textmsg = {
			g <- golden("textmsg")
			list(n = length(g$observations), y = g$observations, day = g$day_indices_used, threshold = g$thresholds,
				uniform = rep(1 / 75, 75), mu = log(mean(g$all_counts_days_1_to_74)) - log(2) / 2, sigma = sqrt(log(2)))
		},
		coalmining = {
			y <- go_slice("disasters")
			list(n = length(y), y = y, uniform = rep(1, length(y) - 1) / (length(y) - 1))
		},
		nile = {
			y <- go_slice("flow") / 100
			list(n = length(y), y = y, uniform = rep(1, length(y) - 1) / (length(y) - 1))
		},
		temperature = {
			y <- golden("temperature")$observations
			list(n = length(y) - 1, y = y)
		},
		influenza = {
			y <- golden("influenza")$observations
			list(n = length(y), y = y)
		})
}
