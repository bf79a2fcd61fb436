#include "common/sum.h"

#include "common/nbc.h"
#include "common/team.h"

#include <string.h>

enum { THINGS_OF_A_PIECE = 4096 };

struct piece {
    double sum[NBC_SUMS];
};

struct summing {
    int64_t n, pieces;
    nbc_add *add;
    const void *context;
    struct piece *piece; /* [pieces] */
};

static void sum_part(void *context, int part, int parts)
{
    const struct summing *job = context;
    int64_t first, last;
    nbc_share(job->pieces, part, parts, &first, &last);
    for (int64_t p = first; p < last; p++) {
        const int64_t begin = p * THINGS_OF_A_PIECE, left = job->n - begin;
        const int64_t end = begin + (left < THINGS_OF_A_PIECE ? left : THINGS_OF_A_PIECE);
        memset(&job->piece[p], 0, sizeof job->piece[p]);
        for (int64_t k = begin; k < end; k++) job->add(job->context, k, job->piece[p].sum);
    }
}

int nbc_sum(int64_t n, nbc_add *add, const void *context, double sum[NBC_SUMS], struct nbc_error *err)
{
    struct summing job = {n, n / THINGS_OF_A_PIECE + (n % THINGS_OF_A_PIECE > 0), add, context, NULL};
    job.piece = nbc_alloc_unset((size_t)job.pieces, sizeof *job.piece);
    if (!job.piece) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a sum over %lld", (long long)n);
    nbc_team_run(nbc_parts(job.pieces, 1), sum_part, &job);
    memset(sum, 0, NBC_SUMS * sizeof *sum);
    for (int64_t p = 0; p < job.pieces; p++)
        for (int k = 0; k < NBC_SUMS; k++) sum[k] += job.piece[p].sum[k];
    nbc_free(job.piece);
    return NBC_OK;
}
