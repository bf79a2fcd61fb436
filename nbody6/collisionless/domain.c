#include "nbody6/collisionless/domain.h"

#include "gpunb/backend.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/owners.h"

#include <string.h>

struct nb6_device_domain {
    const struct nb6_residence *kernels;
    struct nb6_part part;
    struct nbd_device device;
    struct nbd_stream *stream, *copies; /* copies: positions that come from other domains */
    struct nbd_event *drifted, *came;   /* own positions are there; those of all others are */
    void *select, *work;                /* scratch of the choice of due bodies, of forces */
    size_t select_bytes, work_bytes, tree_bytes;
    gpunb_tree_t *tree;         /* that it keeps, or NULL */
    struct nb6_part_word *word; /* in memory of the host */
    gpunb_t *force, *system;    /* of the part, which may be that of the system; see struct nb6_residence */
    int by_tree;                /* 1: forces take the sources that targets are, and their last accelerations */
    int moves;                  /* 1: bodies change their owners */
    struct nb6_part_move move;  /* in the scratch of forces, between two of them */
};

/* ---- opening and closing */

/* Memory of a domain whose scratch is known. */
enum { ARRAYS = 17 };
struct array {
    void **memory;
    size_t count, size;
};

static void list_arrays(struct nb6_device_domain *d, struct array list[ARRAYS])
{
    struct nb6_part *p = &d->part;
    const size_t n = (size_t)p->n, own = (size_t)p->room, moved = d->moves ? own : 0;
    const struct array all[ARRAYS] = {
        {(void **)&p->mass, n, sizeof *p->mass},
        {(void **)&p->x, n, sizeof *p->x},
        {(void **)&p->x0, own, sizeof *p->x0},
        {(void **)&p->v, own, sizeof *p->v},
        {(void **)&p->acc, own, sizeof *p->acc},
        {(void **)&p->level, own, sizeof *p->level},
        {(void **)&p->due, own, sizeof *p->due},
        {(void **)&p->x_due, own, sizeof *p->x_due},
        {(void **)&p->acc_own, own, sizeof *p->acc_own},
        {(void **)&p->acc_others, own < n && !d->by_tree ? own : 0, sizeof *p->acc_others},
        {(void **)&p->body, moved, sizeof *p->body},
        {(void **)&p->work, moved, sizeof *p->work},
        {(void **)&p->cost, moved, sizeof *p->cost},
        {(void **)&p->order, d->moves ? n : 0, sizeof *p->order},
        {(void **)&p->word, 1, sizeof *p->word},
        {&d->select, d->select_bytes, 1},
        {&d->work, d->work_bytes, 1}};
    memcpy(list, all, sizeof all);
}

void nb6_domain_close(struct nb6_device_domain *domain)
{
    if (!domain) return;
    const struct nbd_device *device = &domain->device;
    struct array all[ARRAYS];
    list_arrays(domain, all);
    if (domain->stream) (void)nbd_wait(device, NULL);
    for (size_t k = 0; k < ARRAYS; k++) nbd_free(device, NBD_ON_DEVICE, *all[k].memory);
    nbd_free(device, NBD_ON_HOST, domain->word);
    nbd_event_close(device, domain->drifted);
    nbd_event_close(device, domain->came);
    nbd_stream_close(device, domain->stream);
    nbd_stream_close(device, domain->copies);
    gpunb_tree_free(domain->tree);
    if (domain->force != domain->system) gpunb_free(domain->force);
    nbc_free(domain);
}

static int open_streams(struct nb6_device_domain *d, struct nbc_error *err)
{
    void *word;
    NBD_TRY(nbd_stream_open(&d->device, NBD_MIDDLE, &d->stream, err));
    NBD_TRY(nbd_stream_open(&d->device, NBD_MIDDLE, &d->copies, err));
    NBD_TRY(nbd_event_open(&d->device, &d->drifted, err));
    NBD_TRY(nbd_event_open(&d->device, &d->came, err));
    NBD_TRY(nbd_alloc(&d->device, NBD_ON_HOST, sizeof *d->word, &word, err));
    d->word = word;
    return NBC_OK;
}

/* Others write into this memory at once where the machine lets them, through the host elsewhere. */
static void reach_others(const struct nbd_device *device)
{
    const char *why;
    const int devices = nbd_count(device->kind, &why);
    for (int other = 0; other < devices; other++)
        if (other != device->number)
            (void)nbd_reach(device, &(struct nbd_device){.kind = device->kind, .number = other});
}

