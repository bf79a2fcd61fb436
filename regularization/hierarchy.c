#include "regularization/hierarchy.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void hierarchy_orbit_find(double mass, const double x[3], const double v[3], struct hierarchy_orbit *orbit)
{
    double r = sqrt(dot(x, x)), energy = 0.5 * dot(v, v) - mass / r, rv = dot(x, v);
    orbit->j[0] = x[1] * v[2] - x[2] * v[1];
    orbit->j[1] = x[2] * v[0] - x[0] * v[2];
    orbit->j[2] = x[0] * v[1] - x[1] * v[0];
    /* e cos and e sin of the true anomaly: neither is a difference from 1, which would cost nearly circular orbits
     * their eccentricity and nearly radial ones their pericentre. */
    double p = dot(orbit->j, orbit->j) / mass, cosine = p / r - 1, sine = sqrt(p / mass) * rv / r;
    orbit->e = hypot(cosine, sine);
    orbit->a = -0.5 * mass / energy;
    orbit->pericentre = p / (1 + orbit->e);
    orbit->period = energy < 0 ? 2 * PI * orbit->a * sqrt(orbit->a / mass) : 0;
}

double hierarchy_critical_ratio(double q, double e, double inclination)
{
    if (!(e < 1)) return HUGE_VAL;
    return 2.8 * pow((1 + q) * (1 + e) / sqrt(1 - e), 0.4) * (1 - 0.3 * inclination / PI);
}

struct node {
    double mass, x[3], v[3];
    int pair; /* -1: a body */
    int joined;
};

static void relative(const struct node *a, const struct node *b, double x[3], double v[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = b->x[k] - a->x[k];
        v[k] = b->v[k] - a->v[k];
    }
}

static double angle(const double a[3], const double b[3])
{
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    return atan2(sqrt(dot(c, c)), dot(a, b));
}

/* Is the orbit of this pair wide enough for the pair inside `inner`, whose companion is `outer`? */
static void judge(struct hierarchy *h, struct hierarchy_pair *pair, const struct node *inner, const struct node *outer)
{
    if (inner->pair < 0) return;
    const struct hierarchy_pair *inside = &h->pair[inner->pair];
    double inclination = angle(inside->orbit.j, pair->orbit.j);
    double critical = hierarchy_critical_ratio(outer->mass / inner->mass, pair->orbit.e, inclination);
    double ratio = pair->orbit.pericentre / (critical * inside->orbit.a);
    pair->stable &= inside->stable && ratio > 1;
    if (pair->ratio > 0 && ratio >= pair->ratio) return;
    pair->ratio = ratio;
    pair->inclination = inclination;
}

static void join(struct hierarchy *h, struct node *node, int a, int b)
{
    struct hierarchy_pair *pair = &h->pair[h->pairs];
    struct node *sum = &node[h->n + h->pairs];
    double x[3], v[3];
    relative(&node[a], &node[b], x, v);
    *pair = (struct hierarchy_pair){.first = a, .second = b, .mass = node[a].mass + node[b].mass, .stable = 1};
    hierarchy_orbit_find(pair->mass, x, v, &pair->orbit);
    judge(h, pair, &node[a], &node[b]);
    judge(h, pair, &node[b], &node[a]);
    sum->mass = pair->mass;
    sum->pair = h->pairs++;
    sum->joined = 0;
    for (int k = 0; k < 3; k++) {
        sum->x[k] = node[a].x[k] + node[b].mass / pair->mass * x[k];
        sum->v[k] = node[a].v[k] + node[b].mass / pair->mass * v[k];
    }
    node[a].joined = node[b].joined = 1;
}

int hierarchy_find(int n, const double mass[], const double x[][3], const double v[][3], struct hierarchy *h)
{
    struct node node[2 * HIERARCHY_MAX];
    memset(h, 0, sizeof *h);
    if (n < 1 || n > HIERARCHY_MAX) return NBC_BAD_ARGUMENT;
    h->n = n;
    for (int i = 0; i < n; i++) {
        if (!(mass[i] > 0)) return NBC_BAD_ARGUMENT;
        node[i] = (struct node){.mass = mass[i], .pair = -1};
        memcpy(node[i].x, x[i], sizeof node[i].x);
        memcpy(node[i].v, v[i], sizeof node[i].v);
    }
    for (int best_a = 0; best_a >= 0;) {
        int best_b = best_a = -1, count = n + h->pairs;
        double least = HUGE_VAL;
        for (int a = 0; a < count; a++)
            for (int b = a + 1; b < count; b++) {
                double d[3], w[3];
                if (node[a].joined || node[b].joined) continue;
                relative(&node[a], &node[b], d, w);
                double inverse = 2 / sqrt(dot(d, d)) - dot(w, w) / (node[a].mass + node[b].mass);
                if (!(inverse > 0) || !(1 / inverse < least)) continue;
                least = 1 / inverse;
                best_a = a;
                best_b = b;
            }
        if (best_a >= 0) join(h, node, best_a, best_b);
    }
    for (int i = 0; i < n + h->pairs; i++)
        if (!node[i].joined) h->root[h->roots++] = i;
    return NBC_OK;
}

/* Adds mass, mass x and mass v of all bodies below a node. */
static void add_bodies(const struct hierarchy *h, int at, const double mass[], const double x[][3], const double v[][3],
                       struct node *sum)
{
    if (at >= h->n) {
        add_bodies(h, h->pair[at - h->n].first, mass, x, v, sum);
        add_bodies(h, h->pair[at - h->n].second, mass, x, v, sum);
        return;
    }
    sum->mass += mass[at];
    for (int k = 0; k < 3; k++) {
        sum->x[k] += mass[at] * x[at][k];
        sum->v[k] += mass[at] * v[at][k];
    }
}

void hierarchy_roots_relative(const struct hierarchy *h, const double mass[], const double x[][3], const double v[][3],
                              double *total, double dx[3], double dv[3])
{
    struct node part[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        add_bodies(h, h->root[i], mass, x, v, &part[i]);
        for (int k = 0; k < 3; k++) {
            part[i].x[k] /= part[i].mass;
            part[i].v[k] /= part[i].mass;
        }
    }
    relative(&part[0], &part[1], dx, dv);
    *total = part[0].mass + part[1].mass;
}
