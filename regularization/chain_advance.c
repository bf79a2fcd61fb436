/* The integration of a system to a time: steps of the independent variable, landing at the end, pericentres. */
#include "regularization/chain_impl.h"

#include <string.h>

/* A step covers at most this part of the radial period of any link, so that no link has two pericentres in a step,
 * and a single one shows in the sign of its radial velocity at the ends. */
static const double PART_OF_PERIOD = 0.45;
/* A pericentre is located if the two-body orbits at the ends of the step say that it matters, within this factor. */
static const double NEAR = 1.1;
/* and until the radial velocity is this part of the speed: its distance is then good to the square of it. On a radial
 * orbit, where it never is, until the place in the step is known to the second number. */
static const double AT_PERICENTRE = 1e-8, PLACE = 1e-11;
/* Most steps for an exact part of a step. */
enum { MOST_PARTS = 1000 };

static double time_left(const struct chain *c, double t_end)
{
    return (t_end - c->t) - c->t_low;
}

static void add_time(struct chain *c, double dt)
{
    double d = dt + c->t_low, sum = c->t + d, part = sum - c->t;
    c->t_low = (c->t - (sum - part)) + (d - part);
    c->t = sum;
}

static int is_later(const struct chain *c, const struct chain *before)
{
    return c->t > before->t || (c->t == before->t && c->t_low > before->t_low);
}

static int fail(const struct chain *c, int status, struct nbc_error *err)
{
    if (status == CHAIN_NO_STEP)
        return nbc_fail(err, NBC_INTERNAL,
                        "few-body system at t = %.15g: no step of method %s is so short that its error is below the "
                        "tolerance %g, or what rounding leaves below 1e-9; give a larger tolerance or another method",
                        c->t, chain_method_name(c->method), c->options.tolerance);
    if (status == CHAIN_INFINITE)
        return nbc_fail(err, NBC_NON_FINITE, "few-body system at t = %.15g: the equations of motion became infinite",
                        c->t);
    return nbc_fail(err, status, "few-body system at t = %.15g: the external field reported status %d", c->t, status);
}

static void measure(const struct chain *c, struct chain_system *s)
{
    struct chain_links links;
    chain_get_links(c, &links);
    s->size = s->speed = 0;
    for (int k = 0; k < s->links; k++) {
        s->size = fmax(s->size, chain_norm(links.x[k]));
        s->speed = fmax(s->speed, chain_norm(links.v[k]));
    }
    s->speed = fmax(s->speed, sqrt(s->total / s->size)); /* they may be at rest */
}

/* One step of at most h > 0, or -h if h is negative; *done: the step made. c->step and c->column become proposals. */
static int step_once(struct chain *c, const struct chain_field *field, double h, double longest, double *done)
{
    struct chain_system s;
    chain_system_make(c, field, &s);
    measure(c, &s);
    const int rest = chain_formulation(s.method)->time(s.n);
    struct chain_step step = {.step = h, .longest = longest, .column = c->column};
    const double energy = c->y[rest + 1];
    c->y[rest] = c->y_low[rest] = 0;
    int status = chain_extrapolate(&s, c->options.tolerance, c->y, c->y_low, &step);
    c->evaluations += s.evaluations;
    c->rejected += step.rejected;
    if (status) return status;
    c->steps++;
    if (step.error > c->options.tolerance) {
        c->unreached++;
        c->worst_error = fmax(c->worst_error, step.error);
    }
    add_time(c, c->y[rest]);
    c->energy += c->y[rest + 1] - energy;
    c->step = fmin(step.step, longest);
    c->column = step.column;
    *done = step.done;
    return NBC_OK;
}

/* Advance exactly ds, in as many steps as necessary: a part of a step needs few. */
static int walk(struct chain *c, const struct chain_field *field, double ds)
{
    double left = ds;
    for (int count = 0; left != 0; count++) {
        if (count == MOST_PARTS) return CHAIN_NO_STEP;
        double done;
        int status = step_once(c, field, left, fabs(ds), &done);
        if (status) return status;
        left -= done;
    }
    return NBC_OK;
}

static double rate(const struct chain *c, const struct chain_field *field)
{
    struct chain_system s;
    chain_system_make(c, field, &s);
    return chain_formulation(s.method)->rate(&s, c->y);
}

/* Longest step that cannot hide a pericentre. The period of a link depends on its own contribution to ds/dt, and on
 * that of all others, which are assumed to keep half of their present contribution. */
