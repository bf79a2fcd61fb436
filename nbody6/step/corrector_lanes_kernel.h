/* The functions of nbody6/step/corrector_lanes.h. Loops over lanes become vectors of the width for which a file is
 * compiled. */
#include "nbody6/step/corrector_lanes.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/rules.h"

#include <math.h>

enum { LANES = NB6_CORRECTOR_LANES };

static void predict(struct nb6_corrector_lanes *s)
{
    for (int k = 0; k < 3; k++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            s->xp[k][l] = nbc_predict_place(s->h[l], s->x0[k][l], s->v0[k][l], s->acc0[k][l], s->jerk0[k][l],
                                            NBC_ROUND_AS_COMPILED);
            s->vp[k][l] =
                nbc_predict_velocity(s->h[l], s->v0[k][l], s->acc0[k][l], s->jerk0[k][l], NBC_ROUND_AS_COMPILED);
        }
}

static void correct(struct nb6_corrector_lanes *s)
{
    nb6_lane_row h2, h3, x_snap, x_crackle, v_snap, sum = {0};
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        const struct nb6_inverse_powers inverse = nb6_inverse_powers_of(s->h[l]);
        const struct nb6_corrector_factors f = nb6_corrector_factors_of(s->h[l]);
        h2[l] = inverse.h2;
        h3[l] = inverse.h3;
        x_snap[l] = f.x_snap; /* also v_crackle */
        x_crackle[l] = f.x_crackle;
        v_snap[l] = f.v_snap;
    }
    for (int k = 0; k < 3; k++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            const struct nb6_inverse_powers inverse = {h2[l], h3[l]};
            double snap_start, snap, crackle;
            nb6_hermite_interpolate_one(s->h[l], inverse, s->acc_start[k][l], s->jerk_start[k][l], s->acc[k][l],
                                        s->jerk[k][l], &snap_start, &snap, &crackle);
            s->snap_start[k][l] = snap_start;
            s->snap[k][l] = snap;
            s->crackle[k][l] = crackle;
            s->dv[k][l] = snap_start * v_snap[l] + crackle * x_snap[l];
            s->x[k][l] = s->xp[k][l] + (snap_start * x_snap[l] + crackle * x_crackle[l]);
            s->v[k][l] = s->vp[k][l] + s->dv[k][l];
            sum[l] += s->x[k][l] + s->v[k][l] + s->acc[k][l] + s->jerk[k][l];
        }
#pragma omp simd
    for (int l = 0; l < LANES; l++) s->finite[l] = sum[l] - sum[l] == 0 ? 1.0 : 0.0;
}

static inline double norm2(nb6_lane_row a[3], int l)
{
    return a[0][l] * a[0][l] + a[1][l] * a[1][l] + a[2][l] * a[2][l];
}

/* Far more than all roundings of the fifth power and of the root. */
static const double MARGIN = 1 + 1e-9;

/* nb6_timestep_velocity is below dt only if eps |F| h/|dv| < (dt/h)^5. */
static void choose(const struct nb6_step_rules *rules, struct nb6_corrector_lanes *s)
{
    const double eta = rules->eta_irr, eps = rules->limit_irr.eps, longer_than = rules->limit_irr.longer_than;
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        const double h = s->h[l], x = s->acc[0][l] + s->acc_reg[0][l], y = s->acc[1][l] + s->acc_reg[1][l],
                     z = s->acc[2][l] + s->acc_reg[2][l], f2 = x * x + y * y + z * z;
        const double j2 = norm2(s->jerk, l), s2 = norm2(s->snap, l), c2 = norm2(s->crackle, l);
        const double above = sqrt(f2 * s2) + j2, below = sqrt(j2 * c2) + s2, dt = sqrt(eta * above / below);
        const double ratio = dt / h, fifth = ratio * ratio * ratio * ratio * ratio;
        const double wide = eps * sqrt(norm2(s->acc, l)) * h / sqrt(norm2(s->dv, l));
        const double of_crackle = NB6_NOISE_OF_CRACKLE * NB6_NOISE_MARGIN * s->noise[l];
        const double unclear = h * h * (h * h) * (h * h) * c2 < of_crackle * of_crackle * MARGIN ? 1.0 : 0.0;
        const double undefined = (h > 0 ? 0.0 : 1.0) + (above > 0 ? 0.0 : 1.0) + (below > 0 ? 0.0 : 1.0);
        const double held = (dt > longer_than ? 1.0 : 0.0) * (wide > fifth * MARGIN ? 0.0 : 1.0);
        s->dt[l] = dt;
        s->odd[l] = undefined + unclear + held;
    }
}
