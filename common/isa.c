/* Instruction sets that the processor supports, and the limit that NBC_ISA puts on them. */
#include "common/nbc.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text, *lacking;
} level_table[] = {
#define NBC_ISA_ROW(level, name, text, lacking) {name, text, lacking},
    NBC_ISA_LIST(NBC_ISA_ROW)
#undef NBC_ISA_ROW
};

enum { LEVELS = (int)(sizeof level_table / sizeof level_table[0]), NO_LEVEL = -1 };

const char *nbc_isa_name(int level)
{
    return level >= 0 && level < LEVELS ? level_table[level].name : NULL;
}

const char *nbc_isa_text(int level)
{
    return level >= 0 && level < LEVELS ? level_table[level].text : NULL;
}

static int level_of_processor(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NBC_ISA_BASELINE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
        return NBC_ISA_AVX2;
    return NBC_ISA_AVX512;
#else
    return NBC_ISA_BASELINE;
#endif
}

static int level_allowed(void)
{
    const char *wanted = getenv("NBC_ISA");
    if (!wanted || !*wanted) return LEVELS - 1;
    for (int level = 0; level < LEVELS; level++)
        if (strcmp(wanted, level_table[level].name) == 0) return level;
    return NO_LEVEL;
}

const char *nbc_isa_missing(enum nbc_isa level)
{
    int allowed = level_allowed();
    if ((int)level > level_of_processor()) return level_table[level].lacking;
    if (level == NBC_ISA_BASELINE || (int)level <= allowed) return NULL;
    return allowed == NO_LEVEL ? "the environment variable NBC_ISA is none of avx512, avx2, baseline"
                               : "hidden by the environment variable NBC_ISA";
}

int nbc_isa_check(struct nbc_error *err)
{
    if (level_allowed() != NO_LEVEL) return NBC_OK;
    return nbc_fail(err, NBC_BAD_ARGUMENT,
                    "the environment variable NBC_ISA is '%.40s'; it must be avx512, avx2 or baseline, or not be set",
                    getenv("NBC_ISA"));
}
