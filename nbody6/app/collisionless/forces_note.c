#include "nbody6/app/collisionless/forces_note.h"

#include "gpunb/tree.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/world/spread.h"

#include <string.h>

static const char *const walks[] = {"auto", "groups", "single", "one-by-one-i", "one-by-one-j", "hybrid", "fmm"};

void nb6_forces_describe(const struct gpunb_options *o, int reuse, char text[NB6_FORCES_TEXT])
{
    const size_t size = NB6_FORCES_TEXT;
    if (!gpunb_tree_is_asked(o)) {
        snprintf(text, size, "direct sums");
        return;
    }
    size_t used = (size_t)snprintf(text, size, "tree, %s = %.6g", o->theta > 0 ? "THETA" : "FORCE_ERROR",
                                   o->theta > 0 ? o->theta : o->force_error);
    const struct {
        const char *name;
        int value;
    } sizes[] = {{"order", o->order}, {"leaf", o->leaf}, {"group", o->group}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        if (sizes[k].value > 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, ", %s %d", sizes[k].name, sizes[k].value);
    if (used < size) used += (size_t)snprintf(text + used, size - used, ", walk %s", walks[o->walk]);
    if (used < size && reuse > 1) snprintf(text + used, size - used, ", REUSE = %d", reuse);
}

void nb6_forces_describe_system(const struct nb6_collisionless *system, char text[NB6_FORCES_OF_A_SYSTEM])
{
    struct nb6_spread_counts counts;
    char forces[NB6_FORCES_TEXT], costs[GPUNB_TREE_MACHINE];
    nb6_forces_describe(&system->options, system->reuse, forces);
    nb6_collisionless_describe_costs(system, costs);
    snprintf(text, NB6_FORCES_OF_A_SYSTEM, "%s%s%s", forces, costs[0] ? ", nominal costs: " : "", costs);
    if (!system->ranks) return;
    const size_t used = strlen(text);
    snprintf(text + used, NB6_FORCES_OF_A_SYSTEM - used, ", %d ranks", nb6_ranks_get_counts(system->ranks, &counts));
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* Kernels of a device make lists and terms at once. */
static int is_on_device(const struct gpunb_tree_counts *c)
{
    return c->cell_terms > 0 && c->seconds[GPUNB_TREE_CELLS] == 0;
}

/* Of devices those that the host waits for, which are none where bodies stay there. */
static void print_seconds(FILE *out, const struct gpunb_tree_counts *c, int stay_on_devices)
{
    double all = 0;
    for (int stage = 0; stage < GPUNB_TREE_STAGES; stage++) all += c->seconds[stage];
    if (stay_on_devices && !(all > 0)) {
        fprintf(out, "  stages of trees of bodies that stay on devices are not timed\n");
        return;
    }
    fprintf(out, "  stage      seconds (%s)\n",
            is_on_device(c) ? "on a device: keys and their order are in link, terms in lists; what the host waits for"
                            : "of all threads together from lists on");
    for (int stage = 0; stage < GPUNB_TREE_STAGES; stage++)
        if (c->seconds[stage] > 0 || !is_on_device(c))
            fprintf(out, "  %-8s %9.3f\n", gpunb_tree_stage_name((enum gpunb_tree_stage)stage), c->seconds[stage]);
}

static void print_stages(FILE *out, const struct gpunb_tree_counts *c, int stay_on_devices)
{
    fprintf(out, "  forces by tree: %llu, of which %llu with a force by angle first; %llu trees built, %llu renewed\n",
            (unsigned long long)c->forces, (unsigned long long)c->first_forces, (unsigned long long)c->builds,
            (unsigned long long)c->renewals);
    fprintf(out,
            "  of a body: %.1f cells and %.1f bodies as terms; bodies of a group %.1f; of a group: %.1f tests, %.1f "
            "cells and %.1f bodies in its list, %.1f cells on all its bodies at once\n",
            ratio(c->cell_terms, c->targets), ratio(c->pair_terms, c->targets), ratio(c->targets, c->groups),
            ratio(c->tests, c->groups), ratio(c->listed_cells, c->groups), ratio(c->listed_bodies, c->groups),
            ratio(c->local_terms, c->groups));
    print_seconds(out, c, stay_on_devices);
}

static void print_reuse(FILE *out, const struct nb6_collisionless *s)
{
    const struct nb6_rebuild *r = &s->rebuild;
    fprintf(out,
            "  since the start of the run: %llu trees for up to %d longest steps, %llu of them early; %llu renewals; ",
            (unsigned long long)r->builds, s->reuse, (unsigned long long)r->early, (unsigned long long)r->renewals);
    if (s->ranks)
        fprintf(out, "lists of the last force on all bodies cost %.3f more than new ones\n", nb6_rebuild_failed(s));
    else
        fprintf(out, "%llu of %llu pairs of a group and a cell had failed in the last force on all bodies\n",
                (unsigned long long)r->failed, (unsigned long long)r->accepted);
}

static void print_messages(FILE *out, const struct nb6_collisionless *system)
{
    struct nb6_spread_counts c;
    struct nb6_rank_trees_counts t;
    const int ranks = nb6_ranks_get_counts(system->ranks, &c);
    if (nb6_ranks_get_tree_counts(system->ranks, &t)) {
        fprintf(
            out,
            "  rank 0 of %d: trees from %.1f other ranks in each of %llu forces, with %.0f cells, of which %.0f act as "
            "a whole, and %.0f bodies; %llu trees sent, %.6g MB",
            ranks, ratio(t.close, t.forces), (unsigned long long)t.forces, ratio(t.cells, t.forces),
            ratio(t.whole, t.forces), ratio(t.bodies, t.forces), (unsigned long long)t.messages,
            (double)t.bytes * 1e-6);
        if (t.load > 0) fprintf(out, "; the largest work of a rank was %.3f of the mean", t.load);
        fprintf(out, "\n");
        return;
    }
    fprintf(out,
            "  rank 0 of %d: %llu messages of sources, %.6g MB; waits for them %.3f s; %llu of %llu sums beside a "
            "message\n",
            ranks, (unsigned long long)c.messages, (double)c.bytes * 1e-6, c.wait_s, (unsigned long long)c.beside,
            (unsigned long long)c.works);
}

void nb6_forces_print_times(FILE *out, const struct nb6_collisionless *system)
{
    struct gpunb_stats host;
    struct gpunb_tree_counts tree;
    gpunb_get_stats(system->force, &host);
    nb6_collisionless_tree_counts(system, &tree);
    if (host.calls > 0)
        fprintf(
            out,
            "  forces that the host has asked for, of rows and snapshots too unless bodies stay on devices: %llu in "
            "%.3f s; %.3f s to send positions\n",
            (unsigned long long)host.calls, host.seconds_regf, host.seconds_send);
    if (nb6_collisionless_has_tree(system)) print_stages(out, &tree, system->resident != NULL);
    if (system->reuse > 1) print_reuse(out, system);
    if (system->ranks) print_messages(out, system);
}
