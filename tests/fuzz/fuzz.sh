#!/bin/sh
# Fuzz the readers of inputs (namelists, positional input) and of dat.10 with libFuzzer (clang) under the address and undefined-behaviour sanitizers.
# usage: tests/fuzz/fuzz.sh [SECONDS for each reader] [BUILD directory]
set -e
seconds=${1:-600}
build=${2:-build}/fuzz
cd "$(dirname "$0")/../.."
make BUILD="$build" CC=clang CUDA=0 SANITIZE=1 CFLAGS=-fsanitize=fuzzer-no-link "$build/lib/libnbody6.a"
libraries="$build/lib/libnbody6.a $(pkg-config --libs hdf5) $(pkg-config --libs gsl zlib) $(gfortran -print-file-name=libgfortran.so) -lm"
for target in namelist dat10; do
    corpus=$build/corpus-$target
    mkdir -p "$corpus"
    # the first byte of a test case is a switch
    for file in input_examples/*/*.inp tests/data/*.inp tests/data/positional/*.inp; do
        [ $target = namelist ] && { printf 0; cat "$file"; } > "$corpus/$(basename "$file")"
    done
    for file in input_examples/*/dat.10 input_examples/*/*.csv; do
        [ $target = dat10 ] && { printf 0; cat "$file"; } > "$corpus/$(basename "$(dirname "$file")")"
    done
    clang -D_GNU_SOURCE -I. -g -O1 -fopenmp -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=undefined -o "$build/fuzz_$target" "tests/fuzz/fuzz_$target.c" tests/support/fuzz_targets.c \
        $libraries
    OMP_NUM_THREADS=1 "$build/fuzz_$target" -max_total_time="$seconds" -max_len=8192 -timeout=10 -print_final_stats=1 \
        -dict=tests/fuzz/$target.dict -artifact_prefix="$build/finding-$target-" "$corpus"
done
