/* Slow-down of tight pairs (Mikkola & Aarseth 1996): the internal Hamiltonian of a link is divided by kappa, so that
 * its orbit takes kappa times as long while all perturbing motion keeps its speed. Then the effect of a perturbation
 * on the elements, averaged over the orbit, is the same, and its effect within an orbit is kappa times as large. So
 * the perturbation bounds kappa, and the time in which it changes bounds the slowed period. */
#include "regularization/chain_impl.h"

#include <string.h>

/* Longest slowed period, in units of the time in which the nearest member comes or falls to the pair. */
static const double PART_OF_ENCOUNTER = 0.2;
/* Two members are one seen from a distance of which their own is at most this part. */
static const double SMALL_PAIR = 0.1;
/* Angle by which a field that depends on velocities may turn the velocities within a slowed period. */
static const double TURN = 0.01;
/* kappa is a power of two up to this one: so it changes seldom. */
static const double LARGEST = 0x1p30;

struct pair {
    double mass, apocentre, period, speed; /* speed: of the two relative to each other, now */
};

/* Accelerations of the field on members at rest, and the part due to their velocities, in the order of the chain. */
struct field_parts {
    double at_rest[CHAIN_MAX][3], by_velocity[CHAIN_MAX][3];
};

static int is_bound(const struct chain_system *s, const struct chain_links *links, int k, struct pair *pair)
{
    const double *x = links->x[k], *v = links->v[k];
    double r = chain_norm(x), m = s->mass[k] + s->mass[k + 1], rv = chain_dot(x, v);
    double inverse_a = 2 / r - chain_dot(v, v) / m;
    if (!(inverse_a > 0)) return 0;
    double a = 1 / inverse_a, cosine = 1 - r * inverse_a, e2 = cosine * cosine + rv * rv * inverse_a / m;
    pair->mass = m;
    pair->speed = chain_norm(v);
    pair->apocentre = a * (1 + sqrt(e2));
    pair->period = 2 * 3.14159265358979324 * a * sqrt(a / m);
    return 1;
}

/* Velocity of a member, or if it is in a pair that is small seen from this distance, of the centre of mass of that
 * pair: its motion inside does not change the perturbation. */
static void outer_velocity(const struct chain_system *s, const double x[][3], const double v[][3], int j, int pair,
                           double distance, double out[3])
{
    memcpy(out, v[j], 3 * sizeof *out);
    for (int side = -1; side <= 1; side += 2) {
        int other = j + side;
        if (other < 0 || other >= s->n || other == pair || other == pair + 1) continue;
        double d[3] = {x[other][0] - x[j][0], x[other][1] - x[j][1], x[other][2] - x[j][2]};
        if (chain_norm(d) > SMALL_PAIR * distance) continue;
        for (int c = 0; c < 3; c++)
            out[c] = (s->mass[j] * v[j][c] + s->mass[other] * v[other][c]) / (s->mass[j] + s->mass[other]);
        return;
    }
}

/* Perturbation by the other members at apocentre, and the longest slowed period that they allow. */
static double perturbation_by_members(const struct chain_system *s, const double x[][3], const double v[][3], int k,
                                      const struct pair *pair, double *longest)
{
    double sum = 0, part = s->mass[k + 1] / pair->mass;
    for (int j = 0; j < s->n; j++) {
        if (j == k || j == k + 1) continue;
        double d[3], w[3];
        for (int c = 0; c < 3; c++) d[c] = x[j][c] - x[k][c] - part * (x[k + 1][c] - x[k][c]);
        double distance = chain_norm(d), size = pair->apocentre / distance;
        outer_velocity(s, x, v, j, k, distance, w);
        for (int c = 0; c < 3; c++) w[c] -= v[k][c] + part * (v[k + 1][c] - v[k][c]);
        sum += 2 * s->mass[j] / pair->mass * size * size * size;
        double fall = distance * sqrt(distance / (pair->mass + s->mass[j]));
        *longest = fmin(*longest, PART_OF_ENCOUNTER * fmin(fall, distance / fmax(chain_norm(w), 1e-300)));
    }
    return sum;
}

