#include "nbody6/collisionless/ranks/bodies.h"

#include "common/select.h"
#include "common/sort.h"
#include "common/team.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/moves.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/world/world.h"

#include <string.h>

enum { BODIES_OF_A_PART = 8192 };

struct record {
    int64_t name;
    double mass, x0[3], v[3], acc[3];
    int64_t level;
};
struct number {
    int64_t name;
    double value;
};

static int no_memory(int64_t n, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to move %lld bodies", (long long)n);
}

static struct record record_of(const struct nb6_collisionless *s, int64_t i)
{
    struct record r = {.name = s->name[i], .mass = s->mass[i], .level = s->level[i]};
    memcpy(r.x0, s->x0[i], sizeof r.x0);
    memcpy(r.v, s->v[i], sizeof r.v);
    memcpy(r.acc, s->acc[i], sizeof r.acc);
    return r;
}

static void set_state(struct nb6_collisionless *s, int64_t i, const struct record *r)
{
    s->mass[i] = r->mass;
    memcpy(s->x0[i], r->x0, sizeof r->x0);
    memcpy(s->v[i], r->v, sizeof r->v);
    memcpy(s->acc[i], r->acc, sizeof r->acc);
    s->level[i] = (int8_t)r->level;
}

/* ---- to the ranks in whose domains they are */

static int by_name(const void *a, const void *b)
{
    const int64_t p = ((const struct record *)a)->name, q = ((const struct record *)b)->name;
    return (p > q) - (p < q);
}

/* The ranks to which bodies go, between blocks: in the room of due bodies, if no other place is given. */
static const int32_t *ranks_of(const struct nb6_collisionless *s, const int32_t *given)
{
    return given ? given : s->due;
}

/* Bodies that stay, or those that go. */
struct choice {
    const int32_t *rank;
    int own, stays;
};

static int is_chosen(const void *context, int64_t i)
{
    const struct choice *c = context;
    return (c->rank[i] == c->own) == c->stays;
}

static int parts_for(int64_t n)
{
    return nbc_parts(n, BODIES_OF_A_PART);
}

/* ---- a new order, by name: without those that go, and with those that come. Arrays that are free between blocks get
 * it, and take the place of those that had the old one. */

struct ordering {
    struct nb6_collisionless *share;
    const struct record *come; /* [n_come] by name */
    int64_t n_stay, n_come;
    int32_t *stay, *from; /* [n_stay] numbers before; [n] likewise of each, or -1 - k: the k-th that comes */
    int64_t *name;
    double *mass;
    int8_t *level;
};

/* How many names of records are below one. */
static int64_t come_before(const struct ordering *o, int64_t name)
{
    int64_t below = 0, end = o->n_come;
    while (below < end) {
        const int64_t middle = (below + end) / 2;
        if (o->come[middle].name < name)
            below = middle + 1;
        else
            end = middle;
    }
    return below;
}

/* Those that come in front of one that stays follow the one before it; the last part has the last of them. */
static void place_part(void *context, int part, int parts)
{
    const struct ordering *o = context;
    const int64_t *name = o->share->name;
    int64_t first, end;
    nbc_range(o->n_stay, part, parts, &first, &end);
    int64_t k = first == 0 ? 0 : come_before(o, name[o->stay[first - 1]]);
    for (int64_t j = first; j < end; j++) {
        for (; k < o->n_come && o->come[k].name < name[o->stay[j]]; k++) o->from[j + k] = (int32_t)(-1 - k);
        o->from[j + k] = o->stay[j];
    }
    for (; part == parts - 1 && k < o->n_come; k++) o->from[o->n_stay + k] = (int32_t)(-1 - k);
}

static void gather_part(void *context, int part, int parts)
{
    const struct ordering *o = context;
    const struct nb6_collisionless *s = o->share;
    int64_t first, end;
    nbc_range(o->n_stay + o->n_come, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        const struct record r = o->from[i] < 0 ? o->come[-1 - o->from[i]] : record_of(s, o->from[i]);
        o->name[i] = r.name;
        o->mass[i] = r.mass;
        o->level[i] = (int8_t)r.level;
        memcpy(s->x[i], r.x0, sizeof r.x0);
        memcpy(s->v_half[i], r.v, sizeof r.v);
        memcpy(s->acc_due[i], r.acc, sizeof r.acc);
    }
}