/* Forces are made by own sources, then by all others; those of a tree by all of them, when they have come. */
static int work_for(struct nb6_device_domain *d, size_t *bytes, struct nbc_error *err)
{
    const size_t own = (size_t)d->part.room, others = (size_t)d->part.n - own;
    size_t more = 0;
    if (d->part.keeps_tree) return d->kernels->kept_bytes(d->force, &d->part, &d->tree_bytes, bytes, err);
    if (d->by_tree) return d->kernels->force_bytes(d->force, own, own + others, bytes, err);
    int status = d->kernels->force_bytes(d->force, own, own, bytes, err);
    if (!status && others > 0) status = d->kernels->force_bytes(d->force, own, others, &more, err);
    if (more > *bytes) *bytes = more;
    return status;
}

/* The next of the arrays that follow each other in scratch.   @return NULL: there is none, its size alone is wanted */
static void *take_array(char *at, size_t *bytes, size_t count, size_t size)
{
    void *array = at ? at + *bytes : NULL;
    *bytes += (count * size + 255) / 256 * 256;
    return array;
}

static size_t lay_out_move(char *at, size_t n, struct nb6_part_move *move)
{
    size_t bytes = 0;
    move->mass = take_array(at, &bytes, n, sizeof *move->mass);
    move->x0 = take_array(at, &bytes, n, sizeof *move->x0);
    move->v = take_array(at, &bytes, n, sizeof *move->v);
    move->acc = take_array(at, &bytes, n, sizeof *move->acc);
    move->body = take_array(at, &bytes, n, sizeof *move->body);
    move->level = take_array(at, &bytes, n, sizeof *move->level);
    move->work = take_array(at, &bytes, n, sizeof *move->work);
    move->sum = take_array(at, &bytes, NB6_OWNERS_SUMS, sizeof *move->sum);
    return bytes;
}

/* Bodies that change their owners follow those that a part has when the tree tells their order. */
static int ask_scratch(struct nb6_device_domain *d, struct nbc_error *err)
{
    d->moves = d->by_tree && d->part.n_own < d->part.n && d->kernels->tells_order(d->force);
    if (!d->moves) d->part.room = d->part.n_own;
    NBD_LAUNCH(err, &d->device, d->kernels->select_bytes(d->part.room, &d->select_bytes));
    NBD_TRY(work_for(d, &d->work_bytes, err));
    const size_t moving = d->moves ? lay_out_move(NULL, (size_t)d->part.n, &d->move) : 0;
    if (d->work_bytes < moving) d->work_bytes = moving;
    return NBC_OK;
}

static int allocate(struct nb6_device_domain *d, struct nbc_error *err)
{
    struct array all[ARRAYS];
    int status = ask_scratch(d, err);
    list_arrays(d, all);
    for (size_t k = 0; k < ARRAYS && !status; k++)
        if (all[k].count > 0)
            status = nbd_alloc(&d->device, NBD_ON_DEVICE, all[k].count * all[k].size, all[k].memory, err);
    if (!status && d->part.keeps_tree) status = d->kernels->open_tree(d->force, &d->part, &d->tree, err);
    if (!status && d->moves)
        status = nbd_fill(&d->device, d->stream, d->part.work, 0, (size_t)d->part.room * sizeof *d->part.work, err);
    if (d->moves) lay_out_move(d->work, (size_t)d->part.n, &d->move);
    nb6_domain_own(d, d->part.first, d->part.n_own);
    if (status != NBC_NO_MEMORY) return status;
    return nbc_fail(err, status, "%s has no memory for %d bodies of %d; use more devices, or --engine host",
                    d->device.name, d->part.n_own, d->part.n);
}

int nb6_domain_bytes(const struct nb6_residence *residence, const struct nb6_part *part, int device,
                     const struct gpunb_options *options, gpunb_t *force, double *bytes, struct nbc_error *err)
{
    struct nb6_device_domain d = {
        .kernels = residence, .part = *part, .force = force, .by_tree = gpunb_tree_is_asked(options)};
    struct array all[ARRAYS];
    NBD_TRY(nbd_open(&d.device, *residence->kind, device, "the collisionless engine", err));
    NBD_TRY(ask_scratch(&d, err));
    list_arrays(&d, all);
    *bytes = (double)d.tree_bytes;
    for (size_t k = 0; k < ARRAYS; k++) *bytes += (double)all[k].count * (double)all[k].size;
    return NBC_OK;
}

