/* Whether a system from a file is consistent, as the functions of this library leave it. */
#include "regularization/chain_impl.h"
#include "regularization/check.h"

/* A sound chain must never be refused, since a long run depends on it. Slow-down lets an energy vary by less than
 * the energies that it is composed of. */
static const double FLUCTUATION = 1e3;

/* Limits of a step in units of that at a start, which is a tenth of the shortest time of a link. */
static const double SHORTEST = 1e-15, LONGEST = 1e15;

static void check_options(const struct chain_options *o, struct nbc_misfit *misfit)
{
    nbc_unless(chain_method_name(o->method) != NULL, misfit, "options.method", o->method, "the number of a method");
    nbc_unless(o->tolerance >= 1e-15 && o->tolerance <= 1e-3, misfit, "options.tolerance", o->tolerance,
               "a number from 1e-15 to 1e-3");
    nbc_unless((o->pn & ~(CHAIN_PN1 | CHAIN_PN2 | CHAIN_PN25)) == 0, misfit, "options.pn", o->pn, "a sum of terms");
    nbc_unless(!o->pn || o->c_light > 0, misfit, "options.c_light", o->c_light, "a number > 0");
    nbc_unless(o->slow >= 0 && o->slow <= 0.1, misfit, "options.slow", o->slow, "a number from 0 to 0.1");
    nbc_unless(o->slow_time >= 0, misfit, "options.slow_time", o->slow_time, "a number >= 0");
    nbc_unless(o->max_steps >= 0, misfit, "options.max_steps", (double)o->max_steps, "a number >= 0");
}

static void check_members(const struct chain *c, struct nbc_misfit *misfit)
{
    int places[CHAIN_MAX] = {0};
    for (int i = 0; i < c->n; i++) {
        const int at = c->order[i];
        nbc_unless(at >= 0 && at < c->n && !places[at], misfit, "order", at, "a member, and none twice");
        nbc_unless(c->mass[i] > 0, misfit, "mass", c->mass[i], "a number > 0");
        nbc_unless(c->radius[i] >= 0, misfit, "radius", c->radius[i], "a number >= 0");
        for (int j = 0; j < i; j++)
            nbc_unless(c->id[i] != c->id[j], misfit, "id", (double)c->id[i], "the identity of one member");
        if (misfit->member) return;
        places[at] = 1;
    }
    for (int k = 0; k + 1 < c->n; k++) nbc_unless(c->kappa[k] >= 1, misfit, "kappa", c->kappa[k], "a number >= 1");
}

/* Members at different places, an energy that they can have, and a step in which they move. */
static void check_motion(const struct chain *c, struct nbc_misfit *misfit)
{
    struct chain_links links;
    struct chain_system s;
    double size, shortest = HUGE_VAL;
    chain_system_make(c, NULL, &s);
    chain_get_links(c, &links);
    for (int k = 0; k + 1 < c->n; k++) {
        const double r = chain_norm(links.x[k]), speed = chain_norm(links.v[k]);
        nbc_unless(r > 0 && isfinite(r) && isfinite(speed), misfit, "y", r, "variables of members at different places");
        if (misfit->member) return;
        shortest = fmin(shortest, r / fmax(speed, sqrt((s.mass[k] + s.mass[k + 1]) / r)));
    }
    const double energy = chain_links_energy(&s, &links, &size), step = 0.1 * shortest * size;
    nbc_unless(isfinite(energy), misfit, "y", energy, "variables of members with a finite energy");
    nbc_unless(fabs(c->energy - energy) <= FLUCTUATION * size, misfit, "energy", c->energy,
               "an energy that its members can have");
    nbc_unless(fabs(chain_slow_energy(c)) <= 2 * FLUCTUATION * size, misfit, "y", chain_slow_energy(c),
               "an energy that its members can have");
    nbc_unless(c->step >= SHORTEST * step && c->step <= LONGEST * step, misfit, "step", c->step,
               "one in which its members move");
}

/* Low parts are below the last digit of the largest variable. */
static void check_rounding(const struct chain *c, struct nbc_misfit *misfit)
{
    double largest = 0;
    for (int k = 0; k < CHAIN_VARS; k++) largest = fmax(largest, fabs(c->y[k]));
    for (int k = 0; k < CHAIN_VARS; k++)
        nbc_unless(fabs(c->y_low[k]) <= 1e-12 * largest, misfit, "y_low", c->y_low[k], "less than the last digit of y");
    nbc_unless(fabs(c->t_low) <= 1e-6, misfit, "t_low", c->t_low, "less than the last digit of a time");
}

void chain_check(const struct chain *c, struct nbc_misfit *misfit)
{
    *misfit = (struct nbc_misfit){0};
    nbc_unless(c->n >= 2 && c->n <= CHAIN_MAX, misfit, "n", c->n, "a number from 2 to 16");
    nbc_unless(chain_formulation(c->method) != NULL, misfit, "method", c->method, "a method in use");
    if (!misfit->member) check_options(&c->options, misfit);
    if (!misfit->member) check_members(c, misfit);
    if (!misfit->member) check_rounding(c, misfit);
    if (!misfit->member) check_motion(c, misfit);
}
