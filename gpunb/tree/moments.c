/* Multipoles level by level, the deepest first. */
#include "gpunb/tree/moments.h"

#include "common/team.h"
#include "gpunb/tree/tree.h"

enum { CELLS_OF_A_PART = 16, NODES_OF_A_PART = 4096 };

struct pass {
    const struct tree_view *view;
    const uint8_t *known; /* enum tree_known of each cell; NULL: nothing is */
    size_t begin, end;
};

/* The coefficients of a cell that has its moments. */
static void take_moments(const struct tree_view *tree, size_t c, struct tree_moments_memory *m)
{
    tree_read_moments(tree, c, m->sum);
    tree_make_coefficients(tree, c, m);
}

static void make_part(void *context, int part, int parts)
{
    const struct pass *pass = context;
    struct tree_moments_memory memory;
    int64_t first, end;
    nbc_range((int64_t)(pass->end - pass->begin), part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) {
        const size_t cell = pass->begin + (size_t)c;
        if (!pass->known || pass->known[cell] == TREE_CELL_IS_NEW)
            tree_make_cell(pass->view, cell, &memory);
        else if (pass->known[cell] == TREE_MOMENTS_ARE_KNOWN)
            take_moments(pass->view, cell, &memory);
    }
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

int tree_provide_moments(struct gpunb_tree *tree)
{
    const size_t size = tree->use->method->in_double ? sizeof(double) : sizeof(float);
    const size_t n = tree->cells.level[tree->cells.n_levels];
    tree->moments = (size_t)tree_kept_moments(tree->use->sizes.order);
    tree->coefficients = (size_t)tree_coefficients(tree->use->sizes.order);
    tree->moment = tree_room(&tree->moments_room, n * tree->moments, size);
    tree->coefficient = tree_room(&tree->coefficients_room, n * tree->coefficients, size);
    tree->node = tree_room(&tree->nodes, n, sizeof *tree->node);
    return tree->moment && tree->coefficient && tree->node ? NBC_OK : NBC_NO_MEMORY;
}

void tree_make_other_moments(struct gpunb_tree *tree, const uint8_t *known)
{
    const size_t n = tree->cells.level[tree->cells.n_levels];
    struct tree_tables tables;
    tree_fill_tables(&tables, tree->use->sizes.order + 2, 0, 1);
    const struct tree_view view = tree_view_of(tree, &tables);
    for (int l = tree->cells.n_levels - 1; l >= 0; l--) {
        struct pass pass = {&view, known, tree->cells.level[l], tree->cells.level[l + 1]};
        nbc_team_run(nbc_parts((int64_t)(pass.end - pass.begin), CELLS_OF_A_PART), make_part, &pass);
    }
    struct pass all = {&view, known, 0, n};
    nbc_team_run(nbc_parts((int64_t)n, NODES_OF_A_PART), make_nodes, &all);
}

int tree_make_moments(struct gpunb_tree *tree)
{
    const int status = tree_provide_moments(tree);
    if (!status) tree_make_other_moments(tree, NULL);
    return status;
}
