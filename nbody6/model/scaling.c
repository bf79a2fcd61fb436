#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"

#include <math.h>
#include <string.h>

/* Pairs are summed in lanes of this many columns: the order of additions is fixed, and a compiler can use vectors. */
enum { LANES = 8 };

/* Positions and masses by columns, padded to whole lanes with stars of no mass. */
struct columns {
    double *x, *y, *z, *mass;
    int64_t padded;
};

static void columns_free(struct columns *c)
{
    nbc_free(c->x);
    nbc_free(c->y);
    nbc_free(c->z);
    nbc_free(c->mass);
}

static int columns_make(int64_t n, struct columns *c, struct nbc_error *err)
{
    const int64_t padded = (n + LANES - 1) / LANES * LANES;
    c->padded = padded;
    c->x = nbc_alloc((size_t)padded, sizeof *c->x);
    c->y = nbc_alloc((size_t)padded, sizeof *c->y);
    c->z = nbc_alloc((size_t)padded, sizeof *c->z);
    c->mass = nbc_alloc((size_t)padded, sizeof *c->mass);
    if (!c->x || !c->y || !c->z || !c->mass) {
        columns_free(c);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential energy of %lld stars", (long long)n);
    }
    return NBC_OK;
}

/* @param[in] first  column of the first star of the piece */
static void take_columns(const struct nb6_piece *p, int64_t first, const struct columns *c)
{
    for (int64_t i = 0; i < p->count; i++) {
        c->x[first + i] = p->x[i][0];
        c->y[first + i] = p->x[i][1];
        c->z[first + i] = p->x[i][2];
        c->mass[first + i] = p->mass[i];
    }
}

/* m_j/r_ij of all columns from the first one on. The block of lanes that holds this one is done apart. */
static void add_columns(const struct columns *c, int64_t first, const double at[3], double sum[LANES])
{
    const double x = at[0], y = at[1], z = at[2];
    double lane[LANES]; /* in registers */
    memcpy(lane, sum, sizeof lane);
    const int64_t next = (first + LANES - 1) / LANES * LANES;
    for (int64_t j = first; j < next; j++) {
        const double dx = c->x[j] - x, dy = c->y[j] - y, dz = c->z[j] - z, r2 = dx * dx + dy * dy + dz * dz;
        if (c->mass[j] > 0.0 && r2 > 0.0) lane[j % LANES] += c->mass[j] / sqrt(r2);
    }
    for (int64_t block = next; block < c->padded; block += LANES) {
        const double *bx = c->x + block, *by = c->y + block, *bz = c->z + block, *bm = c->mass + block;
#pragma omp simd
        for (int k = 0; k < LANES; k++) {
            const double dx = bx[k] - x, dy = by[k] - y, dz = bz[k] - z, r2 = dx * dx + dy * dy + dz * dz;
            lane[k] += r2 > 0.0 ? bm[k] / sqrt(r2) : 0.0;
        }
    }
    memcpy(sum, lane, sizeof lane);
}

/* sum_{j > i} m_j/r_ij. */
static double row_sum(const struct columns *c, int64_t i)
{
    const double at[3] = {c->x[i], c->y[i], c->z[i]};
    double lane[LANES] = {0.0}, sum = 0.0;
    add_columns(c, i + 1, at, lane);
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

/* Sum over all pairs; the same bits on every machine. */
static int exact_potential(const struct nb6_model *model, double *potential, struct nbc_error *err)
{
    const int64_t n = model->n;
    struct columns c;
    const int status = columns_make(n, &c, err);
    if (status) return status;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES | NB6_PLACES, 0); nb6_piece_next(&p);)
        take_columns(&p, p.first, &c);
    double *row = nbc_alloc((size_t)n, sizeof *row);
    if (row) {
#pragma omp parallel for default(none) shared(c, row) firstprivate(n) schedule(dynamic, 64)
        for (int64_t i = 0; i < n; i++) row[i] = c.mass[i] * row_sum(&c, i);
        *potential = 0.0;
        for (int64_t i = 0; i < n; i++) *potential -= row[i];
        nbc_free(row);
    }
    columns_free(&c);
    if (!row) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential energy of %lld stars", (long long)n);
    return NBC_OK;
}

