/* The essential tree of a part for another one: its cells from the top down to those that may act as a whole on all
 * groups of that part, and the bodies of leaves that may not. */
#include "common/team.h"
#include "gpunb/handle.h"
#include "gpunb/tree/essential_parts.h"

#include <math.h>
#include <string.h>

/* ---- boxes in boxes, so that a cell that is far from many of them is tested once */

struct boxes {
    const struct gpunb_essential *essential;
    const struct gpunb_essential_box *box; /* [n] */
    struct gpunb_essential_box *node; /* [2 n] node 1 holds all, k has parts 2 k and 2 k + 1; by halves of ranges */
};

static size_t nodes_of(size_t n)
{
    size_t most = 1;
    while (most < n) most *= 2;
    return 2 * most;
}

static void fill_node(struct boxes *b, size_t node, size_t first, size_t end)
{
    if (end - first == 1) {
        b->node[node] = b->box[first];
        return;
    }
    const size_t middle = first + (end - first) / 2;
    fill_node(b, 2 * node, first, middle);
    fill_node(b, 2 * node + 1, middle, end);
    const struct gpunb_essential_box *one = &b->node[2 * node], *other = one + 1;
    for (int k = 0; k < 3; k++) {
        b->node[node].low[k] = fmin(one->low[k], other->low[k]);
        b->node[node].high[k] = fmax(one->high[k], other->high[k]);
    }
    b->node[node].scale = fmin(one->scale, other->scale);
    b->node[node].radius = fmax(one->radius, other->radius);
}

/* ---- cells, level by level: all threads test those of a level, then one opens them in their order */

enum { CELLS_OF_A_TEST = 64, CELLS_OF_A_COPY = 1024 };

/* Place of a cell in a list that is kept: it is not there. */
enum { IS_NEW = -1 };

struct exporting {
    struct boxes boxes;
    int32_t n_boxes;
    struct essential_test test;
    const struct tree_cell *cell; /* of the own tree */
    int32_t *queue;               /* cells of the essential tree */
    struct essential_shape *shape;
    int32_t *at; /* of each: its place among those that act as a whole, or of its first body */
    struct essential_heading heading;
    int64_t begin, end; /* the level */
    uint64_t tested;
    int32_t worth;                     /* bodies that cost as much as a term */
    const struct essential_kept *kept; /* the list that there is, or NULL; */
    int32_t *place, next;              /* of each cell in it, and of the next part of a cell that was open there */
};

/* The entry of a cell in the list that is kept, as of struct essential_kept: that of one that is new is tested. */
static int32_t kept_of(const struct exporting *x, int64_t k)
{
    return !x->kept || x->place[k] == IS_NEW ? TREE_PARTS_ELSEWHERE : x->kept[x->place[k]].n_child;
}

/* A cell that is not worth its term is a leaf: it acts by its bodies, opened or not. Of a list that is kept those that
 * acted as a whole are tested, and no others.   @return as n_child of a shape, of cells with parts their number here */
static int32_t judge(const struct exporting *x, int64_t k, uint64_t *tested)
{
    const struct tree_cell *cell = &x->cell[x->queue[k]];
    const int32_t then = kept_of(x, k);
    if (then == TREE_PARTS_ELSEWHERE && essential_accepts_all(&x->test, cell, x->boxes.node, x->n_boxes, tested))
        return TREE_PARTS_ELSEWHERE;
    return then == 0 || cell->count <= x->worth ? 0 : cell->n_child;
}

static void judge_part(void *context, int part, int parts)
{
    struct exporting *x = context;
    int64_t first, end;
    uint64_t tested = 0;
    nbc_range(x->end - x->begin, part, parts, &first, &end);
    for (int64_t k = x->begin + first; k < x->begin + end; k++)
        x->shape[k] = (struct essential_shape){judge(x, k, &tested), x->cell[x->queue[k]].count};
    __atomic_fetch_add(&x->tested, tested, __ATOMIC_RELAXED);
}

/* Parts without mass stay. Cells of a list that is kept have the order that they had. */
static void open_cell(struct exporting *x, const struct tree_cell *cell, struct essential_shape *shape, int was_open)
{
    for (int32_t p = cell->child; p < cell->child + cell->n_child; p++)
        if (x->cell[p].mass > 0) {
            if (x->kept) x->place[x->heading.cells] = was_open ? x->next++ : IS_NEW;
            x->queue[x->heading.cells++] = p;
            shape->n_child++;
        }
}

