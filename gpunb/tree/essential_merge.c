/* One tree of the own one and of all that has come: the cells of all as they are, below cells over several trees, which
 * are new. Own bodies have the first places, in their order; those of other parts follow. A device that has the own
 * tree puts it there itself (device/tree_divided.c). */
#include "common/team.h"
#include "gpunb/handle.h"
#include "gpunb/tree/essential_parts.h"
#include "gpunb/tree/keys.h"

#include <string.h>

enum { CELLS_OF_A_PART = 256, BODIES_OF_A_PART = 4096, ALL = -1 };

/* Where a cell comes from: cell `at` of the tree of a part; or the trees [at, end) of a list. */
struct origin {
    int32_t part, at, end;
};

struct merging {
    struct gpunb_essential *e;
    struct gpunb_tree *whole;
    int32_t *list; /* parts whose trees are put together, the own one first */
    int32_t trees;
    int32_t *place; /* [parts] of the first body of each */
    struct origin *origin;
    uint8_t *known;
    size_t n_cells;
    int is_elsewhere; /* the own tree: on a device, */
    int32_t own;      /* as this cell */
};

static const struct essential_heading *heading_of(const struct gpunb_essential *e, int part)
{
    return (const struct essential_heading *)(const void *)e->in[part].data;
}

static const struct essential_shape *shapes_of(const struct gpunb_essential *e, int part)
{
    return (const struct essential_shape *)(const void *)(heading_of(e, part) + 1);
}

/* Cell of a part that acts as a whole, by its place among them. */
static const char *whole_of(const struct gpunb_essential *e, int part, int32_t place)
{
    if (!e->in[part].data) return (const char *)essential_top_of(e, part);
    return (const char *)(shapes_of(e, part) + heading_of(e, part)->cells) + (size_t)place * essential_cell_bytes(e);
}

static const struct essential_body *bodies_of(const struct gpunb_essential *e, int part)
{
    return (const struct essential_body *)(const void *)whole_of(e, part, (int32_t)heading_of(e, part)->whole);
}

int gpunb_essential_take(struct gpunb_essential *e, int from, const void *data)
{
    struct essential_in *in = &e->in[from];
    const struct essential_heading *heading = data;
    struct essential_link *link = tree_room(&in->links, (size_t)heading->cells, sizeof *link);
    if (!link) return nbc_fail(&e->handle->error, NBC_NO_MEMORY, "gpunb: no memory for the tree of part %d", from);
    in->data = data;
    in->link = link;
    const struct essential_shape *shape = shapes_of(e, from);
    int32_t child = 1, whole = 0, bodies = 0;
    for (int64_t k = 0; k < heading->cells; k++) {
        const int32_t n = shape[k].n_child;
        link[k] = (struct essential_link){.child = child, .first = n == TREE_PARTS_ELSEWHERE ? whole : bodies};
        child += n > 0 ? n : 0;
        whole += n == TREE_PARTS_ELSEWHERE;
        bodies += n == 0 ? shape[k].count : 0;
    }
    e->counts.close++;
    e->counts.cells += (uint64_t)heading->cells;
    e->counts.whole += (uint64_t)heading->whole;
    e->counts.bodies += (uint64_t)heading->bodies;
    return NBC_OK;
}

/* ---- cells */

static struct origin tree_of_list(const struct merging *m, int32_t first, int32_t end)
{
    if (end - first == 1) return (struct origin){.part = m->list[first]};
    return (struct origin){.part = ALL, .at = first, .end = end};
}

/* Below the cell of all the own tree comes first, so that own bodies are met in the order of their places. */
static void open_list(struct merging *m, struct tree_cell *cell, const struct origin *from)
{
    struct origin *to = &m->origin[m->n_cells];
    const int own = from->at == 0;
    const int32_t first = from->at + own, trees = from->end - first, most = TREE_PARTS - own;
    const int32_t parts = trees < most ? trees : most;
    if (own) *to++ = tree_of_list(m, 0, 1);
    for (int32_t p = 0; p < parts; p++)
        *to++ = tree_of_list(m, first + (int32_t)((int64_t)trees * p / parts),
                             first + (int32_t)((int64_t)trees * (p + 1) / parts));
    for (int32_t t = from->at; t < from->end; t++) cell->count += essential_top_of(m->e, m->list[t])->count;
    cell->n_child = own + parts;
}

