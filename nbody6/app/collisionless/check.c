#include "nbody6/app/collisionless/check.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "gpunb/softened_device.h"
#include "gpunb/tree.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/app/collisionless/cost.h"
#include "nbody6/app/collisionless/costs_file.h"
#include "nbody6/app/collisionless/forces_note.h"
#include "nbody6/app/data_note.h"
#include "nbody6/app/stars/stars_note.h"
#include "nbody6/app/stars/unit_advice.h"
#include "nbody6/input/config.h"
#include "nbody6/input/config_groups.h"
#include "nbody6/input/units.h"
#include "nbody6/model/model.h"
#include "nbody6/state/backend_name.h"

#include <math.h>
#include <omp.h>

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
                                           .reuse = (int)group.reuse,
                                           .force = {.backend = nb6_backend_name(config->run.device),
                                                     .precision = (enum gpunb_precision)config->run.precision,
                                                     .force_error = group.force_error,
                                                     .theta = group.theta,
                                                     .order = (int)group.order,
                                                     .leaf = (int)group.leaf,
                                                     .group = (int)group.group,
                                                     .walk = (enum gpunb_walk)(int)group.walk}};
    if (!config->data.costs_path[0]) return NBC_OK;
    return nb6_costs_file_read(config->data.costs_path, options->costs, sizeof options->costs, err);
}

int nb6_collisionless_round_end(struct nb6_config *config, struct nbc_error *err)
{
    double dt;
    const int status = nb6_config_number(config, "INCOLLISIONLESS", "DT", &dt, err);
    if (!status && dt > 0) config->run.t_crit = ceil(config->run.t_crit / dt) * dt;
    return status;
}

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

int nb6_collisionless_check_tree(const struct nb6_config *config, int64_t n, struct nbc_error *err)
{
    struct nb6_collisionless_options options;
    int status = nb6_collisionless_options_of(config, &options, err);
    const double aim = status ? 0 : options.force.force_error;
    gpunb_t *force = NULL;
    if (status || !gpunb_tree_is_asked(&options.force)) return status;
    options.force.force_error = 0;
    options.force.theta = 1; /* a tree of the same backend, whatever the aim is, without memory for bodies */
    if (gpunb_create_empty(&force, (size_t)n, &options.force, NULL))
        return NBC_OK; /* why not is said where it is used */
    const double least = gpunb_tree_least_error(force);
    const char *backend = gpunb_info(force)->name;
    gpunb_free(force);
    if (options.costs[0]) status = nb6_costs_check_backend(config->data.costs_path, backend, err);
    if (status || aim == 0 || aim >= least) return status;
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s: FORCE_ERROR: %g is less than forces by a tree of the backend %s can have; give %g or more, or 0 "
        "for direct sums",
        config->run.input_path, aim, backend, least);
}

/* Seconds in the unit that a reader takes them in. */
enum { TIME_ROOM = 32 };
static const char *time_text(double seconds, char text[TIME_ROOM])
{
    static const struct {
        double up_to, unit;
        const char *name;
    } units[] = {{120, 1, "s"}, {7200, 60, "min"}, {172800, 3600, "h"}, {INFINITY, 86400, "days"}};
    int k = 0;
    while (units[k].up_to < INFINITY && seconds >= units[k].up_to) k++;
    snprintf(text, TIME_ROOM, "%.3g %s", seconds / units[k].unit, units[k].name);
    return text;
}

static void print_cost(const char *name, const struct nb6_softened_cost *cost, double forces, FILE *out)
{
    char once[TIME_ROOM], all[TIME_ROOM];
    fprintf(out, "  %s: about %s for the forces on all bodies, %s for the run, %.0f MB\n", name,
            time_text(cost->seconds, once), time_text(cost->seconds * forces, all), cost->bytes * 1e-6);
}

