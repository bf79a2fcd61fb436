/* Multipoles level by level, the deepest first. */
#include "gpunb/tree/moments.h"

#include "common/team.h"
#include "gpunb/tree/tree.h"

enum { CELLS_OF_A_PART = 16, NODES_OF_A_PART = 4096 };

struct pass {
    const struct tree_view *view;
    size_t begin, end;
};

static void make_part(void *context, int part, int parts)
{
    const struct pass *pass = context;
    struct tree_moments_memory memory;
    int64_t first, end;
    nbc_range((int64_t)(pass->end - pass->begin), part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) tree_make_cell(pass->view, pass->begin + (size_t)c, &memory);
}

static void make_nodes(void *context, int part, int parts)
{
    const struct pass *pass = context;
    int64_t first, end;
    nbc_range((int64_t)pass->end, part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) tree_make_node(pass->view, (size_t)c);
}

struct tree_view tree_view_of(const struct gpunb_tree *tree, const struct tree_tables *tables)
{
    return (struct tree_view){.x = (const double(*)[3])tree->x,
                              .mass = tree->mass,
                              .cell = tree->cells.cell,
                              .node = tree->node,
                              .moment = tree->moment,
                              .coefficient = tree->coefficient,
                              .moments = (int)tree->moments,
                              .stride = (int)tree->coefficients,
                              .order = tree->use->sizes.order,
                              .in_double = tree->use->method->in_double,
                              .tables = tables};
}

int tree_make_moments(struct gpunb_tree *tree)
{
    const size_t size = tree->use->method->in_double ? sizeof(double) : sizeof(float);
    const size_t n = tree->cells.level[tree->cells.n_levels];
    struct tree_tables tables;
    tree->moments = (size_t)tree_kept_moments(tree->use->sizes.order);
    tree->coefficients = (size_t)tree_coefficients(tree->use->sizes.order);
    tree->moment = tree_room(&tree->moments_room, n * tree->moments, size);
    tree->coefficient = tree_room(&tree->coefficients_room, n * tree->coefficients, size);
    tree->node = tree_room(&tree->nodes, n, sizeof *tree->node);
    if (!tree->moment || !tree->coefficient || !tree->node) return NBC_NO_MEMORY;
    tree_fill_tables(&tables, tree->use->sizes.order + 2, 0, 1);
    const struct tree_view view = tree_view_of(tree, &tables);
    for (int l = tree->cells.n_levels - 1; l >= 0; l--) {
        struct pass pass = {&view, tree->cells.level[l], tree->cells.level[l + 1]};
        nbc_team_run(nbc_parts((int64_t)(pass.end - pass.begin), CELLS_OF_A_PART), make_part, &pass);
    }
    struct pass all = {&view, 0, n};
    nbc_team_run(nbc_parts((int64_t)n, NODES_OF_A_PART), make_nodes, &all);
    return NBC_OK;
}
