#include "nbody6/app/setup.h"

#include "common/nbc.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/app/data_note.h"
#include "nbody6/app/setup_advice.h"
#include "nbody6/app/setup_facts.h"
#include "nbody6/app/setup_physics.h"
#include "nbody6/app/stars/stars_note.h"
#include "nbody6/app/stars/unit_advice.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/config_groups.h"
#include "nbody6/input/units.h"
#include "nbody6/model/imf.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"

#include <string.h>

static void print_virial_ratio(FILE *out, const struct nb6_config *config, const struct nb6_setup_facts *facts)
{
    const struct nb6_units units = nb6_units_from(facts->rbar_pc, facts->zmbar_msun, facts->n);
    char q[NB6_Q_TEXT];
    nb6_stars_tell_q(&facts->bulk, nb6_units_are_suspect(config, &facts->data, &facts->bulk, &units), q);
    if (nb6_units_q_is_set(config))
        fprintf(out, "  %-26s %g, set by Q\n", "virial ratio Q", config->model.virial_ratio);
    else
        fprintf(out, "  %-26s %s, as it is\n", "virial ratio Q", q);
}

static void print_model(FILE *out, const struct nb6_config *config, const struct nb6_setup_facts *facts,
                        const struct nb6_config_two *two)
{
    static const char *const kinds[] = {"uniform sphere", "Plummer model", "King model", "data file",
                                        "two Plummer models"};
    const struct nb6_model_config *m = &config->model;
    char data_units[NB6_DATA_UNITS];
    fprintf(out, "  %-26s %s", "model", kinds[m->kind]);
    if (m->kind == NB6_MODEL_KING) fprintf(out, ", W0 = %g", m->king_w0);
    if (m->kind == NB6_MODEL_TWO_PLUMMER)
        fprintf(out, ", the second of %g stars, %g from the first on an orbit of eccentricity %g", two->n2, two->apo,
                two->ecc);
    if (m->kind == NB6_MODEL_FILE) fprintf(out, " %s", m->data_path);
    fprintf(out, "\n  %-26s %lld\n", "stars N", (long long)facts->n);
    if (m->kind == NB6_MODEL_FILE) {
        nb6_data_tell_units(&facts->data, data_units);
        fprintf(out, "  %-26s %s\n  %-26s %s\n", "units of the data", data_units, "data", facts->about);
    }
    if (config->binaries.n > 0)
        fprintf(out, "  %-26s %lld\n", "primordial binaries NBIN0", (long long)config->binaries.n);
    if (config->triples.n > 0) fprintf(out, "  %-26s %lld\n", "primordial triples NHI0", (long long)config->triples.n);
    if (m->kind != NB6_MODEL_FILE) {
        fprintf(out, "  %-26s %s", "masses", nb6_imf_name(m->imf));
        if (m->imf == NB6_IMF_POWER_LAW) fprintf(out, " m^-%g", m->imf_alpha);
        if (m->imf != NB6_IMF_EQUAL) fprintf(out, " from %g to %g Msun", m->mass_min_msun, m->mass_max_msun);
        fprintf(out, "\n  %-26s %llu\n", "seed NRAND", (unsigned long long)m->seed);
    }
    print_virial_ratio(out, config, facts);
    if (m->rotation_xy > 0) fprintf(out, "  %-26s %g, %g\n", "rotation VXROT, VZROT", m->rotation_xy, m->rotation_z);
}

static void print_row(FILE *out, const char *name, double value, double unit, const char *unit_name)
{
    fprintf(out, "  %-26s %14.8g %14.6g %s\n", name, value, value * unit, unit_name);
}

static void print_units(FILE *out, const struct nb6_config *config, const struct nb6_setup_facts *facts,
                        const struct nb6_units *units, const struct nb6_external *field)
{
    const struct nb6_run_config *r = &config->run;
    fprintf(out, "\n  %-26s %14s %14s\n", "", "N-body", "physical");
    print_row(out, "length unit RBAR", 1, units->length_pc, "pc");
    print_row(out, "mass unit N ZMBAR", 1, units->mass_msun, "Msun");
    print_row(out, "total mass", facts->mass_total, units->mass_msun, "Msun");
    print_row(out, "mean mass", facts->mass_total / (double)facts->n, units->mass_msun, "Msun");
    if (facts->is_made) print_row(out, "smallest mass", facts->mass_least, units->mass_msun, "Msun");
    if (facts->is_made) print_row(out, "largest mass", facts->mass_most, units->mass_msun, "Msun");
    print_row(out, "velocity unit", 1, units->velocity_kms, "km/s");
    print_row(out, "time unit", 1, units->time_myr, "Myr");
    print_row(out, "half-mass radius", facts->bulk.r_half, units->length_pc, "pc");
    if (facts->bulk.t_cross > 0) print_row(out, "crossing time", facts->bulk.t_cross, units->time_myr, "Myr");
    if (facts->bulk.t_relax > 0)
        print_row(out, "half-mass relaxation time", facts->bulk.t_relax, units->time_myr, "Myr");
    const double r_tide = nb6_external_tidal_radius(field, facts->mass_total);
    if (r_tide > 0) print_row(out, "tidal radius", r_tide, units->length_pc, "pc");
    print_row(out, r->dt_adjust_myr > 0 ? "energy checks DTADJ_MYR" : "energy checks DTADJ", r->dt_adjust,
              units->time_myr, "Myr");
    print_row(out, r->dt_output_myr > 0 ? "output DTOUT_MYR" : "output DELTAT", r->dt_output, units->time_myr, "Myr");
    const double t_end = nb6_config_end(config, units->time_myr);
    const int by_myr = r->t_crit_myr > 0 && t_end == r->t_crit_myr / units->time_myr;
    print_row(out, by_myr ? "end, by TCRTP0" : "end TCRIT", t_end, units->time_myr, "Myr");
    char text[NB6_END_TEXT];
    if (nb6_config_tell_end(config, units->time_myr, text)) fprintf(out, "  %s\n", text);
    if (config->integration.r_nb_init > 0)
        print_row(out, "neighbour radius RS0", config->integration.r_nb_init, units->length_pc, "pc");
    print_row(out, "largest time-step SMAX", config->integration.dt_max, units->time_myr, "Myr");
}

