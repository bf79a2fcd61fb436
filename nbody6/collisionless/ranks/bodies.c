#include "nbody6/collisionless/ranks/bodies.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/moves.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/world/world.h"

#include <stdlib.h>
#include <string.h>

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

static void set_body(struct nb6_collisionless *s, int64_t i, const struct record *r)
{
    s->name[i] = r->name;
    set_state(s, i, r);
}

/* ---- to the ranks in whose domains they are */

static int by_name(const void *a, const void *b)
{
    const int64_t p = ((const struct record *)a)->name, q = ((const struct record *)b)->name;
    return (p > q) - (p < q);
}

/* Without those that go, and with those that come, which are sorted: from the end on, where there is room. */
static void take_in(struct nb6_collisionless *s, const int32_t *rank, int own, const struct record *come,
                    int64_t n_come)
{
    int64_t stay = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (rank[i] != own) continue;
        const struct record r = record_of(s, i);
        set_body(s, stay++, &r);
    }
    s->n = stay + n_come;
    for (int64_t to = s->n - 1; n_come > 0; to--) {
        if (stay > 0 && s->name[stay - 1] > come[n_come - 1].name) {
            const struct record r = record_of(s, --stay);
            set_body(s, to, &r);
        } else
            set_body(s, to, &come[--n_come]);
    }
}

/* Bodies that go, and where. */
struct going {
    struct nb6_collisionless *share;
    int32_t *to, *body;
    int64_t n;
};

static void release(struct going *g)
{
    nbc_free(g->to);
    nbc_free(g->body);
}

static int find_going(const struct nb6_collisionless *s, int own, const int32_t *rank, struct going *g,
                      struct nbc_error *err)
{
    for (int64_t i = 0; i < s->n; i++) g->n += rank[i] != own;
    g->to = nbc_alloc_unset((size_t)g->n, sizeof *g->to);
    g->body = nbc_alloc_unset((size_t)g->n, sizeof *g->body);
    if (!g->to || !g->body) return no_memory(g->n, err);
    for (int64_t i = 0, k = 0; i < s->n; i++)
        if (rank[i] != own) {
            g->to[k] = rank[i];
            g->body[k++] = (int32_t)i;
        }
    return NBC_OK;
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

/* status: of this rank so far. */
static int send(struct nb6_collisionless *s, const int32_t *rank, int status, struct nbc_error *err)
{
    const int own = nb6_world_rank(s->world);
    struct going g = {.share = s};
    void *come = NULL;
    int64_t n_come = 0;
    if (!status) status = find_going(s, own, rank, &g, err);
    const struct nb6_moves_job job = {.size = sizeof(struct record),
                                      .n = g.n,
                                      .to = g.to,
                                      .status = status,
                                      .fill = fill_going,
                                      .provide = provide,
                                      .context = &g};
    status = nb6_moves_make(s->moves, &job, &come, &n_come, err);
    if (!status && n_come > 0) qsort(come, (size_t)n_come, sizeof(struct record), by_name);
    if (!status && g.n + n_come > 0) take_in(s, rank, own, come, n_come);
    nbc_free(come);
    release(&g);
    return status;
}

int nb6_rank_bodies_send(struct nb6_collisionless *s, const int32_t *rank, struct nbc_error *err)
{
    return send(s, rank, NBC_OK, err);
}

int nb6_rank_bodies_settle(struct nb6_collisionless *s, const struct nb6_sections *sections, struct nbc_error *err)
{
    int32_t *rank = nbc_alloc_unset((size_t)s->n, sizeof *rank);
    for (int64_t i = 0; i < s->n && rank; i++) rank[i] = nb6_sections_rank_of(sections, s->x0[i]);
    const int status = send(s, rank, rank ? NBC_OK : no_memory(s->n, err), err);
    nbc_free(rank);
    return status;
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
