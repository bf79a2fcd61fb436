/* Perturbers given as arrays. */
#include <math.h>

#include "regularization/ks_internal.h"

/* Of a mass at this distance from a member, r2 its square. */
static void note_near(double r2, double v2, struct ks_perturbation *out)
{
    double time = v2 > 0 ? sqrt(r2 / v2) : 0;
    if (time > 0 && isfinite(time) && (!(out->t_near > 0) || time < out->t_near)) out->t_near = time;
}

/* Add the acceleration of the first member by a mass minus that of the second one, at distances d: both at once, as
 * sums of two numbers.   @param[in] x2  square of the distance between the members */
static void attract(double m, double d[3][2], double v[3][2], double x2, struct ks_perturbation *out)
{
    double strength[2], turn[2], r2[2];
    for (int k = 0; k < 2; k++) {
        r2[k] = d[0][k] * d[0][k] + d[1][k] * d[1][k] + d[2][k] * d[2][k];
        double dv = d[0][k] * v[0][k] + d[1][k] * v[1][k] + d[2][k] * v[2][k];
        strength[k] = m / (r2[k] * sqrt(r2[k]));
        turn[k] = 3.0 * dv / r2[k];
    }
    for (int k = 0; k < 2; k++)
        if (r2[k] < x2) note_near(r2[k], v[0][k] * v[0][k] + v[1][k] * v[1][k] + v[2][k] * v[2][k], out);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) v[i][k] = strength[k] * (v[i][k] - turn[k] * d[i][k]);
        for (int k = 0; k < 2; k++) d[i][k] *= strength[k];
        out->p[i] += d[i][0] - d[i][1];
        out->pdot[i] += v[i][0] - v[i][1];
    }
}

void ks_tide(const struct ks_pair *pair, size_t n, const double *m, const double (*dx)[3], const double (*dv)[3],
             const double x[3], const double xdot[3], struct ks_perturbation *out)
{
    double w[2] = {pair->mass[1] / pair->m, -pair->mass[0] / pair->m}, x2 = ks_dot3(x, x), shortest2 = INFINITY;
    for (size_t j = 0; j < n; j++) {
        double d[3][2], v[3][2];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 2; k++) {
                d[i][k] = dx[j][i] - w[k] * x[i];
                v[i][k] = dv[j][i] - w[k] * xdot[i];
            }
        attract(m[j], d, v, x2, out);
        double v2 = ks_dot3(dv[j], dv[j]), scale2 = v2 > 0 ? ks_dot3(dx[j], dx[j]) / v2 : 0;
        if (scale2 > 0 && scale2 < shortest2) shortest2 = scale2;
    }
    const double scale = sqrt(shortest2);
    if (isfinite(scale) && (!(out->t_scale > 0) || scale < out->t_scale)) out->t_scale = scale;
}

static void follow(const struct ks_path *path, double t, double t_lo, double x[3], double v[3])
{
    double s = (t - path->t0) + t_lo;
    for (int i = 0; i < 3; i++) {
        x[i] = path->x[i] + s * (path->v[i] + s * (path->acc[i] / 2 + s * path->jerk[i] * (1.0 / 6.0)));
        v[i] = path->v[i] + s * (path->acc[i] + s * path->jerk[i] / 2);
    }
}

int ks_perturb_paths(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                     struct ks_perturbation *out)
{
    const struct ks_field *field = context;
    double centre[3], centre_v[3];
    follow(&field->centre, t, t_lo, centre, centre_v);
    for (size_t j = 0; j < field->n; j++) {
        double dx[1][3], dv[1][3];
        follow(&field->paths[j], t, t_lo, dx[0], dv[0]);
        for (int i = 0; i < 3; i++) {
            dx[0][i] -= centre[i];
            dv[0][i] -= centre_v[i];
        }
        ks_tide(field->pair, 1, &field->paths[j].mass, dx, dv, x, xdot, out);
    }
    return NBC_OK;
}