/* Costs are nominal ones: of as many forces on all bodies as there are longest steps. */
static void print_forces(const struct nb6_collisionless_plan *plan, int64_t n, double steps, FILE *out)
{
    const int threads = omp_get_max_threads();
    const struct nb6_softened_cost direct = nb6_cost_direct(plan, n, threads);
    char text[NB6_FORCES_TEXT];
    nb6_forces_describe(&plan->force, plan->reuse, text);
    fprintf(out, "  forces: %s\n", text);
    if (plan->costs[0]) fprintf(out, "  nominal costs: %s\n", plan->costs);
    if (gpunb_tree_is_asked(&plan->force)) {
        const struct nb6_softened_cost tree = nb6_cost_tree(plan, n, threads);
        print_cost("tree", &tree, steps + 1, out);
    }
    print_cost("direct sums", &direct, steps + 1, out);
    if (plan->device_bytes > 0)
        fprintf(out, "  on the device%s: %.0f MB%s\n", plan->gpus > 1 ? "s" : "", plan->device_bytes * 1e-6,
                plan->gpus > 1 ? " on the one that needs most" : "");
    if (gpunb_tree_is_asked(&plan->force) && !plan->tree_is_worth)
        fprintf(out, "  direct sums cost less for so few bodies, and are made; WALK='groups' takes the tree\n");
}

/* A missing backend or engine is reported, not refused: another machine may have it. */
static void print_engine(const struct nb6_collisionless_options *options, int64_t n, double steps, FILE *out)
{
    struct nb6_collisionless_plan plan;
    struct nbc_error why = {0};
    if (nb6_collisionless_plan(n, options, &plan, &why)) {
        fprintf(out, "  cannot run here: %s\n", why.text);
        return;
    }
    fprintf(out, "  backend %s, %s engine, %d thread%s\n", plan.backend, plan.engine, omp_get_max_threads(),
            plural(omp_get_max_threads()));
    print_forces(&plan, n, steps, out);
}

/* ---- passages of two bodies */

/* Shared steps of a quarter of that time leave at most 1e-4 of the energy behind, twice as long ones up to 3e-3; block
 * steps may leave half a thousandth (docs/algorithms/softened.md has the measurements). */
static const double SHARE_OF_PASSAGE = 0.25, ENERGY_OF_PASSAGE = 5e-4;
/* -E of N-body units. */
static const double ENERGY = 0.25;

void nb6_heaviest_take(int64_t n, const double *mass, double heaviest[2])
{
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

int nb6_collisionless_advise(const struct nb6_collisionless_options *options, const double m[2], char *text,
                             size_t size)
{
    const double softening = options->softening, dt = options->dt, eta = options->eta;
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
    double heaviest[2] = {0, 0};
    struct nb6_bulk bulk;
    struct nb6_collisionless_options options;
    const int64_t n = model->n;
    int status = nb6_collisionless_options_of(c, &options, err);
    if (!status) status = nb6_stars_find(model, &bulk, err);
    if (status) return status;
    const double dt = options.dt, eta = options.eta, steps = c->run.t_crit / dt;
    fprintf(out, "%s: N = %lld, softening %.6g\n", c->run.input_path, (long long)n, options.softening);
    if (eta > 0)
        fprintf(out, "  block steps, the longest %.6g, by ETA = %.6g: %.0f of the longest, more of shorter ones\n", dt,
                eta, steps);
    else
        fprintf(out, "  shared steps of %.6g: %.0f step%s\n", dt, steps, plural(steps));
    fprintf(out, "  from t = 0 to %.10g; energies every %.6g, snapshots %s%.6g\n", c->run.t_crit, c->run.dt_adjust,
            c->run.snapshots ? "every " : "none; DELTAT ",
            c->run.dt_output * (double)(c->run.snapshots ? c->run.n_fix : 1));
    print_engine(&options, n, steps, out);
    print_bodies(c, model, &bulk, out);
    nb6_heaviest_take(n, model->mass, heaviest);
    if (nb6_collisionless_advise(&options, heaviest, advice, sizeof advice)) fprintf(out, "  %s\n", advice);
    return NBC_OK;
}
