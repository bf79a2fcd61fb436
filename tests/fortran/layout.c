/* Sizes of structs and places of their fields, with which Fortran tests compare the types of a module. */
#include "gpunb/tree.h"

#include <stddef.h>

#define AT(field) offsetof(struct TYPE, field)

/* Each fills `layout` with the size, then the place of each field in the order of the struct, and returns their number.
 */
size_t layout_of_error(size_t *layout);
size_t layout_of_options(size_t *layout);
size_t layout_of_backend_info(size_t *layout);
size_t layout_of_softened_job(size_t *layout);
size_t layout_of_stats(size_t *layout);
size_t layout_of_tree_counts(size_t *layout);
/* Constants of the headers, in the order in which the test has those of the module. */
void constants_of_gpunb(int *values);

static size_t give(size_t *layout, const size_t *from, size_t n)
{
    for (size_t k = 0; k < n; k++) layout[k] = from[k];
    return n;
}

#define LAYOUT(name, ...)                                                                                              \
    size_t layout_of_##name(size_t *layout)                                                                            \
    {                                                                                                                  \
        const size_t of[] = {sizeof(struct TYPE), __VA_ARGS__};                                                        \
        return give(layout, of, sizeof of / sizeof of[0]);                                                             \
    }

#define TYPE nbc_error
LAYOUT(error, AT(status), AT(text))
#undef TYPE

#define TYPE gpunb_options
LAYOUT(options, AT(backend), AT(mass_weighted), AT(precision), AT(force_error), AT(theta), AT(order), AT(leaf),
       AT(group), AT(walk), AT(costs))
#undef TYPE

#define TYPE gpunb_backend_info
LAYOUT(backend_info, AT(name), AT(description), AT(available), AT(reason), AT(ns_per_pair))
#undef TYPE

#define TYPE gpunb_softened_job
LAYOUT(softened_job, AT(n_i), AT(x), AT(self), AT(softening), AT(acc_last), AT(acc), AT(pot))
#undef TYPE

#define TYPE gpunb_stats
LAYOUT(stats, AT(calls), AT(targets), AT(interactions), AT(seconds_send), AT(seconds_regf), AT(seconds_potential),
       AT(bytes_sent), AT(bytes_received))
#undef TYPE

#define TYPE gpunb_tree_counts
LAYOUT(tree_counts, AT(builds), AT(renewals), AT(forces), AT(targets), AT(groups), AT(tests), AT(listed_cells),
       AT(listed_bodies), AT(cell_terms), AT(pair_terms), AT(local_terms), AT(first_forces), AT(seconds))
#undef TYPE

void constants_of_gpunb(int *values)
{
    const int of[] = {NBC_OK,
                      NBC_NB_OVERFLOW,
                      NBC_BAD_ARGUMENT,
                      NBC_NO_MEMORY,
                      NBC_NON_FINITE,
                      NBC_BAD_STATE,
                      NBC_DEVICE,
                      NBC_UNAVAILABLE,
                      GPUNB_PRECISION_DEFAULT,
                      GPUNB_FLOAT,
                      GPUNB_TWOFLOAT,
                      GPUNB_DOUBLE,
                      GPUNB_WALK_DEFAULT,
                      GPUNB_WALK_GROUPS,
                      GPUNB_WALK_SINGLE,
                      GPUNB_WALK_ONE_BY_ONE_I,
                      GPUNB_WALK_ONE_BY_ONE_J,
                      GPUNB_WALK_HYBRID,
                      GPUNB_WALK_FMM,
                      GPUNB_MOST_ORDER,
                      GPUNB_DEFAULT_ORDER,
                      GPUNB_TREE_STAGES};
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) values[k] = of[k];
}
