/* Algorithmic regularization: a leapfrog in chain vectors whose time step is ds/(T - E + w) while it drifts and
 * ds/(U + Omega) while it kicks (Mikkola & Tanikawa 1999; Preto & Tremaine 1999; Mikkola & Merritt 2008). It follows
 * the two-body path exactly but for an error of phase, and its error is even in the step: extrapolation does the rest.
 *
 * Omega = sum omega_ij/r_ij makes the step feel encounters of light bodies that U hardly notices, and w, which starts
 * as Omega in each step, is integrated along. Velocity-dependent terms are kicked with an auxiliary velocity, which
 * itself is kicked with the real one before and after (Hellstrom & Mikkola 2010): the step stays explicit and symmetric
 * in time.
 *
 * Variables: X_k and V_k for each link, then time since the start of the step, energy E (of the slowed system), and the
 * position and velocity of the centre of mass. */
#include "regularization/chain_impl.h"

#include <string.h>

enum { STRIDE = 6, REST = 8 };

static int variables(int n)
{
    return STRIDE * (n - 1) + REST;
}

static int time_place(int n)
{
    return STRIDE * (n - 1);
}

static void groups(const struct chain_system *s, struct chain_groups *g)
{
    chain_groups_make(s, 3, g);
}

static void from_links(const struct chain_system *s, const struct chain_links *links, double *y)
{
    for (int k = 0; k < s->links; k++) {
        memcpy(y + STRIDE * k, links->x[k], sizeof links->x[k]);
        memcpy(y + STRIDE * k + 3, links->v[k], sizeof links->v[k]);
    }
}

static void to_links(const struct chain_system *s, const double *y, struct chain_links *links)
{
    for (int k = 0; k < s->links; k++) {
        memcpy(links->x[k], y + STRIDE * k, sizeof links->x[k]);
        memcpy(links->v[k], y + STRIDE * k + 3, sizeof links->v[k]);
    }
}

/* Variables of a march: links, auxiliary velocities, and differences of all other variables from the start. */
struct march {
    struct chain_links links;
    double low_x[CHAIN_LINKS][3], low_v[CHAIN_LINKS][3]; /* their rounding errors */
    double aux[CHAIN_LINKS][3];
    double t, energy, cm_x[3], cm_v[3], w;
    double energy0, w0;
};

/* Rates of change of the chain vectors of the slowed system. */
static void slowed(const struct chain_system *s, const double v[][3], double out[][3])
{
    memcpy(out, v, (size_t)s->links * sizeof *v);
    for (int k = 0; k < s->links; k++) {
        if (s->kappa[k] == 1) continue;
        double away = (1 - 1 / s->kappa[k]) / (s->mass[k] + s->mass[k + 1]);
        for (int c = 0; c < 3; c++) {
            out[k][c] = v[k][c] / s->kappa[k];
            if (k > 0) out[k - 1][c] += away * s->mass[k + 1] * v[k][c];
            if (k + 1 < s->links) out[k + 1][c] += away * s->mass[k] * v[k][c];
        }
    }
}

/* Kinetic energy of the slowed system in the frame of the centre of mass. */
static double kinetic(const struct chain_system *s, const double v[][3])
{
    double each[CHAIN_MAX][3], sum = 0;
    chain_places(s, v, each);
    for (int i = 0; i < s->n; i++) sum += 0.5 * s->mass[i] * chain_dot(each[i], each[i]);
    for (int k = 0; k < s->links; k++)
        if (s->kappa[k] != 1)
            sum -= (1 - 1 / s->kappa[k]) * 0.5 * s->mass[k] * s->mass[k + 1] / (s->mass[k] + s->mass[k + 1]) *
                   chain_dot(v[k], v[k]);
    return sum;
}

