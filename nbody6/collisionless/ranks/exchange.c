#include "nbody6/collisionless/ranks/exchange.h"

#include "common/team.h"
#include "gpunb/backend.h"
#include "nbody6/collisionless/part.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <string.h>

/* Pairs of a piece, and its fewest targets: some milliseconds of a core, after which messages move on; of a GPU a tenth
 * of a second, since it has a start and an end in each. */
static const double PIECE_PAIRS = 1e7, PIECE_PAIRS_GPU = 1e11;
enum { PIECE_TARGETS = 1024 };
static const size_t DEFAULT_ROOM = (size_t)1 << 30;

struct nb6_exchange {
    struct nb6_world *world;
    struct nb6_spread *spread;
    gpunb_t *force;
    struct nbd_device device; /* that pins what is under way */
    int64_t first, own;
    double *mass, (*x)[3];  /* [most items of a set] */
    double (*acc_set)[3];   /* [own] by one set */
    double (*acc)[3], *pot; /* [slots][own]; pot: NULL until it is wanted */
    double *pot_set;        /* [own] likewise */
};

/* A sum under way. */
struct sum {
    struct nb6_exchange *exchange;
    const struct nb6_exchange_job *job;
    int status;
    struct nbc_error *err;
};

/* ---- opening and closing */

static int allocate(struct nb6_exchange *e, struct nbc_error *err)
{
    const size_t most = (size_t)nb6_spread_most(e->spread), own = (size_t)e->own;
    e->mass = nbc_alloc_unset(most, sizeof *e->mass);
    e->x = nbc_alloc_unset(most, sizeof *e->x);
    e->acc_set = nbc_alloc_unset(own, sizeof *e->acc_set);
    e->acc = nbc_alloc_unset(own * (size_t)nb6_spread_slots(e->spread), sizeof *e->acc);
    if (e->mass && e->x && e->acc_set && e->acc) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "rank %d has no memory for sums over %zu bodies at once",
                    nb6_world_rank(e->world), most);
}

static int take_pinned(void *context, size_t bytes, void **memory, struct nbc_error *err)
{
    return nbd_alloc(context, NBD_ON_HOST, bytes, memory, err);
}

static void give_pinned_back(void *context, void *memory)
{
    nbd_free(context, NBD_ON_HOST, memory);
}

int nb6_exchange_open(struct nb6_exchange **exchange, struct nb6_world *world, int64_t n, size_t room, gpunb_t *force,
                      const struct nbd_device *device, struct nbc_error *err)
{
    struct nb6_exchange *e = nbc_alloc(1, sizeof *e);
    struct nb6_spread_memory pinned = {.take = take_pinned, .give_back = give_pinned_back};
    int64_t end;
    if (!e) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the sources of other ranks");
    e->world = world;
    e->force = force;
    nb6_world_share(world, n, nb6_world_rank(world), &e->first, &end);
    e->own = end - e->first;
    if (device) e->device = *device;
    pinned.context = &e->device;
    int status = nb6_spread_open(&e->spread, world, n, sizeof(struct nb6_source), room ? room : DEFAULT_ROOM,
                                 device ? &pinned : NULL, err);
    if (!status) status = allocate(e, err);
    if (!status && gpunb_reserve(force, (size_t)nb6_spread_most(e->spread)))
        status = nbc_fail(err, NBC_NO_MEMORY, "%s", gpunb_last_error(force));
    if (status)
        nb6_exchange_close(e);
    else
        *exchange = e;
    return status;
}

void nb6_exchange_close(struct nb6_exchange *e)
{
    if (!e) return;
    nb6_spread_close(e->spread);
    nbc_free(e->mass);
    nbc_free(e->x);
    nbc_free(e->acc_set);
    nbc_free(e->acc);
    nbc_free(e->pot_set);
    nbc_free(e->pot);
    nbc_free(e);
}

struct nb6_spread *nb6_exchange_spread(const struct nb6_exchange *e)
{
    return e->spread;
}

void nb6_exchange_get_counts(const struct nb6_exchange *e, struct nb6_spread_counts *counts)
{
    nb6_spread_get_counts(e->spread, counts);
}

/* ---- sources */

/* A position that GPUNB does not take goes out as 0: its owner alone has to report it. */
static int give_sources(struct nb6_exchange *e, const struct nb6_exchange_job *job, struct nbc_error *err)
{
    struct nb6_source *own = nb6_spread_own(e->spread);
    int status = NBC_OK;
    for (int64_t i = 0; i < e->own; i++) {
        const double *x = job->x[i];
        const int is_near = fabs(x[0]) <= GPUNB_LIMIT && fabs(x[1]) <= GPUNB_LIMIT && fabs(x[2]) <= GPUNB_LIMIT;
        own[i] = (struct nb6_source){.mass = job->mass[i]};
        for (int k = 0; k < 3 && is_near; k++) own[i].x[k] = x[k];
        if (is_near || status) continue;
        status = isfinite(x[0] + x[1] + x[2]) ? NBC_BAD_ARGUMENT : NBC_NON_FINITE;
        (void)nbc_fail(err, status, "body %lld is at %g %g %g: its coordinates must be from %g to %g",
                       (long long)(e->first + i) + 1, x[0], x[1], x[2], -GPUNB_LIMIT, GPUNB_LIMIT);
    }
    return status;
}

