#!/bin/sh
# The Dockerfile builds, and its image runs a cluster and writes its files into a folder of the host.
set -eu
skip() { echo "skipped: docker: $1"; exit 0; }
command -v docker >/dev/null || skip 'docker is not here'
docker info >/dev/null 2>&1 || skip 'no docker daemon answers'
folder=$(mktemp -d)
trap 'rm -rf "$folder"; docker image rm -f nbody6-test >/dev/null 2>&1 || true' EXIT
cd "$(dirname "$0")/../.."
docker build -q -t nbody6-test . >/dev/null
echo '&ININPUT N=100, TCRIT=1 /' >"$folder/a.inp"
docker run --rm -v "$folder:/run" nbody6-test a.inp
test -s "$folder/a.log.csv"
docker run --rm -v "$folder:/run" --entrypoint nbody6-plot nbody6-test a
test -s "$folder/a.html"
echo 'ok docker'
