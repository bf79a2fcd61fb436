/** Status codes, errors, memory, instruction sets and the wall clock, shared by all libraries here. No physics.
 *
 *  Conventions of all C APIs of this project: 0 is success, outputs come last, every input array is const, indices
 *  are 0-based and ranges half-open. Libraries never print and never exit. */
#ifndef NBC_H
#define NBC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One list makes the enum, the names and the texts. Numbers are never re-used. X(name, number, exit code, text) */
#define NBC_STATUS_LIST(X)                                                                                             \
    X(NBC_OK, 0, 0, "success")                                                                                         \
    X(NBC_NB_OVERFLOW, 1, 1, "a neighbour list is longer than the capacity given")                                     \
    X(NBC_BAD_ARGUMENT, 2, 1, "an argument is out of range")                                                           \
    X(NBC_NO_MEMORY, 3, 6, "not enough memory")                                                                        \
    X(NBC_NON_FINITE, 4, 1, "a quantity is NaN or infinite")                                                           \
    X(NBC_BAD_STATE, 5, 1, "calls in the wrong order")                                                                 \
    X(NBC_BAD_INPUT, 6, 2, "bad input")                                                                                \
    X(NBC_ENERGY, 7, 3, "energy tolerance exceeded")                                                                   \
    X(NBC_FILE, 8, 4, "file error")                                                                                    \
    X(NBC_DEVICE, 9, 5, "device error")                                                                                \
    X(NBC_UNAVAILABLE, 10, 5, "backend not available")                                                                 \
    X(NBC_INTERNAL, 11, 1, "internal error")

enum nbc_status {
#define NBC_STATUS_ENUM(name, number, exit_code, text) name = number,
    NBC_STATUS_LIST(NBC_STATUS_ENUM)
#undef NBC_STATUS_ENUM
};

/** "NBC_OK", ...; "NBC_?" for an unknown number. */
const char *nbc_status_name(int status);
/** Meaning of the status, in words. */
const char *nbc_status_text(int status);
/** Exit code of a command that ends with this status: 0 done, 1 internal, 2 bad input, 3 energy, 4 file, 5 device, 6
 * memory. */
int nbc_status_exit_code(int status);
/** The status of a call of the system that failed with this errno: NBC_FILE, or NBC_NO_MEMORY. */
int nbc_file_status(int reason);
/** Prefix that a command prints between its name and the text of an error: "not enough memory: " for NBC_NO_MEMORY,
 *  else "". */
const char *nbc_status_prefix(int status);

/** The text of a failure, for the user who can resolve it. Filled by nbc_fail; zero-initialise before use. */
struct nbc_error {
    int status;
    char text[4096];
};

/** Record a failure and return its status: `return nbc_fail(err, NBC_FILE, "%s: %s", path, strerror(errno));`
 *  @param[out] err  may be NULL; overwritten. */
int nbc_fail(struct nbc_error *err, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Zeroed memory for `count` objects of `size` bytes, aligned to 64 bytes, its length padded to a multiple of 64.
 *  NULL when count*size overflows or there is no memory; a zero count gives a valid block. */
void *nbc_alloc(size_t count, size_t size);
/** nbc_alloc without zeros: a thread that writes to a part first places it in its own memory. */
void *nbc_alloc_unset(size_t count, size_t size);
/** Like nbc_alloc, but keeps the first min(old_count, new_count) objects of `old`, which is freed on success only. */
void *nbc_realloc(void *old, size_t old_count, size_t new_count, size_t size);
void nbc_free(void *memory);
/** Whether the process may have so many bytes more: checked before libraries that end the program without memory. */
int nbc_has_memory(size_t bytes);
/** Room for n entries of a table that grows, to twice its room at least; new entries are zero.
 *  @param[in,out] table  address of a pointer to entries of `size` bytes, NULL at first   @param[in,out] room  of them
 *  @return 1; 0: there is no memory, and the table is what it was */
int nbc_grow(void *table, int64_t *room, int64_t n, size_t size);

/** Levels of instruction sets, each with all before it. X(level, value of NBC_ISA, description, reason of absence) */
#define NBC_ISA_LIST(X)                                                                                                \
    X(NBC_ISA_BASELINE, "baseline", "instructions of every processor of this kind", "")                                \
    X(NBC_ISA_AVX2, "avx2", "AVX2 and FMA", "this processor has no AVX2 and FMA")                                      \
    X(NBC_ISA_AVX512, "avx512", "AVX-512 F, DQ, BW and VL", "this processor has no AVX-512")

enum nbc_isa {
#define NBC_ISA_ENUM(level, name, text, lacking) level,
    NBC_ISA_LIST(NBC_ISA_ENUM)
#undef NBC_ISA_ENUM
};

/** "baseline", ... and its description in words; NULL past the last level. */
const char *nbc_isa_name(int level);
const char *nbc_isa_text(int level);
/** Why code for this level must not run: the processor or its operating system lacks it, or the environment variable
 *  NBC_ISA hides it. NBC_ISA names the highest level in use. Empty or not set, it hides nothing; if it names no level,
 *  all but the baseline. A text that stays; NULL: the code may run. */
const char *nbc_isa_missing(enum nbc_isa level);
/** @return NBC_OK; NBC_BAD_ARGUMENT: NBC_ISA names no level; the error lists those that there are */
int nbc_isa_check(struct nbc_error *err);

/** Threads of OpenMP sleep after they have waited for some tens of microseconds, so that they take little time from
 *  other programs on the same processors; otherwise they spin for milliseconds. The libraries call it when they are
 *  opened. Once for the process; nothing happens if OMP_WAIT_POLICY=passive, GOMP_SPINCOUNT or KMP_BLOCKTIME sets how
 *  threads wait, or if there is one thread only. */
void nbc_let_threads_sleep(void);

/** Seconds of a monotonic clock. */
double nbc_wtime(void);

/** Bytes of physical memory of this machine, 0 if unknown. */
uint64_t nbc_memory_bytes(void);

#ifdef __cplusplus
}
#endif
#endif
