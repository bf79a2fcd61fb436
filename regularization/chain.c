/* The state of a system as links and as bodies, and its energies. */
#include "common/sum.h"
#include "regularization/chain_impl.h"

#include <string.h>

size_t chain_size(void)
{
    return sizeof(struct chain);
}

static const struct chain_formulation *method_of(const struct chain *c)
{
    return chain_formulation(c->method);
}

static int time_of(const struct chain *c)
{
    return method_of(c)->time(c->n);
}

void chain_get_links(const struct chain *c, struct chain_links *links)
{
    struct chain_system s;
    chain_system_make(c, NULL, &s);
    method_of(c)->to_links(&s, c->y, links);
}

void chain_set_links(struct chain *c, const struct chain_links *links)
{
    struct chain_system s;
    chain_system_make(c, NULL, &s);
    method_of(c)->from_links(&s, links, c->y);
    memset(c->y_low, 0, (size_t)time_of(c) * sizeof *c->y_low);
}

double chain_links_energy(const struct chain_system *s, const struct chain_links *links, double *t_plus_u)
{
    double v[CHAIN_MAX][3], kinetic = 0, potential = 0;
    chain_places(s, links->v, v);
    for (int i = 0; i < s->n; i++) {
        double r[3] = {0};
        kinetic += 0.5 * s->mass[i] * chain_dot(v[i], v[i]);
        for (int j = i + 1; j < s->n; j++) {
            for (int c = 0; c < 3; c++) r[c] += links->x[j - 1][c];
            potential += s->mass[i] * s->mass[j] / chain_norm(r);
        }
    }
    if (t_plus_u) *t_plus_u = kinetic + potential;
    return kinetic - potential;
}

int chain_pair_index(int a, int b)
{
    int high = a > b ? a : b, low = a > b ? b : a;
    return high * (high - 1) / 2 + low;
}

void chain_closest(const struct chain *c, int a, int b, double *r, double *t)
{
    *r = c->closest_r[chain_pair_index(a, b)];
    *t = c->closest_t[chain_pair_index(a, b)];
}

double chain_slow_energy(const struct chain *c)
{
    return c->y[time_of(c) + 1];
}

void chain_add_energy(struct chain *c, double change)
{
    c->y[time_of(c) + 1] += change;
}

void chain_centre(const struct chain *c, double x[3], double v[3])
{
    memcpy(x, c->y + time_of(c) + 2, 3 * sizeof *x);
    memcpy(v, c->y + time_of(c) + 5, 3 * sizeof *v);
}

void chain_set_centre(struct chain *c, const double x[3], const double v[3])
{
    memcpy(c->y + time_of(c) + 2, x, 3 * sizeof *x);
    memcpy(c->y + time_of(c) + 5, v, 3 * sizeof *v);
    memset(c->y_low + time_of(c) + 2, 0, 6 * sizeof *c->y_low);
}

void chain_shift_time(struct chain *c, double shift)
{
    c->t += shift;
    for (int k = 0; k < CHAIN_PAIRS; k++) c->closest_t[k] += shift;
}

void chain_bodies(const struct chain *c, struct chain_body body[])
{
    struct chain_links links;
    struct chain_system s;
    double x[CHAIN_MAX][3], low[CHAIN_MAX][3], v[CHAIN_MAX][3];
    const double *centre = c->y + time_of(c) + 2;
    chain_system_make(c, NULL, &s);
    method_of(c)->to_links(&s, c->y, &links);
    chain_places_exactly(&s, (const double(*)[3])links.x, x, low);
    chain_places(&s, (const double(*)[3])links.v, v);
    for (int i = 0; i < c->n; i++) {
        int m = c->order[i];
        body[m] = (struct chain_body){.id = c->id[m], .mass = c->mass[m], .radius = c->radius[m]};
        for (int k = 0; k < 3; k++) {
            body[m].x[k] = centre[k];
            body[m].x_low[k] = low[i][k];
            nbc_add_exactly(&body[m].x[k], &body[m].x_low[k], x[i][k]);
            body[m].v[k] = centre[k + 3] + v[i][k];
        }
    }
}

double chain_energy(const struct chain *c)
{
    struct chain_links links;
    struct chain_system s;
    chain_get_links(c, &links);
    chain_system_make(c, NULL, &s);
    return chain_links_energy(&s, &links, NULL);
}

double chain_energy_booked(const struct chain *c)
{
    return c->energy;
}

double chain_energy_pn(const struct chain *c)
{
    struct chain_links links;
    struct chain_system s;
    chain_get_links(c, &links);
    chain_system_make(c, NULL, &s);
    double sum = chain_links_energy(&s, &links, NULL);
    for (int i = 0; i < s.n; i++) {
        double x[3] = {0}, v[3] = {0};
        for (int j = i + 1; j < s.n; j++) {
            for (int k = 0; k < 3; k++) {
                x[k] += links.x[j - 1][k];
                v[k] += links.v[j - 1][k];
            }
            if (s.pn) sum += chain_pn_energy(s.pn, s.c_light, s.mass[i], s.mass[j], x, v);
        }
    }
    return sum;
}