/* Accelerations in chain order, U, Omega and its derivative by the places. */
static double accelerations(struct chain_system *s, const double x[][3], double acc[][3], double *omega,
                            double by_place[][3])
{
    double u = 0;
    *omega = 0;
    memset(acc, 0, (size_t)s->n * sizeof *acc);
    memset(by_place, 0, (size_t)s->n * sizeof *by_place);
    for (int i = 0; i + 1 < s->n; i++) {
        double r[3] = {0};
        for (int j = i + 1; j < s->n; j++) {
            for (int c = 0; c < 3; c++) r[c] += x[j - 1][c];
            double inverse2 = 1 / chain_dot(r, r), inverse = sqrt(inverse2), f = s->pair[i][j] * inverse2 * inverse;
            u += s->pair[i][j] * inverse;
            for (int c = 0; c < 3; c++) {
                acc[i][c] += f / s->mass[i] * r[c];
                acc[j][c] -= f / s->mass[j] * r[c];
            }
            if (s->has_omega && s->omega[i][j] > 0) {
                double part = s->omega[i][j] * inverse;
                *omega += part;
                for (int c = 0; c < 3; c++) {
                    by_place[i][c] += part * inverse2 * r[c];
                    by_place[j][c] -= part * inverse2 * r[c];
                }
            }
        }
    }
    s->evaluations++;
    return u;
}

/* sum += d, with the rounding error in low. */
static inline void add(double *sum, double *low, double d)
{
    d += *low;
    double next = *sum + d, part = next - *sum;
    *low = (*sum - (next - part)) + (d - part);
    *sum = next;
}

static void drift(const struct chain_system *s, struct march *m, double h)
{
    double v[CHAIN_LINKS][3];
    slowed(s, (const double(*)[3])m->links.v, v);
    double dt = h / (kinetic(s, (const double(*)[3])m->links.v) - (m->energy0 + m->energy) + m->w0 + m->w);
    for (int k = 0; k < s->links; k++)
        for (int c = 0; c < 3; c++) add(&m->links.x[k][c], &m->low_x[k][c], dt * v[k][c]);
    m->t += dt;
    for (int c = 0; c < 3; c++) m->cm_x[c] += dt * m->cm_v[c];
}

/* v_k += dt (a_(k+1) - a_k) */
static void accelerate(const struct chain_system *s, double v[][3], const double acc[][3], double dt)
{
    for (int k = 0; k < s->links; k++)
        for (int c = 0; c < 3; c++) v[k][c] += dt * (acc[k + 1][c] - acc[k][c]);
}

/* Where a kick happens. */
struct site {
    double t, cm[3], place[CHAIN_MAX][3];
};

static int has_velocity_terms(const struct chain_system *s)
{
    return s->pn || chain_field_by_velocity(s);
}

/* Accelerations that depend on velocities, at velocities v of the links, added to acc; mean: of the field, if it is one
 * of them. */
static void add_velocity_terms(struct chain_system *s, const struct site *site, const double v[][3], double acc[][3],
                               double mean[3])
{
    double each[CHAIN_MAX][3], field[CHAIN_MAX][3];
    const double(*place)[3] = (const double(*)[3])site->place;
    chain_places(s, v, each);
    if (chain_field_by_velocity(s)) {
        chain_external_field(s, site->t, site->cm, place, (const double(*)[3])each, field, mean);
        for (int i = 0; i < s->n; i++)
            for (int c = 0; c < 3; c++) acc[i][c] += field[i][c];
    }
    if (s->pn) chain_pn_add(s, place, (const double(*)[3])each, acc);
}

/* Half a kick of the auxiliary velocities, by acc, which depends on positions, and by the terms that depend on the
 * real velocities. */
static void kick_auxiliary(struct chain_system *s, struct march *m, const struct site *site, const double acc[][3],
                           double dt)
{
    double all[CHAIN_MAX][3], mean[3];
    memcpy(all, acc, sizeof all);
    add_velocity_terms(s, site, (const double(*)[3])m->links.v, all, mean);
    accelerate(s, m->aux, (const double(*)[3])all, dt);
}

/* Work of external forces, and change of w, at the velocities of the slowed system between before and after. */
static void integrals(const struct chain_system *s, struct march *m, const double before[][3],
                      const double outside[][3], const double by_place[][3], double dt)
{
    double mean[CHAIN_LINKS][3], slow[CHAIN_LINKS][3], each[CHAIN_MAX][3];
    for (int k = 0; k < s->links; k++)
        for (int c = 0; c < 3; c++) mean[k][c] = 0.5 * (before[k][c] + m->links.v[k][c]);
    slowed(s, (const double(*)[3])mean, slow);
    chain_places(s, (const double(*)[3])slow, each);
    for (int i = 0; i < s->n; i++) {
        m->energy += dt * s->mass[i] * chain_dot(each[i], outside[i]);
        m->w += dt * chain_dot(each[i], by_place[i]);
    }
}

