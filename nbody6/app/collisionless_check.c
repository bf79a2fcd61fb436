#include "nbody6/app/collisionless_check.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"

#include <math.h>
#include <string.h>

/* What the input asks for and would not get. Variables that say how encounters and neighbours are treated (RMIN,
 * KZ(16), ETAI, ...) have nothing to do here: there are none. */
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
        {c->data.radii, "RADII='collide'", "collisions", "RADII='keep'"},
        {c->escape != NB6_ESCAPE_KEEP, "KZ(23)", "removal of escapers", "KZ(23)=0"},
        {c->run.energy_retries > 0, "KZ(2)", "intervals that are done again", "KZ(2)=0 or 1"},
        {c->run.force_check != 0, "FCHECK", "checks of forces", "FCHECK=0"},
        {c->integration.dt_fixed_irr > 0, "DTFIXI", "steps by DTFIXI (DT is the step)", "DTFIXI=0"},
        {c->integration.dt_fixed_reg > 0, "DTFIXR", "steps by DTFIXR (DT is the step)", "DTFIXR=0"},
        {strcmp(c->run.irr_backend, "auto") != 0, "IRR", "irregular forces", "IRR='auto'"},
        {c->run.engine != NB6_ENGINE_AUTO && c->run.engine != NB6_ENGINE_HOST, "ENGINE", "engines", "ENGINE='auto'"},
        {c->run.on_device_loss != NB6_LOSS_STOP, "DEVLOSS", "runs that go on without their GPU", "DEVLOSS='stop'"},
    };
    for (size_t k = 0; k < sizeof only_nbody6 / sizeof only_nbody6[0]; k++)
        if (only_nbody6[k].asked)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: %s: nbody6-collisionless has no %s; set %s, or leave &INCOLLISIONLESS "
                            "out and run nbody6",
                            c->run.input_path, only_nbody6[k].name, only_nbody6[k].what, only_nbody6[k].remedy);
    return NBC_OK;
}

/* Bodies stand at one time at multiples of DT, and what is written there must not change a step. */
static int check_times(const struct nb6_config *c, struct nbc_error *err)
{
    const double dt = nb6_config_number(c, "INCOLLISIONLESS", "DT");
    const struct {
        const char *name;
        double value;
    } times[] = {{"DTADJ", c->run.dt_adjust}, {"DELTAT", c->run.dt_output}, {"TCRIT", c->run.t_crit}};
    for (int k = 0; k < 3; k++) {
        const double steps = times[k].value / dt; /* exact: DT is a power of two */
        if (steps != floor(steps))
            return nbc_fail(err, NBC_BAD_INPUT, "%s: %s: %.12g is no multiple of DT=%.12g; give %.12g, or a smaller DT",
                            c->run.input_path, times[k].name, times[k].value, dt, fmax(1, round(steps)) * dt);
    }
    if (c->run.t_crit <= 0x1p22) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s: TCRIT: %.12g is out of range; give a time <= %.12g", c->run.input_path,
                    c->run.t_crit, 0x1p22);
}

int nb6_collisionless_check(const struct nb6_config *config, struct nbc_error *err)
{
    if (!nb6_config_is_collisionless(config))
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s: SOFTENING: the input has no softened forces; give &INCOLLISIONLESS SOFTENING=..., DT=... / or "
            "run nbody6 with it",
            config->run.input_path);
    const int status = check_physics(config, err);
    return status ? status : check_times(config, err);
}
