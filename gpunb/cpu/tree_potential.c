/* SIMD backends: potentials by a tree. Each cell of targets has a list of the cells that are still to act on it: those
 * that are far add to its series, those of its parts have what is left (Dehnen 2002, J. Comput. Phys. 179, 27, without
 * mutual terms, so that each thread writes to its own targets alone). */
#include "common/team.h"
#include "gpunb/cpu/cpu.h"
#include "gpunb/tree/cells.h"
#include "gpunb/tree/harmonic.h"

#include <math.h>
#include <string.h>

enum {
    LEAF = 64,
    WORTH_A_SERIES = 256, /* pairs of two leaves that cost as much as one cell on another */
    TASKS = 512,          /* parts of the targets, whatever the number of threads */
    PILE = 64,            /* cells that act at a time */
    TARGETS = 64,         /* that bodies act on at a time, at the head of the buffer, where they have no mass */
    BUFFER = 4096,
    CELLS_OF_A_PART = 16,
    BODIES_OF_A_PART = 4096
};

/* Cells have at least this distance, in parts of their radii: beyond it series converge too slowly to be worth it. */
static const double LARGEST_ANGLE = 0.5;

struct node {
    double centre[3], mass, radius;
    int32_t first, count, child, n_child;
};

struct field {
    const struct gpunb_cpu_kernels *kernels;
    const struct gpunb_pot_job *job;
    double aim;
    struct tree_cells cells;
    size_t begin, end;           /* cells of a level */
    struct node *node;           /* [cells] */
    double (*moment)[HARMONICS]; /* [cells] */
    double *x, *y, *z, *m, *pot; /* [n] by place */
    int32_t *task;               /* [n_tasks] cells */
    size_t n_tasks;
    struct nbc_queue queue;
    int has_failed;
};

/* ---- cells */

static void copy_part(void *context, int part, int parts)
{
    const struct field *f = context;
    int64_t first, end;
    nbc_range((int64_t)f->cells.n, part, parts, &first, &end);
    for (int64_t p = first; p < end; p++) {
        const int32_t i = f->cells.number[p];
        f->x[p] = f->job->x[i][0];
        f->y[p] = f->job->x[i][1];
        f->z[p] = f->job->x[i][2];
        f->m[p] = f->job->mass[i];
    }
}

