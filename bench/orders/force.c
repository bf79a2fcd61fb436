#include "bench/orders/orders.h"

#include "common/nbc.h"
#include "gpunb/tree/moments.h"

#include <math.h>
#include <string.h>
#include <time.h>

const char *const orders_kind_names[ORDERS_KINDS] = {"cell on cell", "cell on body", "body on cell", "body on body"};
const char *const orders_walk_names[ORDERS_WALKS] = {"treecode", "fmm", "hybrid"};

/* Each cut of a pair takes one from the stack and adds at most eight, and either cell can be cut once a level. */
enum { STACK = 2 * TREE_MOST_LEVELS * 7 + 8 };

struct pair {
    int32_t target, source;
};

struct traversal {
    const struct orders_job *job;
    struct tree_cells cells;
    size_t length;                      /* of an expansion */
    double *mass, (*x)[3], (*field)[4]; /* by place */
    double *moment, *local;             /* [cells][length] */
    uint8_t *has_local;                 /* [cells] */
    struct pair stack[STACK];
    struct orders_counts *counts;
};

void orders_kernel_init(struct orders_kernel *k, const struct orders_basis *basis, int order, double softening)
{
    *k = (struct orders_kernel){.basis = basis, .order = order, .softening2 = softening * softening};
    orders_fill_swap(&k->swap, order);
}

double orders_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int orders_leaf_of(const double cost[ORDERS_KINDS])
{
    return (int)fmin(256, fmax(8, 3 * sqrt(cost[ORDERS_CELL_CELL] / cost[ORDERS_BODY_BODY])));
}

void orders_direct(size_t n, const double *mass, const double (*x)[3], double softening2, const double at[3],
                   ptrdiff_t self, double field[4])
{
    for (size_t j = 0; j < n; j++) {
        const double d[3] = {x[j][0] - at[0], x[j][1] - at[1], x[j][2] - at[2]};
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening2;
        if ((ptrdiff_t)j == self) continue;
        const double mr = mass[j] / sqrt(r2), mr3 = mr / r2;
        for (int k = 0; k < 3; k++) field[k] += mr3 * d[k];
        field[3] += mr;
    }
}

static void difference(const double a[3], const double b[3], double d[3])
{
    for (int k = 0; k < 3; k++) d[k] = a[k] - b[k];
}

/* ---- moments upwards, expansions about targets downwards */

static void make_moments(struct traversal *t)
{
    const struct orders_kernel *k = t->job->kernel;
    const struct tree_view view = {.x = (const double(*)[3])t->x, .mass = t->mass, .cell = t->cells.cell};
    double d[3];
    for (size_t c = t->cells.level[t->cells.n_levels]; c-- > 0;) { /* parts come after the cell */
        struct tree_cell *cell = &t->cells.cell[c];
        double *moment = t->moment + c * t->length;
        if (cell->n_child == 0) {
            tree_bound_leaf(&view, cell);
            for (int32_t i = cell->first; i < cell->first + cell->count; i++) {
                difference(t->x[i], cell->centre, d);
                k->basis->add_body(k, t->mass[i], d, moment);
            }
            continue;
        }
        tree_bound_parts(&view, cell);
        for (int32_t p = cell->child; p < cell->child + cell->n_child; p++) {
            difference(t->cells.cell[p].centre, cell->centre, d);
            k->basis->move_moments(k, t->moment + (size_t)p * t->length, d, moment);
        }
    }
}

static void take_locals(struct traversal *t)
{
    const struct orders_kernel *k = t->job->kernel;
    const size_t n = t->cells.level[t->cells.n_levels];
    double d[3];
    for (size_t c = 0; c < n; c++) {
        const struct tree_cell *cell = &t->cells.cell[c];
        const double *local = t->local + c * t->length;
        if (!t->has_local[c]) continue;
        for (int32_t i = cell->first; cell->n_child == 0 && i < cell->first + cell->count; i++) {
            difference(t->x[i], cell->centre, d);
            k->basis->local_on_body(k, local, d, t->field[i]);
        }
        for (int32_t p = cell->child; p < cell->child + cell->n_child; p++) {
            difference(t->cells.cell[p].centre, cell->centre, d);
            k->basis->move_local(k, local, d, t->local + (size_t)p * t->length);
            t->has_local[p] = 1;
        }
    }
}

/* ---- terms */

static void add_direct(struct traversal *t, const struct tree_cell *a, const struct tree_cell *b)
{
    const size_t first = (size_t)b->first, n = (size_t)b->count;
    for (int32_t i = a->first; i < a->first + a->count; i++)
        orders_direct(n, t->mass + first, (const double(*)[3])t->x + first, t->job->kernel->softening2, t->x[i],
                      (ptrdiff_t)i - (ptrdiff_t)first, t->field[i]);
}

