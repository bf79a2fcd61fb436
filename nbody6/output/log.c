#include "nbody6/output/log.h"

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/input/units.h"
#include "nbody6/output/textfile.h"
#include "nbody6/state/ledger.h"

#include <stdio.h>
#include <string.h>

/* A row of the file: what the driver says, and the time in years. */
struct row {
    struct nb6_adjust_row adjust;
    double t_myr;
};

/* A time has 12 digits: it is a multiple of 2^-40, and 1.1 shall read 1.1. */
enum kind { TIME, REAL, INTEGER, COUNT };

struct column {
    const char *name, *unit, *description;
    enum kind kind;
    size_t offset;
};

#define REAL_COLUMN(name, member, unit, description)                                                                   \
    {                                                                                                                  \
        name, unit, description, REAL, offsetof(struct row, adjust.member)                                             \
    }
#define COUNT_COLUMN(name, member, description)                                                                        \
    {                                                                                                                  \
        name, "1", description, COUNT, offsetof(struct row, adjust.member)                                             \
    }

static const char L[] = "length", V[] = "velocity", T[] = "time", M[] = "mass", E[] = "mass velocity^2", ONE[] = "1",
                  J[] = "mass length velocity", S[] = "s", NS[] = "ns";

static const struct column columns[] = {
    {"t", T, "N-body time", TIME, offsetof(struct row, adjust.t)},
    {"t_myr", "Myr", "physical time", REAL, offsetof(struct row, t_myr)},
    {"n", ONE, "stars", INTEGER, offsetof(struct row, adjust.n)},
    REAL_COLUMN("mass", energy.mass, M, "total mass"),
    REAL_COLUMN("e_total", energy.total, E, "total energy: kinetic + potential + tidal + e_bind"),
    REAL_COLUMN("e_kin", energy.kinetic, E, "kinetic energy"),
    REAL_COLUMN("e_pot", energy.potential, E,
                "potential energy of the bodies among themselves: a regularized pair or chain is one body"),
    REAL_COLUMN("e_tide", energy.tidal, E, "potential energy in the field of the galaxy"),
    REAL_COLUMN("e_expected", e_expected, E,
                "what the total should be: the initial one less what escapers and mergers took"),
    REAL_COLUMN("e_escaped", e_escaped, E, "energy that escapers took so far"),
    REAL_COLUMN("e_escaped_binding", e_escaped_binding, E,
                "part of it that was energy of the relative motions in pairs and chains"),
    REAL_COLUMN("e_merged", e_merged, E, "energy of relative motions that mergers took so far"),
    REAL_COLUMN(
        "de_cluster", de_cluster, ONE,
        "accumulated energy error over the energy of the cluster as a set of bodies at t = 0, max(T, |T + U|) of "
        "single stars and centres of mass"),
    REAL_COLUMN("de_cluster_interval", de_cluster_interval, ONE, "the same since the last adjust; QE limits it"),
    REAL_COLUMN("de_rel", de_rel, ONE, "accumulated energy error over the total energy, binding of pairs included"),
    REAL_COLUMN("de_rel_interval", de_rel_interval, ONE, "the same since the last adjust"),
    REAL_COLUMN("virial_ratio", energy.virial_ratio, ONE,
                "Q: kinetic energy over the absolute value of the potential energy"),
    REAL_COLUMN("lx", energy.angular_momentum[0], J, "angular momentum"),
    REAL_COLUMN("ly", energy.angular_momentum[1], J, "angular momentum"),
    REAL_COLUMN("lz", energy.angular_momentum[2], J, "angular momentum"),
    REAL_COLUMN("cm_x", energy.centre_x[0], L, "centre of mass"),
    REAL_COLUMN("cm_y", energy.centre_x[1], L, "centre of mass"),
    REAL_COLUMN("cm_z", energy.centre_x[2], L, "centre of mass"),
    REAL_COLUMN("cm_vx", energy.centre_v[0], V, "velocity of the centre of mass"),
    REAL_COLUMN("cm_vy", energy.centre_v[1], V, "velocity of the centre of mass"),
    REAL_COLUMN("cm_vz", energy.centre_v[2], V, "velocity of the centre of mass"),
    REAL_COLUMN("r_core", r_core, L, "core radius"),
    REAL_COLUMN("rho_core", rho_core, "mass/length^3", "core density"),
    {"n_core", ONE, "stars inside the core radius", INTEGER, offsetof(struct row, adjust.n_core)},
    REAL_COLUMN("r_half", r_half, L, "half-mass radius"),
    REAL_COLUMN("r_tide", r_tide, L, "tidal radius"),
    REAL_COLUMN("r_density_x", r_density[0], L, "density centre"),
    REAL_COLUMN("r_density_y", r_density[1], L, "density centre"),
    REAL_COLUMN("r_density_z", r_density[2], L, "density centre"),
    REAL_COLUMN("r_lagr", r_lagr, L, "Lagrangian radius of this fraction of the mass about the density centre"),
    REAL_COLUMN("nnb_mean", nnb_mean, ONE, "mean neighbour number"),
    REAL_COLUMN("nnb_opt", nnb_opt, ONE, "wanted mean neighbour number"),
    REAL_COLUMN("r_nb_mean", r_nb_mean, L, "mean radius of the neighbour spheres"),
    REAL_COLUMN("dt_irr_min", dt_irr_min, T, "smallest irregular step"),
    REAL_COLUMN("dt_irr_max", dt_irr_max, T, "largest irregular step"),
    COUNT_COLUMN("steps_irr", counters.steps_irr,
                 "irregular steps so far, of single stars and of centres of mass of pairs"),
    COUNT_COLUMN("steps_reg", counters.steps_reg,
                 "regular steps so far, of single stars and of centres of mass of pairs"),
    COUNT_COLUMN("blocks", counters.blocks, "block steps so far"),
    COUNT_COLUMN("blocks_reg", counters.blocks_reg, "block steps with regular members so far"),
    COUNT_COLUMN("pairs_irr", counters.pairs_irr, "irregular interactions so far"),
    COUNT_COLUMN("pairs_reg", counters.pairs_reg, "regular interactions so far"),
    COUNT_COLUMN("overflows", counters.overflows, "neighbour lists made again so far"),
    {"n_pair", ONE, "regularized pairs", INTEGER, offsetof(struct row, adjust.n_pair)},
    {"n_pair_perturbed", ONE, "regularized pairs with perturbers", INTEGER,
     offsetof(struct row, adjust.n_pair_perturbed)},
    {"n_chain", ONE, "chains of three and more stars", INTEGER, offsetof(struct row, adjust.n_chain)},
    {"n_hierarchy", ONE, "pairs with a frozen pair inside", INTEGER, offsetof(struct row, adjust.n_hierarchy)},
    REAL_COLUMN("e_bind", energy.binding, E,
                "energy of the relative motions in regularized pairs and chains, part of e_total"),
    REAL_COLUMN("de_pairs", e_pair_changes, ONE,
                "relative energy error that formation and termination of pairs and chains made so far, part of de_rel"),
    REAL_COLUMN("r_min", r_min, L, "separation below which pairs are regularized"),
    REAL_COLUMN("dt_min", dt_min, T, "a quarter of the irregular step below which pairs are looked for"),
    REAL_COLUMN("e_close", e_close, "velocity^2", "binding energy per unit mass of a hard binary"),
    COUNT_COLUMN("pairs_formed", counters.pairs_formed, "pairs regularized so far"),
    COUNT_COLUMN("pairs_ended", counters.pairs_ended, "regularized pairs that ended so far"),
    COUNT_COLUMN("ks_steps", counters.ks_steps, "steps of regularized relative motions so far"),
    COUNT_COLUMN("ks_forces", counters.ks_forces, "forces of single perturbers in these steps so far"),
    COUNT_COLUMN("chains_formed", counters.chains_formed, "chains formed so far"),
    COUNT_COLUMN("chains_ended", counters.chains_ended, "chains that ended so far"),
    COUNT_COLUMN("hierarchies_formed", counters.hierarchies_formed, "hierarchies frozen so far"),
    COUNT_COLUMN("hierarchies_ended", counters.hierarchies_ended, "hierarchies broken up so far"),
    COUNT_COLUMN("chain_steps", counters.chain_steps, "steps of chains so far"),
    COUNT_COLUMN("chain_forces", counters.chain_forces, "evaluations of all accelerations of a chain so far"),
    COUNT_COLUMN("mergers", counters.mergers, "collisions of two stars so far"),
    COUNT_COLUMN("escapers", counters.escapers, "stars removed so far"),
    REAL_COLUMN("ns_per_pair_irr", ns_per_pair_irr, NS, "wall-clock time of an irregular interaction, this session"),
    REAL_COLUMN("ns_per_pair_reg", ns_per_pair_reg, NS, "wall-clock time of a regular interaction, this session"),
    REAL_COLUMN("chain_s", chain_s, S, "wall-clock time of all threads in chains, this session"),
    REAL_COLUMN("gpuirr_s", gpuirr_s, S, "wall-clock time of irregular forces and their predictions, this session"),
    REAL_COLUMN("gpunb_s", gpunb_s, S, "wall-clock time of regular forces, this session"),
    REAL_COLUMN("ns_predict_all", ns_predict_all, NS, "measured: to predict a star before the irregular force"),
    REAL_COLUMN("ns_per_pair_stored", ns_per_pair_stored, NS, "measured: an irregular interaction after that"),
    REAL_COLUMN("ns_per_pair_on_the_fly", ns_per_pair_on_the_fly, NS, "measured: an irregular interaction without it"),
    REAL_COLUMN("stage", stage_s, S, "wall-clock time in this stage of the block step so far"),
    REAL_COLUMN("wall_s", wall_s, S, "wall-clock time so far, all sessions"),
};