static void open_tree(struct merging *m, int part, int32_t child, int32_t n_child)
{
    for (int32_t p = 0; p < n_child; p++)
        m->origin[m->n_cells + (size_t)p] = (struct origin){.part = part, .at = child + p};
}

static void link_received(struct merging *m, struct tree_cell *cell, const struct origin *from)
{
    const struct gpunb_essential *e = m->e;
    const struct essential_shape *shape = &shapes_of(e, from->part)[from->at];
    const struct essential_link *link = &e->in[from->part].link[from->at];
    cell->n_child = shape->n_child;
    cell->count = shape->count;
    if (shape->n_child == 0) cell->first = m->place[from->part] + link->first;
    if (shape->n_child > 0) open_tree(m, from->part, link->child, shape->n_child);
}

static void link_cell(struct merging *m, size_t c)
{
    struct tree_cell *cell = &m->whole->cells.cell[c];
    const struct origin *from = &m->origin[c];
    *cell = (struct tree_cell){0};
    m->known[c] = TREE_CELL_IS_NEW;
    if (from->part == m->e->own) m->own = (int32_t)c;
    if (from->part == ALL) {
        open_list(m, cell, from);
    } else if (from->part == m->e->own && !m->is_elsewhere) {
        *cell = m->e->local->cells.cell[from->at];
        m->known[c] = TREE_CELL_IS_KNOWN;
        if (cell->n_child > 0) open_tree(m, from->part, cell->child, cell->n_child);
    } else if (m->e->in[from->part].data) {
        link_received(m, cell, from);
    } else {
        cell->n_child = TREE_PARTS_ELSEWHERE;
        cell->count = essential_top_of(m->e, from->part)->count;
    }
    if (cell->n_child == TREE_PARTS_ELSEWHERE) m->known[c] = TREE_MOMENTS_ARE_KNOWN;
    if (cell->n_child <= 0) return;
    cell->child = (int32_t)m->n_cells;
    m->n_cells += (size_t)cell->n_child;
}

static void link_cells(struct merging *m)
{
    struct tree_cells *cells = &m->whole->cells;
    size_t begin = 0;
    m->origin[0] = tree_of_list(m, 0, m->trees);
    m->n_cells = 1;
    cells->n_levels = 0;
    while (begin < m->n_cells) {
        const size_t end = m->n_cells;
        cells->level[cells->n_levels++] = begin;
        for (size_t c = begin; c < end; c++) link_cell(m, c);
        begin = end;
    }
    cells->level[cells->n_levels] = m->n_cells;
}

/* ---- what is in them */

static void take_whole(const struct merging *m, size_t c, const char *sent, size_t size)
{
    struct tree_cell *cell = &m->whole->cells.cell[c];
    const struct essential_cell *from = (const struct essential_cell *)(const void *)sent;
    memcpy(cell->low, from->low, sizeof cell->low);
    memcpy(cell->high, from->high, sizeof cell->high);
    memcpy(cell->centre, from->centre, sizeof cell->centre);
    cell->mass = from->mass;
    cell->radius = from->radius;
    cell->rest = from->rest;
    memcpy((char *)m->whole->moment + c * m->whole->moments * size, from + 1, m->whole->moments * size);
}

static void copy_part(void *context, int part, int parts)
{
    const struct merging *m = context;
    const struct gpunb_tree *local = m->e->local, *whole = m->whole;
    const size_t size = local->use->method->in_double ? sizeof(double) : sizeof(float);
    const size_t moments = whole->moments * size, coefficients = whole->coefficients * size;
    int64_t first, end;
    nbc_range((int64_t)m->n_cells, part, parts, &first, &end);
    for (size_t c = (size_t)first; c < (size_t)end; c++) {
        const struct origin *from = &m->origin[c];
        if (m->known[c] == TREE_CELL_IS_KNOWN) {
            const size_t at = (size_t)from->at;
            memcpy((char *)whole->moment + c * moments, (const char *)local->moment + at * moments, moments);
            memcpy((char *)whole->coefficient + c * coefficients, (const char *)local->coefficient + at * coefficients,
                   coefficients);
        } else if (m->known[c] == TREE_MOMENTS_ARE_KNOWN) {
            const int has_tree = m->e->in[from->part].data != NULL;
            const int32_t place = has_tree ? m->e->in[from->part].link[from->at].first : 0;
            take_whole(m, c, whole_of(m->e, from->part, place), size);
        }
    }
}