/* After the tests. */
static void visit(struct exporting *x, int64_t k)
{
    const struct tree_cell *cell = &x->cell[x->queue[k]];
    struct essential_shape *shape = &x->shape[k];
    if (shape->n_child == TREE_PARTS_ELSEWHERE) {
        x->at[k] = (int32_t)x->heading.whole++;
    } else if (shape->n_child == 0) {
        x->at[k] = (int32_t)x->heading.bodies;
        x->heading.bodies += cell->count;
    } else {
        shape->n_child = 0;
        open_cell(x, cell, shape, kept_of(x, k) > 0);
    }
}

static void choose_cells(struct exporting *x)
{
    x->queue[0] = 0;
    if (x->kept) x->place[0] = 0;
    x->next = 1;
    x->heading = (struct essential_heading){.cells = 1};
    while (x->end < x->heading.cells) {
        x->begin = x->end;
        x->end = x->heading.cells;
        nbc_team_run(nbc_parts(x->end - x->begin, CELLS_OF_A_TEST), judge_part, x);
        for (int64_t k = x->begin; k < x->end; k++) visit(x, k);
    }
}

/* Cells for a part with these boxes.   @param[in] kept  the list that there is, or NULL   @return NBC_OK;
 * NBC_NO_MEMORY */
static int find_cells(struct gpunb_essential *e, int to, const struct gpunb_essential_box *boxes, size_t n,
                      const struct essential_kept *kept, struct exporting *x)
{
    const size_t cells = e->local->cells.level[e->local->cells.n_levels];
    *x = (struct exporting){
        .boxes = {.essential = e, .box = boxes, .node = tree_room(&e->nodes, nodes_of(n), sizeof *x->boxes.node)},
        .n_boxes = (int32_t)n,
        .test = essential_test_of(e),
        .cell = e->local->cells.cell,
        .worth = tree_worth_a_term(e->rule.order),
        .queue = tree_room(&e->queue, cells, sizeof *x->queue),
        .shape = tree_room(&e->shapes, cells, sizeof *x->shape),
        .at = tree_room(&e->ats, cells, sizeof *x->at),
        .kept = kept,
        .place = kept ? tree_room(&e->places, cells, sizeof *x->place) : NULL};
    if (!x->boxes.node || !x->queue || !x->shape || !x->at || (kept && !x->place))
        return nbc_fail(&e->handle->error, NBC_NO_MEMORY, "gpunb: no memory for the essential tree of part %d", to);
    fill_node(&x->boxes, 1, 0, n);
    choose_cells(x);
    e->counts.tested += x->tested;
    return NBC_OK;
}

/* ---- what is sent of them */

static size_t bytes_of(const struct gpunb_essential *e, const struct essential_heading *heading)
{
    return sizeof *heading + (size_t)heading->cells * sizeof(struct essential_shape) +
           (size_t)heading->whole * essential_cell_bytes(e) + (size_t)heading->bodies * sizeof(struct essential_body);
}

/* An essential tree being written. */
struct writing {
    const struct exporting *x;
    char *whole;
    struct essential_body *body;
};

static void write_part(void *context, int part, int parts)
{
    const struct writing *w = context;
    const struct exporting *x = w->x;
    const struct gpunb_essential *e = x->boxes.essential;
    int64_t first, end;
    nbc_range(x->heading.cells, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const struct tree_cell *cell = &x->cell[x->queue[k]];
        const size_t at = (size_t)x->at[k];
        if (x->shape[k].n_child == TREE_PARTS_ELSEWHERE)
            essential_write_cell(e, (size_t)x->queue[k], w->whole + at * essential_cell_bytes(e));
        for (int32_t j = 0; j < cell->count && x->shape[k].n_child == 0; j++) {
            struct essential_body *body = &w->body[at + (size_t)j];
            memcpy(body->x, e->local->x[cell->first + j], sizeof body->x);
            body->mass = e->local->mass[cell->first + j];
        }
    }
}

