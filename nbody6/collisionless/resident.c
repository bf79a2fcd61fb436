#include "nbody6/collisionless/resident.h"

#include "common/team.h"
#include "gpunb/gpunb.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/division.h"
#include "nbody6/collisionless/domain.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/owners.h"

#include <string.h>

struct nb6_resident {
    const struct nb6_residence *residence;
    int parts;
    struct nb6_resident_part *one; /* [parts] */
    int32_t *body; /* [n] of each place, as it is copied to host memory; NULL: bodies do not change their owners */
    int divided;   /* as in struct nb6_owners, on the devices */
    int is_there;  /* 1: the state is on the devices; otherwise it must be sent */
    int is_ahead;  /* 1: and that in memory is older */
    nb6_time ti_home;
    uint64_t n_blocks_home, n_steps_home, build_block_home;
    struct nb6_rebuild rebuild_home;
    uint64_t tree_block; /* the build whose cells the trees of all parts have */
};

/* Return from the calling function if a call fails. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const int status_ = (call);                                                                                    \
        if (status_) return status_;                                                                                   \
    } while (0)

void nb6_resident_free(struct nb6_resident *r)
{
    if (!r) return;
    for (int p = 0; r->one && p < r->parts; p++) nb6_domain_close(r->one[p].domain);
    nbc_free(r->one);
    nbc_free(r->body);
    nbc_free(r);
}

/* The places of a part in host memory. */
static void range_of(const struct nb6_collisionless *s, int p, int parts, int64_t *first, int64_t *end)
{
    nbc_range(s->n, p, parts, first, end);
    if (!s->owners) return;
    *first = s->owners->first[p];
    *end = s->owners->first[p + 1];
}

