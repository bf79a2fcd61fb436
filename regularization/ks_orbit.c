/* Between KS variables and space: positions, energies, elements of the osculating orbit. */
#include "regularization/ks_internal.h"

#include <math.h>

#define PI 3.14159265358979323846
#include <string.h>

void ks_to_space(const double u[4], const double up[4], double x[3], double v[3])
{
    double scale = 2.0 / ks_dot4(u, u);
    ks_matrix(u, u, x);
    ks_matrix(u, up, v);
    for (int i = 0; i < 3; i++) v[i] *= scale;
}

/* Levi-Civita's root of x in four dimensions, by the larger of two components: L(u) u = x. */
void ks_from_space(const double x[3], const double v[3], double r, double u[4], double up[4])
{
    memset(u, 0, 4 * sizeof *u);
    if (x[0] >= 0) {
        u[0] = sqrt(0.5 * (r + x[0]));
        u[1] = 0.5 * x[1] / u[0];
        u[2] = 0.5 * x[2] / u[0];
    } else {
        u[1] = sqrt(0.5 * (r - x[0]));
        u[0] = 0.5 * x[1] / u[1];
        u[3] = 0.5 * x[2] / u[1];
    }
    ks_transpose(u, v, up);
    for (int i = 0; i < 4; i++) up[i] *= 0.5;
}

void ks_add_time(double dt, double *t, double *t_lo)
{
    double sum = *t + dt, back = sum - *t;
    double low = *t_lo + ((*t - (sum - back)) + (dt - back));
    *t = sum + low;
    *t_lo = low - (*t - sum);
}

void ks_fill_node(struct ks_node *n, double kappa, const double p[3], const double pdot[3])
{
    double g[4], gp[4], turn[4], p_tau[3], upp_g = 0, up_gp = 0;
    n->r = ks_dot4(n->u, n->u);
    n->rp = 2.0 * ks_dot4(n->u, n->up);
    for (int i = 0; i < 3; i++) p_tau[i] = kappa * n->r * pdot[i];
    ks_transpose(n->u, p, g);
    ks_transpose(n->u, p_tau, gp);
    ks_transpose(n->up, p, turn);
    for (int i = 0; i < 4; i++) {
        g[i] *= kappa;
        gp[i] = kappa * (gp[i] + turn[i]);
        n->q[i] = 0.5 * n->r * g[i];
        n->qp[i] = 0.5 * (n->rp * g[i] + n->r * gp[i]);
        upp_g += (0.5 * n->h * n->u[i] + n->q[i]) * g[i];
        up_gp += n->up[i] * gp[i];
    }
    n->hp = 2.0 * ks_dot4(n->up, g);
    n->hpp = 2.0 * (upp_g + up_gp);
    n->r2 = 2.0 * ks_dot4(n->up, n->up) + n->h * n->r + 2.0 * ks_dot4(n->u, n->q);
    n->r3 = 2.0 * n->h * n->rp + 10.0 * ks_dot4(n->up, n->q) + 2.0 * ks_dot4(n->u, n->qp);
}

/* Fukushima (2005): u and u' are brought back to the surface M = 2 u'^2 - h R of the integrated energy. On an ellipse
 * both terms are positive, and one factor for u and u' changes neither shape nor phase. Otherwise M would be a
 * difference of large numbers far out, and u'^2 = (M + h R)/2 is the sum of two. */
double ks_rectification_factor(double m, double h, const double u[4], const double up[4])
{
    double r = ks_dot4(u, u), up2 = ks_dot4(up, up);
    double square = h < 0 ? m / (2.0 * up2 - h * r) : 0.5 * (m + h * r) / up2;
    return isfinite(square) ? (square - 1.0) / (1.0 + sqrt(square)) : 0.0;
}

void ks_relative(const struct ks_pair *pair, double x[3], double v[3])
{
    ks_to_space(pair->now.u, pair->now.up, x, v);
}

void ks_components(const struct ks_pair *pair, const double x_cm[3], const double v_cm[3], const double x[3],
                   const double v[3], double x_out[2][3], double v_out[2][3])
{
    double w0 = pair->mass[1] / pair->m, w1 = pair->mass[0] / pair->m;
    for (int i = 0; i < 3; i++) {
        x_out[0][i] = x_cm[i] + w0 * x[i];
        x_out[1][i] = x_cm[i] - w1 * x[i];
        v_out[0][i] = v_cm[i] + w0 * v[i];
        v_out[1][i] = v_cm[i] - w1 * v[i];
    }
}

void ks_elements(const struct ks_pair *pair, struct ks_elements *el)
{
    double m = pair->m, h = pair->h, r = pair->now.r, rp = pair->now.rp, b = sqrt(fabs(2.0 * h));
    el->a = -0.5 * m / h;
    el->r = r;
    el->rdot = rp / r;
    if (h < 0) {
        const double e_cos = 1.0 + 2.0 * h * r / m, e_sin = rp * b / m;
        el->e = sqrt(e_cos * e_cos + e_sin * e_sin);
        el->period = 2.0 * PI * m / (b * b * b);
    } else {
        double x[3], v[3];
        ks_relative(pair, x, v);
        double l[3] = {x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2], x[0] * v[1] - x[1] * v[0]};
        el->e = sqrt(1.0 + 2.0 * h * ks_dot3(l, l) / (m * m));
        el->period = INFINITY;
    }
}

/* On an ellipse u'' = (h/2) u: u = c u0 + s u0'/omega with half of the eccentric anomaly, and products of u have all
 * of it. The mean distance along it is a. */
int ks_get_ellipse(const struct ks_pair *pair, struct ks_ellipse *ellipse)
{
    const double *u = pair->now.u, omega = sqrt(-0.5 * pair->h);
    double w[4], uu[3], uw[3], ww[3];
    if (!(omega > 0.0)) return NBC_BAD_STATE;
    for (int i = 0; i < 4; i++) w[i] = pair->now.up[i] / omega;
    ks_matrix(u, u, uu);
    ks_matrix(u, w, uw);
    ks_matrix(w, w, ww);
    for (int i = 0; i < 3; i++) {
        ellipse->centre[i] = 0.5 * (uu[i] + ww[i]);
        ellipse->by_cosine[i] = 0.5 * (uu[i] - ww[i]);
        ellipse->by_sine[i] = uw[i];
    }
    const double twice_a = ks_dot4(u, u) + ks_dot4(w, w);
    ellipse->share_cosine = (ks_dot4(u, u) - ks_dot4(w, w)) / twice_a;
    ellipse->share_sine = 2.0 * ks_dot4(u, w) / twice_a;
    return NBC_OK;
}

double ks_time_to_apocentre(const struct ks_pair *pair)
{
    if (pair->h >= 0) return INFINITY;
    double m = pair->m, b = sqrt(-2.0 * pair->h), e_sin = pair->now.rp * b / m;
    double mean = atan2(e_sin, 1.0 + 2.0 * pair->h * pair->now.r / m) - e_sin;
    double rest = PI - mean; /* in [0, 2 pi] */
    return pair->kappa * (rest > 0 ? rest : 2.0 * PI) * m / (b * b * b);
}