static void print_engine(FILE *out, const struct nb6_config *config, int64_t n)
{
    char why[NB6_ENGINE_WHY];
    const char *name = nb6_engine_for(config, n, why);
    if (config->run.engine == NB6_ENGINE_AUTO)
        fprintf(out, "  %-26s auto: %s (%s)\n", "engine", name, why);
    else if (strcmp(why, "asked for") == 0)
        fprintf(out, "  %-26s %s\n", "engine", name);
    else
        fprintf(out, "  %-26s %s, which cannot run here: %s\n", "engine", name, why);
}

/* The line about FORCE_ERROR. A backend that has no tree is told as the run would tell it. */
static void print_tree(FILE *out, const struct nb6_config *config, int64_t n)
{
    struct nbc_error err;
    int64_t targets;
    if (nb6_sim_tell_tree(config, n, &targets, &err))
        fprintf(out, "  %-26s %s\n", "regular forces", err.text);
    else if (targets == 0)
        fprintf(out, "  %-26s direct sums: too few stars for a tree (FORCE_ERROR = %g)\n", "regular forces",
                config->integration.force_error);
    else
        fprintf(out, "  %-26s by a tree from %lld targets on, FORCE_ERROR = %g\n", "regular forces", (long long)targets,
                config->integration.force_error);
}

static void print_integration(FILE *out, const struct nb6_config *config, int64_t n)
{
    const struct nb6_integration_config *c = &config->integration;
    fprintf(out, "\n  %-26s %g, %g\n", "step factors ETAI, ETAR", c->eta_irr, c->eta_reg);
    if (c->dt_fixed_irr > 0) fprintf(out, "  %-26s %g\n", "constant irregular step", c->dt_fixed_irr);
    if (c->dt_fixed_reg > 0) fprintf(out, "  %-26s %g\n", "constant regular step", c->dt_fixed_reg);
    if (c->nnb_opt > 0)
        fprintf(out, "  %-26s %lld\n", "neighbours NNBOPT", (long long)c->nnb_opt);
    else
        fprintf(out, "  %-26s automatic\n", "neighbours NNBOPT");
    fprintf(out, "  %-26s %g\n", "energy tolerance QE", config->run.energy_tol);
    if (c->force_error > 0) print_tree(out, config, n);
    fprintf(out, "  %-26s regular %s, irregular %s\n", "backends", config->run.device, config->run.irr_backend);
    print_engine(out, config, n);
}

static void print_files(FILE *out, const struct nb6_config *config)
{
    const struct nb6_run_config *r = &config->run;
    fprintf(out, "  %-26s %s.*\n", "files", r->name);
    if (r->snapshots)
        fprintf(out, "  %-26s every %g N-body units\n", "snapshots", r->dt_output * (double)r->n_fix);
    else
        fprintf(out, "  %-26s none\n", "snapshots");
    fprintf(out, "  %-26s ", "checkpoints");
    if (r->checkpoint_interval_s > 0) fprintf(out, "every %g s, ", r->checkpoint_interval_s);
    fprintf(out, "%sat the end\n", r->checkpoint_at_output ? "at output, " : "");
}

int nb6_setup_print(FILE *out, const struct nb6_config *config, struct nbc_error *err)
{
    struct nb6_setup_facts facts;
    int status = nb6_setup_find(config, &facts, err);
    if (status != NBC_OK) return status;
    struct nb6_config with_n = *config; /* of a data file, or with the companions of binaries */
    with_n.model.n = facts.n;
    status = nb6_config_check(&with_n, err);
    if (status != NBC_OK) return status;
    const struct nb6_units units = nb6_units_from(facts.rbar_pc, facts.zmbar_msun, facts.n);
    struct nb6_config settled = *config;
    nb6_config_settle_intervals(&settled, units.time_myr);
    struct nb6_external field;
    struct nb6_config_two two;
    status = nb6_config_check_intervals(config, units.time_myr, err);
    if (status == NBC_OK) status = nb6_external_make(config, &units, &field, err);
    if (status == NBC_OK) status = nb6_config_get_two(config, &two, err);
    if (status != NBC_OK) return status;
    fprintf(out, "%s\n", config->run.input_path);
    print_model(out, config, &facts, &two);
    print_units(out, &settled, &facts, &units, &field);
    nb6_setup_physics(out, config, facts.n);
    print_integration(out, config, facts.n);
    print_files(out, &settled);
    nb6_setup_advise(out, &settled, &facts, &units, &field);
    return NBC_OK;
}
