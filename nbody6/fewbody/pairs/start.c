/* Criteria of close encounters, and pairs that exist, at t = 0. */
#include "nbody6/fewbody/pairs/start.h"

#include "common/nbc.h"
#include "common/select.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/pairs/make.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/nearest.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/view.h"

#include <math.h>

enum { STARS_OF_A_PART = 4096 };

/* Declared binaries up to this many RMIN wide are regularized from the start. */
static const double WIDEST = 3;

/* Two stars that are not declared a binary are a pair from the start if they are hard and the perturbation of their
 * attraction by all others is less than this: as in nb6_subsystems_search. */
static const double GAMMA_HARD = 0.25;

/* ---- criteria */

static void set_close_radius(struct nb6_sim *sim, int64_t n, double r_min)
{
    struct nb6_bookkeeping *book = &sim->book;
    book->r_min = r_min;
    book->dt_min = 0.04 * sqrt(sim->run.config.integration.eta_irr / 0.02) *
                   sqrt(r_min * r_min * r_min / (sim->run.book.mass_start / (double)n));
}

static void from_density(struct nb6_sim *sim, int64_t n, double rho_core, double r_half)
{
    double mean_density = 0.375 * sim->run.book.mass_start / (M_PI * r_half * r_half * r_half);
    set_close_radius(sim, n, 4 * r_half / ((double)n * cbrt(fmax(rho_core / mean_density, 1))));
}

/* Half of all products of two masses are closer together than this: among few stars a length that depends on no centre,
 * and that neither a distant star nor a close binary nor a test particle changes much. */
static double median_distance(int n, const double *mass, const double (*x)[3])
{
    enum { PAIRS = NB6_STARS_OF_A_CORE * (NB6_STARS_OF_A_CORE - 1) / 2 };
    double distance[PAIRS], weight[PAIRS], sum = 0, below = 0;
    int n_pair = 0, at = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double r2 = 0, w = mass[i] * mass[j];
            int k = n_pair++;
            for (int d = 0; d < 3; d++) r2 += (x[i][d] - x[j][d]) * (x[i][d] - x[j][d]);
            for (; k > 0 && distance[k - 1] > sqrt(r2); k--) {
                distance[k] = distance[k - 1];
                weight[k] = weight[k - 1];
            }
            distance[k] = sqrt(r2);
            weight[k] = w;
            sum += w;
        }
    while (at < n_pair - 1 && (below += weight[at]) < 0.5 * sum) at++;
    return distance[at];
}

void nb6_subsystems_first_criteria(struct nb6_sim *sim, int64_t n, int64_t massive, const double *mass,
                                   const double (*x)[3], double rho_core, double r_half)
{
    const struct nb6_pair_config *config = &sim->run.config.pair;
    struct nb6_bookkeeping *book = &sim->book;
    book->e_close = config->e_close;
    if (config->adjust && n >= NB6_STARS_OF_A_CORE && r_half > 0) from_density(sim, massive, rho_core, r_half);
    if (config->adjust && n < NB6_STARS_OF_A_CORE)
        set_close_radius(sim, massive, NB6_CLOSE_AMONG_FEW * median_distance((int)n, mass, x));
    if (config->adjust && n == 2) book->e_close = 0; /* no other star can disrupt a bound pair */
    if (config->r_min > 0) book->r_min = config->r_min;
    if (config->dt_min > 0) book->dt_min = config->dt_min;
}

void nb6_subsystems_adjust(struct nb6_sim *sim, double rho_core, double r_half, const struct nb6_energy *energy)
{
    if (!sim->run.config.pair.adjust || !nb6_subsystems_enabled(sim)) return;
    if (sim->n >= NB6_STARS_OF_A_CORE && !(rho_core > 0)) return;
    if (sim->n >= NB6_STARS_OF_A_CORE) from_density(sim, nb6_massive_stars(sim), rho_core, r_half);
    if (energy->mass > 0)
        sim->book.e_close = 4 * fmax(energy->kinetic, fabs(energy->kinetic + energy->potential)) / energy->mass;
}

/* ---- pairs at t = 0 */

/* The relative motion of two stars. */
struct orbit {
    double m, r, h; /* both masses, separation, energy per reduced mass */
};

static struct orbit orbit_from(double m, const double xa[3], const double xb[3], const double va[3], const double vb[3])
{
    double r2 = 0, v2 = 0;
    for (int k = 0; k < 3; k++) {
        r2 += (xa[k] - xb[k]) * (xa[k] - xb[k]);
        v2 += (va[k] - vb[k]) * (va[k] - vb[k]);
    }
    return (struct orbit){.m = m, .r = sqrt(r2), .h = 0.5 * v2 - m / sqrt(r2)};
}

