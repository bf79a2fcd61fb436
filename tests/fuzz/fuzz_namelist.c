/* libFuzzer's entry; tests/fuzz/fuzz.sh builds and runs it. */
#include "tests/support/fuzz_targets.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *broken = fuzz_namelist(data, size);
    if (!broken) return 0;
    fprintf(stderr, "%s\n", broken);
    abort();
}
