/* Irregular steps of members side by side (nbody6/step/corrector_lanes.h): the bits of the scalar functions, with all
 * instruction sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/step/corrector.h"
#include "nbody6/step/corrector_lanes.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/rules.h"

enum { L = NB6_CORRECTOR_LANES, SETS = NBC_ISA_AVX512 + 1, TURNS = 4000, LEVEL = 36 };

/* A member as the scalar functions take it. */
struct member {
    struct nb6_body body;
    struct nb6_star star;
    struct nb6_corrected c;
    struct nb6_higher higher;
    double h;
    int8_t level;
};

static const struct nb6_corrector_lane_set *sets[SETS];

static int get_sets(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) sets[s] = nb6_corrector_lanes_of((enum nbc_isa)s);
    return !sets[0];
}

static double uniform(void)
{
    static uint64_t state = 11;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double number(double size)
{
    return size * (2 * uniform() - 1);
}

static const struct nb6_step_rules rules = {.eta_irr = 0.02,
                                            .limit_irr = {.longer_than = 0.04, .eps = 1e-3},
                                            .level_max = 40,
                                            .noise_reg_most = 1e-7,
                                            .dt_close = 1e-5};

/* Forces at both ends differ by what changes within a step, by nothing, or by no more than rounding errors. */
static struct member random_member(void)
{
    struct member m = {.h = pow(2, -floor(3 + 18 * uniform())), .star = {.level_irr = LEVEL, .level_reg = 40}};
    const double change = pow(10, -12 * uniform()), kind = uniform(), size = kind < 0.03 ? 0 : pow(10, 4 * uniform());
    if (kind > 0.98) m.h = 0;
    m.c.noise_irr = kind > 0.8 ? 1e-6 * size : 0;
    m.c.noise_total = m.c.noise_irr + rules.noise_reg_most;
    for (int k = 0; k < 3; k++) {
        m.body.x0[k] = number(2);
        m.body.v0[k] = number(1);
        m.body.acc[k] = number(size);
        m.body.jerk[k] = number(size);
        m.star.acc_irr[k] = number(size);
        m.star.jerk_irr[k] = kind > 0.1 ? number(size) : 0;
        m.star.acc_reg[k] = kind > 0.05 ? number(1) : 0;
        m.c.acc_irr[k] = m.star.acc_irr[k] * (1 + number(change));
        m.c.jerk_irr[k] = m.star.jerk_irr[k] * (1 + number(change));
    }
    return m;
}

static void put(struct nb6_corrector_lanes *lanes, int l, const struct member *m)
{
    lanes->h[l] = m->h;
    lanes->noise[l] = m->c.noise_irr;
    for (int k = 0; k < 3; k++) {
        lanes->x0[k][l] = m->body.x0[k];
        lanes->v0[k][l] = m->body.v0[k];
        lanes->acc0[k][l] = m->body.acc[k];
        lanes->jerk0[k][l] = m->body.jerk[k];
        lanes->acc_start[k][l] = m->star.acc_irr[k];
        lanes->jerk_start[k][l] = m->star.jerk_irr[k];
        lanes->acc_reg[k][l] = m->star.acc_reg[k];
        lanes->acc[k][l] = m->c.acc_irr[k];
        lanes->jerk[k][l] = m->c.jerk_irr[k];
    }
}

static void make(struct nb6_corrector_lanes *lanes, const struct nb6_corrector_lane_set *set, const struct member *m)
{
    for (int l = 0; l < L; l++) put(lanes, l, &m[l]);
    set->predict(lanes);
    set->correct(lanes);
    set->choose(&rules, lanes);
}

static int same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void step_alone(struct member *m)
{
    double x[3], v[3];
    nb6_predict(&m->body, m->h, x, v);
    nb6_correct_irregular(&m->star, m->h, x, v, &m->c, &m->higher);
    m->level = nb6_next_irregular_level(&rules, &m->star, &m->c, &m->higher, m->h, INFINITY, 0);
}

static void assert_same_step(const struct nb6_corrector_lanes *lanes, int l, const struct member *m)
{
    for (int k = 0; k < 3; k++) {
        assert_true(same(lanes->x[k][l], m->c.x[k]) && same(lanes->v[k][l], m->c.v[k]));
        assert_true(same(lanes->snap_start[k][l], m->higher.snap0[k]) && same(lanes->snap[k][l], m->higher.snap[k]) &&
                    same(lanes->crackle[k][l], m->higher.crackle[k]));
    }
    assert_int_equal(lanes->finite[l] != 0, nb6_irregular_is_sound(&m->c));
    if (lanes->odd[l] == 0)
        assert_int_equal(nb6_irregular_level_of(&rules, &m->star, lanes->dt[l], INFINITY, 0), m->level);
}

/* A level of lanes that are not odd is that of the scalar function. Of the members above most are not: if lanes were
 * odd where nothing is rare, the scalar function would make the steps. */
static void lanes_have_the_bits_of_one(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) {
        int odd = 0;
        if (!sets[s]) continue;
        for (int turn = 0; turn < TURNS; turn++) {
            struct nb6_corrector_lanes lanes;
            struct member m[L];
            for (int l = 0; l < L; l++) m[l] = random_member();
            make(&lanes, sets[s], m);
            for (int l = 0; l < L; l++) {
                step_alone(&m[l]);
                assert_same_step(&lanes, l, &m[l]);
                odd += lanes.odd[l] != 0;
            }
        }
        print_message("instruction set %d: %.3f of the lanes are odd\n", s, (double)odd / (TURNS * L));
        assert_in_range(odd, 1, TURNS * L / 2);
    }
}

static void every_number_that_is_not_finite_is_found(void **state)
{
    (void)state;
    const double wrong[] = {NAN, INFINITY, -INFINITY};
    for (int s = 0; s < SETS; s++)
        for (int w = 0; w < 3 && sets[s]; w++)
            for (int l = 0; l < L; l++)
                for (int which = 0; which < 6; which++) {
                    struct nb6_corrector_lanes lanes;
                    struct member m[L];
                    for (int k = 0; k < L; k++) do
                            m[k] = random_member();
                        while (m[k].h == 0);
                    (which < 3 ? m[l].c.acc_irr : m[l].c.jerk_irr)[which % 3] = wrong[w];
                    make(&lanes, sets[s], m);
                    for (int k = 0; k < L; k++) assert_int_equal(lanes.finite[k] != 0, k != l);
                    assert_true(lanes.odd[l] != 0);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_have_the_bits_of_one),
                                       cmocka_unit_test(every_number_that_is_not_finite_is_found)};
    return cmocka_run_group_tests_name("corrector_lanes", tests, get_sets, NULL);
}
