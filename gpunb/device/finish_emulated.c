/* Finish of a piece on an emulated device: partial sums in order, close pairs, lists, and again all pairs of targets
 * that are in doubt. */
#include "common/team.h"
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"
#include "gpunb/device/exact.h"

#include <stdlib.h>

enum { TARGETS_OF_A_PART = 16 };

/* A target, and what it has so far. */
struct target {
    const struct device_finish *a;
    int place;
    int32_t *row;
    struct device_exact exact;
    struct gpunb_sum sum;
    int found;
};

/* Source j on the target: into the row or to the sum. */
static void take_pair(struct target *t, int j)
{
    if (!gpunb_exact_pair(t->a, &t->exact, j, &t->sum)) return;
    if (t->found < t->a->cap) t->row[t->found] = j;
    t->found++;
}

/* The pairs that the force kernel left out. Places past the last source repeat it. */
static void take_close(struct target *t)
{
    const struct device_force *f = &t->a->force;
    const size_t tiles = (size_t)(t->place / f->in_block) * (size_t)f->close.stride;
    for (int tile = 0; tile < f->n_tiles; tile++) {
        const size_t at = (tiles + (size_t)tile) * (size_t)f->in_block + (size_t)(t->place % f->in_block);
        if (!f->close.near[tiles + (size_t)tile]) continue;
        for (uint64_t rest = f->close.mask[at]; rest; rest &= rest - 1) {
            const int place = tile * DEVICE_TILE + nbc_trailing_zeros(rest);
            if (place < f->n_j) take_pair(t, f->layout.index[place]);
        }
    }
}

static int is_finite(const struct gpunb_sum *sum)
{
    double all = sum->pot;
    for (int k = 0; k < 3; k++) all += sum->acc[k] + sum->jerk[k];
    return isfinite(all);
}

static int by_number(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* From neighbour k - 1 to neighbour k, see struct device_result. */
static int32_t step_to(const int32_t *sorted, int k)
{
    return sorted[k] - (k > 0 ? sorted[k - 1] : -1) - 1;
}

int gpunb_emulated_send_row(const int32_t *sorted, int found, int32_t *out)
{
    uint16_t *halves = (uint16_t *)out;
    int is_wide = 0;
    for (int k = 0; k < found; k++) is_wide |= step_to(sorted, k) > UINT16_MAX;
    for (int k = 0; k < found; k++) {
        if (is_wide)
            out[k] = sorted[k];
        else
            halves[k] = (uint16_t)step_to(sorted, k);
    }
    return is_wide;
}

/* The neighbours in ascending order.   @return as gpunb_emulated_send_row */
static int finish_list(const struct target *t)
{
    const size_t row = (size_t)t->place * (size_t)t->a->cap;
    int32_t *sorted = t->a->sorted + row;
    if (t->found > t->a->cap) return 0;
    for (int k = 0; k < t->found; k++) sorted[k] = t->row[k];
    qsort(sorted, (size_t)t->found, sizeof *sorted, by_number);
    return gpunb_emulated_send_row(sorted, t->found, t->a->lists + row);
}

static void finish_target(const struct device_finish *a, int place)
{
    const struct device_force *f = &a->force;
    const double *partial = f->partial + (size_t)place * (size_t)f->splits * DEVICE_SUMS;
    struct target t = {
        .a = a, .place = place, .row = a->rows + (size_t)place * (size_t)a->cap, .exact = gpunb_exact_target(f, place)};
    for (int s = 0; s < f->splits; s++) gpunb_add_partial(partial + (size_t)s * DEVICE_SUMS, &t.sum);
    take_close(&t);
    if (a->force.targets.in_doubt[a->force.first + place] || !is_finite(&t.sum)) {
        t.sum = (struct gpunb_sum){0};
        t.found = 0;
        for (int j = 0; j < a->force.n_j; j++) take_pair(&t, j);
    }
    struct device_result r = {.found = t.found, .target = finish_list(&t) ? ~t.exact.i : t.exact.i};
    for (int k = 0; k < 3; k++) {
        r.sum[k] = t.sum.acc[k];
        r.sum[3 + k] = t.sum.jerk[k];
    }
    r.sum[6] = t.sum.pot;
    a->results[place] = r;
}

static void finish_part(void *context, int part, int parts)
{
    const struct device_finish *a = context;
    int64_t begin, end;
    nbc_range(a->force.n, part, parts, &begin, &end);
    for (int64_t place = begin; place < end; place++) finish_target(a, (int)place);
}

static void finish_piece(const void *job)
{
    struct device_finish own = *(const struct device_finish *)job;
    nbc_team_run(nbc_parts(own.force.n, TARGETS_OF_A_PART), finish_part, &own);
}

int gpunb_emulated_finish(const struct device_finish *finish, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, finish_piece, finish, sizeof *finish);
}
