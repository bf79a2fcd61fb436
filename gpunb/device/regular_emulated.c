/* The regular force in device memory, on an emulated device (device/regular.h): each source is one of a tile of its own
 * place along the curve, each group of targets has one slice of all sources, and pairs are summed in double. */
#include "gpunb/device/regular.h"

#include "device/emulated/emulated.h"
#include "gpunb/device/device.h"
#include "gpunb/device/emulated.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of threads of a kernel here. */
enum { BLOCKS = NBD_EMULATED_MULTIPROCESSORS };
static const uint32_t no_target = 1u << GPUNB_CURVE_KEY_BITS;
/* Boxes are larger by so much of their size and distance than they are. */
static const double wider = 1e-5;

struct regular_work {
    struct gpunb_dev_job job;
    int64_t first, n, share;
};

static int launch(nbd_kernel *kernel, const struct regular_work *work, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, kernel, work, sizeof *work);
}

int gpunb_emulated_regular_blocks(int device, int *blocks)
{
    (void)device;
    *blocks = BLOCKS;
    return 0;
}

/* ---- order */

static struct gpunb_map map_of(const struct gpunb_dev_sums *sums)
{
    double x[DEVICE_SAMPLE][3];
    const size_t count = gpunb_device_sample((size_t)sums->n);
    for (size_t s = 0; s < count; s++)
        for (int k = 0; k < 3; k++) x[s][k] = (double)sums->source[s * (size_t)sums->n / count].high[k];
    return gpunb_device_make_map(count, (const double(*)[3])x);
}

static void make_keys(const void *work)
{
    const struct gpunb_dev_job *job = &((const struct regular_work *)work)->job;
    const struct gpunb_dev_sums *sums = &job->sums;
    const struct gpunb_map map = map_of(sums);
    for (int64_t j = 0; j < sums->n; j++) {
        const float *high = sums->source[j].high;
        const double x[3] = {(double)high[0], (double)high[1], (double)high[2]};
        sums->key[j] = gpunb_dev_takes_part(&sums->source[j]) ? no_target | gpunb_curve_key(x, &map) : ~0u;
        job->place_of[j] = (int32_t)j; /* where the sort begins */
    }
    for (int64_t m = 0; m < job->n; m++) {
        sums->owner[job->asked[m].source] = (int32_t)m;
        sums->key[job->asked[m].source] &= ~no_target;
    }
}

static void note_places(const void *work)
{
    const struct gpunb_dev_job *job = &((const struct regular_work *)work)->job;
    const struct gpunb_dev_sums *sums = &job->sums;
    for (int64_t place = 0; place < sums->n; place++) job->place_of[sums->order[place]] = (int32_t)place;
    for (int64_t place = 0; place < job->n; place++) job->ask_at[place] = sums->owner[sums->order[place]];
}

/* The same for sources that are sorted already. */
static void note_places_again(const void *work)
{
    const struct gpunb_dev_job *job = &((const struct regular_work *)work)->job;
    const struct gpunb_dev_sums *sums = &job->sums;
    int64_t n = 0;
    memset(sums->owner, 0, (size_t)sums->n * sizeof *sums->owner);
    for (int64_t m = 0; m < job->n; m++) sums->owner[job->place_of[job->asked[m].source]] = (int32_t)m + 1;
    for (int64_t place = 0; place < sums->n; place++)
        if (sums->owner[place] > 0) job->ask_at[n++] = sums->owner[place] - 1;
}

/* ---- groups that are apart */

struct range {
    double low, high;
};

