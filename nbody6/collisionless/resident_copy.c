/* The state of a resident system between host memory and devices, and what forces leave there. */
#include "nbody6/collisionless/resident_state.h"

#include "common/team.h"
#include "nbody6/collisionless/domain.h"
#include "nbody6/collisionless/owners.h"

#include <string.h>

void nb6_resident_range(const struct nb6_collisionless *s, int p, int parts, int64_t *first, int64_t *end)
{
    nbc_range(s->n, p, parts, first, end);
    if (!s->owners) return;
    *first = s->owners->first[p];
    *end = s->owners->first[p + 1];
}

/* Scratch for copied levels; `due` is free between blocks. */
static int8_t *levels_of(const struct nb6_collisionless *s)
{
    return (int8_t *)s->due;
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
    NBD_TRY(nb6_domain_copy(one->domain, part->x0, s->x0 + first, own * sizeof *s->x0, err));
    NBD_TRY(nb6_domain_copy(one->domain, part->v, s->v + first, own * sizeof *s->v, err));
    NBD_TRY(nb6_domain_copy(one->domain, part->acc, s->acc + first, own * sizeof *s->acc, err));
    NBD_TRY(nb6_domain_copy(one->domain, part->level, s->level + first, own * sizeof *s->level, err));
    if (part->body) NBD_TRY(nb6_domain_copy(one->domain, part->body, s->body + first, own * sizeof *s->body, err));
    for (int other = 0; other < r->parts; other++) {
        const struct nb6_part *from = &r->one[other].part;
        NBD_TRY(nb6_domain_copy(one->domain, part->mass + nb6_resident_place(r, p, other), s->mass + from->first,
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
        NBD_TRY(nb6_domain_set_tree(r->one[p].domain, order, s->kept.cut, err));
    }
    return NBC_OK;
}

static int send_tree(struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    r->tree_block = NB6_NO_BUILD;
    NBD_TRY(nb6_kept_tree_home(s, err));
    if (s->rebuild.state != NB6_TREE_STANDS || s->reuse == 1) return NBC_OK;
    int32_t *place = nbc_alloc_unset((size_t)s->n, 2 * sizeof *place);
    if (!place) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the tree of %lld bodies", (long long)s->n);
    const int status = send_layout(r, s, place, place + s->n, err);
    nbc_free(place);
    if (!status) r->tree_block = s->build_block;
    return status;
}

int nb6_resident_send(struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    const struct places places = places_of(s);
    for (int p = 0; p < r->parts; p++) {
        int64_t first, end;
        nb6_resident_range(s, p, r->parts, &first, &end);
        r->one[p].part.first = (int32_t)first;
        r->one[p].part.n_own = (int32_t)(end - first);
        nb6_domain_own(r->one[p].domain, (int32_t)first, (int32_t)(end - first));
    }
    for (int p = 0; p < r->parts; p++) NBD_TRY(send_part(r, p, &places, err));
    NBD_TRY(send_tree(r, s, err));
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
    if (is_layout_old(r, s)) NBD_TRY(nb6_domain_get_tree(r->one[0].domain, order_of(s), cuts_of(s), err));
    for (int p = 0; p < r->parts; p++) {
        const struct nb6_resident_part *one = &r->one[p];
        const struct nb6_part *part = &one->part;
        const size_t own = (size_t)part->n_own, first = (size_t)part->first;
        NBD_TRY(nb6_domain_copy(one->domain, s->x_due + first, part->x0, own * sizeof *s->x0, err));
        NBD_TRY(nb6_domain_copy(one->domain, s->v_half + first, part->v, own * sizeof *s->v, err));
        NBD_TRY(nb6_domain_copy(one->domain, s->acc_due + first, part->acc, own * sizeof *s->acc, err));
        NBD_TRY(nb6_domain_copy(one->domain, levels_of(s) + first, part->level, own * sizeof *s->level, err));
        if (r->body) NBD_TRY(nb6_domain_copy(one->domain, r->body + first, part->body, own * sizeof *r->body, err));
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

int nb6_resident_go_back(struct nb6_resident *r, struct nb6_collisionless *s, int status)
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
    if (status) return nb6_resident_go_back(r, s, status);
    keep_owners(r, s);
    keep(s);
    if (is_layout_old(r, s)) take_layout(s);
    r->is_ahead = 0;
    status = nb6_kept_tree_home(s, err);
    note_home(r, s);
    return status;
}

/* ---- what a force on all bodies has left */

/* A column of three numbers by places, in scratch, to the bodies of the system. */
int nb6_resident_fetch_acc(const struct nb6_resident *r, struct nb6_collisionless *s, struct nbc_error *err)
{
    for (int p = 0; p < r->parts; p++) {
        const struct nb6_part *part = &r->one[p].part;
        NBD_TRY(nb6_domain_copy(r->one[p].domain, s->acc_due + part->first, part->acc_own,
                                (size_t)part->n_own * sizeof *s->acc_due, err));
    }
    for (int64_t p = 0; p < s->n; p++) memcpy(s->acc[body_at(s, p)], s->acc_due[p], sizeof s->acc[0]);
    return NBC_OK;
}

int nb6_resident_fetch_pot(const struct nb6_resident *r, struct nb6_collisionless *s, double *pot,
                           struct nbc_error *err)
{
    double *of_place = (double *)s->x, *others = (double *)s->x_due;
    for (int p = 0; p < r->parts; p++) {
        const struct nb6_part *part = &r->one[p].part;
        NBD_TRY(nb6_domain_fetch_pot(r->one[p].domain, of_place + part->first, others, err));
    }
    for (int64_t p = 0; p < s->n; p++) pot[body_at(s, p)] = of_place[p];
    return NBC_OK;
}
