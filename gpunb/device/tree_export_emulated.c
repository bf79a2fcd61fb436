/* Essential trees of emulated devices (device/tree_export_steps.h). */
#include "gpunb/device/tree_export_steps.h"

#include "common/team.h"
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"

enum { GROUPS_OF_A_PART = 4, CELLS_OF_A_PART = 64 };

/* ---- groups of targets */

struct measuring {
    struct device_tree_walk walk;
    struct essential_measure *measure;
};

static int groups_of(const struct device_tree_walk *walk)
{
    return (walk->n_i + walk->group - 1) / walk->group;
}

static void measure_part(void *context, int part, int parts)
{
    const struct measuring *m = context;
    struct tree_walk_memory memory;
    int64_t first, end;
    nbc_range(groups_of(&m->walk), part, parts, &first, &end);
    for (int64_t g = first; g < end; g++) tree_measure_group(&m->walk, &memory, (int)g, &m->measure[g]);
}

static void measure_all(const void *job)
{
    struct measuring own = *(const struct measuring *)job;
    nbc_team_run(nbc_parts(groups_of(&own.walk), GROUPS_OF_A_PART), measure_part, &own);
}

int gpunb_emulated_tree_measure(const struct device_tree_walk *walk, struct essential_measure *measure,
                                struct nbd_stream *stream)
{
    const struct measuring job = {*walk, measure};
    return nbd_emulated_launch(stream, measure_all, &job, sizeof job);
}

/* ---- cells */

static void judge_part(void *context, int part, int parts)
{
    const struct device_tree_export *x = context;
    int64_t first, end;
    uint64_t tested = 0;
    nbc_range(x->state->end - x->state->begin, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        const int32_t k = x->state->begin + (int32_t)i;
        x->shape[k] = (struct essential_shape){tree_judge_cell(x, k, &tested), x->tree.view.cell[x->queue[k]].count};
    }
    TREE_ADD_TO(&x->state->tested, tested);
}

static void choose_all(const void *job)
{
    struct device_tree_export own = *(const struct device_tree_export *)job;
    tree_begin_export(&own);
    while (own.state->begin < own.state->end) {
        nbc_team_run(nbc_parts(own.state->end - own.state->begin, CELLS_OF_A_PART), judge_part, &own);
        tree_open_level(&own);
    }
}

int gpunb_emulated_tree_choose(const struct device_tree_export *job, int levels, struct nbd_stream *stream)
{
    (void)levels;
    return nbd_emulated_launch(stream, choose_all, job, sizeof *job);
}

/* ---- what is sent */

static void write_part(void *context, int part, int parts)
{
    const struct device_tree_export *x = context;
    int64_t first, end;
    nbc_range(x->state->heading.cells, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) tree_write_exported(x, (int32_t)k);
}

static void write_all(const void *job)
{
    struct device_tree_export own = *(const struct device_tree_export *)job;
    nbc_team_run(nbc_parts(own.state->heading.cells, CELLS_OF_A_PART), write_part, &own);
}

int gpunb_emulated_tree_write(const struct device_tree_export *job, int64_t cells, struct nbd_stream *stream)
{
    (void)cells;
    return nbd_emulated_launch(stream, write_all, job, sizeof *job);
}
