#include "device/faults.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Codes of failures that were asked for; those of kinds are not negative. */
enum { CODE_FAIL = -1, CODE_NO_MEMORY = -2, CODE_LOST = -3 };

static struct {
    int fault; /* enum nbd_fault */
    int64_t k, times, calls, failures;
} state;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_environment(void)
{
    static const struct {
        const char *word;
        enum nbd_fault fault;
        int64_t times;
    } known[] = {{"fail:", NBD_FAULT_FAIL, 1},
                 {"memory:", NBD_FAULT_NO_MEMORY, 1},
                 {"lost:", NBD_FAULT_FAIL, NBD_FAULT_FOR_EVER}};
    const char *text = getenv("NB6_DEVICE_FAULT");
    for (size_t w = 0; text && w < sizeof known / sizeof *known; w++) {
        const size_t length = strlen(known[w].word);
        if (strncmp(text, known[w].word, length) != 0) continue;
        state.fault = (int)known[w].fault;
        state.k = strtol(text + length, NULL, 10);
        state.times = known[w].times;
    }
}

void nbd_fault_set(enum nbd_fault fault, int64_t k, int64_t times)
{
    pthread_once(&once, read_environment);
    __atomic_store_n(&state.fault, (int)fault, __ATOMIC_RELAXED);
    __atomic_store_n(&state.k, k, __ATOMIC_RELAXED);
    __atomic_store_n(&state.times, times, __ATOMIC_RELAXED);
    __atomic_store_n(&state.calls, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&state.failures, 0, __ATOMIC_RELAXED);
}

int64_t nbd_fault_calls(void)
{
    return __atomic_load_n(&state.calls, __ATOMIC_RELAXED);
}

int64_t nbd_fault_failures(void)
{
    return __atomic_load_n(&state.failures, __ATOMIC_RELAXED);
}

int nbd_fault_due(int is_allocation)
{
    pthread_once(&once, read_environment);
    const int fault = __atomic_load_n(&state.fault, __ATOMIC_RELAXED);
    if (fault == NBD_FAULT_NO_MEMORY && !is_allocation) return 0;
    const int64_t call = __atomic_add_fetch(&state.calls, 1, __ATOMIC_RELAXED);
    const int64_t k = __atomic_load_n(&state.k, __ATOMIC_RELAXED);
    if (fault == NBD_FAULT_NONE || k <= 0 || call < k) return 0;
    const int64_t times = __atomic_load_n(&state.times, __ATOMIC_RELAXED);
    if (call - k >= times) return 0;
    __atomic_fetch_add(&state.failures, 1, __ATOMIC_RELAXED);
    return fault == NBD_FAULT_NO_MEMORY ? CODE_NO_MEMORY : times == NBD_FAULT_FOR_EVER ? CODE_LOST : CODE_FAIL;
}

int nbd_fault_lacks_memory(int code)
{
    return code == CODE_NO_MEMORY;
}

const char *nbd_fault_text(int code)
{
    switch (code) {
    case CODE_FAIL:
        return "a failure that was asked for";
    case CODE_NO_MEMORY:
        return "out of memory, as was asked for";
    case CODE_LOST:
        return "the device does not answer, as was asked for";
    default:
        return NULL;
    }
}
