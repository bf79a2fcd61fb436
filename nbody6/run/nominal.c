#include "nbody6/run/nominal.h"

#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/engine.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"

#include <math.h>
#include <string.h>

/* On the host: prediction, corrector and schedule of a step, in caches; beyond them it takes longer (measured with 1000
 * to 16000 stars, one thread). On the device: a block, independent of its size. Blocks a unit of time: 110 N^0.54. */
static const double STEP_S = 0.6e-6, STARS_IN_CACHES = 4000, DEVICE_BLOCK_S = 12e-6;

/* Of a hard binary in a unit of time, one thread: 3 to 14 ms in clusters of 200 to 10000 stars with 5 to 30 percent
 * binaries; soft ones 5 to 80 ms. */
static const double BINARY_S = 6e-3;

/* From so many stars on, `auto` gives the regular force to a GPU. */
enum { GPU_WORTH = 4096 };

static int is_gpu(const char *name)
{
    return strcmp(name, "cuda") == 0;
}

static double regular_ns(const struct nb6_config *config, int64_t n)
{
    const char *wanted = config->run.device;
    const int automatic = strcmp(wanted, "auto") == 0, cpu = strcmp(wanted, "cpu") == 0;
    for (int k = 0; gpunb_backend(k); k++) {
        const struct gpunb_backend_info *b = gpunb_backend(k);
        if (!b->available || ((cpu || (automatic && n < GPU_WORTH)) && is_gpu(b->name))) continue;
        if (automatic || cpu || strncmp(wanted, b->name, strlen(b->name)) == 0) return b->ns_per_pair;
    }
    return gpunb_backend(0)->ns_per_pair;
}

static double irregular_ns(const struct nb6_config *config)
{
    for (int k = 0; gpuirr_backend(k); k++) {
        const struct gpuirr_backend_info *b = gpuirr_backend(k);
        if (b->available &&
            (strcmp(config->run.irr_backend, "auto") == 0 || strcmp(config->run.irr_backend, b->name) == 0))
            return b->ns_per_pair;
    }
    return gpuirr_backend(0)->ns_per_pair;
}

/* Steps of a star in a unit of time, where forces ask for so many and none is longer than that. */
static double steps_of(double wanted, double constant, double longest)
{
    return constant > 0 ? 1 / constant : fmax(wanted, 1 / longest);
}

void nb6_nominal_cost(const struct nb6_config *config, int64_t n, int64_t n_binary, double t, int threads,
                      struct nb6_nominal *nominal)
{
    char why[NB6_ENGINE_WHY];
    const double stars = (double)n, nnb = nb6_radius_initial_mean(config, n, 0);
    const struct nb6_pair_cost device = NB6_DEVICE_COST;
    nominal->engine = nb6_engine_for(config, n, why);
    const struct nb6_integration_config *steps = &config->integration;
    const double wanted_irr = 16 * cbrt(stars) * sqrt(0.02 / steps->eta_irr);
    const double wanted_reg = 7.4 * pow(stars, 0.19) * sqrt(0.02 / steps->eta_reg);
    const double each_irr = steps_of(wanted_irr, steps->dt_fixed_irr, steps->dt_max);
    nominal->steps_irr = t * stars * each_irr;
    nominal->steps_reg = t * stars * steps_of(wanted_reg, steps->dt_fixed_reg, steps->dt_max);
    nominal->longest = wanted_irr / each_irr;
    nominal->seconds_pairs = t * (double)n_binary * BINARY_S / (double)(threads > 0 ? threads : 1);
    const double irr = nominal->steps_irr * nnb * 1e-9, reg = nominal->steps_reg * stars * 1e-9;
    if (strcmp(nominal->engine, "device") == 0) {
        const double blocks = t * fmax(110 * pow(stars, 0.54), 1 / steps->dt_max);
        nominal->seconds = irr * device.irr + reg * device.reg + blocks * DEVICE_BLOCK_S + nominal->seconds_pairs;
        return;
    }
    const double cpu_reg_ns = regular_ns(config, n);
    const double step_s = STEP_S * sqrt(fmax(stars / STARS_IN_CACHES, 1));
    nominal->seconds =
        (irr * irregular_ns(config) + reg * cpu_reg_ns + (nominal->steps_irr + nominal->steps_reg) * step_s) /
            (double)(threads > 0 ? threads : 1) +
        nominal->seconds_pairs;
}