static void add_term(struct traversal *t, enum orders_kind kind, const struct pair *pair)
{
    const struct orders_kernel *k = t->job->kernel;
    const struct tree_cell *a = &t->cells.cell[pair->target], *b = &t->cells.cell[pair->source];
    const double *moment = t->moment + (size_t)pair->source * t->length;
    double *local = t->local + (size_t)pair->target * t->length, d[3];
    if (kind == ORDERS_CELL_CELL || kind == ORDERS_BODY_CELL) t->has_local[pair->target] = 1;
    switch (kind) {
    case ORDERS_CELL_CELL:
        difference(a->centre, b->centre, d);
        k->basis->cell_on_cell(k, moment, d, local);
        t->counts->terms[kind] += 1;
        break;
    case ORDERS_CELL_BODY:
        for (int32_t i = a->first; i < a->first + a->count; i++) {
            difference(t->x[i], b->centre, d);
            k->basis->cell_on_body(k, moment, d, t->field[i]);
        }
        t->counts->terms[kind] += a->count;
        break;
    case ORDERS_BODY_CELL:
        for (int32_t j = b->first; j < b->first + b->count; j++) {
            difference(a->centre, t->x[j], d);
            k->basis->body_on_cell(k, t->mass[j], d, local);
        }
        t->counts->terms[kind] += b->count;
        break;
    default:
        add_direct(t, a, b);
        t->counts->terms[ORDERS_BODY_BODY] += (double)a->count * b->count;
    }
}

static enum orders_kind choose(const struct orders_job *job, double targets, double sources)
{
    const double cost[ORDERS_KINDS] = {
        [ORDERS_CELL_CELL] = job->cost[ORDERS_CELL_CELL],
        [ORDERS_CELL_BODY] = targets * job->cost[ORDERS_CELL_BODY],
        [ORDERS_BODY_CELL] = sources * job->cost[ORDERS_BODY_CELL],
        [ORDERS_BODY_BODY] = targets * sources * job->cost[ORDERS_BODY_BODY],
    };
    int best = ORDERS_BODY_BODY;
    if (job->walk == ORDERS_TREECODE) return ORDERS_CELL_BODY;
    if (job->walk == ORDERS_FMM) return ORDERS_CELL_CELL;
    for (int kind = 0; kind < ORDERS_KINDS; kind++)
        if (cost[kind] < cost[best]) best = kind;
    return (enum orders_kind)best;
}

/* Whether the expansions of both converge well enough; those of bodies on themselves, which may be softened, never. */
static int is_far(const struct orders_job *job, const struct tree_cell *a, const struct tree_cell *b)
{
    const double size = a->radius + b->radius;
    double d[3];
    if (a->first < b->first + b->count && b->first < a->first + a->count) return 0;
    difference(a->centre, b->centre, d);
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + job->kernel->softening2;
    return r2 > 0 && size * size < job->theta * job->theta * r2;
}

static void walk(struct traversal *t)
{
    int n = 1;
    t->stack[0] = (struct pair){0, 0};
    while (n > 0) {
        const struct pair pair = t->stack[--n];
        const struct tree_cell *a = &t->cells.cell[pair.target], *b = &t->cells.cell[pair.source];
        if (is_far(t->job, a, b)) {
            add_term(t, choose(t->job, a->count, b->count), &pair);
        } else if (a->n_child == 0 && b->n_child == 0) {
            add_term(t, ORDERS_BODY_BODY, &pair);
        } else if (b->n_child == 0 || (a->n_child > 0 && a->radius >= b->radius)) {
            for (int32_t p = 0; p < a->n_child; p++) t->stack[n++] = (struct pair){a->child + p, pair.source};
        } else {
            for (int32_t p = 0; p < b->n_child; p++) t->stack[n++] = (struct pair){pair.target, b->child + p};
        }
    }
}

/* ---- calls */

static int provide(struct traversal *t)
{
    const size_t n = t->job->n, cells = t->cells.level[t->cells.n_levels];
    t->length = (size_t)t->job->kernel->basis->length(t->job->kernel->order);
    t->mass = nbc_alloc(n, sizeof *t->mass);
    t->x = nbc_alloc(n, sizeof *t->x);
    t->field = nbc_alloc(n, sizeof *t->field);
    t->moment = nbc_alloc(cells * t->length, sizeof *t->moment);
    t->local = nbc_alloc(cells * t->length, sizeof *t->local);
    t->has_local = nbc_alloc(cells, sizeof *t->has_local);
    return t->mass && t->x && t->field && t->moment && t->local && t->has_local ? NBC_OK : NBC_NO_MEMORY;
}

static void sum_all(struct traversal *t)
{
    const struct orders_job *job = t->job;
    for (size_t i = 0; i < job->n; i++) {
        const int32_t j = t->cells.number[i];
        t->mass[i] = job->mass[j];
        memcpy(t->x[i], job->x[j], sizeof t->x[i]);
    }
    make_moments(t);
    walk(t);
    take_locals(t);
    for (size_t i = 0; i < job->n; i++) memcpy(job->field[t->cells.number[i]], t->field[i], sizeof t->field[i]);
}

int orders_force(const struct orders_job *job, struct orders_counts *counts)
{
    double seconds[3] = {0};
    struct traversal *t = nbc_alloc(1, sizeof *t);
    if (!t) return NBC_NO_MEMORY;
    memset(counts, 0, sizeof *counts);
    t->job = job;
    t->counts = counts;
    int status = tree_make_cells(&t->cells, job->n, job->x, 0, job->leaf, 0, seconds);
    if (!status) status = provide(t);
    if (!status) {
        const double begin = orders_clock();
        sum_all(t);
        counts->seconds = orders_clock() - begin;
    }
    double *memory[] = {t->mass, (double *)t->x, (double *)t->field, t->moment, t->local};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++) nbc_free(memory[k]);
    nbc_free(t->has_local);
    tree_free_cells(&t->cells);
    nbc_free(t);
    return status;
}