static double longest_step(const struct chain_system *s, const struct chain_links *links, double ds_dt)
{
    const double own = chain_formulation(s->method)->period;
    double least = HUGE_VAL;
    for (int k = 0; k < s->links; k++) {
        double m = s->mass[k] + s->mass[k + 1], product = s->mass[k] * s->mass[k + 1] / s->kappa[k];
        double inverse_r = 1 / chain_norm(links->x[k]), v2 = chain_dot(links->v[k], links->v[k]);
        double inverse_a = 2 * inverse_r - v2 / m;
        if (inverse_a <= 0) continue;
        double period = s->kappa[k] * 2 * 3.14159265358979324 / (sqrt(m * inverse_a) * inverse_a);
        double others = fmax(0, ds_dt - product * (inverse_r + (own > 1 ? 0.5 * v2 / m : 0)));
        least = fmin(least, period * (own * product * inverse_a + 0.5 * others));
    }
    return PART_OF_PERIOD * least;
}

/* Place between 0 and ds at which the time is that of the end, by the cubic through times and rates at both ends of
 * a step. */
static double guess(double ds, double t1, double rate0, double rate1, double t)
{
    double low = 0, high = 1, a = ds * rate0, b = ds * rate1;
    for (int k = 0; k < 50; k++) {
        double u = 0.5 * (low + high);
        double at = u * (a + u * ((3 * t1 - 2 * a - b) + u * (a + b - 2 * t1)));
        *(at < t ? &low : &high) = u;
    }
    return 0.5 * (low + high) * ds;
}

/* From `before`, from which a step of ds leads beyond t_end, to t_end: *c, on entry the end of that step, becomes
 * the state at t_end, and *ds the step to it. */
static int land(struct chain *c, const struct chain *before, const struct chain_field *field, double t_end, double *ds)
{
    const double left = time_left(before, t_end), whole = left - time_left(c, t_end), next = c->step;
    const int32_t column = c->column;
    double first = guess(*ds, whole, rate(before, field), rate(c, field), left), total = first;
    const int64_t steps = c->steps, rejected = c->rejected, evaluations = c->evaluations;
    *c = *before;
    c->steps = steps;
    c->rejected = rejected;
    c->evaluations = evaluations;
    int status = first > 0 ? walk(c, field, first) : NBC_OK;
    for (int k = 0; !status && k < 20; k++) {
        double remaining = time_left(c, t_end);
        if (fabs(remaining) <= 0x1p-52 * fabs(t_end) || fabs(remaining) <= 0x1p-52 * left) break;
        double more = remaining / rate(c, field);
        if (more == 0 || total + more == total) break;
        c->column = 2; /* so short a step needs no more */
        status = walk(c, field, more);
        total += more;
    }
    c->t_low = -time_left(c, t_end) + 0.0;
    c->t = t_end;
    c->step = next;
    c->column = column;
    *ds = total;
    return status;
}

static double radial(const struct chain_links *links, int k)
{
    return chain_dot(links->x[k], links->v[k]);
}

/* Pericentre distance of the two-body orbit of link k. */
static double pericentre(const struct chain_system *s, const struct chain_links *links, int k)
{
    const double *x = links->x[k], *v = links->v[k], m = s->mass[k] + s->mass[k + 1];
    double j[3] = {x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2], x[0] * v[1] - x[1] * v[0]};
    double j2 = chain_dot(j, j), energy = 0.5 * chain_dot(v, v) - m / chain_norm(x);
    return j2 / (m * (1 + sqrt(fmax(0, 1 + 2 * energy * j2 / (m * m)))));
}

/* The first state after the pericentre of link k within ds from `before`, by the Illinois method: the end that stays
 * counts half.   @param[out] at, *where: its place */
static int find_pericentre(const struct chain *before, const struct chain_field *field, int k, double ds,
                           struct chain *at, double *where)
{
    struct chain_links links;
    chain_get_links(before, &links);
    double low = 0, high = ds, f_low = radial(&links, k), weight_low = 1, weight_high = 1;
    *at = *before;
    *where = ds;
    int status = walk(at, field, ds);
    if (status) return status;
    chain_get_links(at, &links);
    for (int count = 0; count < 60; count++) {
        double f_high = radial(&links, k), a = weight_low * f_low, b = weight_high * f_high;
        if (f_high <= AT_PERICENTRE * chain_norm(links.x[k]) * chain_norm(links.v[k])) break;
        double s = fmax((low * b - high * a) / (b - a), low);
        if (high - s <= PLACE * ds) break;
        struct chain now = *before;
        struct chain_links here;
        status = s > 0 ? walk(&now, field, s) : NBC_OK;
        if (status) return status;
        chain_get_links(&now, &here);
        double f = radial(&here, k);
        if (f < 0) {
            weight_high = low > 0 && weight_low == 1 ? 0.5 * weight_high : 1;
            weight_low = 1;
            low = s;
            f_low = f;
        } else {
            weight_low = high < ds && weight_high == 1 ? 0.5 * weight_low : 1;
            weight_high = 1;
            high = s;
            *at = now;
            *where = s;
            links = here;
        }
    }
    return NBC_OK;
}

static void note_closest(struct chain *c, int a, int b, double r, double t)
{
    int pair = chain_pair_index(c->order[a], c->order[b]);
    if (r >= c->closest_r[pair]) return;
    c->closest_r[pair] = r;
    c->closest_t[pair] = t;
}

