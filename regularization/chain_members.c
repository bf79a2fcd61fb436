/* Members that come, go and merge. Meanwhile bodies are relative to the old centre of mass, with the rounding errors
 * of their positions, so that distances between them keep the digits of the chain vectors. */
#include "common/sum.h"
#include "regularization/chain_impl.h"

#include <string.h>

static int find(const struct chain *c, int64_t id)
{
    for (int i = 0; i < c->n; i++)
        if (c->id[i] == id) return i;
    return -1;
}

static int no_member(int64_t id, struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: %lld is no member", (long long)id);
}

static void shift(struct chain_body *body, const double x[3], const double v[3], double sign)
{
    for (int k = 0; k < 3; k++) {
        nbc_add_exactly(&body->x[k], &body->x_low[k], sign * x[k]);
        body->v[k] += sign * v[k];
    }
}

/* Members relative to the centre of mass, which is given too. */
static void members(const struct chain *c, struct chain_body body[], double x[3], double v[3])
{
    struct chain still = *c;
    const double zero[3] = {0};
    chain_slow_end(&still);
    chain_centre(c, x, v);
    chain_set_centre(&still, zero, zero);
    chain_bodies(&still, body);
}

/* The system of these bodies instead, relative to the old centre x, v. On failure c stays. */
static int replace(struct chain *c, int n, const struct chain_body body[], const double x[3], const double v[3],
                   struct nbc_error *err)
{
    struct chain fresh = *c;
    double move[2][3];
    int status = chain_refill(&fresh, n, body, err);
    if (status) return status;
    chain_centre(&fresh, move[0], move[1]);
    for (int k = 0; k < 3; k++) {
        move[0][k] += x[k];
        move[1][k] += v[k];
    }
    chain_set_centre(&fresh, move[0], move[1]);
    *c = fresh;
    return NBC_OK;
}

/* Closest approaches of those that stay; keep[i]: old place of the new member i. */
static void keep_closest(struct chain *c, int n, const int keep[])
{
    double r[CHAIN_PAIRS], t[CHAIN_PAIRS];
    memcpy(r, c->closest_r, sizeof r);
    memcpy(t, c->closest_t, sizeof t);
    memset(c->closest_r, 0, sizeof c->closest_r);
    memset(c->closest_t, 0, sizeof c->closest_t);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++) {
            c->closest_r[chain_pair_index(a, b)] = r[chain_pair_index(keep[a], keep[b])];
            c->closest_t[chain_pair_index(a, b)] = t[chain_pair_index(keep[a], keep[b])];
        }
}

int chain_absorb(struct chain *c, int n, const struct chain_body body[], struct nbc_error *err)
{
    struct chain_body all[CHAIN_MAX];
    double x[3], v[3];
    if (n < 1 || n > CHAIN_MAX - c->n)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: %d bodies cannot join %d; %d members are the most", n,
                        (int)c->n, CHAIN_MAX);
    members(c, all, x, v);
    for (int i = 0; i < n; i++) {
        all[c->n + i] = body[i];
        shift(&all[c->n + i], x, v, -1);
    }
    return replace(c, c->n + n, all, x, v, err);
}

int chain_emit(struct chain *c, int n, const int64_t id[], struct chain_body body[], struct nbc_error *err)
{
    struct chain_body all[CHAIN_MAX], stay[CHAIN_MAX], gone[CHAIN_MAX];
    int leaves[CHAIN_MAX] = {0}, keep[CHAIN_MAX], left = 0;
    double x[3], v[3];
    if (n < 1 || n > c->n - 2)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: %d of %d members cannot leave; two must stay", n,
                        (int)c->n);
    members(c, all, x, v);
    for (int i = 0; i < n; i++) {
        int at = find(c, id[i]);
        if (at < 0) return no_member(id[i], err);
        if (leaves[at]++)
            return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: %lld cannot leave twice", (long long)id[i]);
        gone[i] = all[at];
        shift(&gone[i], x, v, 1);
    }
    for (int i = 0; i < c->n; i++) {
        if (leaves[i]) continue;
        keep[left] = i;
        stay[left++] = all[i];
    }
    struct chain fresh = *c;
    keep_closest(&fresh, left, keep);
    int status = replace(&fresh, left, stay, x, v, err);
    if (status) return status;
    *c = fresh;
    memcpy(body, gone, (size_t)n * sizeof *body);
    return NBC_OK;
}

