#!/bin/sh
# Runs what this bundle has: ./run [GROUP...], groups being the folders of tests (conformance unit convergence physics,
# all of them if none is named) and `bench`. The regular forces of all tests that leave the choice to the library are
# computed on the GPU (GPUNB_BACKEND=cuda, unless the variable is set). Tests run side by side, BUNDLE_JOBS at a time
# (by default one for each two processors, 8 at most), with as many threads as are left for each. One line for each
# program, as they end; its output is in logs/. The last line is 'N passed, N failed', of test cases; the exit status is 0
# only if nothing failed.
set -u
cd "$(dirname "$0")" || exit 1

# One program: its line, and its counts in logs/.
run_test() {
    log=logs/$(echo "$1" | tr / _).log
    begin=$(date +%s)
    timeout -s KILL "${BUNDLE_TIMEOUT:-600}" "$1" >"$log" 2>&1
    status=$?
    # A case that was begun and not reported as ok or skipped has failed, be it by a crash.
    begun=$(grep -c '^\[ RUN      \]' "$log")
    good=$(grep -c '^\[       OK \]' "$log")
    skipped=$(grep -c '^\[  SKIPPED \] [a-z]' "$log")
    bad=$((begun - good - skipped))
    [ "$bad" -lt 0 ] && bad=0
    [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
    echo "$good $bad" >"$log.count"
    [ "$bad" -eq 0 ] && word='ok      ' || word='FAILED  '
    [ "$bad" -eq 0 ] && why='' || why=$(grep -E 'error|ERROR|FAILED|failed' "$log" | head -n 5)
    printf '%s%-44s %4d cases %5d s\n%s' "$word" "$1" "$begun" $(($(date +%s) - begin)) "${why:+$why
}"
}

if [ "${1:-}" = --test ]; then
    run_test "$2"
    exit 0
fi

processors=$(getconf _NPROCESSORS_ONLN)
jobs=${BUNDLE_JOBS:-$(((processors + 1) / 2))}
[ "$jobs" -gt 8 ] && [ -z "${BUNDLE_JOBS:-}" ] && jobs=8
threads=$((processors / jobs))
[ "$threads" -lt 1 ] && threads=1
export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export GPUNB_BACKEND="${GPUNB_BACKEND:-cuda}"
export NB6_BUILD="$PWD"
mkdir -p logs
rm -f logs/*.count
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo 'no nvidia-smi on this machine'
grep -m 1 'model name' /proc/cpuinfo

# Those with the longest tests first.
[ $# -eq 0 ] && set -- unit physics conformance convergence
tests='' benches=''
for group in "$@"; do
    [ "$group" = bench ] && benches=bench/bench_*
    for program in tests/"$group"/test_*; do [ -x "$program" ] && tests="$tests $program"; done
done
if [ -n "$tests" ]; then
    # shellcheck disable=SC2086 # names without blanks
    printf '%s\n' $tests |
        OMP_NUM_THREADS="${OMP_NUM_THREADS:-$threads}" xargs -P "$jobs" -n 1 "./$(basename "$0")" --test ||
        echo 0 1 >logs/not-run.count # some program could not be started, or counted
fi
for program in $benches; do
    echo "== $program"
    "$program"
done
cat logs/*.count 2>/dev/null | awk '{ good += $1; bad += $2 }
    END { printf "%d passed, %d failed\n", good, bad; exit bad > 0 }'
