#include "nbody6/analysis/structure.h"

#include "common/nbc.h"
#include "common/sort.h"
#include "nbody6/state/nearest.h"

#include <math.h>

/* The estimator of Casertano & Hut 1985: sixth neighbour. */
enum { NEIGHBOURS = NB6_NEAREST_KEPT };

const double nb6_lagr_fractions[NB6_LAGR_COUNT] = {0.001, 0.003, 0.005, 0.01, 0.03, 0.05, 0.1,  0.2,  0.3,
                                                   0.4,   0.5,   0.6,   0.7,  0.8,  0.9,  0.95, 0.99, 1.0};

/* A sum of rounded masses may stay below the fraction it stands for by n roundings. */
static const double FRACTION_SLACK = 1e-12;

/* Smallest r_6 that counts, relative to the cluster: keeps the densities of coincident stars finite. */
static const double R_FLOOR = 1e-9;

/* From so many stars on threads are worth their start. */
enum { PARALLEL_STARS = 20000 };

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

static int check_stars(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3], struct nbc_error *err)
{
    if (n < 1) return nbc_fail(err, NBC_BAD_ARGUMENT, "structure of %lld stars: n must be >= 1", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        const char *what = !isfinite(mass[i]) ? "mass" : NULL;
        for (int d = 0; d < 3; d++) {
            if (!isfinite(x[i][d])) what = "position";
            if (v && !isfinite(v[i][d])) what = "velocity";
        }
        if (what) return nbc_fail(err, NBC_NON_FINITE, "the %s of star %lld is not finite", what, (long long)i);
        if (mass[i] < 0.0) return nbc_fail(err, NBC_BAD_ARGUMENT, "the mass of star %lld is negative", (long long)i);
    }
    return NBC_OK;
}

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

int nb6_structure_lagrangian(int64_t n, const double *mass, const double (*x)[3], const double centre[3],
                             double reference_mass, double r_lagr[NB6_LAGR_COUNT], double *r_half,
                             struct nbc_error *err)
{
    const int status = check_stars(n, mass, x, NULL, err);
    if (status) return status;
    struct shell *shell = nbc_alloc((size_t)n, sizeof *shell);
    if (!shell) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the Lagrangian radii of %lld stars", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        shell[i].r2 = distance2(x[i], centre);
        shell[i].mass = mass[i];
    }
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

/* Weighted mean of x and v. Returns the sum of the weights. */
static double weighted_mean(int64_t n, const double *weight, const double (*x)[3], const double (*v)[3],
                            double mean_x[3], double mean_v[3])
{
    double sum = 0.0, sum_x[3] = {0.0}, sum_v[3] = {0.0};
    for (int64_t i = 0; i < n; i++) {
        const double w = weight ? weight[i] : 1.0;
        sum += w;
        for (int d = 0; d < 3; d++) {
            sum_x[d] += w * x[i][d];
            sum_v[d] += w * v[i][d];
        }
    }
    if (sum > 0.0) {
        for (int d = 0; d < 3; d++) {
            mean_x[d] = sum_x[d] / sum;
            mean_v[d] = sum_v[d] / sum;
        }
    }
    return sum;
}

/* Density at every star, in units of the total mass per size^3 so that no power overflows. */
static void estimate_densities(const struct nb6_nearest *nearest, const double *mass, double total, double size,
                               double *rho)
{
#pragma omp parallel for schedule(static) if (nearest->n > PARALLEL_STARS)
    for (int64_t i = 0; i < nearest->n; i++) {
        double m = 0.0;
        for (int k = 0; k < NEIGHBOURS - 1; k++) m += mass[nearest->index[i][k]];
        const double r = fmax(sqrt(nearest->r2[i][NEIGHBOURS - 1]) / size, R_FLOOR);
        rho[i] = m / total / (4.0 / 3.0 * 3.14159265358979323846 * r * r * r);
    }
}

/* Core radius, density (in the units of rho) and members about the density centre. */
static void measure_core(int64_t n, const double *rho, const double (*x)[3], struct nb6_structure *out)
{
    double sum1 = 0.0, sum2 = 0.0, sum2_r2 = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double w = rho[i] * rho[i];
        sum1 += rho[i];
        sum2 += w;
        sum2_r2 += w * distance2(x[i], out->r_density);
    }
    out->r_core = sqrt(sum2_r2 / sum2);
    out->rho_core = sum2 / sum1;
    for (int64_t i = 0; i < n; i++) {
        if (distance2(x[i], out->r_density) <= out->r_core * out->r_core) out->n_core++;
    }
}

/* Largest extent along an axis. */
static double size_of(int64_t n, const double (*x)[3])
{
    double size = 0.0;
    for (int d = 0; d < 3; d++) {
        double lo = x[0][d], hi = x[0][d];
        for (int64_t i = 1; i < n; i++) {
            lo = fmin(lo, x[i][d]);
            hi = fmax(hi, x[i][d]);
        }
        size = fmax(size, hi - lo);
    }
    return size;
}

static int find_density_centre(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                               const struct nb6_nearest *nearest, double total, struct nb6_structure *out,
                               struct nbc_error *err)
{
    struct nb6_nearest *own = NULL;
    const double size = size_of(n, x);
    if (n <= NEIGHBOURS || !(size > 0.0) || !(total > 0.0)) return NBC_OK;
    double *rho = nbc_alloc((size_t)n, sizeof *rho);
    if (!rho) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the densities of %lld stars", (long long)n);
    const int status = nearest ? NBC_OK : nb6_nearest_find(n, x, &own, err);
    if (!status) estimate_densities(nearest ? nearest : own, mass, total, size, rho);
    if (!status && weighted_mean(n, rho, x, v, out->r_density, out->v_density) > 0.0) {
        measure_core(n, rho, x, out);
        out->rho_core *= total / (size * size * size);
    }
    nb6_nearest_free(own);
    nbc_free(rho);
    return status;
}

int nb6_structure_of(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                     const struct nb6_nearest *nearest, struct nb6_structure *out, struct nbc_error *err)
{
    int status = check_stars(n, mass, x, v, err);
    if (status) return status;
    struct nb6_structure found = {.r_core = 0.0};
    const double total = weighted_mean(n, mass, x, v, found.r_density, found.v_density);
    if (!(total > 0.0)) weighted_mean(n, NULL, x, v, found.r_density, found.v_density);
    status = find_density_centre(n, mass, x, v, nearest, total, &found, err);
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

int nb6_structure_find(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                       struct nb6_structure *out, struct nbc_error *err)
{
    return nb6_structure_of(n, mass, x, v, NULL, out, err);
}