static int open_domain(struct nb6_device_domain *d, int device, const struct gpunb_options *options, gpunb_t *force,
                       struct nbc_error *err)
{
    NBD_TRY(nbd_open(&d->device, *d->kernels->kind, device, "the collisionless engine", err));
    NBD_TRY(open_streams(d, err));
    reach_others(&d->device);
    NBD_TRY(d->kernels->open_force(&d->force, &d->part, device, options, force, err));
    return allocate(d, err);
}

int nb6_domain_open(struct nb6_device_domain **domain, const struct nb6_residence *residence, struct nb6_part *part,
                    int device, const struct gpunb_options *options, gpunb_t *force, struct nbc_error *err)
{
    struct nb6_device_domain *made = nbc_alloc(1, sizeof *made);
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a part of a system");
    made->kernels = residence;
    made->part = *part;
    made->force = made->system = force;
    made->by_tree = gpunb_tree_is_asked(options);
    const int status = open_domain(made, device, options, force, err);
    if (status) {
        nb6_domain_close(made);
        return status;
    }
    *part = made->part;
    *domain = made;
    return NBC_OK;
}

/* ---- there and back */

int nb6_domain_copy(struct nb6_device_domain *d, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, to, from, bytes, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

int nb6_domain_get_tree(const struct nb6_device_domain *d, int32_t *order, uint8_t *cut, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    const int status = gpunb_tree_get_layout(d->force, d->tree, order, cut);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(d->force)) : NBC_OK;
}

int nb6_domain_set_tree(const struct nb6_device_domain *d, const int32_t *order, const uint8_t *cut,
                        struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    const int status = gpunb_tree_restore(d->force, d->tree, (size_t)d->part.n, order, cut);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(d->force)) : NBC_OK;
}

/* ---- a block */

int nb6_domain_drift(struct nb6_device_domain *d, const struct nb6_part_block *block, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    NBD_LAUNCH(err, &d->device, d->kernels->drift(&d->part, block, GPUNB_LIMIT, d->stream));
    return nbd_event_record(&d->device, d->drifted, d->stream, err);
}

/* These positions are not in use when a block begins: the host has waited for all domains. */
int nb6_domain_exchange(struct nb6_device_domain *d, void *to, const struct nb6_device_domain *other, const void *from,
                        size_t bytes, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(nbd_event_await(&d->device, other->drifted, d->copies, err));
    NBD_TRY(nbd_copy_from(&d->device, d->copies, to, &other->device, from, bytes, err));
    return nbd_event_record(&d->device, d->came, d->copies, err);
}

/* Potentials have the place of the positions of due bodies, which are all bodies then: those by own sources, or all,
 * then those by all others. */
static double *pot_of(const struct nb6_device_domain *d, int by_others)
{
    return (double *)d->part.x_due + (by_others ? d->part.room : 0);
}

/* Whether forces take the sources that their targets are. */
static int needs_places(const struct nb6_device_domain *d, const struct nb6_part_block *block)
{
    return d->by_tree || block->with_potentials;
}

/* Accelerations by n sources from the first on. */
static struct gpunb_softened_device job_of(const struct nb6_device_domain *d, const struct nb6_part_block *block,
                                           int32_t first, int32_t n, double (*acc)[3])
{
    const struct nb6_part *p = &d->part;
    const int32_t n_due = block->n_due;
    const int all = n_due == p->n_own && (!d->by_tree || block->with_potentials);
    return (struct gpunb_softened_device){.n_j = (size_t)n,
                                          .mass = p->mass + first,
                                          .x_j = (const double(*)[3])(p->x + first),
                                          .n_i = (size_t)n_due,
                                          .x_i = (const double(*)[3])(all ? p->x : p->x_due),
                                          .softening = p->rules.softening,
                                          .self = needs_places(d, block) && first == 0 ? p->due : NULL,
                                          .acc_last =
                                              d->by_tree && !block->is_first ? (const double(*)[3])p->acc_own : NULL,
                                          .acc = acc,
                                          .pot = block->with_potentials ? pot_of(d, first > 0) : NULL,
                                          .build = block->build,
                                          .cost = p->cost,
                                          .order = block->orders ? p->order : NULL,
                                          .work = d->work,
                                          .work_bytes = d->work_bytes,
                                          .kept = block->kept,
                                          .tree = d->tree};
}

static int sum(const struct nb6_device_domain *d, const struct gpunb_softened_device *job, struct nbc_error *err)
{
    return d->kernels->sum(d->force, &d->part, job, d->stream, err);
}

