/* Kernels of emulated devices: loops over bodies. */
#include "device/emulated/emulated.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/residence_force.h"

#include <string.h>

/* Argument of a kernel. */
struct job {
    struct nb6_part part;
    struct nb6_part_block block;
    double limit;
};

static int launch(nbd_kernel *kernel, const struct nb6_part *part, const struct nb6_part_block *block, double limit,
                  struct nbd_stream *stream)
{
    const struct job job = {*part, *block, limit};
    return nbd_emulated_launch(stream, kernel, &job, sizeof job);
}

static void note_bad(const struct nb6_part *p, int32_t i)
{
    if (i < p->word->bad) p->word->bad = i;
}

static void drift_all(const void *job)
{
    const struct job *j = job;
    const struct nb6_part *p = &j->part;
    p->word->bad = NB6_NOBODY_BAD;
    for (int32_t i = 0; i < p->n_own; i++)
        if (!nb6_part_drift(p, i, j->block.ti_now, j->block.ti_next, j->limit)) note_bad(p, i);
}

static int drift(const struct nb6_part *part, const struct nb6_part_block *block, double limit,
                 struct nbd_stream *stream)
{
    return launch(drift_all, part, block, limit, stream);
}

static int select_bytes(int32_t n_own, size_t *bytes)
{
    (void)n_own;
    *bytes = 0;
    return 0;
}

static void select_all(const void *job)
{
    const struct job *j = job;
    const struct nb6_part *p = &j->part;
    int32_t m = 0;
    for (int32_t i = 0; i < p->n_own; i++)
        if (nb6_step_ends(p->level[i], j->block.ti_next)) p->due[m++] = i;
    for (m = 0; m < j->block.n_due; m++) nb6_part_gather(p, m);
}

static int select_due(const struct nb6_part *part, const struct nb6_part_block *block, void *scratch, size_t bytes,
                      struct nbd_stream *stream)
{
    (void)scratch, (void)bytes;
    return launch(select_all, part, block, 0, stream);
}

static void check_all(const void *job)
{
    const struct job *j = job;
    for (int32_t m = 0; m < j->block.n_due; m++) nb6_part_add_work(&j->part, j->block.n_due, m, j->block.by_tree);
    for (int32_t m = 0; m < j->block.n_due; m++)
        if (!nb6_part_check(&j->part, m)) note_bad(&j->part, nb6_part_due(&j->part, j->block.n_due, m));
}

static int check_forces(const struct nb6_part *part, const struct nb6_part_block *block, struct nbd_stream *stream)
{
    return launch(check_all, part, block, 0, stream);
}

static void count_levels(const struct nb6_part *p)
{
    memset(p->word->count, 0, sizeof p->word->count);
    for (int32_t i = 0; i < p->n_own; i++) p->word->count[p->level[i]]++;
}

static void commit_all(const void *job)
{
    const struct job *j = job;
    const struct nb6_part *p = &j->part;
    for (int32_t i = 0; i < p->n_own; i++) nb6_part_keep(p, i, j->block.ti_now);
    for (int32_t m = 0; m < j->block.n_due; m++) nb6_part_commit(p, j->block.n_due, m, j->block.ti_next);
    count_levels(p);
}

static int commit(const struct nb6_part *part, const struct nb6_part_block *block, struct nbd_stream *stream)
{
    return launch(commit_all, part, block, 0, stream);
}

/* ---- sources of other ranks */

struct rank_job {
    struct nb6_part part;
    struct nb6_source *packed;
    const struct nb6_source *came;
    double *mass, (*x)[3];
    const double (*more)[3];
    int64_t n;
    int slots;
};

static void pack_all(const void *job)
{
    const struct rank_job *j = job;
    for (int32_t i = 0; i < j->part.n_own; i++) j->packed[i] = nb6_part_source(&j->part, i);
}

static int pack(const struct nb6_part *part, struct nb6_source *to, struct nbd_stream *stream)
{
    const struct rank_job job = {.part = *part, .packed = to};
    return nbd_emulated_launch(stream, pack_all, &job, sizeof job);
}

static void unpack_all(const void *job)
{
    const struct rank_job *j = job;
    for (int64_t i = 0; i < j->n; i++) {
        j->mass[i] = j->came[i].mass;
        memcpy(j->x[i], j->came[i].x, sizeof j->x[i]);
    }
}

static int unpack(const struct nb6_source *from, int64_t n, double *mass, double (*x)[3], struct nbd_stream *stream)
{
    const struct rank_job job = {.came = from, .n = n, .mass = mass, .x = x};
    return nbd_emulated_launch(stream, unpack_all, &job, sizeof job);
}

static void add_all(const void *job)
{
    const struct rank_job *j = job;
    for (int64_t m = 0; m < j->n; m++) nb6_part_add(j->x[m], j->more[m]);
}

static int add(double (*sum)[3], const double (*more)[3], int32_t n, struct nbd_stream *stream)
{
    const struct rank_job job = {.x = sum, .more = more, .n = n};
    return nbd_emulated_launch(stream, add_all, &job, sizeof job);
}

static void total_all(const void *job)
{
    const struct rank_job *j = job;
    for (int32_t m = 0; m < j->n; m++) nb6_part_total(&j->part, m, j->slots, j->more);
}

static int total(const struct nb6_part *part, int32_t n_due, int slots, const double (*sum)[3],
                 struct nbd_stream *stream)
{
    const struct rank_job job = {.part = *part, .n = n_due, .slots = slots, .more = sum};
    return nbd_emulated_launch(stream, total_all, &job, sizeof job);
}

