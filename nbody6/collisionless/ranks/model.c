#include "nbody6/collisionless/ranks/model.h"

#include "nbody6/world/spread.h"

#include <math.h>

struct nb6_gpu_model nb6_gpu_m2090(void)
{
    return (struct nb6_gpu_model){.cores = 32,
                                  .processors = 16,
                                  .threads = 512,
                                  .blocks = 2,
                                  .pair = 17.2,
                                  .latency = 600,
                                  .start = 3500,
                                  .hertz = 1.3e9};
}

double nb6_gpu_seconds(const struct nb6_gpu_model *g, double n_i, double n_j)
{
    const double work = g->threads * g->pair, ends = g->start + 2 * g->latency;
    const double turns = ceil(n_i / (g->threads * g->processors)); /* eq. 4 */
    const double hidden = floor(turns / g->blocks), rest = turns - g->blocks * hidden;
    const double plain = n_j / g->cores * (g->latency + work);                 /* eq. 2 */
    const double beside = g->blocks * n_j / g->cores * fmax(g->latency, work); /* eq. 3 */
    return (hidden * (beside + ends) + rest * (plain + ends)) / g->hertz;      /* eq. 5 */
}

double nb6_two_streams_efficiency(int gpus, double sum_s, double sync_s)
{
    int fours = 0, halves = 0; /* log4 of the GPUs, and of half of them */
    double sums = 0;
    while (1 << 2 * (fours + 1) <= gpus) fours++;
    while (1 << 2 * (halves + 1) <= gpus / 2) halves++;
    for (int i = 0; i <= halves; i++) sums += 1 << 2 * i;
    const int is_power_of_four = gpus == 1 << 2 * fours;
    const double calls = is_power_of_four ? 2 * sums : 1 + sums; /* eq. 7, eq. 6 */
    return gpus / (calls + sync_s * fours / sum_s);              /* eq. 9, eq. 8 */
}

static double sum_seconds(const struct nb6_rank_model *m, double n_i, double n_j)
{
    return m->gpu ? nb6_gpu_seconds(m->gpu, n_i, n_j) : m->call_s + m->pair_s * n_i * n_j;
}

/* Stages double what is known; then the ring brings as much with each turn, and at last what is missing. */
double nb6_rank_seconds(const struct nb6_rank_model *m, double n, int ranks, double room)
{
    const double share = n / ranks;
    const int unit = nb6_spread_unit(ranks, share * m->source_bytes, room);
    double seconds = 0, set = 1;
    for (int known = 1; known < ranks;) {
        const double next = known < unit ? known : fmin(unit, ranks - known);
        const double message = m->latency_s + next * share * m->source_bytes / m->bytes_per_s;
        seconds += fmax(sum_seconds(m, share, set * share), message);
        known += (int)next;
        set = next;
    }
    /* The last sum hides nothing. Two minima follow: of failures and of the next block time. */
    return seconds + sum_seconds(m, share, set * share) + 2 * ceil(log2(ranks)) * m->latency_s;
}

/* Messages one after another of what all ranks do together, in units of ceil(log2 ranks). Failures travel with all of
 * them. */
enum {
    TOPS = 1,     /* with targets that have left the lists */
    REACHES = 1,  /* of new trees */
    BYTES = 1,    /* agreement on memory for trees that come */
    END = 1,      /* agreement on forces, with what the next block time and the cells are judged by */
    SETTLING = 2, /* bodies that come, and agreement on memory for them */
    OF_ALL = TOPS + BYTES + END,
    OF_NEW = REACHES + SETTLING
};

double nb6_rank_tree_seconds(const struct nb6_rank_tree_model *m, int ranks)
{
    const double levels = ceil(log2(ranks)), each = OF_ALL + (m->is_kept ? 0 : OF_NEW);
    const double to_close = m->is_kept ? 2 : 4; /* sizes and trees; boxes, and bodies that move */
    const double bytes = (ranks - 1) * m->all_bytes + m->tree_bytes + (m->is_kept ? 0 : m->box_bytes);
    if (ranks == 1) return m->work_s;
    return m->work_s + (levels * each + to_close) * m->latency_s + bytes / m->bytes_per_s;
}
