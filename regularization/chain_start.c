/* The start of a system: its members, the method for them, the first chain and the first step. */
#include "regularization/chain_impl.h"

#include <string.h>

/* Beyond this ratio of the largest to the smallest mass "auto" is "ar". */
static const double MASS_RANGE = 100;

void chain_options_init(struct chain_options *options)
{
    *options = (struct chain_options){.method = CHAIN_METHOD_AUTO, .tolerance = 1e-14};
}

static int check_body(const struct chain_body *body, int i, struct nbc_error *err)
{
    static const char *const NAMES[2] = {"position", "velocity"};
    for (int k = 0; k < 6; k++)
        if (!isfinite(k < 3 ? body->x[k] : body->v[k - 3]))
            return nbc_fail(err, NBC_NON_FINITE, "few-body system: %s of body %d (identity %lld) is not finite",
                            NAMES[k / 3], i, (long long)body->id);
    if (!(body->mass > 0) || !isfinite(body->mass))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: mass of body %d (identity %lld) is %g; give one > 0",
                        i, (long long)body->id, body->mass);
    if (!(body->radius >= 0) || !isfinite(body->radius))
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "few-body system: radius of body %d (identity %lld) is %g; give one >= 0", i,
                        (long long)body->id, body->radius);
    return NBC_OK;
}

static int check_bodies(int n, const struct chain_body body[], struct nbc_error *err)
{
    if (n < 2 || n > CHAIN_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: %d bodies; there must be 2 to %d", n, CHAIN_MAX);
    for (int i = 0; i < n; i++) {
        int status = check_body(&body[i], i, err);
        if (status) return status;
        for (int j = 0; j < i; j++) {
            if (body[i].id == body[j].id)
                return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: bodies %d and %d have the same identity %lld",
                                j, i, (long long)body[i].id);
            double d[3];
            chain_between(&body[i], &body[j], d);
            if (chain_norm(d) == 0)
                return nbc_fail(err, NBC_BAD_ARGUMENT,
                                "few-body system: bodies %lld and %lld are at the same place; their energy is infinite",
                                (long long)body[j].id, (long long)body[i].id);
        }
    }
    return NBC_OK;
}

static int check_options(const struct chain_options *o, struct nbc_error *err)
{
    if (!chain_method_name(o->method))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: there is no method %d", (int)o->method);
    if (!(o->tolerance >= 1e-15 && o->tolerance <= 1e-3))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: tolerance %g; give one from 1e-15 to 1e-3",
                        o->tolerance);
    if (o->pn & ~(CHAIN_PN1 | CHAIN_PN2 | CHAIN_PN25))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: unknown post-Newtonian terms %d", (int)o->pn);
    if (o->pn && !(o->c_light > 0 && isfinite(o->c_light)))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: speed of light %g; post-Newtonian terms need one > 0",
                        o->c_light);
    if (!(o->slow >= 0 && o->slow <= 0.1) || !(o->slow_time >= 0) || o->max_steps < 0)
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "few-body system: slow-down %g outside [0, 0.1], or slow_time %g or max_steps below 0", o->slow,
                        o->slow_time);
    return NBC_OK;
}

/* A step that is surely short enough: a tenth of the shortest time in which a link changes. */
static double first_step(const struct chain_system *s, const struct chain_links *links)
{
    double shortest = HUGE_VAL, t_plus_u;
    chain_links_energy(s, links, &t_plus_u);
    for (int k = 0; k < s->links; k++) {
        double r = chain_norm(links->x[k]), speed = chain_norm(links->v[k]);
        shortest = fmin(shortest, r / fmax(speed, sqrt((s->mass[k] + s->mass[k + 1]) / r)));
    }
    return 0.1 * shortest * t_plus_u;
}

/* Lay the chain and fill the variables from bodies whose masses and identities are in c already. */
static void fill(struct chain *c, const struct chain_body body[])
{
    double centre[2][3] = {{0}}, total = 0;
    struct chain_links links;
    struct chain_system s;
    for (int i = 0; i < c->n; i++) {
        total += c->mass[i];
        for (int k = 0; k < 3; k++) {
            centre[0][k] += c->mass[i] * body[i].x[k];
            centre[1][k] += c->mass[i] * body[i].v[k];
        }
    }
    chain_first_order(c, body);
    for (int k = 0; k + 1 < c->n; k++) {
        const struct chain_body *a = &body[c->order[k]], *b = &body[c->order[k + 1]];
        c->kappa[k] = 1;
        chain_between(a, b, links.x[k]);
        for (int i = 0; i < 3; i++) links.v[k][i] = b->v[i] - a->v[i];
    }
    memset(c->y, 0, sizeof c->y);
    memset(c->y_low, 0, sizeof c->y_low);
    chain_set_links(c, &links);
    chain_system_make(c, NULL, &s);
    const int rest = chain_formulation(c->method)->time(c->n);
    c->y[rest + 1] = c->energy = chain_links_energy(&s, &links, NULL);
    for (int k = 0; k < 3; k++) {
        c->y[rest + 2 + k] = centre[0][k] / total;
        c->y[rest + 5 + k] = centre[1][k] / total;
    }
    c->step = first_step(&s, &links);
    c->column = 5;
}

int chain_init(struct chain *c, const struct chain_options *options, int n, const struct chain_body body[], double t,
               struct nbc_error *err)
{
    int status = check_options(options, err);
    if (!status) status = check_bodies(n, body, err);
    if (status) return status;
    if (!isfinite(t)) return nbc_fail(err, NBC_NON_FINITE, "few-body system: the time to start at is not finite");
    memset(c, 0, sizeof *c);
    c->options = *options;
    c->t = t;
    return chain_refill(c, n, body, err);
}

/* Velocities of light bodies from momenta of heavy ones have few digits; the leapfrog uses velocities. */
static int32_t choose_method(const struct chain *c)
{
    double lightest = HUGE_VAL, heaviest = 0;
    if (c->options.method != CHAIN_METHOD_AUTO) return c->options.method;
    for (int i = 0; i < c->n; i++) {
        lightest = fmin(lightest, c->mass[i]);
        heaviest = fmax(heaviest, c->mass[i]);
    }
    return heaviest > MASS_RANGE * lightest ? CHAIN_METHOD_AR : CHAIN_METHOD_KS;
}

int chain_refill(struct chain *c, int n, const struct chain_body body[], struct nbc_error *err)
{
    int status = check_bodies(n, body, err);
    if (status) return status;
    c->n = n;
    for (int i = 0; i < n; i++) {
        c->id[i] = body[i].id;
        c->mass[i] = body[i].mass;
        c->radius[i] = body[i].radius;
    }
    c->method = choose_method(c);
    fill(c, body);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++) {
            double d[3];
            chain_between(&body[a], &body[b], d);
            double r = chain_norm(d), *closest = &c->closest_r[chain_pair_index(a, b)];
            if (*closest > 0 && *closest <= r) continue;
            *closest = r;
            c->closest_t[chain_pair_index(a, b)] = c->t;
        }
    return NBC_OK;
}
