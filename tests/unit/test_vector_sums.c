/* Sums of few-body systems by vectors (nbody6/fewbody/vector_sums.h): against long double, and the same bits with all
 * instruction sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/fewbody/vector_sums.h"

enum { CELLS = 37, SETS = NBC_ISA_AVX512 + 1 };

static const struct nb6_vector_sums *sums[SETS];

static int get_sets(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) sums[s] = nb6_vector_sums_of((enum nbc_isa)s);
    return !sums[0];
}

static double uniform(void)
{
    static uint64_t state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static void random_cell(struct nb6_source_cell *cell)
{
    for (int l = 0; l < NB6_LANES; l++) {
        cell->m[l] = uniform();
        for (int k = 0; k < 3; k++) {
            cell->x[k][l] = 4 * uniform() - 2;
            cell->v[k][l] = 2 * uniform() - 1;
        }
    }
}

/* The tide m (3 x x/r^2 - 1)/r^3 of all bodies at a time t later, in long double. */
static void direct(const struct nb6_source_cell cell[CELLS], const double at[3], const double v[3], long double t,
                   long double field[6])
{
    for (int k = 0; k < 6; k++) field[k] = 0;
    for (int c = 0; c < CELLS; c++)
        for (int l = 0; l < NB6_LANES; l++) {
            long double x[3], r2 = 0;
            for (int k = 0; k < 3; k++) {
                x[k] = (long double)cell[c].x[k][l] - at[k] + t * ((long double)cell[c].v[k][l] - v[k]);
                r2 += x[k] * x[k];
            }
            for (int a = 0, k = 0; a < 3; a++)
                for (int b = a; b < 3; b++, k++)
                    field[k] += cell[c].m[l] / (r2 * sqrtl(r2)) * (3 * x[a] * x[b] / r2 - (a == b));
        }
}

static void tides(void **state)
{
    (void)state;
    struct nb6_source_cell cell[CELLS];
    struct nb6_tide_sums first, sum;
    const double at[3] = {3, -2.5, 3.5}, v[3] = {0.3, 0.2, -0.1}; /* outside of all: no body is near */
    long double field[3][6], size2 = 0, size2_dot = 0, error2 = 0, error2_dot = 0;
    for (int c = 0; c < CELLS; c++) random_cell(&cell[c]);
    for (int k = 0; k < 3; k++) direct(cell, at, v, (k - 1) * 1e-4L, field[k]);
    memset(&first, 0, sizeof first);
    sums[0]->add_tides(CELLS, cell, at, v, &first);
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++) {
            const long double dot = (field[2][k] - field[0][k]) / 2e-4L;
            long double is = 0, is_dot = 0;
            for (int l = 0; l < NB6_LANES; l++) {
                is += first.field[k][l] - (a == b ? first.trace[l] : 0);
                is_dot += first.field_dot[k][l] - (a == b ? first.trace_dot[l] : 0);
            }
            size2 += field[1][k] * field[1][k];
            size2_dot += dot * dot;
            error2 += (is - field[1][k]) * (is - field[1][k]);
            error2_dot += (is_dot - dot) * (is_dot - dot);
        }
    assert_true(error2 < 1e-28L * size2);         /* 300 terms of either sign, each rounded */
    assert_true(error2_dot < 1e-14L * size2_dot); /* the difference over 2e-4 is wrong by its square */
    for (int s = 1; s < SETS; s++) {
        if (!sums[s]) continue;
        memset(&sum, 0, sizeof sum);
        sums[s]->add_tides(CELLS, cell, at, v, &sum);
        assert_memory_equal(&first, &sum, sizeof sum);
    }
}