static void include(struct range *r, double x)
{
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

static void set_range(const struct range *r, float *middle, float *extent)
{
    *middle = (float)(0.5 * (r->low + r->high));
    *extent = (float)((0.5 * (r->high - r->low) + fabs(r->high) * wider) * (1 + wider));
}

static void make_group(const struct gpunb_dev_job *job, int64_t group)
{
    struct gpunb_dev_group g = {.mass = 0};
    struct range x[3], v[3];
    double mass = 0;
    for (int k = 0; k < 3; k++) x[k] = v[k] = (struct range){INFINITY, -INFINITY};
    for (int64_t place = group * GPUNB_DEV_GROUP; place < (group + 1) * GPUNB_DEV_GROUP; place++) {
        const struct gpunb_dev_asked *asked = &job->asked[job->ask_at[place]];
        const struct gpunb_dev_source *source = &job->sums.source[asked->source];
        for (int k = 0; k < 3; k++) {
            include(&x[k], (double)source->high[k]);
            include(&v[k], (double)source->v[k]);
        }
        g.size = fmaxf(g.size, source->size);
        g.h = fmaxf(g.h, gpunb_dev_radius(asked->r_nb2));
        g.dt = fmaxf(g.dt, gpunb_dev_step(asked->dt_reg));
        mass += (double)source->mass;
    }
    for (int k = 0; k < 3; k++) {
        set_range(&x[k], &g.centre[k], &g.extent[k]);
        set_range(&v[k], &g.v[k], &g.extent_v[k]);
    }
    g.mass = (float)mass;
    job->sums.group[group] = g;
}

/* Distance of two groups within the longer one of their steps, and now; and their largest relative velocity.
 * @return whether no target of one can be a neighbour of one of the other */
static int are_apart(const struct gpunb_dev_group *a, const struct gpunb_dev_group *b, double *now2, double *speed)
{
    const double dt = (double)fmaxf(a->dt, b->dt), reach = (double)fmaxf(a->h * b->size, b->h * a->size) * (1 + wider);
    double later2 = 0, v2 = 0;
    *now2 = 0;
    for (int k = 0; k < 3; k++) {
        const double d = fabs((double)a->centre[k] - (double)b->centre[k]) * (1 - wider);
        const double v = fabs((double)a->v[k] - (double)b->v[k]) + (double)a->extent_v[k] + (double)b->extent_v[k];
        const double gap = fmax(d - (double)a->extent[k] - (double)b->extent[k], 0), later = fmax(gap - dt * v, 0);
        *now2 += gap * gap;
        later2 += later * later;
        v2 += v * v;
    }
    *speed = sqrt(v2);
    return later2 > fmax(reach * reach, (double)GPUNB_DEV_TINY_R2);
}

static int is_apart(const struct gpunb_dev_job *job, int64_t group, int64_t other)
{
    if (group >= job->groups || other >= job->groups) return 0;
    const uint32_t *row = job->sums.apart + group * gpunb_dev_words(job->groups);
    return row[other / GPUNB_DEV_LANES] >> other % GPUNB_DEV_LANES & 1;
}

static void find_apart(const struct gpunb_dev_job *job, int64_t group)
{
    uint32_t *row = job->sums.apart + group * gpunb_dev_words(job->groups);
    struct gpunb_dev_group *own = &job->sums.group[group];
    double acc = 0, jerk = 0, r2, speed;
    memset(row, 0, (size_t)gpunb_dev_words(job->groups) * sizeof *row);
    for (int64_t other = 0; other < job->groups; other++) {
        const struct gpunb_dev_group *far = &job->sums.group[other];
        if (other == group || !are_apart(own, far, &r2, &speed)) continue;
        row[other / GPUNB_DEV_LANES] |= 1u << other % GPUNB_DEV_LANES;
        acc += (double)far->mass / r2;
        jerk += 4 * (double)far->mass / r2 * speed / sqrt(r2);
    }
    own->unit[0] = gpunb_dev_unit_for(acc);
    own->unit[1] = gpunb_dev_unit_for(jerk);
}

static void prepare_groups(const void *work)
{
    const struct gpunb_dev_job *job = &((const struct regular_work *)work)->job;
    for (int64_t group = 0; group < job->groups; group++) make_group(job, group);
    for (int64_t group = 0; group < job->groups; group++) find_apart(job, group);
    memset(job->sums.mutual, 0, (size_t)gpunb_dev_mutual(job->groups) * sizeof *job->sums.mutual);
    for (int64_t place = 0; place < job->n; place += GPUNB_DEV_PAIR_TARGETS)
        job->sums.slices[place / GPUNB_DEV_PAIR_TARGETS] =
            (struct gpunb_dev_slices){(int32_t)(place % job->each / GPUNB_DEV_PAIR_TARGETS), 1};
}

NBC_ASSERT_CONSTANT(2 * sizeof(uint64_t) * GPUNB_DEV_LANES <= sizeof(struct gpunb_dev_tile), "they are sorted there");

int gpunb_emulated_regular_prepare(const struct gpunb_dev_job *job, int is_again, int blocks, struct nbd_stream *stream)
{
    const struct regular_work work = {.job = *job};
    const struct gpunb_dev_sums *sums = &job->sums;
    size_t bytes = (size_t)gpunb_dev_chunks(sums) * sizeof *sums->tile;
    (void)blocks;
    int code = is_again ? launch(note_places_again, &work, stream) : launch(make_keys, &work, stream);
    if (!code && !is_again) /* there are no tiles here, and their memory is free */
        code = gpunb_emulated_sort(sums->tile, &bytes, sums->key, sums->key + sums->stride, job->place_of, sums->order,
                                   (int)sums->n, stream);
    if (!code && !is_again) code = launch(note_places, &work, stream);
    return code ? code : launch(prepare_groups, &work, stream);
}

/* ---- sums of pairs of targets */

/* A sum in units, with its group's record of a failure. */
static void add_in_units(struct gpunb_dev_group *group, int which, int64_t *sum, double value)
{
    const double units = value * nbc_power_of_two(-group->unit[which]);
    if (!(fabs(units) < 0x1p52))
        group->is_spoiled = 1;
    else
        *sum += (int64_t)llrint(units);
}

/* The target at a place and the one at another place, each for the sum of the other. */
static void add_both(const struct gpunb_dev_job *job, int64_t place, int64_t other)
{
    const struct gpunb_dev_sums *sums = &job->sums;
    const struct gpunb_dev_source *a = &sums->source[sums->order[place]], *b = &sums->source[sums->order[other]];
    const int64_t targets = job->groups * GPUNB_DEV_GROUP;
    double dx[3], dv[3], r2 = 0, rv = 0;
    gpunb_dev_exact(a, b, dx, dv);
    for (int k = 0; k < 3; k++) {
        r2 += dx[k] * dx[k];
        rv += dx[k] * dv[k];
    }
    const double r3 = 1 / (r2 * sqrt(r2)), alpha = -3 * rv / r2;
    for (int k = 0; k < 3; k++) {
        const double acc = r3 * dx[k], jerk = r3 * (dv[k] + alpha * dx[k]);
        struct gpunb_dev_group *of_a = &sums->group[place / GPUNB_DEV_GROUP];
        struct gpunb_dev_group *of_b = &sums->group[other / GPUNB_DEV_GROUP];
        add_in_units(of_a, 0, &sums->mutual[k * targets + place], (double)b->mass * acc);
        add_in_units(of_a, 1, &sums->mutual[(3 + k) * targets + place], (double)b->mass * jerk);
        add_in_units(of_b, 0, &sums->mutual[k * targets + other], -(double)a->mass * acc);
        add_in_units(of_b, 1, &sums->mutual[(3 + k) * targets + other], -(double)a->mass * jerk);
    }
}

/* This share of all pairs of groups. */
static void sum_pairs(const void *work)
{
    const struct regular_work *w = work;
    const struct gpunb_dev_job *job = &w->job;
    const int64_t pairs = job->groups * job->groups, gpus = job->sums.gpus;
    for (int64_t pair = pairs * w->share / gpus; pair < pairs * (w->share + 1) / gpus; pair++) {
        const int64_t group = pair / job->groups, other = pair % job->groups;
        if (other <= group || !is_apart(job, group, other)) continue;
        for (int64_t i = 0; i < GPUNB_DEV_GROUP; i++)
            for (int64_t j = 0; j < GPUNB_DEV_GROUP; j++)
                add_both(job, group * GPUNB_DEV_GROUP + i, other * GPUNB_DEV_GROUP + j);
    }
}

int gpunb_emulated_regular_pairs(const struct gpunb_dev_job *job, int64_t share, int blocks, struct nbd_stream *stream)
{
    const struct regular_work work = {.job = *job, .share = share};
    (void)blocks;
    return launch(sum_pairs, &work, stream);
}

/* ---- rounds */

static void set_viewers(const void *work)
{
    const struct regular_work *w = work;
    const struct gpunb_dev_job *job = &w->job;
    for (int64_t m = 0; m < w->n; m++) job->sums.viewer[m] = gpunb_dev_viewer_at(job, w->first + m);
}

int gpunb_emulated_regular_viewers(const struct gpunb_dev_job *job, int64_t first, int64_t n, struct nbd_stream *stream)
{
    const struct regular_work work = {.job = *job, .first = first, .n = n};
    return launch(set_viewers, &work, stream);
}

/* A chunk on a target.   @return bits of neighbours */
static uint32_t add_chunk(const struct gpunb_dev_sums *sums, const struct gpunb_dev_viewer *viewer, int64_t chunk,
                          struct gpunb_dev_sum *sum)
{
    float part[6] = {0, 0, 0, 0, 0, 0};
    uint32_t bits = 0;
    for (int lane = 0; lane < GPUNB_DEV_LANES; lane++) {
        const int64_t place = chunk * GPUNB_DEV_LANES + lane;
        if (place >= sums->n) break;
        const struct gpunb_dev_source *source = &sums->source[sums->order[place]];
        if (!gpunb_dev_takes_part(source)) continue;
        int relation = gpunb_dev_add_source(viewer, source, gpunb_dev_limit2(viewer, source->size), part);
        if (relation == GPUNB_DEV_AT_EDGE)
            relation = gpunb_dev_settle(&viewer->at, source, viewer->r_nb2, viewer->dt_reg, sums->weighted, sum);
        if (relation) bits |= 1u << lane;
    }
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += (double)part[k];
        sum->jerk[k] += (double)part[3 + k];
    }
    return gpunb_dev_others(viewer, chunk, bits);
}