/* Perturbation by the tide of the field at apocentre, where it is largest, because it grows with the separation
 * while the force of the pair falls. Terms that depend on velocities turn the orbit, at no change of its energy, and
 * bound the slowed period instead. Neither depends on the phase. */
static double perturbation_by_field(const struct field_parts *field, int k, double r, const struct pair *pair,
                                    double *longest)
{
    double tide[3], turn[3], size = pair->apocentre / r;
    for (int c = 0; c < 3; c++) {
        tide[c] = field->at_rest[k + 1][c] - field->at_rest[k][c];
        turn[c] = field->by_velocity[k + 1][c] - field->by_velocity[k][c];
    }
    double change = chain_norm(turn);
    if (change > 0) *longest = fmin(*longest, TURN * pair->speed / change);
    return chain_norm(tide) * r * r / pair->mass * size * size * size;
}

/* Slow-down of one link, and its weight when the fluctuation of the energy is divided: the energy of the pair times
 * its perturbation. */
static double wanted(const struct chain *c, const struct chain_system *s, const struct chain_links *links,
                     const double x[][3], const double v[][3], const struct field_parts *field, int k, double *weight)
{
    struct pair pair;
    *weight = 0;
    if (!is_bound(s, links, k, &pair)) return 1;
    double longest = c->options.slow_time > 0 ? c->options.slow_time : HUGE_VAL, r = chain_norm(links->x[k]);
    double gamma = perturbation_by_members(s, x, v, k, &pair, &longest);
    gamma += perturbation_by_field(field, k, r, &pair, &longest);
    *weight = (s->kappa[k] - 1) * gamma * s->mass[k] * s->mass[k + 1] / pair.apocentre;
    double most = fmin(fmin(c->options.slow / fmax(gamma, 1e-300), longest / pair.period), LARGEST);
    double kappa = most >= 2 ? exp2(floor(log2(most))) : 1;
    /* With a margin on both sides, so that kappa does not alternate with the phases of the orbits. */
    if (kappa == 2 * s->kappa[k] || (kappa == 0.5 * s->kappa[k] && kappa > 1)) return s->kappa[k];
    return kappa > s->kappa[k] ? 0.5 * kappa : kappa;
}

/* Change the energy of a pair by about `change`: by its velocity, or near apocentre, where that is small, by its
 * distance. Its centre of mass stays. */
static void give_energy(const struct chain_system *s, struct chain_links *links, int k, double change)
{
    double m = s->mass[k] + s->mass[k + 1], reduced = s->mass[k] * s->mass[k + 1] / m, r = chain_norm(links->x[k]);
    double kinetic = 0.5 * reduced * chain_dot(links->v[k], links->v[k]), potential = reduced * m / r;
    int by_velocity = kinetic > 0.25 * potential;
    double(*link)[3] = by_velocity ? links->v : links->x;
    double factor = by_velocity ? sqrt(1 + change / kinetic) : 1 / (1 - change / potential);
    for (int c = 0; c < 3; c++) {
        double d = (factor - 1) * link[k][c];
        link[k][c] += d;
        if (k > 0) link[k - 1][c] -= s->mass[k + 1] / m * d;
        if (k + 1 < s->links) link[k + 1][c] -= s->mass[k] / m * d;
    }
}

/* Energies of the slowed pairs times 1 - 1/kappa; the same part of their T + U is taken from t_plus_u. */
static double slowed_parts(const struct chain_system *s, const struct chain_links *links, double *t_plus_u)
{
    double sum = 0;
    for (int k = 0; k < s->links; k++) {
        if (s->kappa[k] == 1) continue;
        double product = s->mass[k] * s->mass[k + 1], reduced = product / (s->mass[k] + s->mass[k + 1]);
        double kinetic = 0.5 * reduced * chain_dot(links->v[k], links->v[k]);
        double potential = product / chain_norm(links->x[k]), away = 1 - 1 / s->kappa[k];
        sum += away * (kinetic - potential);
        *t_plus_u -= away * (kinetic + potential);
    }
    return sum;
}

