#include "nbody6/app/collisionless_check.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"

/* Ticks of the time end there. */
static const double LATEST = 0x1p22;

int nb6_collisionless_check(const struct nb6_config *config, struct nbc_error *err)
{
    if (!nb6_config_is_collisionless(config))
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s: SOFTENING: the input has no softened forces; give &INCOLLISIONLESS SOFTENING=..., DT=... / or "
            "run nbody6 with it",
            config->run.input_path);
    if (config->run.t_crit <= LATEST) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s: TCRIT: %.12g is out of range; give a time <= %.12g",
                    config->run.input_path, config->run.t_crit, LATEST);
}

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

void nb6_collisionless_print(const struct nb6_config *c, FILE *out)
{
    const double dt = nb6_config_number(c, "INCOLLISIONLESS", "DT"),
                 eta = nb6_config_number(c, "INCOLLISIONLESS", "ETA"), steps = c->run.t_crit / dt;
    fprintf(out, "%s: N = %lld, softening %.6g\n", c->run.input_path, (long long)c->model.n,
            nb6_config_number(c, "INCOLLISIONLESS", "SOFTENING"));
    if (eta > 0)
        fprintf(out, "  block steps, the longest %.6g, by ETA = %.6g\n", dt, eta);
    else
        fprintf(out, "  shared steps of %.6g: %.0f step%s, %.3g pairs of bodies\n", dt, steps, plural(steps),
                (steps + 1) * (double)c->model.n * (double)c->model.n);
    fprintf(out, "  from t = 0 to %.10g; energies every %.6g, snapshots %s%.6g\n", c->run.t_crit, c->run.dt_adjust,
            c->run.snapshots ? "every " : "none; DELTAT ",
            c->run.dt_output * (double)(c->run.snapshots ? c->run.n_fix : 1));
}