/* All that remains on target m of a round. */
static void sum_target(const struct regular_work *w, int64_t m)
{
    const struct gpunb_dev_job *job = &w->job;
    const struct gpunb_dev_sums *sums = &job->sums;
    const struct gpunb_dev_slices own = sums->slices[(w->first + m) / GPUNB_DEV_PAIR_TARGETS];
    const int64_t at = (int64_t)own.first * GPUNB_DEV_PAIR_TARGETS + m % GPUNB_DEV_PAIR_TARGETS;
    const int64_t chunks = gpunb_dev_chunks(sums), in_group = GPUNB_DEV_GROUP / GPUNB_DEV_LANES;
    struct gpunb_dev_found *found = sums->found + m * chunks;
    struct gpunb_dev_sum sum;
    int32_t entries = 0;
    gpunb_dev_clear(&sum);
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        if (is_apart(job, (w->first + m) / GPUNB_DEV_GROUP, chunk / in_group)) continue;
        const uint32_t bits = add_chunk(sums, &sums->viewer[m], chunk, &sum);
        if (bits) found[entries++] = (struct gpunb_dev_found){(uint32_t)chunk, bits};
    }
    sums->partial[at] = sum;
    sums->n_found[at] = entries;
}

/* Groups of targets are dealt out to devices. */
static void sum_left(const void *work)
{
    const struct regular_work *w = work;
    for (int64_t m = 0; m < w->n; m++)
        if (m / GPUNB_DEV_PAIR_TARGETS % w->job.sums.gpus == w->share) sum_target(w, m);
}