static void write_cells(const struct gpunb_essential *e, const struct exporting *x, char *to)
{
    const size_t shape_bytes = (size_t)x->heading.cells * sizeof *x->shape;
    char *whole = to + sizeof x->heading + shape_bytes;
    struct writing writing = {x, whole, (void *)(whole + (size_t)x->heading.whole * essential_cell_bytes(e))};
    memcpy(to, &x->heading, sizeof x->heading);
    memcpy(to + sizeof x->heading, x->shape, shape_bytes);
    nbc_team_run(nbc_parts(x->heading.cells, CELLS_OF_A_COPY), write_part, &writing);
}

static int give(struct gpunb_essential *e, int to, const struct exporting *x, const void **data, size_t *bytes)
{
    const size_t size = bytes_of(e, &x->heading);
    char *room = tree_room(&e->out[to].data, size, 1);
    if (!room)
        return nbc_fail(&e->handle->error, NBC_NO_MEMORY, "gpunb: no memory for the essential tree of part %d", to);
    write_cells(e, x, room);
    *data = room;
    *bytes = size;
    e->counts.sent_bytes += size;
    return NBC_OK;
}

/* The device finds and writes them. */
static int give_on_device(struct gpunb_essential *e, int to, const struct gpunb_essential_box *boxes, const void **data,
                          size_t *bytes)
{
    const struct essential_test test = essential_test_of(e);
    const size_t n = (size_t)e->reach[to].boxes, nodes = nodes_of(n);
    struct boxes b = {.essential = e, .box = boxes, .node = tree_room(&e->nodes, nodes, sizeof *b.node)};
    if (!b.node)
        return nbc_fail(&e->handle->error, NBC_NO_MEMORY, "gpunb: no memory for the essential tree of part %d", to);
    fill_node(&b, 1, 0, n);
    const struct essential_question question = {.test = &test,
                                                .node = b.node,
                                                .nodes = nodes,
                                                .boxes = n,
                                                .worth = tree_worth_a_term(e->rule.order),
                                                .to = to,
                                                .parts = e->parts};
    const int status = e->handle->tree->method->device->give(e->handle->state, e->local, &question, data, bytes,
                                                             &e->counts.tested, &e->handle->error);
    if (!status) e->counts.sent_bytes += *bytes;
    return status;
}

int gpunb_essential_export(struct gpunb_essential *e, int to, const struct gpunb_essential_box *boxes,
                           const void **data, size_t *bytes)
{
    if (essential_is_on_device(e)) return give_on_device(e, to, boxes, data, bytes);
    struct exporting x;
    const int status = find_cells(e, to, boxes, (size_t)e->reach[to].boxes, NULL, &x);
    return status ? status : give(e, to, &x, data, bytes);
}

/* ---- lists that are kept */

int gpunb_essential_keep(struct gpunb_essential *e, int to, const struct gpunb_essential_box *boxes)
{
    struct essential_out *out = &e->out[to];
    const size_t n = (size_t)e->reach[to].boxes;
    struct exporting x;
    const int status = find_cells(e, to, boxes, n, NULL, &x);
    if (status) return status;
    struct gpunb_essential_box *box = tree_room(&out->box_room, n, sizeof *box);
    struct essential_kept *kept = tree_room(&out->cell_room, (size_t)x.heading.cells, sizeof *kept);
    if (!box || !kept)
        return nbc_fail(&e->handle->error, NBC_NO_MEMORY, "gpunb: no memory for the list of part %d", to);
    memcpy(box, boxes, n * sizeof *box);
    for (int64_t k = 0; k < x.heading.cells; k++) kept[k] = (struct essential_kept){x.queue[k], x.shape[k].n_child};
    out->boxes = (int64_t)n;
    out->cells = x.heading.cells;
    return NBC_OK;
}

/* Of a part that was far when the plan was made the box of all its boxes is known. */
int gpunb_essential_export_kept(struct gpunb_essential *e, int to, const void **data, size_t *bytes)
{
    const struct essential_out *out = &e->out[to];
    const int has_list = out->cells > 0;
    struct exporting x;
    const int status = find_cells(e, to, has_list ? out->box_room.data : &e->reach[to].box,
                                  has_list ? (size_t)out->boxes : 1, has_list ? out->cell_room.data : NULL, &x);
    return status ? status : give(e, to, &x, data, bytes);
}
