#include "nbody6/input/config_softened.h"

#include "nbody6/input/config.h"
#include "nbody6/input/config_groups.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int nb6_config_is_collisionless(const struct nb6_config *config)
{
    double softening;
    return !nb6_config_number(config, "INCOLLISIONLESS", "SOFTENING", &softening, NULL) && softening > 0;
}

/* Requests that softened forces cannot fulfil. Variables for encounters and neighbours (RMIN, KZ(16), ETAI, ...) have
 * no effect: there are none. */
static int check_physics(const struct nb6_config *c, struct nbc_error *err)
{
    const struct {
        int asked;
        const char *name, *what, *remedy;
    } only_nbody6[] = {
        {c->binaries.wanted && c->binaries.n > 0, "KZ(8)", "primordial binaries", "KZ(8)=0"},
        {c->triples.n > 0, "NHI0", "primordial triples", "NHI0=0"},
        {c->tide.kind != NB6_TIDE_NONE, "KZ(14)", "external fields", "KZ(14)=0"},
        {c->pair.r_star > 0, "RSTAR", "collisions", "RSTAR=0"},
        {c->stellar.evolve, "KZ(19)", "stars that age", "KZ(19)=0"},
        {c->data.radii, "RADII='collide'", "collisions", "RADII='keep'"},
        {c->escape != NB6_ESCAPE_KEEP, "KZ(23)", "removal of escapers", "KZ(23)=0"},
        {c->run.energy_retries > 0, "KZ(2)", "intervals that are done again", "KZ(2)=0 or 1"},
        {c->run.force_check != 0, "FCHECK", "checks of forces", "FCHECK=0"},
        {c->integration.dt_fixed_irr > 0, "DTFIXI", "steps by DTFIXI (DT is the step)", "DTFIXI=0"},
        {c->integration.dt_fixed_reg > 0, "DTFIXR", "steps by DTFIXR (DT is the step)", "DTFIXR=0"},
        {c->run.dt_adjust_myr > 0, "DTADJ_MYR", "intervals in Myr (they are multiples of DT)",
         "DTADJ_MYR=0, and DTADJ"},
        {c->run.dt_output_myr > 0, "DTOUT_MYR", "intervals in Myr (they are multiples of DT)",
         "DTOUT_MYR=0, and DELTAT"},
        {c->integration.force_error > 0, "FORCE_ERROR of &INRUN", "regular forces (its own is in &INCOLLISIONLESS)",
         "FORCE_ERROR=0 in &INRUN"},
        {strcmp(c->run.irr_backend, "auto") != 0, "IRR", "irregular forces", "IRR='auto'"},
        {c->run.on_device_loss != NB6_LOSS_STOP, "DEVLOSS", "runs that continue without their GPU", "DEVLOSS='stop'"},
    };
    for (size_t k = 0; k < sizeof only_nbody6 / sizeof only_nbody6[0]; k++)
        if (only_nbody6[k].asked)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: nbody6-collisionless has no %s; set %s, or leave &INCOLLISIONLESS out and run nbody6",
                            only_nbody6[k].name, only_nbody6[k].what, only_nbody6[k].remedy);
    return NBC_OK;
}

/* The longest power of two that `time` is a multiple of, if a step can be as short; 0: there is none. */
static double step_that_divides(double time)
{
    for (double dt = 1; dt >= 0x1p-20; dt *= 0.5)
        if (time / dt == floor(time / dt)) return dt;
    return 0;
}

/* All bodies are at one time at multiples of DT, and output there must not change a step. */
static int check_times(const struct nb6_config *c, double dt, struct nbc_error *err)
{
    const struct {
        const char *name;
        double value;
    } times[] = {{"DTADJ", c->run.dt_adjust}, {"DELTAT", c->run.dt_output}, {"TCRIT", c->run.t_crit}};
    for (int k = 0; k < 3; k++) {
        const double steps = times[k].value / dt, below = floor(steps) * dt; /* exact: DT is a power of two */
        const double divides = step_that_divides(times[k].value);
        char lower[32] = "", shorter[48] = "";
        if (steps == floor(steps)) continue;
        if (below > 0) snprintf(lower, sizeof lower, "%.12g or ", below);
        if (divides > 0) snprintf(shorter, sizeof shorter, ", or DT=%.12g", divides);
        return nbc_fail(err, NBC_BAD_INPUT, "%s: %.12g is no multiple of DT=%.12g; give %s%.12g%s", times[k].name,
                        times[k].value, dt, lower, below + dt, shorter);
    }
    return NBC_OK;
}

/* Ranges that gpunb_softened accepts. */
static const double SHORTEST_SOFTENING = 1e-15;

static int has_group(const struct nb6_config_softened *g)
{
    return g->softening > 0 || g->dt > 0 || g->eta > 0 || g->force_error > 0 || g->theta > 0;
}

static int check_group(const struct nb6_config_softened *g, struct nbc_error *err)
{
    const double softening = g->softening, dt = g->dt;
    if (!(softening > 0))
        return nbc_fail(err, NBC_BAD_INPUT, "%s: &INCOLLISIONLESS has no softening length; give SOFTENING > 0",
                        dt > 0               ? "DT"
                        : g->eta > 0         ? "ETA"
                        : g->force_error > 0 ? "FORCE_ERROR"
                                             : "THETA");
    if (softening < SHORTEST_SOFTENING)
        return nbc_fail(err, NBC_BAD_INPUT, "SOFTENING: %g is out of range; give 0 (none) or a length >= %g", softening,
                        SHORTEST_SOFTENING);
    if (dt == 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "SOFTENING: &INCOLLISIONLESS has no step; give DT, a power of two such as 0.015625");
    int exponent;
    if (frexp(dt, &exponent) == 0.5 && dt >= 0x1p-30) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "DT: %.12g is no power of two from 2^-30 to 1; give 1, 0.5, 0.25, ...", dt);
}

static const double LEAST_THETA = 0.1;

/* The backend of the run knows the least FORCE_ERROR: the program asks it before it begins. */
static int check_tree(const struct nb6_config_softened *group, const char *costs_path, struct nbc_error *err)
{
    const struct {
        int given;
        const char *name;
    } of_trees[] = {{group->order > 0, "ORDER"}, {group->leaf > 0, "LEAF"},   {group->group > 0, "GROUP"},
                    {group->walk > 0, "WALK"},   {group->reuse > 1, "REUSE"}, {costs_path[0] != '\0', "COSTS"}};
    if (group->force_error > 0 && group->theta > 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "THETA: a tree has an aim, FORCE_ERROR=%g, or an angle, THETA=%g; leave one of them out",
                        group->force_error, group->theta);
    if (group->theta > 0 && group->theta < LEAST_THETA)
        return nbc_fail(err, NBC_BAD_INPUT, "THETA: %g is out of range; give 0 (none) or an angle >= %g", group->theta,
                        LEAST_THETA);
    for (size_t k = 0; k < sizeof of_trees / sizeof of_trees[0] && !(group->force_error > 0 || group->theta > 0); k++)
        if (of_trees[k].given)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: there is no tree to which it applies; give FORCE_ERROR (or THETA), or leave it out",
                            of_trees[k].name);
    return NBC_OK;
}

int nb6_config_check_softened(const struct nb6_config *config, struct nbc_error *err)
{
    struct nb6_config_softened group;
    int status = nb6_config_get_softened(config, &group, err);
    if (!status) status = check_tree(&group, config->data.costs_path, err);
    if (status || !has_group(&group)) return status;
    status = check_group(&group, err);
    if (!status) status = check_physics(config, err);
    return status ? status : check_times(config, group.dt, err);
}
