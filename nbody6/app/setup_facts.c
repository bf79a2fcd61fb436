#include "nbody6/app/setup_facts.h"

#include "common/nbc.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/app/stars/stars_note.h"
#include "nbody6/input/config.h"
#include "nbody6/model/imf.h"
#include "nbody6/model/model.h"

#include <math.h>

enum { MADE_MAX = 20000, QUANTILES = 20000 };

/* Of a Plummer model with E = -1/4; the other models have 0.8 to 0.9. */
static const double R_HALF_OF_MODELS = 0.77;

static int mean_of_mass_function(const struct nb6_config *config, struct nb6_setup_facts *facts, struct nbc_error *err)
{
    struct nb6_imf imf;
    int status = nb6_imf_init(&config->model, &imf, err);
    if (status != NBC_OK) return status;
    double sum = 0;
    for (int k = 0; k < QUANTILES; k++) sum += nb6_imf_mass(&imf, (k + 0.5) / QUANTILES);
    int equal = config->model.imf == NB6_IMF_EQUAL;
    *facts = (struct nb6_setup_facts){.n = config->model.n + config->binaries.n + config->triples.n,
                                      .zmbar_msun = equal ? config->zmbar_msun : sum / QUANTILES,
                                      .rbar_pc = config->rbar_pc,
                                      .mass_total = 1,
                                      .bulk = {.mass = 1, .r_half = R_HALF_OF_MODELS},
                                      .n_binary = config->binaries.n + config->triples.n,
                                      .a_widest = config->binaries.n > 0 &&
                                                          config->binaries.period == NB6_BINARY_SEMI_MAJOR_AXIS
                                                      ? config->binaries.semi_max
                                                      : 0};
    const double q = config->model.virial_ratio < 0 ? 0.5 : config->model.virial_ratio;
    facts->bulk.n = facts->n;
    nb6_bulk_set(q < 1 ? -0.25 / (1 - q) : -0.5, q, &facts->bulk);
    return NBC_OK;
}

/* Of the first 2 n stars, two and two. */
static double widest_binary(const struct nb6_model *model, int64_t n)
{
    double widest = 0;
    for (int64_t i = 0; i < 2 * n && i + 1 < model->n; i += 2) {
        double r2 = 0, v2 = 0;
        const double m = model->mass[i] + model->mass[i + 1];
        for (int d = 0; d < 3; d++) {
            r2 += (model->x[i][d] - model->x[i + 1][d]) * (model->x[i][d] - model->x[i + 1][d]);
            v2 += (model->v[i][d] - model->v[i + 1][d]) * (model->v[i][d] - model->v[i + 1][d]);
        }
        const double inverse = 2 / sqrt(r2) - v2 / m;
        if (m > 0 && inverse > 0) widest = fmax(widest, 1 / inverse);
    }
    return widest;
}

/* RMIN as nb6_subsystems_adjust sets it. */
static void note_structure(const struct nb6_structure *s, struct nb6_setup_facts *facts)
{
    facts->r_core = s->r_core;
    const double mean = 0.375 * facts->mass_total / (M_PI * s->r_half * s->r_half * s->r_half);
    if (s->r_half > 0 && s->rho_core > 0)
        facts->r_encounter = 4 * s->r_half / ((double)facts->n * cbrt(fmax(s->rho_core / mean, 1)));
}

/* Those that are declared, or that data hold without saying so. */
static void count_binaries(const struct nb6_multiples *found, const struct nb6_config *config,
                           struct nb6_setup_facts *facts)
{
    const int64_t declared = config->binaries.n + config->triples.n;
    const int64_t seen = found->n_binary + 2 * (found->n_triple + found->n_larger);
    facts->n_binary = seen > declared ? seen : declared;
}

int nb6_setup_find(const struct nb6_config *config, struct nb6_setup_facts *facts, struct nbc_error *err)
{
    if (config->model.kind != NB6_MODEL_FILE && config->model.n > MADE_MAX)
        return mean_of_mass_function(config, facts, err);
    struct nb6_model model = {0};
    int status = nb6_model_make(config, &model, err);
    if (status != NBC_OK) return status;
    *facts = (struct nb6_setup_facts){
        .n = model.n, .zmbar_msun = model.zmbar_msun, .rbar_pc = model.rbar_pc, .is_made = 1, .data = model.data};
    facts->mass_least = INFINITY;
    for (int64_t i = 0; i < model.n; i++) {
        facts->mass_least = fmin(facts->mass_least, model.mass[i]);
        facts->mass_most = fmax(facts->mass_most, model.mass[i]);
        facts->mass_total += model.mass[i];
    }
    facts->a_widest = widest_binary(&model, config->binaries.n);
    status = nb6_stars_find(&model, &facts->bulk, err);
    if (!status) {
        note_structure(&facts->bulk.structure, facts);
        count_binaries(&facts->bulk.multiples, config, facts);
        if (config->model.kind == NB6_MODEL_FILE) nb6_data_describe(&model, &facts->bulk.multiples, 0, facts->about);
    }
    nb6_model_free(&model);
    return status;
}