static int take_sources(struct nb6_exchange *e, const struct nb6_source *items, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        e->mass[j] = items[j].mass;
        for (int k = 0; k < 3; k++) e->x[j][k] = items[j].x[k];
    }
    return gpunb_send_positions(e->force, (size_t)n, e->mass, (const double(*)[3])e->x);
}

/* ---- sums */

static int sum_piece(const struct sum *sum, int is_own, int64_t first, int64_t end)
{
    const struct nb6_exchange *e = sum->exchange;
    const struct nb6_exchange_job *job = sum->job;
    const struct gpunb_softened_job piece = {.n_i = (size_t)(end - first),
                                             .x = job->x_due + first,
                                             .self = is_own ? job->due + first : NULL,
                                             .softening = job->softening,
                                             .acc = e->acc_set + first,
                                             .pot = job->pot ? e->pot_set + first : NULL};
    return gpunb_softened(e->force, &piece);
}

static void add_set(const struct sum *sum, int slot)
{
    const struct nb6_exchange *e = sum->exchange;
    const size_t at = (size_t)slot * (size_t)e->own;
    for (int64_t m = 0; m < sum->job->n_due; m++) {
        for (int k = 0; k < 3; k++) e->acc[at + (size_t)m][k] += e->acc_set[m][k];
        if (sum->job->pot) e->pot[at + (size_t)m] += e->pot_set[m];
    }
}

static void sum_set(void *context, const struct nb6_spread_set *set, const void *items)
{
    struct sum *sum = context;
    struct nb6_exchange *e = sum->exchange;
    const int64_t n_due = sum->job->n_due;
    if (sum->status || set->n == 0 || n_due == 0) return;
    const int is_own = set->owners == 1 && set->first == nb6_world_rank(e->world);
    const double pairs = gpunb_gpus(e->force, 0, NULL) > 0 ? PIECE_PAIRS_GPU : PIECE_PAIRS;
    const int64_t targets = (int64_t)fmax(PIECE_TARGETS, pairs / (double)set->n);
    const int pieces = (int)((n_due + targets - 1) / targets);
    int status = take_sources(e, items, set->n);
    for (int p = 0; p < pieces && !status; p++) {
        int64_t first, end;
        nbc_range(n_due, p, pieces, &first, &end);
        status = sum_piece(sum, is_own, first, end);
        nb6_spread_move_on(e->spread);
    }
    if (status)
        sum->status = nbc_fail(sum->err, status, "%s", gpunb_last_error(e->force));
    else
        add_set(sum, set->slot);
    nb6_world_spend(e->world, 1, (double)n_due * (double)set->n);
}

static int open_potential(struct nb6_exchange *e, struct nbc_error *err)
{
    if (!e->pot_set) e->pot_set = nbc_alloc_unset((size_t)e->own, sizeof *e->pot_set);
    if (!e->pot) e->pot = nbc_alloc_unset((size_t)e->own * (size_t)nb6_spread_slots(e->spread), sizeof *e->pot);
    return e->pot_set && e->pot ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for potentials");
}

static void clear_slots(struct nb6_exchange *e, const struct nb6_exchange_job *job)
{
    for (int slot = 0; slot < nb6_spread_slots(e->spread); slot++) {
        const size_t at = (size_t)slot * (size_t)e->own;
        memset(e->acc + at, 0, (size_t)job->n_due * sizeof *e->acc);
        if (job->pot) memset(e->pot + at, 0, (size_t)job->n_due * sizeof *e->pot);
    }
}

/* In the order of owners. */
static void add_slots(const struct nb6_exchange *e, const struct nb6_exchange_job *job)
{
    for (int64_t m = 0; m < job->n_due; m++) {
        double total[4] = {0};
        for (int slot = 0; slot < nb6_spread_slots(e->spread); slot++) {
            const size_t at = (size_t)slot * (size_t)e->own + (size_t)m;
            for (int k = 0; k < 3; k++) total[k] += e->acc[at][k];
            if (job->pot) total[3] += e->pot[at];
        }
        memcpy(job->acc[m], total, sizeof job->acc[m]);
        if (job->pot) job->pot[m] = total[3];
    }
}

int nb6_exchange_sum(struct nb6_exchange *e, const struct nb6_exchange_job *job, struct nbc_error *err)
{
    struct sum sum = {.exchange = e, .job = job, .err = err};
    sum.status = give_sources(e, job, err);
    if (!sum.status && job->pot) sum.status = open_potential(e, err);
    if (!sum.status) clear_slots(e, job);
    nb6_spread_run(e->spread, sum_set, &sum);
    if (!sum.status) add_slots(e, job);
    return sum.status;
}