int nb6_domain_sum_set(struct nb6_device_domain *d, const struct nb6_part_block *block, int64_t n, const double *mass,
                       const double (*x)[3], double (*acc)[3], void *work, size_t bytes, struct nbd_stream *stream,
                       struct nbc_error *err)
{
    struct gpunb_softened_device job = job_of(d, block, 0, (int32_t)n, acc);
    job.mass = mass;
    job.x_j = x;
    job.work = work;
    job.work_bytes = bytes;
    NBD_TRY(nbd_use(&d->device, err));
    return block->n_due > 0 ? d->kernels->sum(d->force, &d->part, &job, stream, err) : NBC_OK;
}

int nb6_domain_set_bytes(struct nb6_device_domain *d, int64_t n, size_t *bytes, struct nbc_error *err)
{
    return d->kernels->force_bytes(d->force, (size_t)d->part.n_own, (size_t)n, bytes, err);
}

/* Positions of all others are there. */
static int await_others(const struct nb6_device_domain *d, struct nbc_error *err)
{
    return d->part.n_own < d->part.n ? nbd_event_await(&d->device, d->came, d->stream, err) : NBC_OK;
}

/* Without due bodies there may be a tree to build, which all parts have. */
static int has_work(const struct nb6_device_domain *d, const struct nb6_part_block *block)
{
    return block->n_due > 0 || (d->by_tree && block->kept == GPUNB_TREE_BUILT);
}

int nb6_domain_select(struct nb6_device_domain *d, const struct nb6_part_block *block, struct nbc_error *err)
{
    const struct nb6_part *p = &d->part;
    NBD_TRY(nbd_use(&d->device, err));
    if (block->n_due < p->n_own || needs_places(d, block))
        NBD_LAUNCH(err, &d->device, d->kernels->select(p, block, d->select, d->select_bytes, d->stream));
    return NBC_OK;
}

int nb6_domain_sum_own(struct nb6_device_domain *d, const struct nb6_part_block *block, struct nbc_error *err)
{
    const struct nb6_part *p = &d->part;
    NBD_TRY(nb6_domain_select(d, block, err));
    const struct gpunb_softened_device job = job_of(d, block, 0, d->by_tree ? p->n : p->n_own, p->acc_own);
    if (!has_work(d, block)) return NBC_OK;
    if (!d->by_tree) return sum(d, &job, err);
    NBD_TRY(await_others(d, err));
    return d->kernels->begin(d->force, &job, d->stream, err);
}

/* The force of a block by tree, which nb6_domain_sum_own has begun, or the second part of direct sums. */
static int sum_others(struct nb6_device_domain *d, const struct nb6_part_block *block, struct nbc_error *err)
{
    const struct nb6_part *p = &d->part;
    struct gpunb_softened_device job;
    if (d->by_tree) {
        job = job_of(d, block, 0, p->n, p->acc_own);
        job.is_begun = 1;
        return sum(d, &job, err);
    }
    if (p->n_own == p->n) return NBC_OK;
    job = job_of(d, block, p->n_own, p->n - p->n_own, p->acc_others);
    return sum(d, &job, err);
}

int nb6_domain_sum_others(struct nb6_device_domain *d, const struct nb6_part_block *block, struct nbc_error *err)
{
    struct nb6_part_block made = *block;
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(await_others(d, err)); /* without due bodies too: these positions may change when the host has waited */
    if (has_work(d, block)) NBD_TRY(sum_others(d, block, err));
    made.by_tree = nb6_domain_is_by_tree(d, block->kept, block->n_due);
    NBD_LAUNCH(err, &d->device, d->kernels->check(&d->part, &made, d->stream));
    return NBC_OK;
}

int nb6_domain_is_by_tree(const struct nb6_device_domain *d, enum gpunb_kept_tree kept, int32_t n_due)
{
    if (kept != GPUNB_TREE_NOT_KEPT) return kept != GPUNB_TREE_UNUSED;
    return d->by_tree && gpunb_tree_is_worth(d->force, (size_t)n_due, (size_t)d->part.n);
}

int nb6_domain_fetch_pot(struct nb6_device_domain *d, double *pot, double *others, struct nbc_error *err)
{
    const struct nb6_part *p = &d->part;
    const size_t bytes = (size_t)p->n_own * sizeof *pot;
    NBD_TRY(nb6_domain_copy(d, pot, pot_of(d, 0), bytes, err));
    if (d->by_tree || p->n_own == p->n) return NBC_OK;
    NBD_TRY(nb6_domain_copy(d, others, pot_of(d, 1), bytes, err));
    for (int32_t i = 0; i < p->n_own; i++) pot[i] += others[i];
    return NBC_OK;
}

