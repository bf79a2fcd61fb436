#include "nbody6/analysis/structure.h"

#include "common/nbc.h"
#include "common/sort.h"
#include "common/sum.h"
#include "common/team.h"
#include "nbody6/analysis/structure_watched.h"
#include "nbody6/state/kdtree.h"
#include "nbody6/state/nearest.h"

#include <math.h>

/* The estimator of Casertano & Hut 1985: sixth neighbour. */
enum { NEIGHBOURS = NB6_NEAREST_KEPT };

const double nb6_lagr_fractions[NB6_LAGR_COUNT] = {0.001, 0.003, 0.005, 0.01, 0.03, 0.05, 0.1,  0.2,  0.3,
                                                   0.4,   0.5,   0.6,   0.7,  0.8,  0.9,  0.95, 0.99, 1.0};

/* A sum of rounded masses may stay below its exact fraction by n roundings. */
static const double FRACTION_SLACK = 1e-12;

/* Smallest r_6 that counts, relative to the cluster: keeps the densities of coincident stars finite. */
static const double R_FLOOR = 1e-9;

enum { STARS_OF_A_PART = 4096 };

struct shell {
    double r2, mass;
};

static int compare_shells(const void *a, const void *b)
{
    const struct shell *p = a, *q = b;
    if (p->r2 != q->r2) return p->r2 < q->r2 ? -1 : 1;
    return (p->mass > q->mass) - (p->mass < q->mass);
}

static double distance2(const double a[3], const double b[3])
{
    const double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
    return dx * dx + dy * dy + dz * dz;
}

/* The invalid quantity of a star; NULL: none. */
static const char *fault_of(double mass, const double x[3], const double v[3])
{
    if (!isfinite(mass)) return "mass";
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) return "position";
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]) ? NULL : "velocity";
}

struct checking {
    int64_t n, bad;
    const double *mass, (*x)[3], (*v)[3];
};

static const double *velocity_of(const struct checking *job, int64_t i)
{
    static const double at_rest[3];
    return job->v ? job->v[i] : at_rest;
}

static void check_part(void *context, int part, int parts)
{
    struct checking *job = context;
    int64_t first, end;
    nbc_range(job->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        if (fault_of(job->mass[i], job->x[i], velocity_of(job, i)) || job->mass[i] < 0.0) {
            nbc_atomic_min(&job->bad, i);
            return;
        }
}

/* @param[in] v  NULL: velocities are not given */
static int check_stars(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3], struct nbc_error *err)
{
    if (n < 1) return nbc_fail(err, NBC_BAD_ARGUMENT, "structure of %lld stars: n must be >= 1", (long long)n);
    struct checking job = {n, INT64_MAX, mass, x, v};
    nbc_team_run(nbc_parts(n, STARS_OF_A_PART), check_part, &job);
    if (job.bad == INT64_MAX) return NBC_OK;
    const char *what = fault_of(mass[job.bad], x[job.bad], velocity_of(&job, job.bad));
    if (what) return nbc_fail(err, NBC_NON_FINITE, "the %s of star %lld is not finite", what, (long long)job.bad);
    return nbc_fail(err, NBC_BAD_ARGUMENT, "the mass of star %lld is negative", (long long)job.bad);
}

/* ---- Lagrangian radii ---- */

/* Radius at which the mass inside reaches `wanted`; 0 if it never does. *at: shells known to lie inside it. */
static double radius_of_mass(int64_t n, const struct shell *shell, double wanted, int64_t *at, double *inside)
{
    const double enough = wanted * (1.0 - FRACTION_SLACK);
    while (*inside < enough || *at == 0) {
        if (*at == n) return 0.0;
        *inside += shell[(*at)++].mass;
    }
    return sqrt(shell[*at - 1].r2);
}

struct shells {
    int64_t n;
    const double *mass, (*x)[3], *centre;
    struct shell *shell;
};