static void copy_part(void *context, int part, int parts)
{
    const struct ordering *o = context;
    const struct nb6_collisionless *s = o->share;
    int64_t first, end;
    nbc_range(s->n, part, parts, &first, &end);
    const size_t n = (size_t)(end - first);
    memcpy(s->name + first, o->name + first, n * sizeof *s->name);
    memcpy(s->mass + first, o->mass + first, n * sizeof *s->mass);
    memcpy(s->level + first, o->level + first, n * sizeof *s->level);
}

static void exchange(double (**a)[3], double (**b)[3])
{
    double(*const then)[3] = *a;
    *a = *b;
    *b = then;
}

/* Positions of due bodies have room for names, masses and two lists: 24 bytes. */
static void take_in(struct nb6_collisionless *s, const int32_t *given, int own, const struct record *come,
                    int64_t n_come)
{
    struct ordering o = {.share = s, .come = come, .n_come = n_come};
    const struct choice stay = {ranks_of(s, given), own, 1};
    o.name = (int64_t *)(void *)s->x_due;
    o.mass = (double *)(void *)(o.name + s->room);
    o.stay = (int32_t *)(void *)(o.mass + s->room);
    o.from = o.stay + s->room;
    o.level = (int8_t *)s->due;
    o.n_stay = nbc_select(s->n, BODIES_OF_A_PART, is_chosen, &stay, o.stay);
    nbc_team_run(parts_for(o.n_stay), place_part, &o);
    nbc_team_run(parts_for(o.n_stay + n_come), gather_part, &o);
    s->n = o.n_stay + n_come;
    exchange(&s->x0, &s->x);
    exchange(&s->v, &s->v_half);
    exchange(&s->acc, &s->acc_due);
    nbc_team_run(parts_for(s->n), copy_part, &o);
}

/* Bodies that go, and where: in the room of positions of due bodies. */
struct going {
    struct nb6_collisionless *share;
    int32_t *body, *to;
    int64_t n;
};

static void find_going(struct nb6_collisionless *s, int own, const int32_t *given, struct going *g)
{
    const struct choice go = {ranks_of(s, given), own, 0};
    g->body = (int32_t *)(void *)s->x_due;
    g->to = g->body + s->n;
    g->n = nbc_select(s->n, BODIES_OF_A_PART, is_chosen, &go, g->body);
    for (int64_t k = 0; k < g->n; k++) g->to[k] = go.rank[g->body[k]];
}

static void fill_going(const void *context, int64_t i, void *record)
{
    const struct going *g = context;
    const struct record r = record_of(g->share, g->body[i]);
    memcpy(record, &r, sizeof r);
}

static int provide(void *context, int64_t n_come, struct nbc_error *err)
{
    const struct going *g = context;
    return nb6_collisionless_reserve(g->share, g->share->n - g->n + n_come, err);
}

/* @param[in] given  as ranks_of */
static int send(struct nb6_collisionless *s, const int32_t *given, struct nbc_error *err)
{
    const int own = nb6_world_rank(s->world);
    struct going g = {.share = s};
    void *come = NULL;
    int64_t n_come = 0;
    find_going(s, own, given, &g);
    const struct nb6_moves_job job = {
        .size = sizeof(struct record), .n = g.n, .to = g.to, .fill = fill_going, .provide = provide, .context = &g};
    const int status = nb6_moves_make(s->moves, &job, &come, &n_come, err);
    if (!status && n_come > 0) nbc_sort(come, (size_t)n_come, sizeof(struct record), by_name);
    if (!status && g.n + n_come > 0) take_in(s, given, own, come, n_come);
    nbc_free(come);
    return status;
}

int nb6_rank_bodies_send(struct nb6_collisionless *s, const int32_t *rank, struct nbc_error *err)
{
    return send(s, rank, err);
}