int nb6_domain_read(struct nb6_device_domain *d, struct nb6_part_word *word, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, d->word, d->part.word, sizeof *word, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    *word = *d->word;
    return NBC_OK;
}

int nb6_domain_add_tree_counts(const struct nb6_device_domain *d, struct gpunb_tree_counts *sum, struct nbc_error *err)
{
    struct gpunb_tree_counts own;
    if (d->force == d->system) return NBC_OK;
    NBD_TRY(nbd_use(&d->device, err));
    const int status = gpunb_tree_read_counts(d->force, &own);
    gpunb_tree_add_counts(sum, &own);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(d->force)) : NBC_OK;
}

int nb6_domain_commit(struct nb6_device_domain *d, const struct nb6_part_block *block, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    NBD_LAUNCH(err, &d->device, d->kernels->commit(&d->part, block, d->stream));
    return NBC_OK;
}

const struct nbd_device *nb6_domain_device(const struct nb6_device_domain *d)
{
    return &d->device;
}

struct nbd_stream *nb6_domain_stream(const struct nb6_device_domain *d)
{
    return d->stream;
}

struct nbd_stream *nb6_domain_copies(const struct nb6_device_domain *d)
{
    return d->copies;
}

/* ---- other owners: the host has waited for all domains */

static int pull(struct nb6_device_domain *d, void *to, const struct nb6_device_domain *from, const void *array,
                size_t first, size_t count, size_t size, struct nbc_error *err)
{
    void *place = (char *)to + first * size;
    if (d == from) return nbd_copy(&d->device, d->stream, place, array, count * size, err);
    return nbd_copy_from(&d->device, d->stream, place, &from->device, array, count * size, err);
}

int nb6_domain_pull_work(struct nb6_device_domain *d, const struct nb6_device_domain *from, struct nbc_error *err)
{
    const struct nb6_part *p = &from->part;
    NBD_TRY(nbd_use(&d->device, err));
    return pull(d, d->move.work, from, p->work, (size_t)p->first, (size_t)p->n_own, sizeof *p->work, err);
}

int nb6_domain_weigh(struct nb6_device_domain *d, int sums, uint64_t *sum, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    NBD_LAUNCH(err, &d->device, d->kernels->weigh(&d->part, &d->move, sums, d->stream));
    return nb6_domain_copy(d, sum, d->move.sum, (size_t)sums * sizeof *sum, err);
}

int nb6_domain_pull_order(struct nb6_device_domain *d, const struct nb6_device_domain *from, struct nbc_error *err)
{
    const struct nb6_part *p = &d->part;
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, d->move.mass, p->mass, (size_t)p->n * sizeof *p->mass, err));
    return d == from ? NBC_OK : pull(d, p->order, from, from->part.order, 0, (size_t)p->n, sizeof *p->order, err);
}

int nb6_domain_pull_bodies(struct nb6_device_domain *d, const struct nb6_device_domain *from, struct nbc_error *err)
{
    const struct nb6_part *p = &from->part;
    const size_t first = (size_t)p->first, own = (size_t)p->n_own;
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(pull(d, d->move.x0, from, p->x0, first, own, sizeof *p->x0, err));
    NBD_TRY(pull(d, d->move.v, from, p->v, first, own, sizeof *p->v, err));
    NBD_TRY(pull(d, d->move.acc, from, p->acc, first, own, sizeof *p->acc, err));
    NBD_TRY(pull(d, d->move.body, from, p->body, first, own, sizeof *p->body, err));
    return pull(d, d->move.level, from, p->level, first, own, sizeof *p->level, err);
}

int nb6_domain_wait(struct nb6_device_domain *d, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&d->device, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

int nb6_domain_take(struct nb6_device_domain *d, int32_t first, int32_t n_own, struct nbc_error *err)
{
    d->move.first = d->part.first;
    nb6_domain_own(d, first, n_own);
    NBD_TRY(nbd_use(&d->device, err));
    NBD_LAUNCH(err, &d->device, d->kernels->take(&d->part, &d->move, d->stream));
    if (!d->tree) return NBC_OK;
    const int status = gpunb_softened_device_renumber(d->force, d->tree, (size_t)first, d->stream);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(d->force)) : NBC_OK;
}

/* All parts get the same tree, also of bodies that their keys do not tell apart. */
void nb6_domain_own(struct nb6_device_domain *d, int32_t first, int32_t n_own)
{
    d->part.first = first;
    d->part.n_own = n_own;
    if (d->by_tree) gpunb_tree_number_from(d->force, (size_t)nb6_part_origin(&d->part));
}
