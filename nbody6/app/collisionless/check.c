#include "nbody6/app/collisionless/check.h"

#include "common/nbc.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/app/data_note.h"
#include "nbody6/app/stars/stars_note.h"
#include "nbody6/app/stars/unit_advice.h"
#include "nbody6/input/config.h"
#include "nbody6/input/config_groups.h"
#include "nbody6/input/units.h"
#include "nbody6/model/model.h"
#include "nbody6/state/backend_name.h"

#include <math.h>

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

int nb6_collisionless_options_of(const struct nb6_config *config, struct nb6_collisionless_options *options,
                                 struct nbc_error *err)
{
    static const enum nb6_collisionless_engine engine[] = {[NB6_ENGINE_HOST] = NB6_COLLISIONLESS_HOST,
                                                           [NB6_ENGINE_DEVICE] = NB6_COLLISIONLESS_DEVICE,
                                                           [NB6_ENGINE_EMULATED] = NB6_COLLISIONLESS_EMULATED,
                                                           [NB6_ENGINE_AUTO] = NB6_COLLISIONLESS_AUTO};
    struct nb6_config_softened group;
    const int status = nb6_config_get_softened(config, &group, err);
    if (status) return status;
    *options =
        (struct nb6_collisionless_options){.softening = group.softening,
                                           .dt = group.dt,
                                           .steps = group.eta > 0 ? NB6_COLLISIONLESS_BLOCK : NB6_COLLISIONLESS_SHARED,
                                           .eta = group.eta,
                                           .engine = engine[config->run.engine],
                                           .force = {.backend = nb6_backend_name(config->run.device),
                                                     .precision = (enum gpunb_precision)config->run.precision,
                                                     .force_error = group.force_error,
                                                     .theta = group.theta,
                                                     .order = (int)group.order,
                                                     .leaf = (int)group.leaf,
                                                     .group = (int)group.group,
                                                     .walk = (enum gpunb_walk)(int)group.walk}};
    return NBC_OK;
}

int nb6_collisionless_round_end(struct nb6_config *config, struct nbc_error *err)
{
    double dt;
    const int status = nb6_config_number(config, "INCOLLISIONLESS", "DT", &dt, err);
    if (!status && dt > 0) config->run.t_crit = ceil(config->run.t_crit / dt) * dt;
    return status;
}

/* A missing backend or engine is reported, not refused: another machine may have it. */
static void print_engine(const struct nb6_collisionless_options *options, int64_t n, FILE *out)
{
    const char *backend, *engine;
    struct nbc_error why = {0};
    if (nb6_collisionless_plan(n, options, &backend, &engine, &why))
        fprintf(out, "  cannot run here: %s\n", why.text);
    else
        fprintf(out, "  backend %s, %s engine\n", backend, engine);
}

/* ---- passages of two bodies */

/* Shared steps of a quarter of that time leave at most 1e-4 of the energy behind, twice as long ones up to 3e-3; block
 * steps may leave half a thousandth (docs/algorithms/softened.md has the measurements). */
static const double SHARE_OF_PASSAGE = 0.25, ENERGY_OF_PASSAGE = 5e-4;
/* -E of N-body units. */
static const double ENERGY = 0.25;

static void find_heaviest(int64_t n, const double *mass, double heaviest[2])
{
    heaviest[0] = heaviest[1] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (mass[i] > heaviest[0]) {
            heaviest[1] = heaviest[0];
            heaviest[0] = mass[i];
        } else if (mass[i] > heaviest[1])
            heaviest[1] = mass[i];
    }
}

/* The largest number with one digit that is not above it. */
static double round_down(double value)
{
    const double unit = pow(10, floor(log10(value)));
    return floor(value / unit) * unit;
}

/* The longest power of two that is a step of nbody6-collisionless, or nothing. */
static void suggest_step(double longest, char *text, size_t size)
{
    text[0] = '\0';
    if (longest >= 0x1p-30) snprintf(text, size, "DT=%.6g or less, or ", exp2(floor(log2(longest))));
}

/* Energy that two bodies change while they pass each other, as a share of that of all. In the core of the softened
 * potential they oscillate with the frequency ((m1 + m2)/epsilon^3)^(1/2); the first term of the energy error of a
 * leapfrog, h^2/12 v V'' v, is (frequency x step)^2/12 mu v^2 there, with v^2 = 2 (m1 + m2)/epsilon after a fall from
 * afar. With one step it is gone when they have passed; block steps, which change on the way, may keep most of it. */
