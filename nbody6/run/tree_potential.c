#include "nbody6/run/tree_potential.h"

#include "gpunb/tree/potential.h"
#include "nbody6/input/config.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 1 << 22, SAMPLE = 4096 };

/* Of one cell on another, over the mean potential: potentials of 2^20 stars have errors of 3e-9 of it (rms), whose mean
 * the sample knows to 5e-11. A third of this aim costs a third more. */
static const double AIM = 1e-7;

int nb6_potential_wants_tree(const struct nb6_config *config, int64_t n)
{
    return config->integration.force_error > 0 && n >= FEWEST;
}

/* All stars once more, those of the sample first: where the mass of all stars up to one passes k + u SAMPLEths of the
 * mass of all, k = 0, 1, ..., u the fraction of k golden sections. So a heavy star is there several times, and members
 * of pairs that follow each other are alike. */
struct sample {
    int64_t n;             /* different stars */
    int64_t star[SAMPLE];  /* [n] */
    double weight[SAMPLE]; /* how often each is there */
    double pot[SAMPLE];
    double *mass, (*x)[3];
};

static const double GOLDEN = 0.61803398874989485;

/* How many marks are below a part of all mass. */
static int64_t marks_below(double part)
{
    const double marks = part * SAMPLE, k = floor(marks);
    if (k >= SAMPLE) return SAMPLE;
    const double u = k * GOLDEN - floor(k * GOLDEN);
    return (int64_t)k + (marks - k > u);
}

/* @return 0: there is no mass, or a negative one, which trees do not take */
static int choose(struct sample *s, int64_t n, const double *mass)
{
    double all = 0, sum = 0;
    int64_t taken = 0;
    s->n = 0;
    for (int64_t i = 0; i < n; i++) {
        if (mass[i] < 0) return 0;
        all += mass[i];
    }
    if (!(all > 0)) return 0;
    for (int64_t i = 0; i < n; i++) {
        sum += mass[i];
        const int64_t below = marks_below(sum / all);
        if (below <= taken) continue;
        s->star[s->n] = i;
        s->weight[s->n++] = (double)(below - taken);
        taken = below;
    }
    return 1;
}

static void copy_stars(struct sample *s, int64_t n, const double *mass, const double (*x)[3])
{
    int64_t k = 0, other = s->n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t to = k < s->n && s->star[k] == i ? k++ : other++;
        s->mass[to] = mass[i];
        memcpy(s->x[to], x[i], sizeof s->x[to]);
    }
}

/* @return the mean of the sample's potentials */
static double mean_of(const struct sample *s)
{
    double sum = 0, weights = 0;
    for (int64_t k = 0; k < s->n; k++) {
        sum += s->weight[k] * s->pot[k];
        weights += s->weight[k];
    }
    return weights > 0 ? sum / weights : 0;
}

/* Of the mean over all mass of the error of the potential, over half of the mean potential. */
static double error_of(const struct sample *s, const double *pot)
{
    double sum = 0, sum2 = 0, weights = 0;
    for (int64_t k = 0; k < s->n; k++) {
        const double error = pot[s->star[k]] - s->pot[k];
        sum += s->weight[k] * error;
        sum2 += s->weight[k] * error * error;
        weights += s->weight[k];
    }
    const double mean = sum / weights, spread = sqrt(fmax(0, sum2 / weights - mean * mean));
    return (fabs(mean) + 3 * spread / sqrt(weights)) / (0.5 * fabs(mean_of(s)));
}

static int make(gpunb_t *handle, struct sample *s, int64_t n, const double *mass, const double (*x)[3], double *pot,
                double *error)
{
    *error = INFINITY;
    s->mass = nbc_alloc_unset((size_t)n, sizeof *s->mass);
    s->x = nbc_alloc_unset((size_t)n, sizeof *s->x);
    if (!s->mass || !s->x) return NBC_NO_MEMORY;
    if (!choose(s, n, mass)) return NBC_OK;
    copy_stars(s, n, mass, x);
    int status = gpunb_potential(handle, 0, (size_t)s->n, (size_t)n, s->mass, (const double(*)[3])s->x, s->pot);
    const double mean = status ? 0 : mean_of(s);
    if (status || !(mean < 0)) return status;
    status = gpunb_potential_by_tree(handle, (size_t)n, mass, x, AIM * -mean, pot);
    if (!status) *error = error_of(s, pot);
    return status;
}

int nb6_potential_by_tree(gpunb_t *handle, int64_t n, const double *mass, const double (*x)[3], double *pot,
                          double *error)
{
    struct sample *s = nbc_alloc(1, sizeof *s);
    const int status = s ? make(handle, s, n, mass, x, pot, error) : NBC_NO_MEMORY;
    if (s) {
        nbc_free(s->mass);
        nbc_free(s->x);
    }
    nbc_free(s);
    return status;
}

int nb6_potential_make(gpunb_t *handle, int by_tree, int64_t n, const double *mass, const double (*x)[3], double *pot,
                       double *error, struct nbc_error *err)
{
    int status = by_tree ? nb6_potential_by_tree(handle, n, mass, x, pot, error) : NBC_OK;
    if (!by_tree || (!status && !(*error <= NB6_MOST_POTENTIAL_ERROR))) {
        *error = 0;
        status = gpunb_potential(handle, 0, (size_t)n, (size_t)n, mass, x, pot);
    }
    if (status == NBC_NO_MEMORY) return nbc_fail(err, status, "no memory for potentials of %lld stars", (long long)n);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(handle)) : NBC_OK;
}
