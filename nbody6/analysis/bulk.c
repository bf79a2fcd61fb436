#include "nbody6/analysis/bulk.h"

#include "common/nbc.h"
#include "nbody6/analysis/multiples.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/analysis/structure_watched.h"

#include <math.h>

/* Systems whose mutual potential is summed, by columns. */
struct summed {
    int64_t n;
    double *x, *y, *z, *mass, *pot;
};

/* Systems, or stars. */
struct set {
    int64_t n;
    const double *mass, (*x)[3], (*v)[3];
};

/* ---- times ---- */

static double relaxation_time(const struct nb6_bulk *bulk)
{
    const double n = (double)bulk->n, coulomb = log(0.11 * n);
    if (!(coulomb >= 1) || !(bulk->mass > 0)) return 0;
    return 0.138 * n * bulk->r_half * sqrt(bulk->r_half / bulk->mass) / coulomb;
}

void nb6_bulk_set(double potential, double virial_ratio, struct nb6_bulk *bulk)
{
    bulk->virial_ratio = virial_ratio;
    bulk->t_cross = bulk->mass * bulk->mass * sqrt(bulk->mass) / (-potential * sqrt(-potential));
    bulk->t_relax = relaxation_time(bulk);
}

/* ---- kinetic energy ---- */

/* Of the systems about their centre of mass; sets mass and both speeds. */
static double kinetic_energy(const struct set *s, struct nb6_bulk *bulk)
{
    double mean[3] = {0}, square = 0, sum = 0;
    bulk->mass = 0;
    for (int64_t i = 0; i < s->n; i++) {
        bulk->mass += s->mass[i];
        for (int d = 0; d < 3; d++) mean[d] += s->mass[i] * s->v[i][d];
    }
    for (int d = 0; d < 3; d++) {
        mean[d] /= bulk->mass;
        square += mean[d] * mean[d];
    }
    for (int64_t i = 0; i < s->n; i++)
        for (int d = 0; d < 3; d++) sum += s->mass[i] * (s->v[i][d] - mean[d]) * (s->v[i][d] - mean[d]);
    bulk->speed_centre = sqrt(square);
    bulk->speed = sqrt(sum / bulk->mass);
    return 0.5 * sum;
}

/* ---- potential energy ---- */

static void summed_free(struct summed *s)
{
    nbc_free(s->x);
    nbc_free(s->y);
    nbc_free(s->z);
    nbc_free(s->mass);
    nbc_free(s->pot);
}

/* Steele, Lea & Flood 2014 (OOPSLA, 453): SplitMix64, of a counter. */
static uint64_t scrambled(uint64_t k)
{
    uint64_t h = (k + 1) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

/* Number k of the sample: any system of part k of the list, so that an order in the list makes the sample better. */
static int64_t chosen(int64_t k, int64_t wanted, int64_t n)
{
    if (wanted == n) return k;
    const int64_t first = n * k / wanted, end = n * (k + 1) / wanted;
    return first + (int64_t)(scrambled((uint64_t)k) % (uint64_t)(end - first));
}

static int choose(const struct set *systems, struct summed *s, struct nbc_error *err)
{
    s->n = systems->n > NB6_BULK_ALL ? NB6_BULK_SAMPLE : systems->n;
    const size_t n = (size_t)s->n;
    s->x = nbc_alloc(n, sizeof *s->x);
    s->y = nbc_alloc(n, sizeof *s->y);
    s->z = nbc_alloc(n, sizeof *s->z);
    s->mass = nbc_alloc(n, sizeof *s->mass);
    s->pot = nbc_alloc(n, sizeof *s->pot);
    if (!s->x || !s->y || !s->z || !s->mass || !s->pot) {
        summed_free(s);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential energy of %lld stars", (long long)s->n);
    }
    for (int64_t k = 0; k < s->n; k++) {
        const int64_t i = chosen(k, s->n, systems->n);
        s->x[k] = systems->x[i][0];
        s->y[k] = systems->x[i][1];
        s->z[k] = systems->x[i][2];
        s->mass[k] = systems->mass[i];
    }
    return NBC_OK;
}

/* sum_j m_j/r_ij over the first `end` but i itself; places that coincide contribute nothing. */
static double potential_at(const struct summed *s, int64_t i, int64_t end)
{
    const double x = s->x[i], y = s->y[i], z = s->z[i], *sx = s->x, *sy = s->y, *sz = s->z, *mass = s->mass;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < end; j++) {
        const double dx = sx[j] - x, dy = sy[j] - y, dz = sz[j] - z, r2 = dx * dx + dy * dy + dz * dz;
        sum += r2 > 0 ? mass[j] / sqrt(r2) : 0;
    }
    return sum;
}