/* ---- other owners */

struct move_job {
    struct nb6_part part;
    struct nb6_part_move move;
    int sums;
};

static void weigh_all(const void *job)
{
    const struct move_job *j = job;
    const int64_t n = j->part.n;
    for (int k = 0; k < j->sums; k++) {
        j->move.sum[k] = 0;
        for (int64_t p = n * k / j->sums; p < n * (k + 1) / j->sums; p++)
            j->move.sum[k] += j->move.work[j->part.order[p]];
    }
}

static int weigh(const struct nb6_part *part, const struct nb6_part_move *move, int sums, struct nbd_stream *stream)
{
    const struct move_job job = {*part, *move, sums};
    return nbd_emulated_launch(stream, weigh_all, &job, sizeof job);
}

static void take_all(const void *job)
{
    const struct move_job *j = job;
    for (int32_t k = 0; k < j->part.n; k++) nb6_part_take(&j->part, &j->move, k);
    count_levels(&j->part);
}

static int take(const struct nb6_part *part, const struct nb6_part_move *move, struct nbd_stream *stream)
{
    const struct move_job job = {*part, *move, 0};
    return nbd_emulated_launch(stream, take_all, &job, sizeof job);
}

/* ---- forces: on the emulated devices if they are the backend, else by a handle of GPUNB on the arrays of the part */

static int is_on_device(const gpunb_t *force)
{
    return !strcmp(gpunb_info(force)->name, "emulated");
}

static int open_force(gpunb_t **force, const struct nb6_part *part, int device, const struct gpunb_options *options,
                      gpunb_t *system, struct nbc_error *err)
{
    gpunb_t *made = NULL;
    if (is_on_device(system)) return nb6_residence_open_force(force, part, device, options, system, err);
    const int status = gpunb_create(&made, (size_t)part->n, options, err);
    if (status == NBC_OK) *force = made;
    return status;
}

static int force_bytes(gpunb_t *force, size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err)
{
    *bytes = 0;
    return is_on_device(force) ? nb6_residence_force_bytes(force, n_i, n_j, bytes, err) : NBC_OK;
}

static int kept_bytes(gpunb_t *force, const struct nb6_part *part, size_t *tree, size_t *work, struct nbc_error *err)
{
    *tree = *work = 0;
    return is_on_device(force) ? nb6_residence_kept_bytes(force, part, tree, work, err) : NBC_OK;
}

static int open_tree(gpunb_t *force, const struct nb6_part *part, gpunb_tree_t **tree, struct nbc_error *err)
{
    if (is_on_device(force)) return nb6_residence_open_tree(force, part, tree, err);
    const int status = gpunb_tree_create(force, tree);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(force)) : NBC_OK;
}

struct sum_job {
    gpunb_t *force;
    struct nb6_part part;
    struct gpunb_softened_device job;
};

/* By a tree that is kept, or as it is worth. */
static int force_of(gpunb_t *force, const struct gpunb_softened_device *d, const struct gpunb_softened_job *job)
{
    if (d->kept != GPUNB_TREE_BUILT && d->kept != GPUNB_TREE_RENEWED) return gpunb_softened(force, job);
    const int status =
        d->kept == GPUNB_TREE_BUILT ? gpunb_tree_rebuild(force, d->build, d->tree) : gpunb_tree_renew(force, d->tree);
    return status || job->n_i == 0 ? status : gpunb_tree_force(force, d->tree, job);
}

/* A source that is too far is that of some part, whose word says so: the sums of others mean nothing then. Without
 * memory for the forces the host makes the block, and says it if it has none either. */
static void sum_all(const void *job)
{
    const struct sum_job *j = job;
    const struct gpunb_softened_device *d = &j->job;
    const struct gpunb_softened_job on_host = {.n_i = d->n_i,
                                               .x = d->x_i,
                                               .self = d->self,
                                               .softening = d->softening,
                                               .acc_last = d->acc_last,
                                               .acc = d->acc,
                                               .pot = d->pot,
                                               .build = d->build};
    int status = gpunb_send_positions(j->force, d->n_j, d->mass, d->x_j);
    if (!status) status = force_of(j->force, d, &on_host);
    if (status) note_bad(&j->part, 0);
}

static int begin(gpunb_t *force, const struct gpunb_softened_device *job, struct nbd_stream *stream,
                 struct nbc_error *err)
{
    return is_on_device(force) ? nb6_residence_begin(force, job, stream, err) : NBC_OK;
}

/* Devices are called from here: a kernel, which runs while the host waits for its stream, may not. */
static int sum(gpunb_t *force, const struct nb6_part *part, const struct gpunb_softened_device *job,
               struct nbd_stream *stream, struct nbc_error *err)
{
    const struct sum_job own = {force, *part, *job};
    if (is_on_device(force)) return nb6_residence_sum(force, part, job, stream, err);
    if (!nbd_emulated_launch(stream, sum_all, &own, sizeof own)) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for a force on an emulated device");
}

const struct nb6_residence nb6_residence_emulated = {
    .name = "emulated",
    .kind = &nbd_emulated,
    .drift = drift,
    .select_bytes = select_bytes,
    .select = select_due,
    .check = check_forces,
    .commit = commit,
    .pack = pack,
    .unpack = unpack,
    .add = add,
    .total = total,
    .weigh = weigh,
    .take = take,
    .open_force = open_force,
    .force_bytes = force_bytes,
    .kept_bytes = kept_bytes,
    .open_tree = open_tree,
    .tells_order = is_on_device,
    .begin = begin,
    .sum = sum,
};
