# The data of the models, as the programs in models_test.go read them, and how these name their latents.

folder <- if (dir.exists("internal/trials/testdata")) "internal/trials/testdata" else ".." # from the module's root, or from here
table <- function(name) read.csv(file.path(folder, paste0(name, ".csv")))

observed <- function(model) {
	switch(model,
		bacteria = {
			t <- table("bacteria")
			list(n = nrow(t), y = t$y, drug_ = t$drug, late = as.numeric(t$week > 2), id = match(t$id, unique(t$id)))
		},
		chick = {
			t <- table("chick")
			list(n = nrow(t), y = log(t$weight), time = t$Time / 10, chick = t$Chick)
		},
		epil = {
			t <- table("epil")
			base <- t$base[match(1:59, t$subject)]
			cut <- c(5, sort(unique(base[base > 5 & base < 60])), 60)
			below <- sapply(head(cut, -1), function(from) sum(base <= from)) # the guard is base > threshold
			list(n = nrow(t), y = t$y, trt = t$trt, log_base = log(t$base / 4), v4 = t$V4, subject = t$subject, order = order(base),
				intervals = length(below), cut = cut, below = below)
		},
		horseshoe = {
			t <- table("birthwt")
			list(n = nrow(t), x = scale(as.matrix(t[, horses])), low = t$low)
		},
		nile = , student = {
			y <- table("nile")$y[1:50] / 100
			list(n = length(y), y = y)
		},
		schools = list(y = c(28, 8, -3, 7, -1, 1, 18, 12), sigma = c(15, 10, 16, 11, 9, 11, 10, 18)),
		ranking = {
			games <- c(0, 1, 0, 2, 1, 2, 0, 3, 3, 1, 2, 4, 4, 3, 5, 4, 0, 5, 1, 5, 6, 5, 2, 6, 7, 6, 3, 7, 8, 7, 7, 9, 8, 9, 1, 8, 0, 9, 4, 9)
			list(i = 1 + games[c(TRUE, FALSE)], j = 1 + games[c(FALSE, TRUE)])
		},
		utilities = {
			t <- table("utilities")
			list(n = nrow(t), x = as.matrix(t[, c("x0", "x1")]), y = t$y)
		},
		stop("no data of ", model))
}

horses <- c("age", "lwt", "smoke", "ptl", "ht", "ui", "ftv")

# positive are the latents whose logarithms are given too.
positive <- list(bacteria = "tau", chick = c("sa", "sb", "s"), epil = "tau", horseshoe = c("tau", paste("lambda", horses)),
	nile = c("sl", "so"), student = c("sl", "so"), schools = "tau")

# latents are what JAGS is asked for.
latents <- list(bacteria = c("a", "drug", "week", "tau", "u"), schools = c("mu", "tau", "theta", "eta"), nile = c("sl", "so", "p", "level", "out"),
	student = c("sl", "so", "level"), chick = c("a", "b", "sa", "sb", "s", "u", "v"))

# named are Stan's names as the program has them, whose indices begin at 0; NA for what is no latent.
named <- function(model, x) {
	vector <- grepl("\\[", x)
	index <- as.integer(sub(".*\\[([0-9]+)\\]", "\\1", x[vector]))
	stem <- sub("\\[.*", "", x)
	stem <- sub("_$", "", stem)
	drop <- c("lp", "lp_", "eta"[model == "utilities"], "e"[model %in% c("bacteria", "nile", "student")], "first")
	out <- stem
	if (model == "horseshoe") out[vector] <- paste(stem[vector], horses[index])
	else out[vector] <- sprintf("%s[%d]", stem[vector], index - 1L)
	out[stem %in% drop | x == "lp__"] <- NA
	out
}
