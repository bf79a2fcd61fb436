#!/bin/sh
# Does a thread sanitizer work here? tests/tsan/probe.sh COMPILER. It must report the race of probe.c, and nothing
# without one: with an OpenMP runtime that hides barriers from it every loop looks like a race. If not, says why in a
# line 'skipped: ...', and the exit status is 1.
cc=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

skipped() {
    echo "skipped: thread sanitizer: $1"
    exit 1
}
export OMP_NUM_THREADS=4 TSAN_OPTIONS='ignore_noninstrumented_modules=1 exitcode=66'

command -v "$cc" >/dev/null || skipped "there is no $cc on this machine"
"$cc" -g -O1 -fopenmp -fsanitize=thread -o "$scratch/probe" "$(dirname "$0")/probe.c" 2>"$scratch/said" ||
    skipped "$cc cannot compile with it: $(head -n 1 "$scratch/said")"
"$scratch/probe" >"$scratch/said" 2>&1 ||
    skipped "with $cc it fails where there is no race: $(grep -m 1 Sanitizer "$scratch/said")"
"$scratch/probe" race >/dev/null 2>&1
[ $? -eq 66 ] || skipped "with $cc it does not find a race that is there"
