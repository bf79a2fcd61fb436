/* Remote pairs examine their neighbours in float: every perturber that the host would take is included, and the tide is
 * that in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nbody6/engine/stages/remote.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/fewbody/remote.h"
#include "nbody6/fewbody/tide_sum.h"
#include "nbody6/state/body.h"
#include "tests/support/fewbody.h"

enum { SITES = 20000 };

/* On either side of a limit: by less than the host and the look round, and by ten times the margin of the look. */
static const double HARDLY = 1e-9, CLEARLY = 10 * NB6_REMOTE_LOOK_MARGIN;

/* From -1 to 1. */
static double next_number(uint64_t *state)
{
    return 2 * fewbody_uniform(state) - 1;
}

/* A pair at some place, and a body at any distance from 1e-5 to 10, which has made its last step at another time. */
struct scene {
    struct nb6_remote_site site;
    struct nb6_body other;
    double x[3], v[3], r2, v2, nearest2; /* of the body, in double */
};

static struct scene random_scene(uint64_t *state)
{
    struct scene s;
    memset(&s, 0, sizeof s);
    const double size = pow(10, -2 + 3 * next_number(state)), h = 0x1p-10;
    s.site.t = (nb6_time)1 << (NB6_TIME_BITS - 4);
    s.site.dt = ldexp(1, -6 - (int)(8 * fabs(next_number(state))));
    s.site.mass = (float)(2e-4 * (1.1 + next_number(state)));
    s.other.t0 = s.site.t - ((nb6_time)1 << (NB6_TIME_BITS - 10));
    s.other.mass = 1e-4 * (1.1 + next_number(state));
    for (int k = 0; k < 3; k++) {
        s.site.x[k] = next_number(state);
        s.site.v[k] = next_number(state);
        s.other.acc[k] = next_number(state);
        s.other.jerk[k] = next_number(state);
        s.other.v0[k] = s.site.v[k] + next_number(state);
        s.other.x0[k] = s.site.x[k] + size * next_number(state) - h * s.other.v0[k];
    }
    nb6_predict(&s.other, nb6_time_to_double(s.site.t - s.other.t0), s.x, s.v);
    for (int k = 0; k < 3; k++) {
        s.x[k] -= s.site.x[k];
        s.v[k] -= s.site.v[k];
        s.r2 += s.x[k] * s.x[k];
        s.v2 += s.v[k] * s.v[k];
    }
    s.nearest2 = nb6_nearest2(s.x, s.v, s.site.dt);
    return s;
}

/* Rules by which a body of this mass perturbs within the root of limit2. */
static void set_limit(struct nb6_remote_site *site, double mass, double limit2, int is_heavy)
{
    const double unit = 1 / mass;
    site->unit = (float)unit;
    site->r2 = (float)limit2;
    site->lightest = is_heavy ? 0 : 1;
    site->light2 = (float)(is_heavy ? 0 : limit2);
}

static int is_found(const struct scene *s)
{
    struct nb6_remote_look look;
    nb6_remote_look_clear(&look);
    nb6_remote_look_at(&s->site, &s->other, &look);
    return look.is_found;
}

static void a_perturber_is_found(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int n = 0; n < SITES; n++) {
        struct scene s = random_scene(&random);
        set_limit(&s.site, s.other.mass, s.nearest2 * (1 + HARDLY), n % 2);
        if (!is_found(&s)) fail_msg("site %d: a body at %g, coming to %g", n, sqrt(s.r2), sqrt(s.nearest2));
        set_limit(&s.site, s.other.mass, s.nearest2 * (1 - CLEARLY), n % 2);
        if (is_found(&s)) fail_msg("site %d: nobody is there up to %g", n, sqrt(s.nearest2));
    }
}

/* The second limit is the velocity with which a body at this distance is no hierarchy. */
static void a_hierarchy_is_found(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (int n = 0; n < SITES; n++) {
        struct scene s = random_scene(&random);
        const double bound = s.v2 * sqrt(s.r2) / nb6_hierarchy_bound() - s.other.mass, reach = sqrt(s.nearest2);
        if (bound < 1e-6) continue;
        set_limit(&s.site, s.other.mass, 0, 0);
        for (int by_mass = 0; by_mass < 2; by_mass++) {
            s.site.mass = (float)(bound * (1 + HARDLY));
            const double per_mass = by_mass ? reach / ((double)s.site.mass + s.other.mass) : 0;
            s.site.reach = (float)(by_mass ? 0 : reach * (1 + HARDLY));
            s.site.reach_of_mass = (float)(per_mass * (1 + HARDLY));
            if (!is_found(&s)) fail_msg("site %d: a body that is bound at %g", n, sqrt(s.r2));
            s.site.reach *= (float)(1 - CLEARLY);
            s.site.reach_of_mass *= (float)(1 - CLEARLY);
            if (is_found(&s)) fail_msg("site %d: nobody is within %g", n, reach);
        }
        s.site.reach = (float)(2 * reach);
        s.site.mass = (float)(bound - CLEARLY * (bound + s.other.mass));
        if (is_found(&s)) fail_msg("site %d: the body at %g is too fast", n, sqrt(s.r2));
    }
}

