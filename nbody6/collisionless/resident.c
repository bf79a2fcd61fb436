#include "nbody6/collisionless/resident_state.h"

#include "gpunb/gpunb.h"
#include "nbody6/collisionless/domain.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/owners.h"

#include <string.h>

void nb6_resident_free(struct nb6_resident *r)
{
    if (!r) return;
    for (int p = 0; r->one && p < r->parts; p++) nb6_domain_close(r->one[p].domain);
    nbc_free(r->one);
    nbc_free(r->body);
    nbc_free(r);
}

static int open_parts(struct nb6_resident *r, const struct nb6_collisionless *s, const int *device,
                      struct nbc_error *err)
{
    for (int p = 0; p < r->parts; p++) {
        struct nb6_resident_part *one = &r->one[p];
        int64_t first, end;
        nb6_resident_range(s, p, r->parts, &first, &end);
        one->part = (struct nb6_part){.rules = nb6_leapfrog_rules(s),
                                      .n = (int32_t)s->n,
                                      .n_own = (int32_t)(end - first),
                                      .room = (int32_t)nb6_owners_room(s->n, r->parts, s->block),
                                      .first = (int32_t)first,
                                      .keeps_tree = s->reuse > 1};
        NBD_TRY(nb6_domain_open(&one->domain, r->residence, &one->part, device[p], &s->options, s->force, err));
    }
    if (!r->one[0].part.body) return NBC_OK;
    r->body = nbc_alloc_unset((size_t)s->n, sizeof *r->body);
    return r->body ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for the owners of %lld bodies", (long long)s->n);
}

int nb6_resident_open(struct nb6_resident **resident, const struct nb6_residence *residence,
                      const struct nb6_collisionless *s, int parts, const int *device, struct nbc_error *err)
{
    struct nb6_resident *r = nbc_alloc(1, sizeof *r);
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the parts of a system");
    r->residence = residence;
    r->parts = parts;
    r->one = nbc_alloc((size_t)parts, sizeof *r->one);
    const int status =
        r->one ? open_parts(r, s, device, err) : nbc_fail(err, NBC_NO_MEMORY, "no memory for %d parts", parts);
    if (status)
        nb6_resident_free(r);
    else
        *resident = r;
    return status;
}

const struct nb6_residence *nb6_resident_residence(const struct nb6_resident *r)
{
    return r->residence;
}

int nb6_resident_parts(const struct nb6_resident *r)
{
    return r->parts;
}

int nb6_resident_add_part_counts(const struct nb6_resident *r, int part, struct gpunb_tree_counts *sum,
                                 struct nbc_error *err)
{
    return nb6_domain_add_tree_counts(r->one[part].domain, sum, err);
}

int nb6_resident_add_tree_counts(const struct nb6_resident *r, struct gpunb_tree_counts *sum, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int p = 0; p < r->parts; p++) {
        const int of_part = nb6_resident_add_part_counts(r, p, sum, status ? NULL : err);
        if (!status) status = of_part;
    }
    return status;
}

/* ---- blocks */

static int shortest(const struct nb6_resident *r)
{
    int level = NB6_PART_LEVELS - 1; /* there are no bodies */
    for (int p = 0; p < r->parts; p++) {
        const int own = nb6_part_shortest(&r->one[p].word);
        if (own < level) level = own;
    }
    return level;
}

static int64_t all_due_at(const struct nb6_resident *r, nb6_time t)
{
    int64_t n = 0;
    for (int p = 0; p < r->parts; p++) n += nb6_part_due_at(&r->one[p].word, t);
    return n;
}

static int exchange(const struct nb6_resident *r, int p, struct nbc_error *err)
{
    const struct nb6_resident_part *one = &r->one[p];
    for (int k = 1; k < r->parts; k++) { /* around, so that no part is asked by all at once */
        const int other = (p + k) % r->parts;
        const struct nb6_resident_part *from = &r->one[other];
        NBD_TRY(nb6_domain_exchange(one->domain, one->part.x + nb6_resident_place(r, p, other), from->domain,
                                    from->part.x, (size_t)from->part.n_own * sizeof *one->part.x, err));
    }
    return NBC_OK;
}

/* All own sums come first: where a tree is built the host waits, and the other devices build theirs then. */
static int sum(const struct nb6_resident *r, struct nb6_part_block *block, int64_t *n_due, struct nbc_error *err)
{
    for (int p = 0; p < r->parts; p++) {
        *n_due += block->n_due = nb6_part_due_at(&r->one[p].word, block->ti_next);
        NBD_TRY(nb6_domain_sum_own(r->one[p].domain, block, err));
    }
    for (int p = 0; p < r->parts; p++) {
        block->n_due = nb6_part_due_at(&r->one[p].word, block->ti_next);
        NBD_TRY(nb6_domain_sum_others(r->one[p].domain, block, err));
    }
    return NBC_OK;
}