/* One source is where the force is asked for: it has none. */
static void pulls(void **state)
{
    (void)state;
    struct nb6_source_cell cell[CELLS];
    struct nb6_pull_sums first, sum;
    double pot[NB6_LANES] = {0}, other[NB6_LANES];
    long double acc[3] = {0}, jerk[3] = {0}, potential = 0, is = 0, size2 = 0, error2 = 0, size2_dot = 0,
                error2_dot = 0;
    double at[3], v[3];
    for (int c = 0; c < CELLS; c++) random_cell(&cell[c]);
    for (int k = 0; k < 3; k++) {
        at[k] = cell[5].x[k][3];
        v[k] = cell[5].v[k][3] + 0.25;
    }
    for (int c = 0; c < CELLS; c++)
        for (int l = 0; l < NB6_LANES; l++) {
            long double x[3], w[3], r2 = 0, xw = 0;
            for (int k = 0; k < 3; k++) {
                x[k] = (long double)cell[c].x[k][l] - at[k];
                w[k] = (long double)cell[c].v[k][l] - v[k];
                r2 += x[k] * x[k];
                xw += x[k] * w[k];
            }
            if (c == 5 && l == 3) continue;
            const long double m = cell[c].m[l] / (r2 * sqrtl(r2));
            potential += cell[c].m[l] / sqrtl(r2);
            for (int k = 0; k < 3; k++) {
                acc[k] += m * x[k];
                jerk[k] += m * (w[k] - 3 * xw / r2 * x[k]);
            }
        }
    memset(&first, 0, sizeof first);
    sums[0]->add_pulls(CELLS, cell, at, v, &first);
    sums[0]->add_potentials(CELLS, cell, at, pot);
    for (int l = 0; l < NB6_LANES; l++) is += pot[l];
    assert_true(fabsl(is - potential) < 1e-15L * potential); /* a few roundings of each of 300 terms */
    for (int k = 0; k < 3; k++) {
        long double of_acc = 0, of_jerk = 0;
        for (int l = 0; l < NB6_LANES; l++) {
            of_acc += first.acc[k][l];
            of_jerk += first.jerk[k][l];
        }
        size2 += acc[k] * acc[k];
        size2_dot += jerk[k] * jerk[k];
        error2 += (of_acc - acc[k]) * (of_acc - acc[k]);
        error2_dot += (of_jerk - jerk[k]) * (of_jerk - jerk[k]);
    }
    assert_true(error2 < 1e-28L * size2); /* 300 terms of either sign, each rounded */
    assert_true(error2_dot < 1e-28L * size2_dot);
    for (int s = 1; s < SETS; s++) {
        if (!sums[s]) continue;
        memset(&sum, 0, sizeof sum);
        memset(other, 0, sizeof other);
        sums[s]->add_pulls(CELLS, cell, at, v, &sum);
        sums[s]->add_potentials(CELLS, cell, at, other);
        assert_memory_equal(&first, &sum, sizeof sum);
        assert_memory_equal(pot, other, sizeof other);
    }
}

/* As many parts as there may be, one of them at distance zero. */
static void forces(void **state)
{
    (void)state;
    for (int n = 2; n <= CHAIN_MAX; n += 2) {
        struct nb6_part_terms t = {0}, other;
        for (int i = 0; i < n; i++) {
            t.m[i] = uniform();
            for (int k = 0; k < 3; k++) {
                t.d[k][i] = i == 1 ? 0 : 2 * uniform() - 1;
                t.w[k][i] = 2 * uniform() - 1;
            }
        }
        struct nb6_part_terms begin = t;
        sums[0]->set_forces(n, &t);
        assert_true(t.scale[1] == 0 && t.alpha[1] == 0);
        for (int i = 0; i < n; i++) {
            long double r2 = 0, dw = 0;
            for (int k = 0; k < 3; k++) {
                r2 += (long double)t.d[k][i] * t.d[k][i];
                dw += (long double)t.d[k][i] * t.w[k][i];
            }
            if (i == 1) continue;
            assert_true(fabsl(t.scale[i] - t.m[i] / (r2 * sqrtl(r2))) < 2e-15L * t.scale[i]); /* nine roundings */
            /* The products of d w, each rounded, may cancel: of 3 here at most. */
            assert_true(fabsl(t.alpha[i] - 3 * dw / r2) < 4e-15L * sqrtl(3 / r2));
        }
        for (int s = 1; s < SETS; s++) {
            if (!sums[s]) continue;
            other = begin;
            sums[s]->set_forces(n, &other);
            assert_memory_equal(&t, &other, sizeof other);
        }
    }
}

/* The potential of a system and a point by the short way is that of any two systems, bit for bit. */
static void potential_of_a_point(void **state)
{
    (void)state;
    struct nb6_parts point, own = {.n = 4};
    nb6_parts_of_point(&point);
    for (int trial = 0; trial < 200; trial++) {
        double x[3];
        for (int m = 0; m < own.n; m++) {
            own.mass[m] = 0.25 * uniform();
            for (int k = 0; k < 3; k++) own.x[m][k] = 0.1 * uniform();
        }
        for (int k = 0; k < 3; k++) x[k] = 4 * uniform() - 2;
        const double of_point = nb6_parts_potential_of_point(x, &own), of_any = nb6_parts_potential(x, &own, &point);
        assert_memory_equal(&of_point, &of_any, sizeof of_any);
    }
}

static void choice(void **state)
{
    (void)state;
    int best = 0;
    for (int s = 1; s < SETS; s++)
        if (sums[s]) best = s;
    assert_ptr_equal(nb6_vector_sums_best(), sums[best]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tides), cmocka_unit_test(pulls), cmocka_unit_test(forces),
                                       cmocka_unit_test(potential_of_a_point), cmocka_unit_test(choice)};
    return cmocka_run_group_tests_name("vector_sums", tests, get_sets, NULL);
}