static void kick(struct chain_system *s, struct march *m, const double cm0[3], double h)
{
    double acc[CHAIN_MAX][3], by_place[CHAIN_MAX][3], omega, outside[CHAIN_MAX][3], mean[3], at_rest[CHAIN_MAX][3];
    double before[CHAIN_LINKS][3];
    struct site site = {.t = m->t, .cm = {cm0[0] + m->cm_x[0], cm0[1] + m->cm_x[1], cm0[2] + m->cm_x[2]}};
    double dt = h / (accelerations(s, (const double(*)[3])m->links.x, acc, &omega, by_place) + omega);
    memset(outside, 0, sizeof outside);
    memset(mean, 0, sizeof mean);
    if (s->field || s->pn) chain_places(s, (const double(*)[3])m->links.x, site.place);
    if (s->field && !s->field->by_velocity)
        chain_external_field(s, site.t, site.cm, (const double(*)[3])site.place, NULL, outside, mean);
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < 3; c++) at_rest[i][c] = acc[i][c] + outside[i][c];
    memcpy(before, m->links.v, sizeof before);
    if (has_velocity_terms(s)) {
        kick_auxiliary(s, m, &site, (const double(*)[3])at_rest, 0.5 * dt);
        add_velocity_terms(s, &site, (const double(*)[3])m->aux, outside, mean);
    }
    for (int k = 0; k < s->links; k++)
        for (int c = 0; c < 3; c++)
            add(&m->links.v[k][c], &m->low_v[k][c],
                dt * (acc[k + 1][c] + outside[k + 1][c] - acc[k][c] - outside[k][c]));
    if (has_velocity_terms(s)) kick_auxiliary(s, m, &site, (const double(*)[3])at_rest, 0.5 * dt);
    if (s->field || s->pn || s->has_omega)
        integrals(s, m, (const double(*)[3])before, (const double(*)[3])outside, (const double(*)[3])by_place, dt);
    for (int c = 0; c < 3; c++) m->cm_v[c] += dt * mean[c];
}

/* f[0]: Omega at the start. */
static void begin(struct chain_system *s, const double *y, double *f)
{
    struct chain_links links;
    double acc[CHAIN_MAX][3], by_place[CHAIN_MAX][3];
    to_links(s, y, &links);
    f[0] = 0;
    if (s->has_omega) accelerations(s, (const double(*)[3])links.x, acc, &f[0], by_place);
}

static void march(struct chain_system *s, const double *y, const double *f0, double h, int n, double *d)
{
    const int rest = time_place(s->n);
    struct march m;
    memset(&m, 0, sizeof m);
    to_links(s, y, &m.links);
    memcpy(m.aux, m.links.v, sizeof m.aux);
    memcpy(m.cm_v, y + rest + 5, sizeof m.cm_v);
    m.energy0 = y[rest + 1];
    m.w0 = f0[0];
    drift(s, &m, 0.5 * h / n);
    for (int part = 0; part < n && !s->field_status; part++) {
        kick(s, &m, y + rest + 2, h / n);
        drift(s, &m, (part + 1 < n ? 1.0 : 0.5) * h / n);
    }
    for (int k = 0; k < s->links; k++) {
        for (int c = 0; c < 3; c++) {
            d[STRIDE * k + c] = (m.links.x[k][c] - y[STRIDE * k + c]) + m.low_x[k][c];
            d[STRIDE * k + 3 + c] = (m.links.v[k][c] - y[STRIDE * k + 3 + c]) + m.low_v[k][c];
        }
    }
    d[rest] = m.t;
    d[rest + 1] = m.energy;
    for (int c = 0; c < 3; c++) {
        d[rest + 2 + c] = m.cm_x[c];
        d[rest + 5 + c] = m.cm_v[c] - y[rest + 5 + c];
    }
}

static double rate(struct chain_system *s, const double *y)
{
    struct chain_links links;
    double acc[CHAIN_MAX][3], by_place[CHAIN_MAX][3], omega;
    to_links(s, y, &links);
    double u = accelerations(s, (const double(*)[3])links.x, acc, &omega, by_place);
    return 1 / (u + omega);
}

const struct chain_formulation chain_ar_formulation = {
    .variables = variables,
    .from_links = from_links,
    .to_links = to_links,
    .begin = begin,
    .march = march,
    .rate = rate,
    .groups = groups,
    .time = time_place,
    .period = 1.0,
};
