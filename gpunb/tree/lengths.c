#include "gpunb/tree/lengths.h"

#include "gpunb/tree/accept.h"
#include "gpunb/tree/method.h"

#include <math.h>

/* Bodies are taken to fill a sphere evenly, one in each unit of volume, cells to have m, 8 m, ... of them, and a group
 * the cube of its sources. A cell of m bodies is opened within the distance where its term has the error that it may
 * have (accept.h),
 *     R(m)^(p + 2) = m^((p + 1)/3) (m/n)^(1/2) R_sphere E_p/aim,   ln E_p = error + error_p p + error_ln_p ln p +
 * error_ln_n ln n, plus a size of the cell, and it acts on all targets at once beyond the group's size times a power of
 * the aim, plus a part of R(m). Numbers of bodies within a distance of the group are volumes, up to n. That bodies are
 * not spread evenly, and cells no cubes, is left to the numbers, which are fitted to lists of Plummer models
 * (bench/fit_tree_lengths.py): sums of cells and bodies have errors of a tenth. */
struct fit {
    double error, error_p, error_ln_p, error_ln_n;
    double box;   /* side of a group's cube over the root of its volume */
    double sharp; /* how suddenly volumes end at n */
    double leaf;  /* bodies of the largest leaves, of those that there may be */
    double at_once, at_once_aim,
        at_once_p;         /* size of a group: ln of its factor at an aim of 10^-3 and order 0; powers */
    double at_once_opened; /* part of R(m) */
    double cell;           /* size of a cell */
    double share, edge;    /* groups of n_i targets, x times what they may have: share x + edge x^(1/2) */
};
#include "gpunb/tree/lengths_fit.h"

struct lists {
    const struct fit *fit;
    double order, aim, n, box, sphere;
    int has_expansions;
};

static double volume(const struct lists *l, double r)
{
    const double b = l->box, pi = 3.141592653589793, q = l->fit->sharp;
    const double all = b * b * b + 6 * b * b * r + 3 * pi * b * r * r + 4 * pi / 3 * r * r * r;
    return pow(pow(all, -q) + pow(l->n, -q), -1 / q);
}

static double opened_within(const struct lists *l, double m)
{
    const struct fit *f = l->fit;
    const double p = l->order, error = f->error + f->error_p * p + f->error_ln_p * log(p) + f->error_ln_n * log(l->n);
    return exp(((p + 1) / 3 * log(m) + error + 0.5 * log(m / l->n) + log(l->sphere / l->aim)) / (p + 2)) +
           f->cell * cbrt(m);
}

/* Bodies within the distance from which on a cell acts on all targets at once. */
static double volume_at_once(const struct lists *l, double opened)
{
    const struct fit *f = l->fit;
    if (!l->has_expansions) return l->n;
    return volume(l, l->box * exp(f->at_once + f->at_once_aim * log(1e3 * l->aim) + f->at_once_p * l->order) +
                         f->at_once_opened * opened);
}

/* Leaves of `leaf` bodies, and all cells above them, with a part of the whole. */
static void add_levels(const struct lists *l, double leaf, double part, struct tree_lengths *to)
{
    const double worth = tree_worth_a_term((int)l->order);
    double opened = opened_within(l, leaf), inside = volume(l, opened);
    to->bodies += part * inside;
    for (double m = leaf; m < l->n; m *= 8) {
        const double next = opened_within(l, 8 * m), visited = 8 * m < l->n ? volume(l, next) : l->n;
        const double kept = fmin(inside, visited), far = fmin(fmax(volume_at_once(l, opened), kept), visited),
                     accepted = far - kept;
        to->tests += part * visited / m;
        to->cells_at_once += part * (visited - far) / m;
        if (m <= worth)
            to->bodies += part * accepted;
        else
            to->cells += part * accepted / m;
        opened = next;
        inside = visited;
    }
}

/* Groups are cells, and cells at the edge of all have few targets. */
static double targets_of(const struct fit *f, double group, double n_i)
{
    const double x = n_i / group;
    return n_i / fmax(1, x > 1 ? f->share * x + f->edge * sqrt(x) : 1);
}

/* Targets from which on there are expansions: of a group, and of a force on a device. */
static int has_expansions(double targets, size_t n_i, int on_device)
{
    return on_device ? n_i >= TREE_TARGETS_WORTH_REGIONS : targets >= TREE_WORTH_AN_EXPANSION;
}

struct tree_lengths tree_lengths_of(const struct gpunb_tree_sizes *sizes, double aim, size_t n_i, size_t n_j,
                                    int on_device)
{
    enum { PHASES = 3 };
    const struct fit *f = &fits[on_device];
    const double n = (double)n_j;
    const int group = on_device ? tree_group_of_device(sizes->group, n_i) : sizes->group;
    struct tree_lengths to = {.targets = targets_of(f, group, (double)n_i)};
    const struct lists l = {.fit = f,
                            .order = sizes->order,
                            .aim = gpunb_tree_term_aim(sizes->order) * aim,
                            .n = n,
                            .box = f->box * cbrt(fmin(to.targets * n / (double)n_i, n)),
                            .sphere = cbrt(n * 3 / (4 * 3.141592653589793)),
                            .has_expansions = has_expansions(to.targets, n_i, on_device)};
    for (int k = 0; k < PHASES; k++)
        add_levels(&l, f->leaf * sizes->leaf * pow(8, -(k + 0.5) / PHASES), 1.0 / PHASES, &to);
    to.bodies = fmin(to.bodies, n);
    return to;
}