/* While an orbit is slowed, its energy, and with it that of the system, fluctuates with kappa - 1 times the
 * amplitude without slow-down. A smaller kappa taken at any phase would make a part of that permanent. So the
 * difference between the energy and its reference is reduced with kappa - 1, and is zero when kappa is 1 again. A
 * larger kappa changes nothing. */
static void change_kappa(struct chain *c, struct chain_system *s, struct chain_links *links, const double kappa[],
                         const double weight[])
{
    double before, after;
    const double energy = chain_links_energy(s, links, &before), slowed = slowed_parts(s, links, &before);
    const double error = energy - slowed - chain_slow_energy(c);
    const double off = chain_slow_energy(c) + slowed - c->energy;
    double sum = 0, wanted_change = 0;
    for (int k = 0; k < s->links; k++) sum += weight[k];
    for (int k = 0; k < s->links; k++) {
        double old = s->kappa[k];
        c->kappa[k] = s->kappa[k] = kappa[k];
        if (kappa[k] >= old || !(weight[k] > 0)) continue;
        double change = (kappa[k] - old) / (old - 1) * off * weight[k] / sum;
        wanted_change += change;
        give_energy(s, links, k, change);
        /* Second iteration, since the first one changed the position of the pair in the field of the others. */
        give_energy(s, links, k, wanted_change - (chain_links_energy(s, links, NULL) - energy));
    }
    chain_set_links(c, links);
    /* The energy is conserved relative to T + U: the error of that ratio must not grow. */
    const double now = chain_links_energy(s, links, &after) - slowed_parts(s, links, &after);
    chain_add_energy(c, now - error * after / before - chain_slow_energy(c));
}

/* The accelerations of the field on the members as they are.   @return the status of the field */
static int find_field(const struct chain *c, struct chain_system *s, const double x[][3], const double v[][3],
                      struct field_parts *field)
{
    static const double none[CHAIN_MAX][3];
    double centre[2][3], acc[CHAIN_MAX][3], mean[3];
    chain_centre(c, centre[0], centre[1]);
    chain_external_field(s, 0, centre[0], x, none, field->at_rest, mean);
    memset(field->by_velocity, 0, sizeof field->by_velocity);
    if (!s->field_status && chain_field_by_velocity(s)) {
        chain_external_field(s, 0, centre[0], x, v, acc, mean);
        for (int i = 0; i < s->n; i++)
            for (int k = 0; k < 3; k++) field->by_velocity[i][k] = acc[i][k] - field->at_rest[i][k];
    }
    return s->field_status;
}

int chain_slow_choose(struct chain *c, struct chain_system *s, struct chain_links *links)
{
    double x[CHAIN_MAX][3], v[CHAIN_MAX][3], kappa[CHAIN_LINKS], weight[CHAIN_LINKS];
    struct field_parts field;
    int changed = 0;
    chain_places(s, links->x, x);
    chain_places(s, links->v, v);
    int status = find_field(c, s, (const double(*)[3])x, (const double(*)[3])v, &field);
    if (status) return status;
    for (int k = 0; k < s->links; k++) {
        kappa[k] = wanted(c, s, links, (const double(*)[3])x, (const double(*)[3])v, &field, k, &weight[k]);
        changed |= kappa[k] != s->kappa[k];
    }
    if (changed) change_kappa(c, s, links, kappa, weight);
    return NBC_OK;
}

void chain_slow_end(struct chain *c)
{
    struct chain_system s;
    struct chain_links links;
    double kappa[CHAIN_LINKS], weight[CHAIN_LINKS];
    int slowed = 0;
    for (int k = 0; k + 1 < c->n; k++) {
        slowed |= c->kappa[k] > 1;
        kappa[k] = 1;
        weight[k] = (c->kappa[k] - 1);
    }
    if (!slowed) return;
    chain_system_make(c, NULL, &s);
    chain_get_links(c, &links);
    change_kappa(c, &s, &links, kappa, weight);
}