static struct orbit orbit_of(const struct nb6_sim *sim, int64_t i, int64_t j)
{
    const struct nb6_body *a = nb6_get_body(sim, i), *b = nb6_get_body(sim, j);
    return orbit_from(a->mass + b->mass, a->x0, b->x0, a->v0, b->v0);
}

/* Bound, and never wider than `wide` (2 a < wide), or bound more strongly than encounters undo. */
static int is_close_binary(const struct nb6_sim *sim, const struct orbit *o, double wide)
{
    return o->m > 0 && o->h < 0 && (-o->m / o->h < wide || -o->h > sim->book.e_close);
}

/* The binding energy of two stars that are not declared counts only if they are close: ECLOSE is in units that a data
 * file need not have. Two stars alone have no others to be hard against. */
static int is_hard(const struct nb6_sim *sim, const struct orbit *o, int64_t i)
{
    const double near = nb6_close_radius(sim, 2, o->m, i);
    if (!(o->m > 0 && o->h < 0)) return 0;
    return sim->n == 2 || -o->m / o->h < near || (-o->h > sim->book.e_close && o->r < near);
}

/* Perturbation of the relative motion of two stars by all others and the galaxy, in units of their attraction. */
static double perturbation(const struct nb6_sim *sim, int64_t i, int64_t j, const struct orbit *o)
{
    double sum[3] = {0, 0, 0};
    for (int64_t k = 0; k < sim->n; k++) {
        const double *x = nb6_get_body(sim, k)->x0, m = nb6_get_body(sim, k)->mass;
        double a[3], b[3], a2 = 0, b2 = 0;
        if (k == i || k == j) continue;
        for (int d = 0; d < 3; d++) {
            a[d] = x[d] - nb6_get_body(sim, i)->x0[d];
            b[d] = x[d] - nb6_get_body(sim, j)->x0[d];
            a2 += a[d] * a[d];
            b2 += b[d] * b[d];
        }
        for (int d = 0; d < 3; d++) sum[d] += m * (a[d] / (a2 * sqrt(a2)) - b[d] / (b2 * sqrt(b2)));
    }
    const double galaxy =
        nb6_external_strongest(&sim->run.external, nb6_time_to_double(sim->ti_now), sim->body[i].x0) * o->r;
    return (sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) + galaxy) * o->r * o->r / o->m;
}

/* Room for all is made at once: every table of the run grows with it. */
static int make_pairs(struct nb6_sim *sim, int64_t n, const int32_t (*pair)[2], int primordial, struct nbc_error *err)
{
    int status = nb6_sim_reserve(sim, sim->subsystems.n_slot + n, err);
    for (int64_t k = 0; k < n && !status; k++) {
        nb6_slot slot;
        status = nb6_pair_make(sim, pair[k][0], pair[k][1], sim->ti_now, 0, &slot, err);
        if (!status) sim->subsystems.system[slot].primordial = primordial;
    }
    return status;
}

static int no_memory(struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to look for the first pairs");
}

/* Whether stars 2 k and 2 k + 1, which are declared a binary, begin as a pair. */
static int begins_declared(const void *context, int64_t k)
{
    const struct nb6_sim *sim = context;
    const struct orbit o = orbit_of(sim, 2 * k, 2 * k + 1);
    return is_close_binary(sim, &o, WIDEST * nb6_close_radius(sim, 2, o.m, 2 * k));
}

static int64_t declared_among(const struct nb6_sim *sim, int64_t n)
{
    return sim->run.config.binaries.n < n / 2 ? sim->run.config.binaries.n : n / 2;
}

static int start_declared(struct nb6_sim *sim, struct nbc_error *err)
{
    const int64_t declared = declared_among(sim, sim->n);
    int32_t *found = nbc_alloc_unset((size_t)declared, sizeof *found);
    int32_t(*pair)[2] = nbc_alloc_unset((size_t)declared, sizeof *pair);
    int status = found && pair ? NBC_OK : no_memory(err);
    if (!status) {
        const int64_t n = nbc_select(declared, STARS_OF_A_PART, begins_declared, sim, found);
        for (int64_t k = 0; k < n; k++)
            for (int m = 0; m < 2; m++) pair[k][m] = 2 * found[k] + m;
        status = make_pairs(sim, n, (const int32_t(*)[2])pair, 1, err);
    }
    nbc_free(found);
    nbc_free(pair);
    return status;
}

struct search {
    const struct nb6_sim *sim;
    const struct nb6_nearest *nearest;
    int32_t *found; /* hard ones */
};

