/* Emulated devices in host memory. */
#include "gpunb/backend.h"
#include "gpunb/gpunb.h"
#include "nbody6/collisionless/residence.h"

#include <string.h>

struct nb6_device_domain {
    struct nb6_part part;
    gpunb_t *force;
};

static void close_place(struct nb6_device_domain *place)
{
    struct nb6_part *p = &place->part;
    gpunb_free(place->force);
    nbc_free(p->mass);
    nbc_free(p->x);
    nbc_free(p->x0);
    nbc_free(p->v);
    nbc_free(p->acc);
    nbc_free(p->v_half);
    nbc_free(p->level);
    nbc_free(p->due);
    nbc_free(p->x_due);
    nbc_free(p->acc_own);
    nbc_free(p->acc_others);
    nbc_free(p->word);
    nbc_free(place);
}

static int allocate(struct nb6_part *p, struct nbc_error *err)
{
    const size_t n = (size_t)p->n, own = (size_t)p->n_own;
    p->mass = nbc_alloc(n, sizeof *p->mass);
    p->x = nbc_alloc(n, sizeof *p->x);
    p->x0 = nbc_alloc(own, sizeof *p->x0);
    p->v = nbc_alloc(own, sizeof *p->v);
    p->acc = nbc_alloc(own, sizeof *p->acc);
    p->v_half = nbc_alloc(own, sizeof *p->v_half);
    p->level = nbc_alloc(own, sizeof *p->level);
    p->due = nbc_alloc(own, sizeof *p->due);
    p->x_due = nbc_alloc(own, sizeof *p->x_due);
    p->acc_own = nbc_alloc(own, sizeof *p->acc_own);
    p->acc_others = nbc_alloc(own, sizeof *p->acc_others);
    p->word = nbc_alloc(1, sizeof *p->word);
    if (p->mass && p->x && p->x0 && p->v && p->acc && p->v_half && p->level && p->due && p->x_due && p->acc_own &&
        p->acc_others && p->word)
        return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for a part of %d bodies", p->n_own);
}

static int open_place(struct nb6_device_domain **place, struct nb6_part *part, int device,
                      const struct gpunb_options *force, struct nbc_error *err)
{
    struct nb6_device_domain *made = nbc_alloc(1, sizeof *made);
    (void)device;
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a part of a system");
    made->part = *part;
    int status = allocate(&made->part, err);
    if (!status) status = gpunb_create(&made->force, (size_t)part->n, force, err);
    if (status) {
        close_place(made);
        return status;
    }
    *part = made->part;
    *place = made;
    return NBC_OK;
}

static int copy(struct nb6_device_domain *place, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    (void)place;
    (void)err;
    memcpy(to, from, bytes);
    return NBC_OK;
}

static int exchange(struct nb6_device_domain *place, void *to, struct nb6_device_domain *other, const void *from,
                    size_t bytes, struct nbc_error *err)
{
    (void)other;
    return copy(place, to, from, bytes, err);
}

static void note_bad(struct nb6_part *p, int32_t i)
{
    if (i < p->word->bad) p->word->bad = i;
}

static int drift(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err)
{
    struct nb6_part *p = &place->part;
    (void)err;
    p->word->bad = NB6_NOBODY_BAD;
    for (int32_t i = 0; i < p->n_own; i++)
        if (!nb6_part_drift(p, i, block->ti_now, block->ti_next, GPUNB_LIMIT)) note_bad(p, i);
    return NBC_OK;
}

static void select_due(struct nb6_part *p, const struct nb6_part_block *block)
{
    int32_t m = 0;
    if (block->n_due == p->n_own) return;
    for (int32_t i = 0; i < p->n_own; i++)
        if (nb6_step_ends(p->level[i], block->ti_next)) p->due[m++] = i;
    for (m = 0; m < block->n_due; m++) memcpy(p->x_due[m], p->x[p->due[m]], sizeof p->x_due[m]);
}

/* Accelerations by some of the sources that the part has. */
static int sum(struct nb6_device_domain *place, int32_t n_due, int32_t first, int32_t n, double (*acc)[3])
{
    const struct nb6_part *p = &place->part;
    const struct gpunb_softened_job job = {.n_i = (size_t)n_due,
                                           .x = (const double(*)[3])(n_due == p->n_own ? p->x : p->x_due),
                                           .softening = p->rules.softening,
                                           .acc = acc};
    const int status =
        gpunb_send_positions(place->force, (size_t)n, p->mass + first, (const double(*)[3])(p->x + first));
    return status ? status : gpunb_softened(place->force, &job);
}

/* A source that is too far is an own body of some part, whose word reports it; the sums of the other parts are not used
 * then. */
static int force(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err)
{
    struct nb6_part *p = &place->part;
    select_due(p, block);
    int status = sum(place, block->n_due, 0, p->n_own, p->acc_own);
    if (!status && p->n_own < p->n) status = sum(place, block->n_due, p->n_own, p->n - p->n_own, p->acc_others);
    if (status == NBC_BAD_ARGUMENT || status == NBC_NON_FINITE) note_bad(p, 0);
    if (status) return status == NBC_NO_MEMORY ? nbc_fail(err, status, "%s", gpunb_last_error(place->force)) : NBC_OK;
    for (int32_t m = 0; m < block->n_due; m++)
        if (!nb6_part_check(p, m)) note_bad(p, nb6_part_due(p, block->n_due, m));
    return NBC_OK;
}

static int read_word(struct nb6_device_domain *place, struct nb6_part_word *word, struct nbc_error *err)
{
    (void)err;
    *word = *place->part.word;
    return NBC_OK;
}

static int commit(struct nb6_device_domain *place, const struct nb6_part_block *block, struct nbc_error *err)
{
    struct nb6_part *p = &place->part;
    (void)err;
    for (int32_t i = 0; i < p->n_own; i++) nb6_part_keep(p, i);
    for (int32_t m = 0; m < block->n_due; m++) nb6_part_commit(p, block->n_due, m, block->ti_next);
    memset(p->word->count, 0, sizeof p->word->count);
    for (int32_t i = 0; i < p->n_own; i++) p->word->count[p->level[i]]++;
    return NBC_OK;
}

const struct nb6_residence nb6_residence_emulated = {.name = "emulated",
                                                     .open = open_place,
                                                     .close = close_place,
                                                     .put = copy,
                                                     .get = copy,
                                                     .drift = drift,
                                                     .exchange = exchange,
                                                     .force = force,
                                                     .look = read_word,
                                                     .commit = commit};
