#include "nbody6/app/collisionless_check.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/state/sim.h"

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

struct nb6_collisionless_options nb6_collisionless_options_of(const struct nb6_config *config)
{
    static const enum nb6_collisionless_engine engine[] = {[NB6_ENGINE_HOST] = NB6_COLLISIONLESS_HOST,
                                                           [NB6_ENGINE_DEVICE] = NB6_COLLISIONLESS_DEVICE,
                                                           [NB6_ENGINE_EMULATED] = NB6_COLLISIONLESS_EMULATED,
                                                           [NB6_ENGINE_AUTO] = NB6_COLLISIONLESS_AUTO};
    const double eta = nb6_config_number(config, "INCOLLISIONLESS", "ETA");
    return (struct nb6_collisionless_options){.softening = nb6_config_number(config, "INCOLLISIONLESS", "SOFTENING"),
                                              .dt = nb6_config_number(config, "INCOLLISIONLESS", "DT"),
                                              .steps = eta > 0 ? NB6_COLLISIONLESS_BLOCK : NB6_COLLISIONLESS_SHARED,
                                              .eta = eta,
                                              .engine = engine[config->run.engine],
                                              .force = {.backend = nb6_sim_backend(config->run.device),
                                                        .precision = (enum gpunb_precision)config->run.precision}};
}

/* Another machine may have what this one lacks. */
static void print_engine(const struct nb6_config *config, int64_t n, FILE *out)
{
    const struct nb6_collisionless_options options = nb6_collisionless_options_of(config);
    const char *backend, *engine;
    struct nbc_error why = {0};
    if (nb6_collisionless_foresee(n, &options, &backend, &engine, &why))
        fprintf(out, "  cannot run here: %s\n", why.text);
    else
        fprintf(out, "  backend %s, %s engine\n", backend, engine);
}

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

void nb6_collisionless_print(const struct nb6_config *c, int64_t n, FILE *out)
{
    const double dt = nb6_config_number(c, "INCOLLISIONLESS", "DT"),
                 eta = nb6_config_number(c, "INCOLLISIONLESS", "ETA"), steps = c->run.t_crit / dt;
    fprintf(out, "%s: N = %lld, softening %.6g\n", c->run.input_path, (long long)n,
            nb6_config_number(c, "INCOLLISIONLESS", "SOFTENING"));
    if (eta > 0)
        fprintf(out, "  block steps, the longest %.6g, by ETA = %.6g\n", dt, eta);
    else
        fprintf(out, "  shared steps of %.6g: %.0f step%s, %.3g pairs of bodies\n", dt, steps, plural(steps),
                (steps + 1) * (double)n * (double)n);
    fprintf(out, "  from t = 0 to %.10g; energies every %.6g, snapshots %s%.6g\n", c->run.t_crit, c->run.dt_adjust,
            c->run.snapshots ? "every " : "none; DELTAT ",
            c->run.dt_output * (double)(c->run.snapshots ? c->run.n_fix : 1));
    print_engine(c, n, out);
}