/* Positions and forces of a block.   @param[out] is_good  whether all bodies can go on */
static int make_forces(struct nb6_resident *r, struct nb6_part_block *block, int64_t *n_due, int *is_good,
                       struct nbc_error *err)
{
    *is_good = 1;
    *n_due = 0;
    for (int p = 0; p < r->parts; p++) NBD_TRY(nb6_domain_drift(r->one[p].domain, block, err));
    for (int p = 0; p < r->parts; p++) NBD_TRY(exchange(r, p, err));
    NBD_TRY(sum(r, block, n_due, err));
    for (int p = 0; p < r->parts; p++) {
        struct nb6_part_word word;
        NBD_TRY(nb6_domain_read(r->one[p].domain, &word, err));
        *is_good &= word.bad == NB6_NOBODY_BAD;
    }
    return NBC_OK;
}

/* Nothing is committed unless all bodies can go on. */
static int make_block(struct nb6_resident *r, struct nb6_part_block *block, int64_t *n_due, int *is_good,
                      struct nbc_error *err)
{
    NBD_TRY(make_forces(r, block, n_due, is_good, err));
    for (int p = 0; *is_good && p < r->parts; p++) {
        block->n_due = nb6_part_due_at(&r->one[p].word, block->ti_next);
        NBD_TRY(nb6_domain_commit(r->one[p].domain, block, err));
    }
    /* Shared steps stay as they are. */
    for (int p = 0; *is_good && r->one[0].part.rules.block && p < r->parts; p++)
        NBD_TRY(nb6_domain_read(r->one[p].domain, &r->one[p].word, err));
    if (!*is_good || !block->orders) return NBC_OK;
    r->divided += r->divided < NB6_FIRST_DIVISIONS;
    return nb6_division_make(r->one, r->parts, err);
}

int nb6_resident_block(struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    int64_t n_due;
    int is_good;
    if (!r->is_there) NBD_TRY(nb6_resident_send(r, s, err));
    struct nb6_part_block block = {
        .ti_now = s->ti_now, .ti_next = s->ti_now + nb6_step_ticks(shortest(r)), .build = s->n_blocks};
    struct nb6_rebuild_force force;
    struct gpunb_tree_counts now = {0};
    nb6_rebuild_begin(s, block.ti_next, all_due_at(r, block.ti_next), r->parts, &force);
    block.kept = force.kept;
    block.orders = r->body && nb6_owners_are_due(r->divided, s->max_level, block.ti_next) &&
                   nb6_division_is_possible(r->one, r->parts, block.kept);
    if (force.kept == GPUNB_TREE_BUILT) r->tree_block = s->n_blocks;
    int status = force.is_judged ? nb6_resident_add_tree_counts(r, &force.before, err) : NBC_OK;
    if (!status) status = make_block(r, &block, &n_due, &is_good, err);
    if (!status && force.is_judged) status = nb6_resident_add_tree_counts(r, &now, err);
    if (status) return nb6_resident_go_back(r, s, status);
    if (!is_good) {
        status = nb6_resident_home(r, s, err);
        r->is_there = 0;
        return status ? status : nb6_leapfrog_block(s, err);
    }
    r->is_ahead = 1;
    nb6_rebuild_end(s, block.ti_next, &force, &now);
    if (block.orders && r->divided == 1) nb6_rebuild_compare_anew(s); /* bodies were spread over space before */
    s->ti_now = block.ti_next;
    s->n_blocks++;
    s->n_steps += (uint64_t)n_due;
    return NBC_OK;
}

/* ---- forces that are those of no block: on all bodies, after a drift of no length */

/* The state on the devices is that of the host, before and after. */
static int make_apart(struct nb6_resident *r, struct nb6_collisionless *s, struct nb6_part_block *block, int *is_good,
                      struct nbc_error *err)
{
    int64_t n_due;
    if (!r->is_there) NBD_TRY(nb6_resident_send(r, s, err));
    block->kept = nb6_kept_tree_apart(s, r->parts).kept;
    if (s->reuse > 1 && block->kept == GPUNB_TREE_NOT_KEPT) block->kept = GPUNB_TREE_UNUSED;
    if (block->kept == GPUNB_TREE_BUILT) r->tree_block = NB6_NO_BUILD;
    const int status = make_forces(r, block, &n_due, is_good, err);
    if (status) r->is_there = 0;
    return status;
}

/* The steps of all bodies end at the start, whatever they are. */
int nb6_resident_start(struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    struct nb6_part_block block = {.ti_now = s->ti_now, .ti_next = s->ti_now, .build = s->n_blocks, .is_first = 1};
    int is_good;
    memset(s->acc, 0, (size_t)s->n * sizeof *s->acc);
    memset(s->level, s->max_level, (size_t)s->n);
    NBD_TRY(make_apart(r, s, &block, &is_good, err));
    r->is_there = 0;
    if (!is_good) return nb6_leapfrog_start(s, err);
    NBD_TRY(nb6_resident_fetch_acc(r, s, err));
    nb6_leapfrog_choose_steps(s);
    return NBC_OK;
}

int nb6_resident_potentials(struct nb6_resident *r, struct nb6_collisionless *s, double *pot, int *is_good,
                            struct nbc_error *err)
{
    struct nb6_part_block block = {
        .ti_now = s->ti_now, .ti_next = s->ti_now, .build = s->n_blocks, .with_potentials = 1};
    NBD_TRY(make_apart(r, s, &block, is_good, err));
    return *is_good ? nb6_resident_fetch_pot(r, s, pot, err) : NBC_OK;
}