/* Pericentres of links within a step of ds that led from `before` to *c. A collision moves *c back to it. */
static int look_for_pericentres(struct chain *c, const struct chain *before, const struct chain_field *field, double ds,
                                struct chain_links *links, struct chain_event *event)
{
    struct chain_links old;
    struct chain_system s;
    struct chain hit;
    double first = HUGE_VAL;
    chain_system_make(c, field, &s);
    chain_get_links(before, &old);
    for (int k = 0; k < s.links; k++) {
        int a = c->order[k], b = c->order[k + 1];
        if (!(radial(&old, k) < 0 && radial(links, k) >= 0)) continue;
        double q = fmin(pericentre(&s, &old, k), pericentre(&s, links, k)), touch = c->radius[a] + c->radius[b];
        if (q > NEAR * c->closest_r[chain_pair_index(a, b)] && q > NEAR * touch) continue;
        struct chain at;
        double where;
        int status = find_pericentre(before, field, k, ds, &at, &where);
        if (status) return status;
        struct chain_links there;
        chain_get_links(&at, &there);
        double r = chain_norm(there.x[k]);
        note_closest(c, k, k + 1, r, at.t);
        if (touch == 0 || r > touch || where >= first) continue;
        first = where;
        hit = at;
        *event = (struct chain_event){.kind = CHAIN_COLLISION, .id = {c->id[a], c->id[b]}, .r = r};
    }
    if (event->kind == CHAIN_COLLISION) {
        memcpy(hit.closest_r, c->closest_r, sizeof hit.closest_r);
        memcpy(hit.closest_t, c->closest_t, sizeof hit.closest_t);
        *c = hit;
        chain_get_links(c, links);
    }
    return NBC_OK;
}

static void note_all_closest(struct chain *c, const struct chain_links *links)
{
    for (int i = 0; i < c->n; i++) {
        double r[3] = {0};
        for (int j = i + 1; j < c->n; j++) {
            for (int k = 0; k < 3; k++) r[k] += links->x[j - 1][k];
            note_closest(c, i, j, chain_norm(r), c->t);
        }
    }
}

/* A step and its consequences, not beyond t_end. */
static int advance_step(struct chain *c, double t_end, const struct chain_field *field, struct chain_event *event)
{
    const struct chain before = *c;
    struct chain_system s;
    struct chain_links links;
    double done;
    chain_system_make(c, field, &s);
    chain_get_links(c, &links);
    double dt_ds = rate(c, field), left = time_left(c, t_end), longest = longest_step(&s, &links, 1 / dt_ds);
    double h = fmin(fmin(c->step, longest), 2 * left / dt_ds);
    int cut = h < c->step && h < longest;
    int status = step_once(c, field, h, longest, &done);
    if (cut) c->step = fmax(c->step, before.step);
    if (!status && !is_later(c, &before)) status = CHAIN_NO_STEP; /* rounding has eaten it */
    if (!status && time_left(c, t_end) < 0) status = land(c, &before, field, t_end, &done);
    if (!status) {
        chain_get_links(c, &links);
        status = look_for_pericentres(c, &before, field, done, &links, event);
    }
    if (status) {
        *c = before;
        return status;
    }
    note_all_closest(c, &links);
    chain_system_make(c, field, &s);
    if (chain_reselect(c, &s, &links)) {
        chain_get_links(c, &links);
        chain_system_make(c, field, &s);
    }
    return c->options.slow > 0 ? chain_slow_choose(c, &s, &links) : NBC_OK;
}

int chain_advance(struct chain *c, double t_end, const struct chain_field *field, struct chain_event *event,
                  struct nbc_error *err)
{
    if (!isfinite(t_end) || time_left(c, t_end) < -0x1p-50 * fabs(t_end))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: cannot go from t = %.15g back to %.15g", c->t, t_end);
    *event = (struct chain_event){.kind = CHAIN_NONE};
    for (int64_t count = 0; c->t < t_end; count++) {
        if (c->options.max_steps > 0 && count == c->options.max_steps) {
            event->kind = CHAIN_STEPS;
            return NBC_OK;
        }
        int status = advance_step(c, t_end, field, event);
        if (status) return fail(c, status, err);
        if (event->kind != CHAIN_NONE) return NBC_OK;
    }
    return NBC_OK;
}

int chain_bodies_at(const struct chain *c, double t, const struct chain_field *field, struct chain_body body[],
                    struct nbc_error *err)
{
    struct chain copy = *c;
    struct chain_event event;
    memset(copy.radius, 0, sizeof copy.radius);
    copy.options.max_steps = 0;
    int status = chain_advance(&copy, t, field, &event, err);
    if (status) return status;
    chain_bodies(&copy, body);
    for (int i = 0; i < c->n; i++) body[i].radius = c->radius[i];
    return NBC_OK;
}