/* The centre of mass, or the mean place of bodies without mass, and the farthest body from it. */
static void bound(const struct field *f, struct node *node)
{
    double sum[4] = {0}, mean[3] = {0}, most2 = 0;
    for (int32_t p = node->first; p < node->first + node->count; p++) {
        const double x[3] = {f->x[p], f->y[p], f->z[p]};
        for (int k = 0; k < 3; k++) {
            sum[k] += f->m[p] * x[k];
            mean[k] += x[k];
        }
        sum[3] += f->m[p];
    }
    node->mass = sum[3];
    for (int k = 0; k < 3; k++) node->centre[k] = sum[3] > 0 ? sum[k] / sum[3] : mean[k] / node->count;
    for (int32_t p = node->first; p < node->first + node->count; p++) {
        const double d[3] = {f->x[p] - node->centre[0], f->y[p] - node->centre[1], f->z[p] - node->centre[2]};
        most2 = fmax(most2, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    node->radius = sqrt(most2);
}

static void from_bodies(const struct field *f, const struct node *node, double *moment)
{
    for (int32_t p = node->first; p < node->first + node->count; p++) {
        const double back[3] = {node->centre[0] - f->x[p], node->centre[1] - f->y[p], node->centre[2] - f->z[p]};
        double h[HARMONICS];
        harmonic_functions(back, h);
        for (int b = 0; b < HARMONICS; b++) moment[b] += f->m[p] * h[b];
    }
}

static void cell_part(void *context, int part, int parts)
{
    const struct field *f = context;
    int64_t first, end;
    nbc_range((int64_t)(f->end - f->begin), part, parts, &first, &end);
    for (size_t c = f->begin + (size_t)first; c < f->begin + (size_t)end; c++) {
        const struct tree_cell *cell = &f->cells.cell[c];
        struct node *node = &f->node[c];
        *node =
            (struct node){.first = cell->first, .count = cell->count, .child = cell->child, .n_child = cell->n_child};
        bound(f, node);
        memset(f->moment[c], 0, sizeof f->moment[c]);
        if (node->n_child == 0) from_bodies(f, node, f->moment[c]);
        for (int32_t k = node->child; k < node->child + node->n_child; k++) {
            const double *at = f->node[k].centre, *centre = node->centre;
            const double t[3] = {at[0] - centre[0], at[1] - centre[1], at[2] - centre[2]};
            harmonic_add_moments(f->moment[k], t, f->moment[c]);
        }
    }
}

/* Cells with few enough targets whose cell around has too many. */
static size_t list_tasks(const struct field *f, int32_t cell, int32_t *list)
{
    const struct node *node = &f->node[cell];
    size_t n = 0;
    if (node->n_child == 0 || (size_t)node->count <= f->cells.n / TASKS) {
        if (list) *list = cell;
        return 1;
    }
    for (int32_t k = 0; k < node->n_child; k++) n += list_tasks(f, node->child + k, list ? list + n : NULL);
    return n;
}

static int make_cells(struct field *f)
{
    const size_t n = f->job->n;
    double seconds[3] = {0};
    if (tree_make_cells(&f->cells, n, f->job->x, 0, LEAF, 0, seconds)) return NBC_NO_MEMORY;
    const size_t cells = f->cells.level[f->cells.n_levels];
    f->node = nbc_alloc_unset(cells, sizeof *f->node);
    f->moment = nbc_alloc_unset(cells, sizeof *f->moment);
    f->x = nbc_alloc_unset(n, 5 * sizeof *f->x);
    if (!f->node || !f->moment || !f->x) return NBC_NO_MEMORY;
    f->y = f->x + n;
    f->z = f->y + n;
    f->m = f->z + n;
    f->pot = f->m + n;
    nbc_team_run(nbc_parts((int64_t)n, BODIES_OF_A_PART), copy_part, f);
    for (int level = f->cells.n_levels - 1; level >= 0; level--) {
        f->begin = f->cells.level[level];
        f->end = f->cells.level[level + 1];
        nbc_team_run(nbc_parts((int64_t)(f->end - f->begin), CELLS_OF_A_PART), cell_part, f);
    }
    f->n_tasks = list_tasks(f, 0, NULL);
    f->task = nbc_alloc_unset(f->n_tasks, sizeof *f->task);
    if (!f->task) return NBC_NO_MEMORY;
    list_tasks(f, 0, f->task);
    return NBC_OK;
}

/* ---- walks */

/* Of a thread. `list` holds the cells that wait, of each cell on the way down. */
struct walk {
    struct field *field;
    struct tree_room room;
    int32_t *list;
    size_t used, n_far;
    struct gpunb_multipole far[PILE];
    _Alignas(64) double x[BUFFER], y[BUFFER], z[BUFFER], m[BUFFER];
    size_t n_targets, n_bodies; /* in the buffer */
    double pot[TARGETS];
};

/* @return 0 without memory */
static int put(struct walk *w, int32_t cell)
{
    if (w->used == w->room.bytes / sizeof *w->list || !w->list) {
        w->list = tree_room_kept(&w->room, w->used + 1024, sizeof *w->list);
        if (!w->list) return 0;
    }
    w->list[w->used++] = cell;
    return 1;
}

static void flush_cells(struct walk *w, double *series)
{
    if (w->n_far > 0) w->field->kernels->add_series(w->far, w->n_far, series);
    w->n_far = 0;
}

/* A series of rank p leaves out about mass/R ((both radii)/R)^(p + 1). */
static int acts(const struct field *f, const struct node *target, const struct node *source, double d[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = target->centre[k] - source->centre[k];
        r2 += d[k] * d[k];
    }
    const double both = target->radius + source->radius, angle2 = both * both / r2;
    if (!(r2 > GPUNB_ZERO_R2 && angle2 < LARGEST_ANGLE * LARGEST_ANGLE)) return 0;
    if (target->n_child == 0 && source->n_child == 0 && (int64_t)target->count * source->count < WORTH_A_SERIES)
        return 0;
    double left2 = source->mass * source->mass / r2;
    for (int n = 0; n <= HARMONIC_ORDER; n++) left2 *= angle2;
    return left2 <= f->aim * f->aim;
}

/* One cell: it acts as a whole, its parts do, it is left for the parts of the target, or its bodies act.
 * @return 0 without memory */
static int decide(struct walk *w, const struct node *target, int32_t cell, double *series)
{
    const struct field *f = w->field;
    const struct node *source = &f->node[cell];
    struct gpunb_multipole far = {.moment = f->moment[cell]};
    if (acts(f, target, source, far.at)) {
        w->far[w->n_far++] = far;
        if (w->n_far == PILE) flush_cells(w, series);
        return 1;
    }
    if (source->n_child > 0 && (target->n_child == 0 || source->radius > target->radius)) {
        for (int32_t k = 0; k < source->n_child; k++)
            if (!decide(w, target, source->child + k, series)) return 0;
        return 1;
    }
    return put(w, cell);
}

/* ---- bodies */

static void flush_bodies(struct walk *w)
{
    double pot[TARGETS];
    size_t padded = w->n_bodies;
    for (; padded % CPU_CELL > 0; padded++) {
        w->x[padded] = w->x[0];
        w->y[padded] = w->y[0];
        w->z[padded] = w->z[0];
        w->m[padded] = 0;
    }
    w->field->kernels->potential(&(struct gpunb_cpu_pot){
        .x = w->x, .y = w->y, .z = w->z, .m = w->m, .n_padded = padded, .n_i = w->n_targets, .pot = pot});
    for (size_t i = 0; i < w->n_targets; i++) w->pot[i] += pot[i];
    w->n_bodies = w->n_targets;
}

static void add_bodies(struct walk *w, const struct node *source)
{
    const struct field *f = w->field;
    for (size_t first = (size_t)source->first, left = (size_t)source->count; left > 0;) {
        const size_t n = left < BUFFER - w->n_bodies ? left : BUFFER - w->n_bodies;
        memcpy(w->x + w->n_bodies, f->x + first, n * sizeof *w->x);
        memcpy(w->y + w->n_bodies, f->y + first, n * sizeof *w->y);
        memcpy(w->z + w->n_bodies, f->z + first, n * sizeof *w->z);
        memcpy(w->m + w->n_bodies, f->m + first, n * sizeof *w->m);
        w->n_bodies += n;
        first += n;
        left -= n;
        if (w->n_bodies == BUFFER) flush_bodies(w);
    }
}

/* Some targets of a leaf, with the cells [begin, end) of the list. */
static void end_targets(struct walk *w, const struct node *leaf, size_t first, size_t n, size_t begin, size_t end,
                        const double *series)
{
    const struct field *f = w->field;
    w->n_bodies = 0;
    add_bodies(w, &(struct node){.first = (int32_t)first, .count = (int32_t)n});
    w->n_targets = n;
    for (size_t i = 0; i < n; i++) w->m[i] = w->pot[i] = 0;
    for (size_t k = begin; k < end; k++) add_bodies(w, &f->node[w->list[k]]);
    flush_bodies(w);
    for (size_t i = 0; i < n; i++) {
        const double y[3] = {w->x[i] - leaf->centre[0], w->y[i] - leaf->centre[1], w->z[i] - leaf->centre[2]};
        f->pot[first + i] = w->pot[i] - harmonic_value(series, y);
    }
}

static void end_leaf(struct walk *w, const struct node *leaf, size_t begin, size_t end, const double *series)
{
    const size_t count = (size_t)leaf->count;
    for (size_t i = 0; i < count; i += TARGETS)
        end_targets(w, leaf, (size_t)leaf->first + i, count - i < TARGETS ? count - i : TARGETS, begin, end, series);
}

/* A cell of targets, on which the cells [begin, end) of the list are to act, and whose series has all others.
 * @return 0 without memory */
static int visit(struct walk *w, const struct node *target, size_t begin, size_t end, double *series)
{
    const struct field *f = w->field;
    for (size_t k = begin; k < end; k++)
        if (!decide(w, target, w->list[k], series)) return 0;
    flush_cells(w, series);
    const size_t rest = w->used;
    if (target->n_child == 0) end_leaf(w, target, end, rest, series);
    for (int32_t k = 0; k < target->n_child; k++) {
        const struct node *part = &f->node[target->child + k];
        double t[3], moved[HARMONICS];
        for (int c = 0; c < 3; c++) t[c] = part->centre[c] - target->centre[c];
        harmonic_move_series(series, t, moved);
        if (!visit(w, part, end, rest, moved)) return 0;
    }
    w->used = end;
    return 1;
}

static void walk_part(void *context, int part, int parts)
{
    struct field *f = context;
    struct walk *w = nbc_alloc_unset(1, sizeof *w);
    int is_sound = w != NULL;
    (void)part;
    (void)parts;
    if (w) {
        w->field = f;
        w->room = (struct tree_room){0};
        w->list = NULL;
        w->n_far = 0;
    }
    for (int64_t k; is_sound && (k = nbc_take(&f->queue)) < (int64_t)f->n_tasks;) {
        double series[HARMONICS] = {0};
        w->used = 0;
        is_sound = put(w, 0) && visit(w, &f->node[f->task[k]], 0, 1, series);
    }
    if (!is_sound) __atomic_store_n(&f->has_failed, 1, __ATOMIC_RELAXED);
    if (w) nbc_free(w->room.data);
    nbc_free(w);
}

static void give_part(void *context, int part, int parts)
{
    const struct field *f = context;
    int64_t first, end;
    nbc_range((int64_t)f->cells.n, part, parts, &first, &end);
    for (int64_t p = first; p < end; p++) f->job->pot[f->cells.number[p]] = f->pot[p];
}

int gpunb_cpu_potential_by_tree(const struct gpunb_backend *backend, const struct gpunb_pot_job *job, double aim)
{
    struct field *f = nbc_alloc(1, sizeof *f);
    if (!f) return NBC_NO_MEMORY;
    f->kernels = backend->method;
    f->job = job;
    f->aim = aim;
    int status = make_cells(f);
    if (!status) {
        nbc_team_run(nbc_parts((int64_t)f->n_tasks, 1), walk_part, f);
        status = f->has_failed ? NBC_NO_MEMORY : NBC_OK;
    }
    if (!status) nbc_team_run(nbc_parts((int64_t)job->n, BODIES_OF_A_PART), give_part, f);
    tree_free_cells(&f->cells);
    nbc_free(f->node);
    nbc_free(f->moment);
    nbc_free(f->x);
    nbc_free(f->task);
    nbc_free(f);
    return status;
}
