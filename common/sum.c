#include "common/sum.h"

#include "common/team.h"

#include <math.h>
#include <string.h>

enum { THINGS_OF_A_PIECE = 1024, MOST_PIECES = 64 };

struct summing {
    int64_t n;
    int pieces;
    nbc_add *add;
    const void *context;
    double piece[MOST_PIECES][NBC_SUMS];
};

void nbc_add_exactly(double *high, double *low, double term)
{
    const double total = *high + term;
    *low += fabs(*high) >= fabs(term) ? (*high - total) + term : (term - total) + *high;
    *high = total;
}

static void sum_part(void *context, int part, int parts)
{
    struct summing *job = context;
    int64_t first, last, begin, end;
    nbc_range(job->pieces, part, parts, &first, &last);
    for (int p = (int)first; p < last; p++) {
        double sum[NBC_SUMS] = {0};
        nbc_range(job->n, p, job->pieces, &begin, &end);
        for (int64_t k = begin; k < end; k++) job->add(job->context, k, sum);
        memcpy(job->piece[p], sum, sizeof sum);
    }
}

void nbc_sum(int64_t n, nbc_add *add, const void *context, double sum[NBC_SUMS])
{
    const int64_t whole = n / THINGS_OF_A_PIECE + (n % THINGS_OF_A_PIECE > 0);
    struct summing job;
    double low[NBC_SUMS] = {0};
    job.n = n;
    job.pieces = whole < MOST_PIECES ? (int)whole : MOST_PIECES;
    job.add = add;
    job.context = context;
    nbc_team_run(nbc_parts(job.pieces, 1), sum_part, &job);
    memset(sum, 0, NBC_SUMS * sizeof *sum);
    for (int p = 0; p < job.pieces; p++)
        for (int k = 0; k < NBC_SUMS; k++) nbc_add_exactly(&sum[k], &low[k], job.piece[p][k]);
    for (int k = 0; k < NBC_SUMS; k++) sum[k] += low[k];
}
