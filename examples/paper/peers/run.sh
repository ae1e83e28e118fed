#!/usr/bin/env bash
# Runs the same five models here, in JAGS and in Stan, and writes docs/peers.md. Needs Go, and Debian for what it installs.
# Arguments are tools whose runs are made anew, by default all of them: facet jags-hand jags stan-hand stan advi smooth. The last is
# facet and Stan on smooth models; alone it makes their table anew, and leaves all else of docs/peers.md.
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=examples/paper/peers
work=${PEERS_WORK:-/tmp/facet-peers} # compiled Stan programs and results are kept there
models="textmsg coalmining nile temperature influenza"
tools=${*:-facet jags-hand jags stan-hand stan advi smooth}
mkdir -p "$work"

if ! Rscript -e 'library(rjags); library(rstan); library(jsonlite); library(loo); library(posterior)' >/dev/null 2>&1 || [ ! -d /usr/include/boost ]; then
	apt-get update
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
		g++ make jags r-cran-rjags r-cran-rstan r-cran-jsonlite r-cran-loo r-cran-posterior libboost-dev
fi

smooth() {
	local reference=internal/trials/testdata/reference models="schools bacteria chick student"
	go build -o "$work/sample" ./$here/sample
	for model in $models; do
		if [ "$reference/$model.stan" -nt "$work/$model.rds" ]; then Rscript $here/compile.R "$model" "$work" $reference; fi
	done
	rm -f "$work/smooth.csv"
	for model in $models; do
		for seed in 1 2 3; do
			for tool in facet stan; do
				echo "smooth $tool $model $seed"
				Rscript $here/smooth.R $tool "$model" "$seed" "$work" >"$work/log" 2>&1 || tail -3 "$work/log"
			done
		done
	done
	{ cat $here/smooth.md; Rscript $here/smooth.R table "$work"; } >"$work/smooth.md"
}

for tool in $tools; do
	if [ "$tool" = smooth ]; then
		smooth
		continue
	fi
	case $tool in
	facet)
		if [ ! -d internal/posterior ]; then
			echo 'no internal/posterior: facet is left out'
			continue
		fi
		go build -o "$work/posterior" ./internal/posterior
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
if [ "$tools" = smooth ]; then # what is between its title and the next one
	awk -v section="$work/smooth.md" '/^## /{inside = 0} /^## (Smooth models|How to read it)/ && !done{while ((getline line < section) > 0) print line; print ""; done = 1} /^## Smooth models/{inside = 1} !inside' \
		docs/peers.md >"$work/peers.md"
else
	Rscript "$here/table.R" "$work" >"$work/peers.md"
fi
cp "$work/peers.md" docs/peers.md
