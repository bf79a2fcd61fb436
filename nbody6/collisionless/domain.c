#include "nbody6/collisionless/domain.h"

#include "gpunb/backend.h"
#include "gpunb/tree_kept.h"

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
};

/* ---- opening and closing */

void nb6_domain_close(struct nb6_device_domain *domain)
{
    if (!domain) return;
    const struct nbd_device *device = &domain->device;
    const struct nb6_part *p = &domain->part;
    void *arrays[] = {p->mass,  p->x,       p->x0,      p->v,          p->acc,  p->v_half,      p->level,    p->due,
                      p->x_due, p->acc_due, p->acc_own, p->acc_others, p->word, domain->select, domain->work};
    if (domain->stream) (void)nbd_wait(device, NULL);
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) nbd_free(device, NBD_ON_DEVICE, arrays[k]);
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
    const size_t own = (size_t)d->part.n_own, others = (size_t)d->part.n - own;
    size_t more = 0;
    if (d->part.keeps_tree) return d->kernels->kept_bytes(d->force, &d->part, &d->tree_bytes, bytes, err);
    if (d->by_tree) return d->kernels->force_bytes(d->force, own, own + others, bytes, err);
    int status = d->kernels->force_bytes(d->force, own, own, bytes, err);
    if (!status && others > 0) status = d->kernels->force_bytes(d->force, own, others, &more, err);
    if (more > *bytes) *bytes = more;
    return status;
}

static int ask_scratch(struct nb6_device_domain *d, struct nbc_error *err)
{
    NBD_LAUNCH(err, &d->device, d->kernels->select_bytes(d->part.n_own, &d->select_bytes));
    return work_for(d, &d->work_bytes, err);
}

/* Memory of a domain whose scratch is known. */
enum { ARRAYS = 15 };
struct array {
    void **memory;
    size_t count, size;
};

static void list_arrays(struct nb6_device_domain *d, struct array list[ARRAYS])
{
    struct nb6_part *p = &d->part;
    const size_t n = (size_t)p->n, own = (size_t)p->n_own;
    const struct array all[ARRAYS] = {
        {(void **)&p->mass, n, sizeof *p->mass},
        {(void **)&p->x, n, sizeof *p->x},
        {(void **)&p->x0, own, sizeof *p->x0},
        {(void **)&p->v, own, sizeof *p->v},
        {(void **)&p->acc, own, sizeof *p->acc},
        {(void **)&p->v_half, own, sizeof *p->v_half},
        {(void **)&p->level, own, sizeof *p->level},
        {(void **)&p->due, own, sizeof *p->due},
        {(void **)&p->x_due, own, sizeof *p->x_due},
        {(void **)&p->acc_due, d->by_tree ? own : 0, sizeof *p->acc_due},
        {(void **)&p->acc_own, own, sizeof *p->acc_own},
        {(void **)&p->acc_others, own < n && !d->by_tree ? own : 0, sizeof *p->acc_others},
        {(void **)&p->word, 1, sizeof *p->word},
        {&d->select, d->select_bytes, 1},
        {&d->work, d->work_bytes, 1}};
    memcpy(list, all, sizeof all);
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

/* Accelerations by n sources from the first on. */
static int sum(const struct nb6_device_domain *d, const struct nb6_part_block *block, int32_t first, int32_t n,
               double (*acc)[3], struct nbc_error *err)
{
    const struct nb6_part *p = &d->part;
    const int32_t n_due = block->n_due;
    const int all = n_due == p->n_own && !d->by_tree;
    const struct gpunb_softened_device job = {.n_j = (size_t)n,
                                              .mass = p->mass + first,
                                              .x_j = (const double(*)[3])(p->x + first),
                                              .n_i = (size_t)n_due,
                                              .x_i = (const double(*)[3])(all ? p->x : p->x_due),
                                              .softening = p->rules.softening,
                                              .self = d->by_tree && first == 0 ? p->due : NULL,
                                              .acc_last = (const double(*)[3])p->acc_due,
                                              .acc = acc,
                                              .work = d->work,
                                              .work_bytes = d->work_bytes,
                                              .kept = block->kept,
                                              .tree = d->tree};
    return d->kernels->sum(d->force, p, &job, d->stream, err);
}

int nb6_domain_sum_own(struct nb6_device_domain *d, const struct nb6_part_block *block, struct nbc_error *err)
{
    const struct nb6_part *p = &d->part;
    NBD_TRY(nbd_use(&d->device, err));
    if (block->n_due < p->n_own || d->by_tree)
        NBD_LAUNCH(err, &d->device, d->kernels->select(p, block, d->select, d->select_bytes, d->stream));
    return block->n_due > 0 && !d->by_tree ? sum(d, block, 0, p->n_own, p->acc_own, err) : NBC_OK;
}

int nb6_domain_sum_others(struct nb6_device_domain *d, const struct nb6_part_block *block, struct nbc_error *err)
{
    const struct nb6_part *p = &d->part;
    const int has_others = p->n_own < p->n, n_due = block->n_due;
    NBD_TRY(nbd_use(&d->device, err));
    if (has_others) NBD_TRY(nbd_event_await(&d->device, d->came, d->stream, err));
    if (d->by_tree && (n_due > 0 || block->kept == GPUNB_TREE_BUILT))
        NBD_TRY(sum(d, block, 0, p->n, p->acc_own, err));
    else if (has_others && n_due > 0)
        NBD_TRY(sum(d, block, p->n_own, p->n - p->n_own, p->acc_others, err));
    NBD_LAUNCH(err, &d->device, d->kernels->check(p, block, d->stream));
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