/* The same of more stars than are in memory: a piece of them, with columns of those that follow, piece by piece. */
struct tile {
    int64_t count;
    double mass[NB6_PIECE_BODIES], x[NB6_PIECE_BODIES][3], lane[NB6_PIECE_BODIES][LANES];
};

static void take_targets(const struct nb6_piece *p, struct tile *t)
{
    t->count = p->count;
    memcpy(t->mass, p->mass, (size_t)p->count * sizeof *t->mass);
    memcpy(t->x, p->x, (size_t)p->count * sizeof *t->x);
    memset(t->lane, 0, (size_t)p->count * sizeof *t->lane);
}

static void add_piece(const struct nb6_piece *p, int is_own, struct columns *c, struct tile *t)
{
    take_columns(p, 0, c);
    c->padded = (p->count + LANES - 1) / LANES * LANES;
    for (int64_t j = p->count; j < c->padded; j++) c->mass[j] = 0.0;
#pragma omp parallel for default(none) shared(c, t) firstprivate(is_own) schedule(dynamic, 64)
    for (int64_t i = 0; i < t->count; i++) add_columns(c, is_own ? i + 1 : 0, t->x[i], t->lane[i]);
}

/* Pieces are whole blocks of lanes, so that the order of additions is that of exact_potential. */
static int potential_in_pieces(const struct nb6_model *model, double *potential, struct nbc_error *err)
{
    struct columns c;
    struct tile *t = nbc_alloc(1, sizeof *t);
    if (!t) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential energy");
    const int status = columns_make(NB6_PIECE_BODIES, &c, err);
    *potential = 0.0;
    for (int64_t first = 0; first < model->n && !status; first += model->store->piece) {
        struct nb6_model rest = *model;
        rest.first += first;
        rest.n -= first;
        for (struct nb6_piece p = nb6_pieces(&rest, NB6_MASSES | NB6_PLACES, 0); nb6_piece_next(&p);) {
            if (p.first == 0) take_targets(&p, t);
            add_piece(&p, p.first == 0, &c, t);
        }
        for (int64_t i = 0; i < t->count; i++) {
            double sum = 0.0;
            for (int k = 0; k < LANES; k++) sum += t->lane[i][k];
            *potential -= t->mass[i] * sum;
        }
    }
    if (!status) columns_free(&c);
    nbc_free(t);
    return status;
}

static int find_potential(double smooth_potential, const struct nb6_model *model, double *potential,
                          struct nbc_error *err)
{
    if (model->n <= NB6_EXACT_POTENTIAL_MAX || !(smooth_potential < 0.0))
        return model->store ? potential_in_pieces(model, potential, err) : exact_potential(model, potential, err);
    /* stars are drawn independently: the expected sum over pairs lacks the terms of a star with itself */
    double square = 0.0;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) square += p.mass[i] * p.mass[i];
    *potential = smooth_potential * (1.0 - square);
    return NBC_OK;
}

static double kinetic_energy(const struct nb6_model *model)
{
    double sum = 0.0;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES | NB6_VELOCITIES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            const double *v = p.v[i];
            sum += p.mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        }
    return 0.5 * sum;
}

static double (*vectors_of(const struct nb6_piece *p, int column))[3]
{
    return column == NB6_PLACES ? p->x : p->v;
}

/* column: NB6_PLACES or NB6_VELOCITIES, here and below. */
static void multiply(const struct nb6_model *model, int column, double factor)
{
    for (struct nb6_piece p = nb6_pieces(model, column, column); nb6_piece_next(&p);) {
        double(*a)[3] = vectors_of(&p, column);
        for (int64_t i = 0; i < p.count; i++)
            for (int d = 0; d < 3; d++) a[i][d] *= factor;
    }
}

