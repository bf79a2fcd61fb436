/* What a run begins with: criteria of close encounters, pairs made of primordial binaries. */
#include "sim.h"
#include "start.h"

#include <math.h>

/* Primordial binaries up to this many RMIN wide are regularized from the start. */
static const double WIDEST = 3;
/* Below this there is no density to speak of. */
enum { STARS_FOR_CRITERIA = 10 };

static void from_density(struct nb6_sim *sim, int64_t n, double rho_core, double r_half)
{
    struct nb6_bookkeeping *book = &sim->book;
    double mean_density = 0.375 * book->mass_start / (M_PI * r_half * r_half * r_half);
    double r_min = 4 * r_half / ((double)n * cbrt(fmax(rho_core / mean_density, 1)));
    book->r_min = r_min;
    book->dt_min = 0.04 * sqrt(sim->config.integration.eta_irr / 0.02) *
                   sqrt(r_min * r_min * r_min / (book->mass_start / (double)n));
}

void nb6_pairs_first_criteria(struct nb6_sim *sim, int64_t n, double rho_core, double r_half)
{
    const struct nb6_pair_config *config = &sim->config.pair;
    struct nb6_bookkeeping *book = &sim->book;
    int known = config->r_min > 0 && config->dt_min > 0;
    if (!known && config->adjust && n >= STARS_FOR_CRITERIA && r_half > 0) from_density(sim, n, rho_core, r_half);
    if (config->r_min > 0) book->r_min = config->r_min;
    if (config->dt_min > 0) book->dt_min = config->dt_min;
    book->e_close = config->e_close;
}

void nb6_pairs_adjust(struct nb6_sim *sim, double rho_core, double r_half, const struct nb6_energy *energy)
{
    if (!sim->config.pair.adjust || !nb6_pairs_enabled(sim) || sim->n < STARS_FOR_CRITERIA || !(rho_core > 0)) return;
    from_density(sim, sim->n, rho_core, r_half);
    if (energy->mass > 0)
        sim->book.e_close = 4 * fmax(energy->kinetic, fabs(energy->kinetic + energy->potential)) / energy->mass;
}

/* Whether two stars of the initial model are a pair from the start: bound, and close beside the mean distance of stars.
 */
static int is_close(const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_body *a = &sim->body[i], *b = &sim->body[i + 1];
    double r2 = 0, v2 = 0, m = a->mass + b->mass;
    for (int k = 0; k < 3; k++) {
        r2 += (a->x0[k] - b->x0[k]) * (a->x0[k] - b->x0[k]);
        v2 += (a->v0[k] - b->v0[k]) * (a->v0[k] - b->v0[k]);
    }
    double h = 0.5 * v2 - m / sqrt(r2), near = nb6_close_radius(sim, 2, m);
    return m > 0 && h < 0 && (-m / h < WIDEST * near || -h > sim->book.e_close); /* 2 a */
}

int nb6_start_pairs(struct nb6_sim *sim, struct nbc_error *err)
{
    if (!nb6_pairs_enabled(sim)) return NBC_OK;
    for (int64_t i = 0; i + 1 < sim->n && i < 2 * sim->config.binaries.n; i += 2) {
        int64_t slot;
        if (!is_close(sim, i)) continue;
        int status = nb6_pair_make(sim, (int32_t)i, (int32_t)i + 1, sim->ti_now, 0, &slot, err);
        if (status) return status;
        sim->pairs.pair[slot].primordial = 1;
    }
    return NBC_OK;
}