static void set_shells(void *context, int part, int parts)
{
    const struct shells *job = context;
    int64_t first, end;
    nbc_range(job->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        job->shell[i] = (struct shell){distance2(job->x[i], job->centre), job->mass[i]};
}

int nb6_structure_lagrangian(int64_t n, const double *mass, const double (*x)[3], const double centre[3],
                             double reference_mass, double r_lagr[NB6_LAGR_COUNT], double *r_half,
                             struct nbc_error *err)
{
    const int status = check_stars(n, mass, x, NULL, err);
    if (status) return status;
    struct shell *shell = nbc_alloc_unset((size_t)n, sizeof *shell);
    if (!shell) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the Lagrangian radii of %lld stars", (long long)n);
    struct shells job = {n, mass, x, centre, shell};
    nbc_team_run(nbc_parts(n, STARS_OF_A_PART), set_shells, &job);
    nbc_sort(shell, (size_t)n, sizeof *shell, compare_shells);
    int64_t at = 0;
    double inside = 0.0;
    for (int k = 0; k < NB6_LAGR_COUNT; k++) {
        r_lagr[k] = radius_of_mass(n, shell, nb6_lagr_fractions[k] * reference_mass, &at, &inside);
    }
    at = 0;
    inside = 0.0;
    if (r_half) *r_half = radius_of_mass(n, shell, 0.5 * reference_mass, &at, &inside);
    nbc_free(shell);
    return NBC_OK;
}

/* ---- centre and core ---- */

struct weights {
    const double *weight; /* NULL: all are alike */
    const double (*x)[3], (*v)[3];
};

static void add_weighted(const void *context, int64_t i, double sum[NBC_SUMS])
{
    const struct weights *job = context;
    const double w = job->weight ? job->weight[i] : 1.0;
    sum[0] += w;
    for (int d = 0; d < 3; d++) {
        sum[1 + d] += w * job->x[i][d];
        sum[4 + d] += w * job->v[i][d];
    }
}

/* Weighted mean of x and v, which stay as they are if all weights are zero.   @return the sum of the weights */
static double weighted_mean(int64_t n, const double *weight, const double (*x)[3], const double (*v)[3],
                            double mean_x[3], double mean_v[3])
{
    const struct weights job = {weight, x, v};
    double sum[NBC_SUMS];
    nbc_sum(n, add_weighted, &job, sum);
    for (int d = 0; d < 3 && sum[0] > 0.0; d++) {
        mean_x[d] = sum[1 + d] / sum[0];
        mean_v[d] = sum[4 + d] / sum[0];
    }
    return sum[0];
}

/* Nearest neighbours of all stars. */
struct search {
    const struct nb6_nearest *known; /* NULL: they are to be found, */
    nb6_kdtree_take *take;           /* and handed over; NULL: to nobody */
    void *context;
};

struct densities {
    const struct search *search;
    const double *mass;
    double total, size;
    double *rho; /* NULL: none are defined */
};

/* In units of the total mass per size^3, so that no power overflows. */
static double density(const struct densities *job, const int64_t index[NEIGHBOURS], const double r2[NEIGHBOURS])
{
    double m = 0.0;
    for (int k = 0; k < NEIGHBOURS - 1; k++) m += job->mass[index[k]];
    const double r = fmax(sqrt(r2[NEIGHBOURS - 1]) / job->size, R_FLOOR);
    return m / job->total / (4.0 / 3.0 * 3.14159265358979323846 * r * r * r);
}

static void estimate_densities(void *context, int part, int parts)
{
    const struct densities *job = context;
    const struct nb6_nearest *nearest = job->search->known;
    int64_t first, end;
    nbc_range(nearest->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) job->rho[i] = density(job, nearest->index[i], nearest->r2[i]);
}

static void take_neighbours(void *context, int64_t i, int found, const int64_t *index, const double *r2)
{
    const struct densities *job = context;
    if (job->rho) job->rho[i] = density(job, index, r2);
    if (job->search->take) job->search->take(job->search->context, i, found, index, r2);
}

static int find_densities(int64_t n, const double (*x)[3], struct densities *job, struct nbc_error *err)
{
    nb6_kdtree_t *tree = NULL;
    if (job->search->known) {
        nbc_team_run(nbc_parts(n, STARS_OF_A_PART), estimate_densities, job);
        return NBC_OK;
    }
    int status = nb6_kdtree_build(n, x, &tree, err);
    if (!status) status = nb6_kdtree_each(tree, NEIGHBOURS, take_neighbours, job, err);
    nb6_kdtree_free(tree);
    return status;
}

struct core {
    const double *rho, (*x)[3];
    const struct nb6_structure *out;
};

static void add_to_core(const void *context, int64_t i, double sum[NBC_SUMS])
{
    const struct core *job = context;
    const double w = job->rho[i] * job->rho[i];
    sum[0] += job->rho[i];
    sum[1] += w;
    sum[2] += w * distance2(job->x[i], job->out->r_density);
}

static void count_in_core(const void *context, int64_t i, double sum[NBC_SUMS])
{
    const struct core *job = context;
    const double r = job->out->r_core;
    sum[0] += distance2(job->x[i], job->out->r_density) <= r * r;
}

/* Core radius, density (in the units of rho) and members about the density centre. */
static void measure_core(int64_t n, const double *rho, const double (*x)[3], struct nb6_structure *out)
{
    const struct core job = {rho, x, out};
    double sum[NBC_SUMS], members[NBC_SUMS];
    nbc_sum(n, add_to_core, &job, sum);
    out->r_core = sqrt(sum[2] / sum[1]);
    out->rho_core = sum[1] / sum[0];
    nbc_sum(n, count_in_core, &job, members);
    out->n_core = (int64_t)members[0];
}

/* Largest extent along an axis. */
static double size_of(int64_t n, const double (*x)[3])
{
    double lo[3] = {x[0][0], x[0][1], x[0][2]}, hi[3] = {x[0][0], x[0][1], x[0][2]}, size = 0.0;
    for (int64_t i = 1; i < n; i++)
        for (int d = 0; d < 3; d++) {
            lo[d] = x[i][d] < lo[d] ? x[i][d] : lo[d];
            hi[d] = x[i][d] > hi[d] ? x[i][d] : hi[d];
        }
    for (int d = 0; d < 3; d++) size = fmax(size, hi[d] - lo[d]);
    return size;
}

static int find_density_centre(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                               const struct search *search, double total, struct nb6_structure *out,
                               struct nbc_error *err)
{
    const double size = size_of(n, x);
    struct densities job = {search, mass, total, size, NULL};
    const int has_densities = n > NEIGHBOURS && size > 0.0 && total > 0.0;
    if (!has_densities && !search->take) return NBC_OK;
    if (has_densities) job.rho = nbc_alloc_unset((size_t)n, sizeof *job.rho);
    if (has_densities && !job.rho)
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the densities of %lld stars", (long long)n);
    const int status = find_densities(n, x, &job, err);
    if (!status && has_densities && weighted_mean(n, job.rho, x, v, out->r_density, out->v_density) > 0.0) {
        measure_core(n, job.rho, x, out);
        out->rho_core *= total / (size * size * size);
    }
    nbc_free(job.rho);
    return status;
}

static int find_structure(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                          const struct search *search, struct nb6_structure *out, struct nbc_error *err)
{
    int status = check_stars(n, mass, x, v, err);
    if (status) return status;
    struct nb6_structure found = {.r_core = 0.0};
    const double total = weighted_mean(n, mass, x, v, found.r_density, found.v_density);
    if (!(total > 0.0)) weighted_mean(n, NULL, x, v, found.r_density, found.v_density);
    status = find_density_centre(n, mass, x, v, search, total, &found, err);
    if (!status) {
        status = nb6_structure_lagrangian(n, mass, x, found.r_density, total, found.r_lagr, &found.r_half, err);
    }
    if (status) return status;
    if (!isfinite(found.rho_core) || !isfinite(found.r_core)) {
        return nbc_fail(err, NBC_NON_FINITE, "core density of %lld stars: out of the range of a double", (long long)n);
    }
    *out = found;
    return NBC_OK;
}

int nb6_structure_of(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                     const struct nb6_nearest *nearest, struct nb6_structure *out, struct nbc_error *err)
{
    return find_structure(n, mass, x, v, &(struct search){.known = nearest}, out, err);
}

int nb6_structure_find(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                       struct nb6_structure *out, struct nbc_error *err)
{
    return find_structure(n, mass, x, v, &(struct search){.known = NULL}, out, err);
}

int nb6_structure_watched(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                          nb6_kdtree_take *take, void *context, struct nb6_structure *out, struct nbc_error *err)
{
    return find_structure(n, mass, x, v, &(struct search){.take = take, .context = context}, out, err);
}