static void subtract_mean(const struct nb6_model *model, int column)
{
    double mean[3] = {0.0};
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES | column, 0); nb6_piece_next(&p);) {
        double(*a)[3] = vectors_of(&p, column);
        for (int64_t i = 0; i < p.count; i++)
            for (int d = 0; d < 3; d++) mean[d] += p.mass[i] * a[i][d];
    }
    for (struct nb6_piece p = nb6_pieces(model, column, column); nb6_piece_next(&p);) {
        double(*a)[3] = vectors_of(&p, column);
        for (int64_t i = 0; i < p.count; i++)
            for (int d = 0; d < 3; d++) a[i][d] -= mean[d];
    }
}

static int normalise_masses(struct nb6_model *model, struct nbc_error *err)
{
    double sum = 0.0;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) sum += p.mass[i];
    if (!(sum > 0.0) || !isfinite(sum)) {
        return nbc_fail(err, NBC_BAD_INPUT, "the masses add up to %g: must be > 0 and finite", sum);
    }
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES, NB6_MASSES); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) p.mass[i] /= sum;
    return NBC_OK;
}

/* Angular velocity of NBODY6's solid-body rotation: 1 in N-body units, against the orbital motion. */
static void add_rotation(const struct nb6_model_config *config, struct nb6_model *model)
{
    const double omega = -1.0, kinetic = kinetic_energy(model);
    for (struct nb6_piece p = nb6_pieces(model, NB6_PLACES | NB6_VELOCITIES, NB6_VELOCITIES); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            const double *x = p.x[i];
            double *v = p.v[i];
            v[0] = config->rotation_xy * v[0] - omega * x[1];
            v[1] = config->rotation_xy * v[1] + omega * x[0];
            v[2] *= config->rotation_z;
        }
    const double now = kinetic_energy(model);
    if (now > 0.0) multiply(model, NB6_VELOCITIES, sqrt(kinetic / now));
}

/* U of a scaled model follows from its energy, -1/4 with T, or is -1/2 where T alone is as much. */
void nb6_model_embed(const struct nb6_tide_config *tide, struct nb6_model *model)
{
    const double kinetic = kinetic_energy(model), potential = kinetic < 0.25 ? kinetic + 0.25 : 0.5;
    double virial = 0.0;
    if ((tide->kind != NB6_TIDE_GALAXY && tide->kind != NB6_TIDE_GAS) || !(tide->gas_mass > 0)) return;
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES | NB6_PLACES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            const double *x = p.x[i], r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
            const double s2 = r2 + tide->gas_length * tide->gas_length;
            virial += p.mass[i] * tide->gas_mass * r2 / (s2 * sqrt(s2));
        }
    multiply(model, NB6_VELOCITIES, sqrt(1.0 + virial / potential));
}

int nb6_model_scale(const struct nb6_model_config *config, double smooth_potential, struct nb6_model *model,
                    double *length_factor, struct nbc_error *err)
{
    double potential = 0.0;
    int status = normalise_masses(model, err);
    if (status) return status;
    subtract_mean(model, NB6_PLACES);
    subtract_mean(model, NB6_VELOCITIES);
    status = find_potential(smooth_potential, model, &potential, err);
    if (status) return status;
    if (!(potential < 0.0) || !isfinite(potential)) {
        return nbc_fail(err, NBC_BAD_INPUT,
                        "cannot scale to N-body units: the potential energy is %g (two stars with mass at different "
                        "places are the least that is needed)",
                        potential);
    }
    const double kinetic = kinetic_energy(model);
    const double q = config->virial_ratio < 0.0 ? kinetic / -potential : config->virial_ratio;
    if (q > 0.0 && !(kinetic > 0.0)) {
        return nbc_fail(err, NBC_BAD_INPUT, "cannot give a virial ratio of Q = %g to stars at rest: set Q = 0", q);
    }
    /* lengths by s, velocities by s^(-1/2) change all energies by 1/s */
    const double s = q < 1.0 ? -potential * (1.0 - q) / 0.25 : -potential / 0.5;
    multiply(model, NB6_PLACES, s);
    multiply(model, NB6_VELOCITIES, q > 0.0 ? sqrt(q * -potential / kinetic / s) : 0.0);
    if (config->rotation_xy > 0.0) add_rotation(config, model);
    if (length_factor) *length_factor = s;
    return NBC_OK;
}
