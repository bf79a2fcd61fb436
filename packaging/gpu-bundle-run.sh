#!/bin/sh
# Runs what this bundle has: ./run [GROUP...], groups being the folders of tests (conformance unit convergence physics,
# all of them if none is named) and `bench`. The regular forces of all tests that leave the choice to the library are
# computed on the GPU (GPUNB_BACKEND=cuda, unless the variable is set). One line for each program; its output is in logs/.
# The last line is 'N passed, N failed', of test cases; the exit status is 0 only if nothing failed.
set -u
cd "$(dirname "$0")" || exit 1
export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export GPUNB_BACKEND="${GPUNB_BACKEND:-cuda}"
export NB6_BUILD="$PWD"
mkdir -p logs
passed=0 failed=0
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo 'no nvidia-smi on this machine'
grep -m 1 'model name' /proc/cpuinfo

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
    passed=$((passed + good)) failed=$((failed + bad))
    [ "$bad" -eq 0 ] && word='ok      ' || word='FAILED  '
    printf '%s%-44s %4d cases %5d s\n' "$word" "$1" "$begun" $(($(date +%s) - begin))
    [ "$bad" -eq 0 ] || grep -E 'error|ERROR|FAILED|failed' "$log" | head -n 5
}

[ $# -eq 0 ] && set -- conformance unit convergence physics
for group in "$@"; do
    if [ "$group" = bench ]; then
        for program in bench/bench_*; do
            echo "== $program"
            "$program"
        done
        continue
    fi
    for program in tests/"$group"/test_*; do [ -x "$program" ] && run_test "$program"; done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