static double energy_of_passage(double step, double passage, double softening, const double m[2])
{
    return step * step / (passage * passage) * m[0] * m[1] / (6 * softening * ENERGY);
}

static int advise_shared(double dt, double passage, char *text, size_t size)
{
    char shorter[64];
    if (dt <= SHARE_OF_PASSAGE * passage) return 0;
    suggest_step(SHARE_OF_PASSAGE * passage, shorter, sizeof shorter);
    snprintf(text, size,
             "warning: DT=%.6g is too long for the two heaviest bodies, which pass each other in "
             "(SOFTENING^3/(m1 + m2))^(1/2) = %.3g; give %sa larger SOFTENING",
             dt, passage, shorter);
    return 1;
}

int nb6_collisionless_advise(const struct nb6_collisionless_options *options, int64_t n, const double *mass, char *text,
                             size_t size)
{
    const double softening = options->softening, dt = options->dt, eta = options->eta;
    double m[2];
    find_heaviest(n, mass, m);
    if (!(m[1] > 0)) return 0;
    const double passage = sqrt(softening * softening * softening / (m[0] + m[1]));
    if (eta == 0) return advise_shared(dt, passage, text, size);
    /* The acceleration has its maximum, 2/3^(3/2) m/epsilon^2, at the distance epsilon/2^(1/2). */
    const double steepest = 2 / (3 * sqrt(3)), step = fmin(dt, eta * passage * sqrt((m[0] + m[1]) / (m[0] * steepest)));
    const double error = energy_of_passage(step, passage, softening, m);
    if (error <= ENERGY_OF_PASSAGE) return 0;
    snprintf(text, size,
             "warning: ETA=%.6g is too large for so few bodies: the two heaviest may change the energy by %.1g of "
             "itself when they pass each other; give ETA=%.6g or less, or a larger SOFTENING",
             eta, error, round_down(eta * sqrt(ENERGY_OF_PASSAGE / error)));
    return 1;
}

/* ---- --check */

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

static void print_warning(void *context, const char *text)
{
    fprintf(context, "  warning: %s\n", text);
}

/* The bodies as they were understood. */
static void print_bodies(const struct nb6_config *c, const struct nb6_model *model, const struct nb6_bulk *bulk,
                         FILE *out)
{
    const struct nb6_units units = nb6_units_from(c->rbar_pc, c->zmbar_msun, model->n);
    char text[NB6_STARS_TEXT], data[NB6_DATA_TEXT];
    if (c->model.kind == NB6_MODEL_FILE) {
        nb6_data_describe(model, &bulk->multiples, 1, data);
        fprintf(out, "  %s: %s\n", c->model.data_path, data);
    }
    nb6_stars_describe(bulk, &units, nb6_units_are_suspect(c, &model->data, bulk, &units), text);
    fprintf(out, "  %s\n", text);
    nb6_units_advise(c, &model->data, bulk, &units, print_warning, out);
}

int nb6_collisionless_print(const struct nb6_config *c, const struct nb6_model *model, FILE *out, struct nbc_error *err)
{
    char advice[NB6_COLLISIONLESS_ADVICE];
    struct nb6_bulk bulk;
    struct nb6_collisionless_options options;
    const int64_t n = model->n;
    int status = nb6_collisionless_options_of(c, &options, err);
    if (!status) status = nb6_stars_find(model, &bulk, err);
    if (status) return status;
    const double dt = options.dt, eta = options.eta, steps = c->run.t_crit / dt;
    fprintf(out, "%s: N = %lld, softening %.6g\n", c->run.input_path, (long long)n, options.softening);
    if (eta > 0)
        fprintf(out, "  block steps, the longest %.6g, by ETA = %.6g\n", dt, eta);
    else
        fprintf(out, "  shared steps of %.6g: %.0f step%s, %.3g pairs of bodies\n", dt, steps, plural(steps),
                (steps + 1) * (double)n * (double)n);
    fprintf(out, "  from t = 0 to %.10g; energies every %.6g, snapshots %s%.6g\n", c->run.t_crit, c->run.dt_adjust,
            c->run.snapshots ? "every " : "none; DELTAT ",
            c->run.dt_output * (double)(c->run.snapshots ? c->run.n_fix : 1));
    print_engine(&options, n, out);
    print_bodies(c, model, &bulk, out);
    if (nb6_collisionless_advise(&options, n, model->mass, advice, sizeof advice)) fprintf(out, "  %s\n", advice);
    return NBC_OK;
}
