# Compiles a Stan program: Rscript examples/paper/peers/compile.R NAME WORK [FOLDER], from the module's root. The seconds of CPU go to WORK/compile.csv.

suppressPackageStartupMessages(library(rstan))
if (!nzchar(rstan_options("boost_lib"))) rstan_options(boost_lib = "/usr/include") # as Debian has it
args <- commandArgs(TRUE)
program <- stan_model(file.path(c(args[-(1:2)], "examples/paper/peers/models")[1], paste0(args[1], ".stan")), save_dso = TRUE)
saveRDS(program, file.path(args[2], paste0(args[1], ".rds")))
cat(args[1], sum(proc.time()[c(1, 2, 4, 5)]), sep = ",", "\n", file = file.path(args[2], "compile.csv"), append = TRUE)