int chain_merge(struct chain *c, int64_t id_a, int64_t id_b, double radius, double *energy_lost, struct nbc_error *err)
{
    struct chain_body all[CHAIN_MAX], rest[CHAIN_MAX];
    int a = find(c, id_a), b = find(c, id_b), keep[CHAIN_MAX], left = 0;
    double x[3], v[3], before;
    if (a < 0 || b < 0) return no_member(a < 0 ? id_a : id_b, err);
    if (a == b || c->n < 3)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "few-body system: %lld and %lld of %d members cannot merge: %s",
                        (long long)id_a, (long long)id_b, (int)c->n,
                        a == b ? "they are the same" : "a single body would be left, which is no system");
    chain_slow_end(c);
    before = chain_energy(c);
    members(c, all, x, v);
    double total = all[a].mass + all[b].mass, d[3];
    chain_between(&all[a], &all[b], d);
    for (int k = 0; k < 3; k++) {
        nbc_add_exactly(&all[a].x[k], &all[a].x_low[k], all[b].mass / total * d[k]);
        all[a].v[k] = (all[a].mass * all[a].v[k] + all[b].mass * all[b].v[k]) / total;
    }
    all[a].mass = total;
    all[a].radius = radius;
    for (int i = 0; i < c->n; i++) {
        if (i == b) continue;
        keep[left] = i;
        rest[left++] = all[i];
    }
    struct chain fresh = *c;
    for (int i = 0; i < c->n; i++) /* for the merged member it begins now */
        if (i != a) fresh.closest_r[chain_pair_index(a, i)] = 0;
    keep_closest(&fresh, left, keep);
    int status = replace(&fresh, left, rest, x, v, err);
    if (status) return status;
    *c = fresh;
    *energy_lost = before - chain_energy(c);
    return NBC_OK;
}

/* Centre of mass and size of the places [low, high). */
struct part {
    double mass, x[3], v[3], size;
};

static struct part part_of(const struct chain_system *s, const double x[][3], const double v[][3], int low, int high)
{
    struct part p = {0};
    for (int i = low; i < high; i++) {
        p.mass += s->mass[i];
        for (int k = 0; k < 3; k++) {
            p.x[k] += s->mass[i] * x[i][k];
            p.v[k] += s->mass[i] * v[i][k];
        }
    }
    for (int k = 0; k < 3; k++) {
        p.x[k] /= p.mass;
        p.v[k] /= p.mass;
    }
    for (int i = low; i < high; i++) {
        double d[3] = {x[i][0] - p.x[0], x[i][1] - p.x[1], x[i][2] - p.x[2]};
        p.size = fmax(p.size, chain_norm(d));
    }
    return p;
}

/* The longest link that has no more than `most` members on one side. */
static int longest_link(const struct chain_system *s, const struct chain_links *links, int most)
{
    int longest = 0;
    for (int k = 1; k < s->links; k++)
        if ((k < most || s->links - k <= most) && chain_norm(links->x[k]) > chain_norm(links->x[longest])) longest = k;
    return longest;
}

int chain_escaper(const struct chain *c, double ratio, double r_bound, struct chain_group *group)
{
    return chain_escaper_of(c, CHAIN_MAX, ratio, r_bound, group);
}

int chain_escaper_of(const struct chain *c, int most, double ratio, double r_bound, struct chain_group *group)
{
    struct chain_links links;
    struct chain_system s;
    double x[CHAIN_MAX][3], v[CHAIN_MAX][3], d[3], w[3];
    memset(group, 0, sizeof *group);
    chain_system_make(c, NULL, &s);
    chain_get_links(c, &links);
    chain_places(&s, (const double(*)[3])links.x, x);
    chain_places(&s, (const double(*)[3])links.v, v);
    const int longest = longest_link(&s, &links, most);
    struct part front = part_of(&s, (const double(*)[3])x, (const double(*)[3])v, 0, longest + 1);
    struct part back = part_of(&s, (const double(*)[3])x, (const double(*)[3])v, longest + 1, s.n);
    for (int k = 0; k < 3; k++) {
        d[k] = back.x[k] - front.x[k];
        w[k] = back.v[k] - front.v[k];
    }
    group->distance = chain_norm(d);
    group->speed = chain_dot(d, w) / group->distance;
    group->energy = 0.5 * chain_dot(w, w) - s.total / group->distance;
    if (chain_norm(links.x[longest]) < ratio * fmax(front.size, back.size) || group->speed <= 0 ||
        (group->energy <= 0 && group->distance <= r_bound)) {
        return 0;
    }
    int count = longest + 1, take_front = 2 * count < s.n || (2 * count == s.n && front.mass < back.mass);
    for (int i = take_front ? 0 : count; i < (take_front ? count : s.n); i++)
        group->id[group->n++] = c->id[c->order[i]];
    return group->n;
}
