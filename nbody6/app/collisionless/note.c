#include "nbody6/app/collisionless/note.h"

#include "common/nbc.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/collisionless/check.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/stars/stars_note.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/input/config.h"

#include <math.h>
#include <string.h>

/* Bodies that stand for all, and the sums of these. */
struct some {
    int64_t n;
    double *mass, (*x)[3], (*v)[3];
    double sum_mass, heaviest[2]; /* of all */
};

enum { FEW = 1 << 16, AT_ONCE = 4096 };

static void some_free(struct some *some)
{
    nbc_free(some->mass);
    nbc_free(some->x);
    nbc_free(some->v);
}

/* Number k of the bodies that stand for all, one of each of as many equal parts; not always the first one, so that an
 * order of two kinds in turn does not matter. */
static int64_t chosen(int64_t k, int64_t wanted, int64_t n)
{
    const int64_t first = n * k / wanted, end = n * (k + 1) / wanted;
    return first + k * 40503 % (end - first);
}

/* Rows of the ranks, once; what is chosen stays. */
static void choose(struct nb6_collisionless *system, struct some *some)
{
    double mass[AT_ONCE], x[AT_ONCE][3], v[AT_ONCE][3];
    const struct nb6_body_rows rows = nb6_collisionless_rows(system);
    int64_t k = 0;
    for (int64_t first = 0; first < system->n; first += AT_ONCE) {
        const int64_t left = system->n - first, count = left < AT_ONCE ? left : AT_ONCE;
        rows.get(rows.context, NB6_ROWS_MASS, first, count, mass);
        rows.get(rows.context, NB6_ROWS_X, first, count, x);
        rows.get(rows.context, NB6_ROWS_V, first, count, v);
        for (int64_t i = 0; i < count; i++) some->sum_mass += mass[i];
        nb6_heaviest_take(count, mass, some->heaviest);
        for (; k < some->n && chosen(k, some->n, system->n) < first + count; k++) {
            const int64_t i = chosen(k, some->n, system->n) - first;
            some->mass[k] = mass[i];
            memcpy(some->x[k], x[i], sizeof x[i]);
            memcpy(some->v[k], v[i], sizeof v[i]);
        }
    }
}

/* Those that stand for others have their masses too. */
static void share_masses(struct some *some)
{
    double sum = 0;
    for (int64_t k = 0; k < some->n; k++) sum += some->mass[k];
    for (int64_t k = 0; k < some->n && sum > 0; k++) some->mass[k] *= some->sum_mass / sum;
}

/* The times of a bulk follow from U, M^(5/2)/|U|^(3/2) being the crossing time, and the relaxation time from n. */
static void stand_for_all(int64_t n, const struct some *some, struct nb6_bulk *bulk)
{
    bulk->n = n;
    bulk->mass = some->sum_mass;
    bulk->mass_most = some->heaviest[0];
    if (bulk->t_cross > 0)
        nb6_bulk_set(-bulk->mass * cbrt(bulk->mass * bulk->mass / (bulk->t_cross * bulk->t_cross)), bulk->virial_ratio,
                     bulk);
}

static int find_by_some(struct nb6_collisionless *system, struct nb6_bulk *bulk, double heaviest[2],
                        struct nbc_error *err)
{
    struct some some = {.n = system->n < FEW ? system->n : FEW};
    some.mass = nbc_alloc((size_t)some.n, sizeof *some.mass);
    some.x = nbc_alloc((size_t)some.n, sizeof *some.x);
    some.v = nbc_alloc((size_t)some.n, sizeof *some.v);
    int status = some.mass && some.x && some.v ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory to describe bodies");
    if (!status) {
        choose(system, &some);
        if (some.n < system->n) share_masses(&some);
        status = nb6_bulk_find(some.n, some.mass, (const double(*)[3])some.x, (const double(*)[3])some.v, bulk, err);
    }
    if (!status && some.n < system->n) stand_for_all(system->n, &some, bulk);
    memcpy(heaviest, some.heaviest, sizeof some.heaviest);
    some_free(&some);
    return status;
}

static int find_bulk(struct nb6_collisionless *system, struct nb6_bulk *bulk, double heaviest[2], struct nbc_error *err)
{
    const double(*x)[3] = (const double(*)[3])system->x0, (*v)[3] = (const double(*)[3])system->v;
    if (!x) return find_by_some(system, bulk, heaviest, err);
    nb6_heaviest_take(system->n, system->mass, heaviest);
    return nb6_bulk_find(system->n, system->mass, x, v, bulk, err);
}

int nb6_collisionless_announce(struct nb6_progress *progress, const struct nb6_config *config,
                               const struct nb6_data_facts *data, struct nb6_collisionless *system,
                               const struct nb6_units *units, struct nbc_error *err)
{
    struct nb6_bulk bulk;
    struct nb6_collisionless_options options;
    char advice[NB6_COLLISIONLESS_ADVICE];
    double heaviest[2] = {0, 0};
    int status = find_bulk(system, &bulk, heaviest, err);
    if (!status) nb6_stars_announce(progress, config, data, &bulk, units);
    if (!status) status = nb6_collisionless_options_of(config, &options, err);
    if (!status && nb6_collisionless_advise(&options, heaviest, advice, sizeof advice))
        nb6_progress_warn(progress, "%s", advice);
    return status;
}

int nb6_collisionless_announce_resumed(struct nb6_progress *progress, struct nb6_collisionless *system,
                                       const struct nb6_units *units, struct nbc_error *err)
{
    struct nb6_frame frame;
    if (progress->quiet || !system->x0) return NBC_OK; /* nobody has all bodies of several ranks */
    int status = nb6_collisionless_frame(system, 0, &frame, err);
    if (status) return status;
    status = nb6_stars_announce_frame(progress, &frame, units, err);
    nb6_frame_free(&frame);
    return status;
}
