#!/bin/sh
# Makes targets one after the other and prints the sum of the tests as the last line, whatever happened:
#   tests/summed.sh MAKE TARGET...
# tests/run-tests leaves the sum in the file NB6_SUM. If there is none, because nothing got so far, that counts as one
# failure. The exit status is 0 or 1: see MAKEFLAGS in the Makefile.

make=$1
shift
# The letters of MAKEFLAGS without q, which is for the make that called only; n: make -n, which is to do nothing.
letters=${MAKEFLAGS%% *}
case $letters in
-* | *=*) ;;
*n*) echo "$make $*"; exit 0 ;;
*) MAKEFLAGS=$(printf '%s' "$letters" | tr -d q)${MAKEFLAGS#"$letters"} ;;
esac
NB6_SUM=$(mktemp) || exit 1
export MAKEFLAGS NB6_SUM

# A signal to this script stops the program that it runs, which still prints the sum.
child=
interrupted=
stop() {
    interrupted=1
    [ -z "$child" ] || kill -TERM "$child" 2>/dev/null
}
trap stop INT TERM HUP

failed=
for target in "$@"; do
    $make "$target" &
    child=$!
    wait "$child"
    status=$?
    while kill -0 "$child" 2>/dev/null; do
        wait "$child"
        status=$?
    done
    child=
    [ "$status" -eq 0 ] && [ -z "$interrupted" ] || { failed=1; break; }
done

sum=$(cat "$NB6_SUM")
rm -f "$NB6_SUM"
if [ -z "$sum" ]; then
    echo "make $target: no test was run${interrupted:+, because this was interrupted}; that counts as one failure"
    sum='0 passed, 1 failed'
    failed=1
fi
echo "$sum"
[ -z "$failed" ]