/* Columns that stand for an array: their number and the name of each. */
static int repeats(const struct column *column)
{
    if (strcmp(column->name, "r_lagr") == 0) return NB6_LAGR_COUNT;
    return strcmp(column->name, "stage") == 0 ? NB6_STAGE_COUNT : 1;
}

static void name_column(const struct column *column, int k, char name[64])
{
    if (strcmp(column->name, "r_lagr") == 0)
        snprintf(name, 64, "r_lagr_%g", nb6_lagr_fractions[k]);
    else if (strcmp(column->name, "stage") == 0)
        snprintf(name, 64, "stage_%s_s", nb6_stage_names[k]);
    else
        snprintf(name, 64, "%s", column->name);
}

int nb6_log_column(int k, char name[64], const char **unit, const char **description)
{
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        int n = repeats(&columns[c]);
        if (k < n) {
            name_column(&columns[c], k, name);
            *unit = columns[c].unit;
            *description = columns[c].description;
            return 1;
        }
        k -= n;
    }
    return 0;
}

int nb6_log_begin(struct nb6_textfile *file, const char *run, struct nbc_error *err)
{
    struct nb6_line names = {0}, units = {0};
    char name[64];
    const char *unit, *description;
    for (int k = 0; nb6_log_column(k, name, &unit, &description); k++) {
        nb6_line_add(&names, "%s%s", k ? "," : "", name);
        nb6_line_add(&units, "%s%s", k ? "," : "# units: ", unit);
    }
    nb6_line_add(&names, "\n");
    nb6_line_add(&units, "\n# run: %s\n", run);
    int status = nb6_textfile_add(file, names.text, err);
    return status ? status : nb6_textfile_add(file, units.text, err);
}

static void add_value(struct nb6_line *line, const struct column *column, const char *value)
{
    double real;
    int64_t integer;
    uint64_t count;
    switch (column->kind) {
    case TIME:
    case REAL:
        memcpy(&real, value, sizeof real);
        nb6_line_add(line, column->kind == TIME ? "%.12g" : "%.15g", real);
        break;
    case INTEGER:
        memcpy(&integer, value, sizeof integer);
        nb6_line_add(line, "%lld", (long long)integer);
        break;
    case COUNT:
        memcpy(&count, value, sizeof count);
        nb6_line_add(line, "%llu", (unsigned long long)count);
        break;
    }
}

int nb6_log_row(struct nb6_textfile *file, const struct nb6_adjust_row *adjust, const struct nb6_units *units,
                struct nbc_error *err)
{
    struct row row = {*adjust, adjust->t * units->time_myr};
    struct nb6_line line = {0};
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        for (int k = 0; k < repeats(&columns[c]); k++) {
            if (line.used) nb6_line_add(&line, ",");
            add_value(&line, &columns[c], (const char *)&row + columns[c].offset + (size_t)k * sizeof(double));
        }
    nb6_line_add(&line, "\n");
    return nb6_textfile_add(file, line.text, err);
}