/* The mutual nearest neighbour of a star, at any distance in the file; only for the first of the two. */
static int begins_hard(const void *context, int64_t i)
{
    const struct search *search = context;
    const struct nb6_sim *sim = search->sim;
    const int64_t j = search->nearest->index[i][0];
    if (j < i || search->nearest->index[j][0] != i) return 0;
    if (nb6_get_star(sim, i)->owner || nb6_get_star(sim, j)->owner) return 0;
    const struct orbit o = orbit_of(sim, i, j);
    return is_hard(sim, &o, i);
}

/* A sum over all stars. */
static int is_undisturbed(const void *context, int64_t k)
{
    const struct search *search = context;
    const int64_t i = search->found[k], j = search->nearest->index[i][0];
    const struct orbit o = orbit_of(search->sim, i, j);
    return perturbation(search->sim, i, j, &o) < GAMMA_HARD;
}

/* The undisturbed ones among n that are hard. */
static int start_undisturbed(struct nb6_sim *sim, const struct search *search, int64_t n, struct nbc_error *err)
{
    int32_t *kept = nbc_alloc_unset((size_t)n, sizeof *kept);
    int32_t(*pair)[2] = nbc_alloc_unset((size_t)n, sizeof *pair);
    int status = kept && pair ? NBC_OK : no_memory(err);
    if (!status) {
        n = nbc_select(n, 1, is_undisturbed, search, kept);
        for (int64_t k = 0; k < n; k++) {
            pair[k][0] = search->found[kept[k]];
            pair[k][1] = (int32_t)search->nearest->index[pair[k][0]][0];
        }
        status = make_pairs(sim, n, (const int32_t(*)[2])pair, 0, err);
    }
    nbc_free(kept);
    nbc_free(pair);
    return status;
}

/* The polynomials of single stars so close to each other would be wrong before the first block could find them. */
static int find_hard(struct nb6_sim *sim, const struct nb6_nearest *nearest, struct nbc_error *err)
{
    struct search search = {sim, nearest, nbc_alloc_unset((size_t)sim->n, sizeof *search.found)};
    if (!search.found) return no_memory(err);
    const int64_t n = nbc_select(sim->n, STARS_OF_A_PART, begins_hard, &search, search.found);
    const int status = start_undisturbed(sim, &search, n, err);
    nbc_free(search.found);
    return status;
}

static int start_undeclared(struct nb6_sim *sim, struct nbc_error *err)
{
    const size_t n = (size_t)sim->n;
    struct nb6_nearest *own = NULL;
    double(*x)[3] = nbc_alloc_unset(n, sizeof *x);
    if (!x) return no_memory(err);
#pragma omp parallel for schedule(static) if (sim->n > STARS_OF_A_PART)
    for (int64_t i = 0; i < sim->n; i++)
        for (int k = 0; k < 3; k++) x[i][k] = nb6_get_body(sim, i)->x0[k];
    const int is_known = nb6_nearest_is_of(sim->nearest, sim->n, (const double(*)[3])x);
    int status = is_known ? NBC_OK : nb6_nearest_find(sim->n, (const double(*)[3])x, &own, err);
    if (!status) status = find_hard(sim, is_known ? sim->nearest : own, err);
    nb6_nearest_free(own);
    nbc_free(x);
    return status;
}

int nb6_start_pairs(struct nb6_sim *sim, struct nbc_error *err)
{
    if (!nb6_subsystems_enabled(sim)) return NBC_OK;
    const int status = start_declared(sim, err);
    return status ? status : start_undeclared(sim, err);
}

int nb6_start_given_pairs(struct nb6_sim *sim, int64_t n, const int32_t (*pair)[2], struct nbc_error *err)
{
    if (!nb6_subsystems_enabled(sim)) return NBC_OK;
    const int status = make_pairs(sim, n, pair, 0, err);
    return status ? status : start_undeclared(sim, err);
}

/* Without lists of neighbours, as at the start, the radius of heavy pairs has no other limit. */
int64_t nb6_declared_pairs(const struct nb6_sim *sim, int64_t n, const double *mass, const double (*x)[3],
                           const double (*v)[3])
{
    int64_t pairs = 0;
    if (!nb6_subsystems_enabled(sim)) return 0;
    for (int64_t i = 0; i < 2 * declared_among(sim, n); i += 2) {
        const struct orbit o = orbit_from(mass[i] + mass[i + 1], x[i], x[i + 1], v[i], v[i + 1]);
        const double near = sim->book.r_min * fmax(1, o.m / (2 * sim->mean_mass));
        pairs += is_close_binary(sim, &o, WIDEST * near);
    }
    return pairs;
}