static int open_parts(struct nb6_resident *r, const struct nb6_collisionless *s, const int *device,
                      struct nbc_error *err)
{
    for (int p = 0; p < r->parts; p++) {
        struct nb6_resident_part *one = &r->one[p];
        int64_t first, end;
        range_of(s, p, r->parts, &first, &end);
        one->part = (struct nb6_part){.rules = nb6_leapfrog_rules(s),
                                      .n = (int32_t)s->n,
                                      .n_own = (int32_t)(end - first),
                                      .room = (int32_t)nb6_owners_room(s->n, r->parts, s->block),
                                      .first = (int32_t)first,
                                      .keeps_tree = s->reuse > 1};
        TRY(nb6_domain_open(&one->domain, r->residence, &one->part, device[p], &s->options, s->force, err));
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

/* ---- copies between host memory and devices */

/* Scratch for copied levels; `due` is free between blocks. */
static int8_t *levels_of(const struct nb6_collisionless *s)
{
    return (int8_t *)s->due;
}

/* Where the own bodies of part `other` are in the arrays of all bodies that part p has. */
static int64_t place_of(const struct nb6_resident *r, int p, int other)
{
    const int64_t n = r->one[p].part.n;
    return ((int64_t)r->one[other].part.first - r->one[p].part.first + n) % n;
}

/* The state in the order of places. */
struct places {
    const double (*x0)[3], (*v)[3], (*acc)[3], *mass;
    const int8_t *level;
    const int32_t *body; /* NULL: that of the system */
};

/* Scratch of the system gets them where their order is another one. */
static struct places places_of(const struct nb6_collisionless *s)
{
    if (!s->owners)
        return (struct places){.x0 = (const double(*)[3])s->x0,
                               .v = (const double(*)[3])s->v,
                               .acc = (const double(*)[3])s->acc,
                               .mass = s->mass,
                               .level = s->level};
    const int32_t *body = s->owners->body;
    double *mass = (double *)s->x;
    int8_t *level = levels_of(s);
#pragma omp parallel for
    for (int64_t p = 0; p < s->n; p++) {
        const int32_t i = body[p];
        memcpy(s->x_due[p], s->x0[i], sizeof s->x_due[p]);
        memcpy(s->v_half[p], s->v[i], sizeof s->v_half[p]);
        memcpy(s->acc_due[p], s->acc[i], sizeof s->acc_due[p]);
        mass[p] = s->mass[i];
        level[p] = s->level[i];
    }
    return (struct places){.x0 = (const double(*)[3])s->x_due,
                           .v = (const double(*)[3])s->v_half,
                           .acc = (const double(*)[3])s->acc_due,
                           .mass = mass,
                           .level = level,
                           .body = body};
}

static int send_part(const struct nb6_resident *r, int p, const struct places *s, struct nbc_error *err)
{
    struct nb6_resident_part *one = &r->one[p];
    struct nb6_part *part = &one->part;
    const size_t own = (size_t)part->n_own, first = (size_t)part->first;
    TRY(nb6_domain_copy(one->domain, part->x0, s->x0 + first, own * sizeof *s->x0, err));
    TRY(nb6_domain_copy(one->domain, part->v, s->v + first, own * sizeof *s->v, err));
    TRY(nb6_domain_copy(one->domain, part->acc, s->acc + first, own * sizeof *s->acc, err));
    TRY(nb6_domain_copy(one->domain, part->level, s->level + first, own * sizeof *s->level, err));
    if (part->body) TRY(nb6_domain_copy(one->domain, part->body, s->body + first, own * sizeof *s->body, err));
    for (int other = 0; other < r->parts; other++) {
        const struct nb6_part *from = &r->one[other].part;
        TRY(nb6_domain_copy(one->domain, part->mass + place_of(r, p, other), s->mass + from->first,
                            (size_t)from->n_own * sizeof *s->mass, err));
    }
    memset(one->word.count, 0, sizeof one->word.count);
    for (size_t i = first; i < first + own; i++) one->word.count[s->level[i]]++;
    return NBC_OK;
}

/* The state in host memory is that of the system. */
static void note_home(struct nb6_resident *r, const struct nb6_collisionless *s)
{
    r->ti_home = s->ti_now;
    r->n_blocks_home = s->n_blocks;
    r->n_steps_home = s->n_steps;
    r->build_block_home = s->build_block;
    r->rebuild_home = s->rebuild;
}

static int64_t body_at(const struct nb6_collisionless *s, int64_t place)
{
    return s->owners ? s->owners->body[place] : place;
}

/* Each part has numbers of its own for the bodies: those of places, from its first one on, around. */
static int send_layout(const struct nb6_resident *r, const struct nb6_collisionless *s, int32_t *place, int32_t *order,
                       struct nbc_error *err)
{
    for (int64_t k = 0; k < s->n; k++) place[body_at(s, k)] = (int32_t)k;
    for (int p = 0; p < r->parts; p++) {
        const int64_t origin = nb6_part_origin(&r->one[p].part);
        for (int64_t k = 0; k < s->n; k++) order[k] = (int32_t)((place[s->kept.order[k]] + origin) % s->n);
        TRY(nb6_domain_set_tree(r->one[p].domain, order, s->kept.cut, err));
    }
    return NBC_OK;
}

static int send_tree(struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    r->tree_block = NB6_NO_BUILD;
    TRY(nb6_kept_tree_home(s, err));
    if (s->rebuild.state != NB6_TREE_STANDS || s->reuse == 1) return NBC_OK;
    int32_t *place = nbc_alloc_unset((size_t)s->n, 2 * sizeof *place);
    if (!place) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the tree of %lld bodies", (long long)s->n);
    const int status = send_layout(r, s, place, place + s->n, err);
    nbc_free(place);
    if (!status) r->tree_block = s->build_block;
    return status;
}

static int send(struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    const struct places places = places_of(s);
    for (int p = 0; p < r->parts; p++) {
        int64_t first, end;
        range_of(s, p, r->parts, &first, &end);
        r->one[p].part.first = (int32_t)first;
        r->one[p].part.n_own = (int32_t)(end - first);
        nb6_domain_own(r->one[p].domain, (int32_t)first, (int32_t)(end - first));
    }
    for (int p = 0; p < r->parts; p++) TRY(send_part(r, p, &places, err));
    TRY(send_tree(r, s, err));
    r->divided = s->owners ? s->owners->divided : 0;
    r->is_there = 1;
    note_home(r, s);
    return NBC_OK;
}

/* Scratch for the layout of a tree, likewise. */
static int32_t *order_of(const struct nb6_collisionless *s)
{
    return (int32_t *)s->x;
}

static uint8_t *cuts_of(const struct nb6_collisionless *s)
{
    return (uint8_t *)s->due + s->n;
}

/* Whether the layout in host memory is an older one than that of the trees of the parts. */
static int is_layout_old(const struct nb6_resident *r, const struct nb6_collisionless *s)
{
    return s->reuse > 1 && s->rebuild.state == NB6_TREE_STANDS && s->kept.layout_block != s->build_block &&
           r->tree_block == s->build_block;
}

/* Numbers of the first part are places. */
static int fetch(const struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    if (is_layout_old(r, s)) TRY(nb6_domain_get_tree(r->one[0].domain, order_of(s), cuts_of(s), err));
    for (int p = 0; p < r->parts; p++) {
        const struct nb6_resident_part *one = &r->one[p];
        const struct nb6_part *part = &one->part;
        const size_t own = (size_t)part->n_own, first = (size_t)part->first;
        TRY(nb6_domain_copy(one->domain, s->x_due + first, part->x0, own * sizeof *s->x0, err));
        TRY(nb6_domain_copy(one->domain, s->v_half + first, part->v, own * sizeof *s->v, err));
        TRY(nb6_domain_copy(one->domain, s->acc_due + first, part->acc, own * sizeof *s->acc, err));
        TRY(nb6_domain_copy(one->domain, levels_of(s) + first, part->level, own * sizeof *s->level, err));
        if (r->body) TRY(nb6_domain_copy(one->domain, r->body + first, part->body, own * sizeof *r->body, err));
    }
    return NBC_OK;
}

/* Owners as they are on the devices become those in host memory. */
static void keep_owners(struct nb6_resident *r, struct nb6_collisionless *s)
{
    int32_t *body = r->body;
    if (!body) return;
    r->body = s->owners->body;
    s->owners->body = body;
    s->owners->divided = r->divided;
    for (int p = 0; p < r->parts; p++) s->owners->first[p] = r->one[p].part.first;
}

/* The copy in scratch, by places, becomes the state. */
static void keep(struct nb6_collisionless *s)
{
    const int8_t *level = levels_of(s);
#pragma omp parallel for
    for (int64_t p = 0; p < s->n; p++) {
        const int64_t i = body_at(s, p);
        memcpy(s->x0[i], s->x_due[p], sizeof s->x0[i]);
        memcpy(s->v[i], s->v_half[p], sizeof s->v[i]);
        memcpy(s->acc[i], s->acc_due[p], sizeof s->acc[i]);
        s->level[i] = level[p];
    }
}

/* The state on the devices is lost, or differs from host memory: return to the host's. */
static int go_back(struct nb6_resident *r, struct nb6_collisionless *s, int status)
{
    s->ti_now = r->ti_home;
    s->n_blocks = r->n_blocks_home;
    s->n_steps = r->n_steps_home;
    s->build_block = r->build_block_home;
    s->rebuild = r->rebuild_home;
    r->is_there = r->is_ahead = 0;
    return status;
}

static void take_layout(struct nb6_collisionless *s)
{
    const int32_t *order = order_of(s);
    for (int64_t k = 0; k < s->n; k++) s->kept.order[k] = (int32_t)body_at(s, order[k]);
    memcpy(s->kept.cut, cuts_of(s), (size_t)s->n * sizeof *s->kept.cut);
    s->kept.layout_block = s->build_block;
}

/* All arrays are copied before the first one is used: if a domain fails in between, the older state stays. */
int nb6_resident_home(struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    if (!r->is_ahead) return nb6_kept_tree_home(s, err);
    int status = fetch(r, s, err);
    if (status) return go_back(r, s, status);
    keep_owners(r, s);
    keep(s);
    if (is_layout_old(r, s)) take_layout(s);
    r->is_ahead = 0;
    status = nb6_kept_tree_home(s, err);
    note_home(r, s);
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
        TRY(nb6_domain_exchange(one->domain, one->part.x + place_of(r, p, other), from->domain, from->part.x,
                                (size_t)from->part.n_own * sizeof *one->part.x, err));
    }
    return NBC_OK;
}

/* All own sums come first: where a tree is built the host waits, and the other devices build theirs then. */
static int sum(const struct nb6_resident *r, struct nb6_part_block *block, int64_t *n_due, struct nbc_error *err)
{
    for (int p = 0; p < r->parts; p++) {
        *n_due += block->n_due = nb6_part_due_at(&r->one[p].word, block->ti_next);
        TRY(nb6_domain_sum_own(r->one[p].domain, block, err));
    }
    for (int p = 0; p < r->parts; p++) {
        block->n_due = nb6_part_due_at(&r->one[p].word, block->ti_next);
        TRY(nb6_domain_sum_others(r->one[p].domain, block, err));
    }
    return NBC_OK;
}

/* @param[out] is_good  whether all bodies can go on: nothing is committed otherwise */
static int make_block(struct nb6_resident *r, struct nb6_part_block *block, int64_t *n_due, int *is_good,
                      struct nbc_error *err)
{
    *is_good = 1;
    *n_due = 0;
    for (int p = 0; p < r->parts; p++) TRY(nb6_domain_drift(r->one[p].domain, block, err));
    for (int p = 0; p < r->parts; p++) TRY(exchange(r, p, err));
    TRY(sum(r, block, n_due, err));
    for (int p = 0; p < r->parts; p++) {
        struct nb6_part_word word;
        TRY(nb6_domain_read(r->one[p].domain, &word, err));
        *is_good &= word.bad == NB6_NOBODY_BAD;
    }
    for (int p = 0; *is_good && p < r->parts; p++) {
        block->n_due = nb6_part_due_at(&r->one[p].word, block->ti_next);
        TRY(nb6_domain_commit(r->one[p].domain, block, err));
    }
    /* Shared steps stay as they are. */
    for (int p = 0; *is_good && r->one[0].part.rules.block && p < r->parts; p++)
        TRY(nb6_domain_read(r->one[p].domain, &r->one[p].word, err));
    if (!*is_good || !block->orders) return NBC_OK;
    r->divided += r->divided < NB6_FIRST_DIVISIONS;
    return nb6_division_make(r->one, r->parts, err);
}

int nb6_resident_block(struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    int64_t n_due;
    int is_good;
    if (!r->is_there) TRY(send(r, s, err));
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
    if (status) return go_back(r, s, status);
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
