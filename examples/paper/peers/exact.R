# Writes exact.json: log evidence and probability of every guard, by enumeration and quadrature.
# From the module's root: Rscript examples/paper/peers/exact.R

source("examples/paper/peers/data.R")

lse <- function(x) max(x) + log(sum(exp(x - max(x))))

# after(logp) is P(switch after i), i = 1, 2, …, where logp are the log densities of a switch after 0, 1, ….
answer <- function(logp, guards = function(p) rev(cumsum(rev(p)))[-1]) {
	list(log_evidence = lse(logp), guards = guards(exp(logp - lse(logp))))
}

textmsg <- function(d) {
	h <- 0.001
	x <- seq(-4, 9, h)
	rate <- function(i) { # log evidence of the observations i with one rate
		lse(sum(d$y[i]) * x - length(i) * exp(x) - sum(lgamma(d$y[i] + 1)) + dnorm(x, d$mu, d$sigma, log = TRUE)) + log(h)
	}
	width <- diff(c(0, d$day, 75)) / 75
	answer(sapply(0:d$n, function(k) log(width[k + 1]) + rate(seq_len(k)) + rate(setdiff(seq_len(d$n), seq_len(k)))))
}

coalmining <- function(d) {
	rate <- function(y) log(0.5) - sum(lgamma(y + 1)) + lgamma(1 + sum(y)) - (1 + sum(y)) * log(0.5 + length(y))
	logp <- sapply(1:(d$n - 1), function(k) rate(d$y[1:k]) + rate(d$y[(k + 1):d$n]) - log(d$n - 1))
	answer(c(-Inf, logp, -Inf))
}

nile <- function(d) {
	n <- d$n
	h <- 0.01
	all <- array(-Inf, c(n - 1, n - 1, length(seq(0.8, 2.2, h))))
	sums <- cumsum(c(0, d$y - 9))
	squares <- cumsum(c(0, (d$y - 9)^2))
	for (k in seq_len(dim(all)[3])) {
		noise <- seq(0.8, 2.2, h)[k]
		level <- function(i, j) { # log evidence of years i + 1 to j with one level
			s <- sums[j + 1] - sums[i + 1]
			v <- 1 / (1 / 4 + (j - i) / noise^2)
			-0.5 * ((j - i) * log(2 * pi * noise^2) + (squares[j + 1] - squares[i + 1]) / noise^2) +
				0.5 * log(v / 4) + 0.5 * v * (s / noise^2)^2
		}
		i <- row(diag(n - 1))
		j <- col(diag(n - 1))
		lp <- level(0, i) + level(i, j) + level(j, n) + ifelse(i < j, log(2), 0) - 2 * log(n - 1)
		lp[i > j] <- -Inf
		all[, , k] <- lp + log(2 * h) + dnorm(noise, 0, 2, log = TRUE)
	}
	answer(all, function(p) {
		p <- apply(p, 1:2, sum)
		after <- c(rev(cumsum(rev(0.5 * (rowSums(p) + colSums(p))))), 0)
		c(after, after) # the shifts are interchangeable
	})
}

# Forwards and backwards over a grid of temperatures whose cells end at 18 and 22, times the controller's state.
temperature <- function(d) {
	h <- 0.01
	x <- seq(10 + h / 2, 32, h)
	steps <- function(on, x, sd2 = 0) dnorm(outer(x, x, function(from, to) to - from - (32 - from - 21 * on) / 15), 0, if (on) 0.44 else 0.4)
	move <- list(steps(0, x), steps(1, x))
	next_on <- cbind(ifelse(x > 22, 1, 0), ifelse(x < 18, 0, 1)) # by temperature, from off and from on
	# The start's sd of 0.001 is finer than the grid: its cell's neighbours are replaced by the first step's exact law.
	v <- 1 / (1e6 + 1)
	m <- v * (20e6 + d$y[1])
	forward <- list()
	logs <- dnorm(d$y[1], 20, sqrt(1 + 1e-6), log = TRUE)
	f <- cbind(dnorm(x, m + (32 - m) / 15, sqrt(0.4^2 + (14 / 15)^2 * v)) * dnorm(d$y[2], x), 0)
	for (i in 1:d$n) {
		if (i > 1) {
			g <- matrix(0, length(x), 2)
			for (on in 0:1) {
				from <- rowSums(f * (next_on == on))
				g[, on + 1] <- h * drop(from %*% move[[on + 1]]) * dnorm(d$y[i + 1], x)
			}
			f <- g
		}
		logs <- logs + log(h * sum(f))
		f <- f / (h * sum(f))
		forward[[i]] <- f
	}
	b <- matrix(1, length(x), 2)
	guards <- numeric(d$n)
	for (i in d$n:1) {
		both <- colSums(forward[[i]] * b)
		guards[i] <- both[2] / sum(both)
		if (i == 1) break
		to <- sapply(0:1, function(on) drop(move[[on + 1]] %*% (b[, on + 1] * dnorm(d$y[i + 1], x))))
		b <- sapply(1:2, function(s) ifelse(next_on[, s] == 1, to[, 2], to[, 1]))
		b <- b / max(b)
	}
	list(log_evidence = logs, guards = guards)
}

# All 2¹² sequences of signs of f; given them the months are jointly normal.
influenza <- function(d) {
	n <- d$n
	level <- excess <- matrix(0, n, n) # the months' a and c as functions of v and of w + 0.21
	for (j in 1:n) {
		a <- b <- c <- 0
		for (i in j:n) {
			next_a <- 1.406 * a - 0.622 * b + (i == j)
			b <- a
			a <- next_a
			c <- -0.312 * c + (i == j)
			level[i, j] <- a
			excess[i, j] <- c
		}
	}
	base <- 0.023^2 * tcrossprod(level) + diag(0.002^2, n)
	wave <- 0.112^2 * tcrossprod(excess)
	mean <- 0.21 * rowSums(excess)
	up <- as.matrix(expand.grid(rep(list(0:1), n)))
	logp <- apply(up, 1, function(s) {
		root <- chol(base + wave * outer(1 - s, 1 - s))
		same <- sum(diff(s) == 0)
		log(0.5) + same * pnorm(0.67, log.p = TRUE) + (n - 1 - same) * pnorm(-0.67, log.p = TRUE) - sum(log(diag(root))) -
			n / 2 * log(2 * pi) - 0.5 * sum(backsolve(root, d$y - (1 - s) * mean, transpose = TRUE)^2)
	})
	answer(logp, function(p) colSums(up * p))
}

by_model <- list(textmsg = textmsg, coalmining = coalmining, nile = nile, temperature = temperature, influenza = influenza)
exact <- lapply(setNames(nm = names(by_model)), function(model) {
	e <- by_model[[model]](observed(model))
	list(log_evidence = round(e$log_evidence, 6), guards = round(unname(e$guards), 8))
})
writeLines(toJSON(exact, auto_unbox = TRUE, digits = NA), "examples/paper/peers/exact.json")
