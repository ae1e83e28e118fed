#!/usr/bin/env bash
# Runs the same five models here, in JAGS and in Stan, and writes docs/peers.md. Needs Go, and Debian for what it installs.
# Arguments are tools whose runs are made anew, by default all of them: facet jags-hand jags stan-hand stan advi.
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=examples/paper/peers
work=${PEERS_WORK:-/tmp/facet-peers} # compiled Stan programs and results are kept there
models="textmsg coalmining nile temperature influenza"
tools=${*:-facet jags-hand jags stan-hand stan advi}
mkdir -p "$work"

if ! Rscript -e 'library(rjags); library(rstan); library(jsonlite); library(loo)' >/dev/null 2>&1 || [ ! -d /usr/include/boost ]; then
	apt-get update
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
		g++ make jags r-cran-rjags r-cran-rstan r-cran-jsonlite r-cran-loo libboost-dev
fi

for tool in $tools; do
	case $tool in
	facet)
		if [ ! -d examples/posterior ]; then
			echo 'no examples/posterior: facet is left out'
			continue
		fi
		go build -o "$work/posterior" ./examples/posterior
		;;
	stan | stan-hand | advi)
		for model in $models; do
			if [ "$tool" = stan-hand ]; then model=$model-hand; fi
			if [ "$here/models/$model.stan" -nt "$work/$model.rds" ]; then Rscript "$here/compile.R" "$model" "$work"; fi
		done
		;;
	esac
	if [ -f "$work/results.csv" ]; then sed -i "/^\"$tool\",/d" "$work/results.csv"; fi
	for model in $models; do
		for seed in 1 2 3; do
			echo "$tool $model $seed"
			timeout "${PEERS_LIMIT:-900}" Rscript "$here/run.R" "$tool" "$model" "$seed" "$work" >"$work/log" 2>&1 || tail -3 "$work/log"
		done
	done
done
Rscript "$here/table.R" "$work" >"$work/peers.md"
cp "$work/peers.md" docs/peers.md
