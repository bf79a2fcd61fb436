/* Finish of a piece on an emulated device: partial sums in order, close pairs, lists, and again all pairs of targets
 * that are in doubt. */
#include "common/team.h"
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"
#include "gpunb/pair.h"

#include <stdlib.h>

enum { TARGETS_OF_A_PART = 16 };

/* A target: position as the force kernel has it, velocity as well; and what it has so far. */
struct target {
    const struct device_finish *a;
    int place, i, self; /* self: source of this device, or -1 */
    int32_t *row;
    double x[3], v[3], dt, r_nb2;
    struct gpunb_sum sum;
    int found;
};

static struct target load(const struct device_finish *a, int place)
{
    const struct device_force *f = &a->force;
    const int at = f->first + place, i = f->order ? f->order[at] : at, self = f->targets.self[i] - f->j_first;
    struct target t = {.a = a,
                       .place = place,
                       .i = i,
                       .self = f->targets.self[i] >= 0 && self >= 0 ? self : -1,
                       .row = a->rows + (size_t)place * (size_t)a->cap,
                       .dt = f->targets.dt[i],
                       .r_nb2 = f->targets.r_nb2[i]};
    for (int k = 0; k < 3; k++) {
        t.x[k] = f->twofloat ? f->targets.x[i][k] : gpunb_emulated_rounded(f->targets.x[i][k]);
        t.v[k] = gpunb_emulated_rounded(f->targets.v[i][k]);
    }
    return t;
}

/* Source j on the target (NA12 eq. 4, 10, 11): into the row or to the sum. */
static void take_pair(struct target *t, int j)
{
    const struct device_source *s = &t->a->sources[j];
    double dx[3], dv[3];
    if (j == t->self) return;
    for (int k = 0; k < 3; k++) {
        dx[k] = (t->a->force.twofloat ? s->x[k] : gpunb_emulated_rounded(s->x[k])) - t->x[k];
        dv[k] = (double)s->v[k] - t->v[k];
    }
    if (!gpunb_pair_is_neighbour(dx, dv, t->dt, t->a->force.weighted ? (double)s->m * t->r_nb2 : t->r_nb2)) {
        gpunb_pair_add(dx, dv, (double)s->m, &t->sum);
        return;
    }
    if (t->found < t->a->cap) t->row[t->found] = j;
    t->found++;
}

static void take_partial(struct target *t)
{
    const struct device_force *f = &t->a->force;
    const double *from = f->partial + (size_t)t->place * (size_t)f->splits * DEVICE_SUMS;
    for (int s = 0; s < f->splits; s++, from += DEVICE_SUMS) {
        for (int k = 0; k < 3; k++) {
            t->sum.acc[k] += from[k];
            t->sum.jerk[k] += from[3 + k];
        }
        t->sum.pot += from[6];
    }
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
    struct target t = load(a, place);
    take_partial(&t);
    take_close(&t);
    if (a->force.targets.in_doubt[a->force.first + place] || !is_finite(&t.sum)) {
        t.sum = (struct gpunb_sum){0};
        t.found = 0;
        for (int j = 0; j < a->force.n_j; j++) take_pair(&t, j);
    }
    struct device_result r = {.found = t.found, .target = finish_list(&t) ? ~t.i : t.i};
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