/* Bodies that have come from a part. */
struct coming {
    const struct merging *m;
    int part;
};

static void copy_coming(void *context, int part, int parts)
{
    const struct coming *c = context;
    const struct merging *m = c->m;
    const struct essential_body *body = bodies_of(m->e, c->part);
    int64_t first, end;
    nbc_range(heading_of(m->e, c->part)->bodies, part, parts, &first, &end);
    for (int64_t j = first; j < end; j++) {
        memcpy(m->whole->x[m->place[c->part] + j], body[j].x, sizeof body->x);
        m->whole->mass[m->place[c->part] + j] = body[j].mass;
    }
}

static void copy_own(void *context, int part, int parts)
{
    const struct merging *m = context;
    const struct gpunb_tree *local = m->e->local;
    int64_t first, end;
    nbc_range((int64_t)local->n, part, parts, &first, &end);
    const size_t n = (size_t)(end - first);
    memcpy(m->whole->x + first, local->x + first, n * sizeof *local->x);
    memcpy(m->whole->mass + first, local->mass + first, n * sizeof *local->mass);
}

static void copy_bodies(struct merging *m)
{
    const struct gpunb_essential *e = m->e;
    const int64_t own = (int64_t)e->local->n;
    if (!m->is_elsewhere && own > 0) nbc_team_run(nbc_parts(own, BODIES_OF_A_PART), copy_own, m);
    for (int32_t t = 1; t < m->trees; t++) {
        struct coming coming = {m, m->list[t]};
        if (!e->in[coming.part].data) continue;
        nbc_team_run(nbc_parts(heading_of(e, coming.part)->bodies, BODIES_OF_A_PART), copy_coming, &coming);
    }
}

/* ---- memory */

/* Parts with mass, their bodies, and room for all cells.   @return NBC_OK; NBC_NO_MEMORY */
static int provide(struct merging *m, int32_t *lists)
{
    struct gpunb_essential *e = m->e;
    struct gpunb_tree *whole = m->whole;
    size_t places = m->is_elsewhere ? 0 : e->local->n,
           cells = m->is_elsewhere ? 1 : e->local->cells.level[e->local->cells.n_levels];
    m->list = lists;
    m->place = lists + e->parts;
    m->list[m->trees++] = e->own;
    for (int p = 0; p < e->parts; p++) {
        if (p == e->own || !(essential_top_of(e, p)->mass > 0)) continue;
        m->list[m->trees++] = p;
        m->place[p] = (int32_t)places;
        cells += e->in[p].data ? (size_t)heading_of(e, p)->cells : 1;
        places += e->in[p].data ? (size_t)heading_of(e, p)->bodies : 0;
    }
    cells += (size_t)m->trees; /* those over several trees are fewer than the trees */
    if (places > INT32_MAX || cells > INT32_MAX) return NBC_NO_MEMORY;
    whole->n = places;
    whole->x = tree_room(&whole->xs, places, sizeof *whole->x);
    whole->mass = tree_room(&whole->masses, places, sizeof *whole->mass);
    whole->cells.cell = tree_room(&whole->cells.cells, cells, sizeof *whole->cells.cell);
    m->origin = tree_room(&e->origins, cells, sizeof *m->origin);
    m->known = tree_room(&e->known, cells, sizeof *m->known);
    return whole->x && whole->mass && whole->cells.cell && m->origin && m->known ? NBC_OK : NBC_NO_MEMORY;
}

int essential_merge(struct gpunb_essential *e, int32_t *own)
{
    struct merging m = {.e = e, .whole = e->whole, .is_elsewhere = e->handle->tree->method->device != NULL};
    int32_t *lists = nbc_alloc(2 * (size_t)e->parts, sizeof *lists);
    if (!lists) return NBC_NO_MEMORY;
    int status = provide(&m, lists);
    if (!status) {
        e->whole->place = e->local->place;
        link_cells(&m);
        status = tree_provide_moments(e->whole);
    }
    if (!status) {
        nbc_team_run(nbc_parts((int64_t)m.n_cells, CELLS_OF_A_PART), copy_part, &m);
        copy_bodies(&m);
        tree_make_other_moments(e->whole, m.known);
    }
    *own = m.own;
    nbc_free(lists);
    return status;
}
