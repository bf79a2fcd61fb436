#!/bin/sh
# Packs programs, tests and benchmarks of a build, with the libraries they need, into one archive for a machine that has
# a GPU and no packages: packaging/gpu-bundle.sh BUILD ARCHIVE PROGRAM...
# The programs are relative to BUILD and keep their places; `run` in the archive runs the tests there.
set -eu
build=$1 archive=$2
shift 2
name=$(basename "$archive" .tar.xz)
stage=$(mktemp -d "${TMPDIR:-/tmp}/gpu-bundle.XXXXXX")
trap 'rm -rf "$stage"' EXIT
root=$stage/$name
mkdir -p "$root/lib"
for program in "$@"; do
    mkdir -p "$root/$(dirname "$program")"
    strip -o "$root/$program" "$build/$program"
done
# The C library belongs to the machine: it has to fit its loader and its kernel.
for program in "$@"; do ldd "$build/$program"; done | awk '$3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/(ld-linux|libc|libm|libdl|libpthread|librt)[.-]' | while read -r library; do
    case $library in
    */libtest_*) strip -o "$root/lib/$(basename "$library")" "$library" ;;
    *) cp -L "$library" "$root/lib/" ;;
    esac
done
cp packaging/gpu-bundle-run.sh "$root/run"
cp -r input_examples "$root/"
mkdir -p "$root/tests"
cp -r tests/data "$root/tests/"
# Every program holds the same kernels: a dictionary as large as some programs finds them again.
tar -C "$stage" -cf - "$name" | xz -T0 --lzma2=preset=3,dict=64MiB >"$archive.new"
mv "$archive.new" "$archive"
echo "$archive: $(($(wc -c <"$archive") / 1048576 + 1)) MB; unpack it anywhere and start $name/run"