struct dividing {
    const struct nb6_collisionless *share;
    const struct nb6_sections *sections;
};

static void divide_part(void *context, int part, int parts)
{
    const struct dividing *d = context;
    const struct nb6_collisionless *s = d->share;
    int64_t first, end;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) s->due[i] = nb6_sections_rank_of(d->sections, s->x0[i]);
}

int nb6_rank_bodies_settle(struct nb6_collisionless *s, const struct nb6_sections *sections, struct nbc_error *err)
{
    struct dividing dividing = {s, sections};
    nbc_team_run(parts_for(s->n), divide_part, &dividing);
    return send(s, NULL, err);
}

/* ---- to those that have their numbers */

static int32_t home_of(const struct nb6_world *world, int64_t n, int64_t name)
{
    const int ranks = nb6_world_size(world);
    int32_t rank = (int32_t)((name - 1) * ranks / n); /* or one beside it */
    for (;;) {
        int64_t first, end;
        nb6_world_share(world, n, rank, &first, &end);
        if (name - 1 < first)
            rank--;
        else if (name - 1 >= end)
            rank++;
        else
            return rank;
    }
}

static int32_t *homes_of(const struct nb6_collisionless *s, int64_t n)
{
    int32_t *to = nbc_alloc_unset((size_t)s->n, sizeof *to);
    for (int64_t i = 0; i < s->n && to; i++) to[i] = home_of(s->world, n, s->name[i]);
    return to;
}

static int64_t first_of(const struct nb6_world *world, int64_t n)
{
    int64_t first, end;
    nb6_world_share(world, n, nb6_world_rank(world), &first, &end);
    return first;
}

static void fill_body(const void *context, int64_t i, void *record)
{
    const struct record r = record_of(context, i);
    memcpy(record, &r, sizeof r);
}

int nb6_rank_bodies_home(const struct nb6_collisionless *s, int64_t n, struct nb6_collisionless *home,
                         struct nbc_error *err)
{
    const int64_t first = first_of(s->world, n);
    int32_t *to = homes_of(s, n);
    void *come = NULL;
    int64_t n_come = 0;
    const struct nb6_moves_job job = {.size = sizeof(struct record),
                                      .n = s->n,
                                      .to = to,
                                      .status = to ? NBC_OK : no_memory(s->n, err),
                                      .fill = fill_body,
                                      .context = (void *)s}; /* read alone */
    const int status = nb6_moves_make(s->moves, &job, &come, &n_come, err);
    for (int64_t k = 0; k < n_come && !status; k++) {
        const struct record *r = (const struct record *)come + k;
        set_state(home, r->name - 1 - first, r);
    }
    nbc_free(to);
    nbc_free(come);
    return status;
}

/* A number for each body. */
struct numbers {
    const struct nb6_collisionless *share;
    const double *value;
};

static void fill_number(const void *context, int64_t i, void *record)
{
    const struct numbers *numbers = context;
    const struct number r = {numbers->share->name[i], numbers->value[i]};
    memcpy(record, &r, sizeof r);
}

int nb6_rank_bodies_home_numbers(const struct nb6_collisionless *s, int64_t n, const double *mine, double *home,
                                 struct nbc_error *err)
{
    const int64_t first = first_of(s->world, n);
    struct numbers numbers = {s, mine};
    int32_t *to = homes_of(s, n);
    void *come = NULL;
    int64_t n_come = 0;
    const struct nb6_moves_job job = {.size = sizeof(struct number),
                                      .n = s->n,
                                      .to = to,
                                      .status = to ? NBC_OK : no_memory(s->n, err),
                                      .fill = fill_number,
                                      .context = &numbers};
    const int status = nb6_moves_make(s->moves, &job, &come, &n_come, err);
    for (int64_t k = 0; k < n_come && !status; k++) {
        const struct number *one = (const struct number *)come + k;
        home[one->name - 1 - first] = one->value;
    }
    nbc_free(to);
    nbc_free(come);
    return status;
}