/* The part of the radius of the mean that decides, of three, and whether it is that of the star or of the pair. */
static struct nb6_mean_rule rule_of_radius(int part, double r, double mass, double v)
{
    struct nb6_mean_rule rule = {.mass = 3e-4};
    if (part == 0) rule.apocentres = r / cbrt(1 + mass / rule.mass);
    if (part == 1) rule.periods = r / v;
    if (part == 2) rule.waves = r * r * r / mass;
    return rule;
}

static int has_changed(const struct scene *s, int part, double r, int is_others)
{
    struct nb6_remote own = {.n = 1}, other = {.n = 1};
    const double v = sqrt(s->v2);
    if (is_others)
        other.mean = rule_of_radius(part, r, (double)s->site.mass, v);
    else
        own.mean = rule_of_radius(part, r, s->other.mass, v);
    own.mean.mass = other.mean.mass = 3e-4;
    return nb6_remote_has_changed(&s->site, &own, &s->other, is_others ? &other : NULL);
}

static void a_perturber_that_changes_is_found(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int n = 0; n < SITES; n++) {
        struct scene s = random_scene(&random);
        const double reach = sqrt(s.nearest2), r = reach / nb6_all_mean();
        const int part = n % 3, is_others = n / 3 % 2;
        set_limit(&s.site, s.other.mass, 10 * s.nearest2, n % 2);
        if (!has_changed(&s, part, r * (1 + HARDLY), is_others)) fail_msg("site %d: it is near, at %g", n, reach);
        if (has_changed(&s, part, r * (1 - CLEARLY), is_others)) fail_msg("site %d: it is not near, at %g", n, reach);
        set_limit(&s.site, s.other.mass, s.nearest2 / nb6_let_go2(1) * (1 - HARDLY), n % 2);
        if (!has_changed(&s, part, r / 2, is_others)) fail_msg("site %d: it is let go at %g", n, reach);
        set_limit(&s.site, s.other.mass, s.nearest2 / nb6_let_go2(1) * (1 + CLEARLY), n % 2);
        if (has_changed(&s, part, r / 2, is_others)) fail_msg("site %d: it is kept at %g", n, reach);
    }
}

/* Some ten roundings of 6e-8 of terms up to 3 m/r^3, and 15 m v/r^4 of the derivative. */
static void the_tide_is_that_in_double(void **state)
{
    (void)state;
    const double ROUNDING = 1e-6;
    uint64_t random = 4;
    double worst = 0, worst_dot = 0;
    for (int n = 0; n < SITES; n++) {
        const struct scene s = random_scene(&random);
        struct nb6_remote_look look;
        double field[6] = {0}, field_dot[6] = {0};
        const double unit = 3 * s.other.mass / (s.r2 * sqrt(s.r2)), unit_dot = 5 * unit * sqrt(s.v2 / s.r2);
        nb6_remote_look_clear(&look);
        nb6_remote_look_at(&s.site, &s.other, &look);
        nb6_add_tide(s.other.mass, s.x, s.v, field, field_dot);
        for (int k = 0; k < 6; k++) {
            worst = fmax(worst, fabs((double)look.field[k] - field[k]) / unit);
            worst_dot = fmax(worst_dot, fabs((double)look.field_dot[k] - field_dot[k]) / unit_dot);
        }
    }
    print_message("errors of the tide %.1e, of its derivative %.1e\n", worst, worst_dot);
    assert_true(worst < ROUNDING && worst_dot < ROUNDING);
}

/* At the same place, or where a float has no room for the tide, or nowhere. */
static void who_touches_is_found(void **state)
{
    (void)state;
    uint64_t random = 5;
    struct scene s = random_scene(&random);
    const double at[] = {0, 1e-9, NAN};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        struct nb6_remote_look look;
        memset(&s.other, 0, sizeof s.other);
        s.other.t0 = s.site.t;
        s.other.mass = 1e-4;
        memcpy(s.other.x0, s.site.x, sizeof s.other.x0);
        s.other.x0[0] += at[k];
        nb6_remote_look_clear(&look);
        nb6_remote_look_at(&s.site, &s.other, &look);
        assert_true(look.is_found);
        for (int d = 0; d < 6; d++) assert_true(look.field[d] == 0 && look.field_dot[d] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_perturber_is_found),
        cmocka_unit_test(a_hierarchy_is_found),
        cmocka_unit_test(a_perturber_that_changes_is_found),
        cmocka_unit_test(the_tide_is_that_in_double),
        cmocka_unit_test(who_touches_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