/* Relative standard error of a sum over all pairs in proportion to the mass of the sample squared: twice that of the
 * mean of what each member adds, less its share of the mass. */
static double relative_error(const struct summed *s, double sum_pot, double sum_mass, int64_t n_system)
{
    const double n = (double)s->n;
    double square = 0;
    if (s->n == n_system || !(sum_pot > 0)) return 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double off = n * (s->mass[i] * s->pot[i] / sum_pot - s->mass[i] / sum_mass);
        square += off * off;
    }
    return 2 * sqrt(square / (n - 1) / n * (1 - n / (double)n_system));
}

/* -U of all systems.   @param[out] error  relative */
static double potential_energy(const struct set *systems, struct summed *s, double mass, double *error)
{
    double sum_pot = 0, sum_mass = 0, own = 0, own_all = 0;
    const int all = s->n == systems->n; /* each pair once; the error of a sample needs the potential of each member */
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < s->n; i++) s->pot[i] = potential_at(s, i, all ? i : s->n);
    for (int64_t i = 0; i < s->n; i++) {
        sum_pot += s->mass[i] * s->pot[i];
        sum_mass += s->mass[i];
        own += s->mass[i] * s->mass[i];
    }
    for (int64_t i = 0; i < systems->n; i++) own_all += systems->mass[i] * systems->mass[i];
    *error = relative_error(s, sum_pot, sum_mass, systems->n);
    if (all) return sum_pot;
    const double pairs = sum_mass * sum_mass - own; /* a system does not attract itself */
    return pairs > 0 ? 0.5 * sum_pot * (mass * mass - own_all) / pairs : 0;
}

static int measure(const struct set *systems, struct nb6_bulk *bulk, struct nbc_error *err)
{
    struct summed summed = {.n = 0};
    double error;
    const double kinetic = kinetic_energy(systems, bulk);
    const int status = choose(systems, &summed, err);
    if (status) return status;
    const double potential = potential_energy(systems, &summed, bulk->mass, &error);
    bulk->n_summed = summed.n;
    bulk->n_system = systems->n;
    bulk->virial_ratio = -1;
    if (potential > 0 && isfinite(potential)) {
        nb6_bulk_set(-potential, kinetic / potential, bulk);
        bulk->virial_error = bulk->virial_ratio * error;
    }
    summed_free(&summed);
    return NBC_OK;
}

int nb6_bulk_find(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3], struct nb6_bulk *bulk,
                  struct nbc_error *err)
{
    struct nb6_bulk found = {.n = n};
    struct nb6_systems systems = {.n = 0};
    struct nb6_near near;
    int status = nb6_near_make(n, &near, err);
    if (!status) status = nb6_structure_watched(n, mass, x, v, nb6_near_take, &near, &found.structure, err);
    if (!status) status = nb6_multiples_systems(n, mass, x, v, &near, &found.multiples, &systems, err);
    nb6_near_free(&near);
    if (status) return status;
    found.r_half = found.structure.r_half;
    for (int64_t i = 0; i < n; i++) found.mass_most = fmax(found.mass_most, mass[i]);
    const struct set few = {n, mass, x, v},
                     all = {systems.n, systems.mass, (const double(*)[3])systems.x, (const double(*)[3])systems.v};
    status = measure(n < NB6_BULK_FEW ? &few : &all, &found, err);
    nb6_systems_free(&systems);
    if (!status) *bulk = found;
    return status;
}