int gpunb_emulated_regular_left(const struct gpunb_dev_job *job, int64_t first, int64_t n, int64_t share, int blocks,
                                struct nbd_stream *stream)
{
    const struct regular_work work = {.job = *job, .first = first, .n = n, .share = share};
    (void)blocks;
    return launch(sum_left, &work, stream);
}

static int by_number(const void *a, const void *b)
{
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Rows that are too short have the first ones along the curve, as on GPUs. */
static int32_t make_list(const struct gpunb_dev_job *job, int64_t m, int32_t entries, int32_t *row)
{
    const struct gpunb_dev_found *found = job->sums.found + m * gpunb_dev_chunks(&job->sums);
    int64_t n = 0;
    for (int32_t k = 0; k < entries; k++) {
        for (uint32_t bits = found[k].bits; bits; bits &= bits - 1, n++) {
            const int64_t place = (int64_t)found[k].chunk * GPUNB_DEV_LANES + nbc_lowest_bit(bits);
            if (n < job->row_room) row[n] = job->sums.order[place];
        }
    }
    if (n <= job->row_room) qsort(row, (size_t)n, sizeof *row, by_number);
    return (int32_t)n;
}

static void finish_round(const void *work)
{
    const struct regular_work *w = work;
    const struct gpunb_dev_job *job = &w->job;
    for (int64_t m = 0; m < w->n; m++) {
        const int64_t place = w->first + m;
        const struct gpunb_dev_slices own = job->sums.slices[place / GPUNB_DEV_PAIR_TARGETS];
        const int64_t at = (int64_t)own.first * GPUNB_DEV_PAIR_TARGETS + m % GPUNB_DEV_PAIR_TARGETS;
        struct gpunb_dev_asked *asked = &job->asked[job->ask_at[place]];
        asked->sum = job->sums.partial[at];
        gpunb_dev_add_mutual(job, place, &asked->sum);
        asked->count = make_list(job, m, job->sums.n_found[at], job->lists + asked->row * job->row_room);
    }
}

int gpunb_emulated_regular_finish(const struct gpunb_dev_job *job, int64_t first, int64_t n, int blocks,
                                  struct nbd_stream *stream)
{
    const struct regular_work work = {.job = *job, .first = first, .n = n};
    (void)blocks;
    return launch(finish_round, &work, stream);
}
