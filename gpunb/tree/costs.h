/** Nominal costs of softened forces, by a tree and by direct sums: numbers that are written down for a backend on a
 *  machine, and what follows from them. Nothing here reads a clock: the same input has the same costs, and bits.
 *
 *  Costs are in nanoseconds of one thread of a processor, or of a whole GPU. bench/tune_tree measures them. With the
 *  lengths of lists (lengths.h) they give the cost of a force,
 *      start + n_j (source + moments) + n_i target
 *      + groups (group + tests test + cells_at_once local) + n_i (cells term + bodies body + field),
 *  and that of direct sums, direct_start + n_j direct_source + n_i n_j pair. */
#ifndef GPUNB_TREE_COSTS_H
#define GPUNB_TREE_COSTS_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"

/** The numbers of a row: ONE(name), and EACH(name) for each order, 1 to GPUNB_MOST_ORDER. */
#define GPUNB_TREE_COSTS(ONE, EACH)                                                                                    \
    ONE(direct_start)  /* a force by direct sums, whatever its size */                                                 \
    ONE(direct_source) /* a source that is made ready for many targets */                                              \
    ONE(pair)          /* a pair of direct sums */                                                                     \
    ONE(start)         /* a force by tree, whatever its size */                                                        \
    ONE(source)        /* key, order and cells */                                                                      \
    EACH(moments)      /* boxes and multipoles, of a source */                                                         \
    ONE(target)        /* its order, its group and its results */                                                      \
    ONE(group)         /* a list: its box and the scale of its forces */                                               \
    ONE(test)          /* of a cell by a group */                                                                      \
    ONE(body)          /* a body on a target */                                                                        \
    EACH(term)         /* a cell on a target */                                                                        \
    EACH(local)        /* a cell on all targets of a group at once */                                                  \
    ONE(field)         /* an expansion about a group on a target */

struct gpunb_tree_costs {
    char backend[16];   /**< name of the backend that they are of */
    char machine[64];   /**< for readers */
    char processor[64]; /**< a part of what gpunb_tree_machine says there; "": any */
#define ONE(name) double name;
#define EACH(name) double name[GPUNB_MOST_ORDER];
    GPUNB_TREE_COSTS(ONE, EACH)
#undef ONE
#undef EACH
};

/** The committed row of a backend, under its name; one that has none takes that of `ref`. */
void gpunb_tree_costs_row(const char *backend, struct gpunb_tree_costs *costs);

/** Rows as text: a line for each number, "name value", or values by order; "backend", "machine" and "processor" name
 * the row; # begins a comment. */
enum { GPUNB_TREE_COSTS_TEXT = 2048 };
/** @param[out] text  exact: gpunb_tree_costs_read has the same numbers from it */
void gpunb_tree_costs_print(const struct gpunb_tree_costs *costs, char text[GPUNB_TREE_COSTS_TEXT]);
/** @param[in]  from  what messages call the text, such as the name of its file
 *  @param[out] costs set on success only
 *  @return NBC_OK; NBC_BAD_ARGUMENT: names text and line */
int gpunb_tree_costs_read(const char *text, const char *from, struct gpunb_tree_costs *costs, struct nbc_error *err);

/** How a tree is made. */
struct gpunb_tree_sizes {
    int order, leaf, group;
};
/** The cost of a force by a new tree, and by direct sums, in ns.   @param[in] aim  as force_error */
double gpunb_tree_cost(const struct gpunb_tree_costs *costs, const struct gpunb_tree_sizes *sizes, double aim,
                       size_t n_i, size_t n_j);
double gpunb_direct_cost(const struct gpunb_tree_costs *costs, size_t n_i, size_t n_j);
/** Set the sizes that are 0 to those that cost least together, for forces of 2^18 bodies on themselves: they do not
 *  depend on how many bodies there are, so that handles of any size make the same forces. */
void gpunb_tree_choose(const struct gpunb_tree_costs *costs, double aim, struct gpunb_tree_sizes *sizes);

/** Where a handle computes: "AuthenticAMD family 26", "device 0 (NVIDIA H200)"; "" where there is no way to tell. */
enum { GPUNB_TREE_MACHINE = 256 };
void gpunb_tree_machine(const gpunb_t *handle, char text[GPUNB_TREE_MACHINE]);
/** Which costs these are, in words.   @param[in] is_own  1: the caller gave them   @param[in] machine  as above */
void gpunb_tree_describe_row(const struct gpunb_tree_costs *costs, int is_own, const char *machine,
                             char text[GPUNB_TREE_MACHINE]);
/** The cost of a pair of direct sums by a handle, with or without a tree, in ns. */
double gpunb_tree_pair_cost(const gpunb_t *handle);
/** Those of a handle, in words, and as text for struct gpunb_options; "": it makes direct sums. */
void gpunb_tree_describe_costs(const gpunb_t *handle, char text[GPUNB_TREE_MACHINE]);
void gpunb_tree_costs_in_use(const gpunb_t *handle, char text[GPUNB_TREE_COSTS_TEXT]);

#endif
