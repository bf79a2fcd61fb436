/* The grid of a star: its accuracy, and what may not matter to a star: how often it is asked, and by how many threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/kroupa.h"
#include "tests/support/stars.h"

/* Masses at the begins of phases with a hundredth of the tolerance in grid.c */
static void accuracy(void **state)
{
    (void)state;
    static const struct {
        double mass, cheb, last;
    } ROW[] = {{0.9, 0.60774, 0.51361}, {1.2, 1.04708, 0.53818}, {2.1, 2.09817, 0.63814}, {5, 4.99843, 0.99753},
               {9, 8.91648, 1.32411},   {15, 14.62885, 1.73786}, {40, 34.87787, 11.4269}, {100, 59.78227, 17.0933}};
    struct stellar_model *model = stars_model('A', 0.02, "");
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        struct stellar_events events;
        const struct stellar_view end = stars_at(model, ROW[k].mass, 30000, &events);
        const double before = ROW[k].mass < 50 ? stars_event(&events, STELLAR_CHEB)->mass_after
                                               : stars_event(&events, STELLAR_HG)->mass_after;
        if (ROW[k].mass < 50) assert_true(fabs(before / ROW[k].cheb - 1) < 1e-4);
        assert_true(fabs(end.mass / ROW[k].last - 1) < 1e-4);
    }
    stellar_free(model);
}

/* A star that is asked at times of any spacing ends with the same bits as one that is asked once. */
static void spacing_of_calls(void **state)
{
    (void)state;
    static const double MASS[] = {0.3, 0.95, 1.9, 5, 12, 25, 60, 140};
    struct stellar_model *model = stars_model('B', 0.01, "");
    srand(5);
    for (size_t k = 0; k < sizeof MASS / sizeof MASS[0]; k++) {
        const double end = MASS[k] < 1 ? 13000 : MASS[k] < 2 ? 1700 : MASS[k] < 6 ? 115 : 30;
        struct stellar_star once, often;
        struct stellar_view a, b;
        struct stellar_events events;
        int n_events = 0;
        assert_int_equal(stellar_birth(model, 7, MASS[k], 0, &once, NULL), NBC_OK);
        often = once;
        assert_int_equal(stellar_evolve(model, &once, end, &a, &events, NULL), NBC_OK);
        const int should = events.n;
        for (double t = 0; t < end; t += end * 0.02 * rand() / RAND_MAX) {
            assert_int_equal(stellar_evolve(model, &often, t, &b, &events, NULL), NBC_OK);
            n_events += events.n;
        }
        assert_int_equal(stellar_evolve(model, &often, end, &b, &events, NULL), NBC_OK);
        assert_int_equal(n_events + events.n, should);
        assert_memory_equal(&once, &often, sizeof once);
        assert_memory_equal(&a, &b, sizeof a);
    }
    stellar_free(model);
}

/* A star that is asked when it says so: until then mass and radius stay within the limits, and no phase ends. 1e-6: the
 * limit itself is met by an iteration. A radius that shrinks and grows again within is seen by the library at eight
 * times; between them it goes 2e-3 further at most. */
static void time_to_ask_again(void **state)
{
    (void)state;
    static const double MASS[] = {0.95, 2.4, 6.4, 20, 50};
    struct stellar_model *model = stars_model('A', 0.004, "");
    for (size_t k = 0; k < sizeof MASS / sizeof MASS[0]; k++) {
        struct stellar_star star;
        struct stellar_view now, then;
        struct stellar_events events;
        int asked = 0;
        assert_int_equal(stellar_birth(model, 1, MASS[k], 0, &star, NULL), NBC_OK);
        assert_int_equal(stellar_evolve(model, &star, 0, &now, NULL, NULL), NBC_OK);
        while (isfinite(now.ask_again_myr)) {
            assert_true(now.ask_again_myr > now.time_myr);
            for (int part = 1; part < 6; part++) {
                const double time = now.time_myr + part / 6.0 * (now.ask_again_myr - now.time_myr);
                struct stellar_star copy = star;
                if (time >= now.ask_again_myr) continue; /* rounding, just before the end of a phase */
                assert_int_equal(stellar_evolve(model, &copy, time, &then, &events, NULL), NBC_OK);
                assert_int_equal(events.n, 0);
                assert_true(fabs(then.mass / now.mass - 1) < 1e-3 * (1 + 1e-6));
                assert_true(fabs(log(then.radius / now.radius)) < log(1.05) + 2e-3);
            }
            assert_int_equal(stellar_evolve(model, &star, now.ask_again_myr, &then, &events, NULL), NBC_OK);
            assert_int_equal(now.phase_ends, events.n > 0 && then.type != now.type);
            if (!events.n) {
                assert_true(fabs(then.mass / now.mass - 1) < 1e-3 * (1 + 1e-6));
                assert_true(fabs(log(then.radius / now.radius)) < log(1.05) * (1 + 1e-6));
            }
            now = then;
            asked++;
        }
        assert_true(asked > 50 && asked < 5000);
        assert_true(now.type >= STELLAR_HE_WD);
    }
    stellar_free(model);
}

static void threads(void **state)
{
    (void)state;
    enum { N = 2000 };
    struct stellar_model *model = stars_model('C', 0.001, "NRAND=9");
    struct stellar_star *star = calloc(3 * N, sizeof *star);
    struct stellar_view *view = calloc(3 * N, sizeof *view);
    struct stellar_events *events = calloc(3 * N, sizeof *events);
    const int most = omp_get_max_threads();
    for (int k = 0; k < 3; k++) {
        omp_set_num_threads(k == 0 ? 1 : k == 1 ? 3 : 8);
        for (int i = 0; i < N; i++)
            assert_int_equal(stellar_birth(model, i, kroupa_mass((i + 0.5) / N), 0, &star[k * N + i], NULL), NBC_OK);
        assert_int_equal(stellar_evolve_all(model, N, &star[k * N], 12000, &view[k * N], &events[k * N], NULL), NBC_OK);
        assert_memory_equal(star, &star[k * N], N * sizeof *star);
        assert_memory_equal(view, &view[k * N], N * sizeof *view);
        assert_memory_equal(events, &events[k * N], N * sizeof *events);
    }
    omp_set_num_threads(most);
    free(star);
    free(view);
    free(events);
    stellar_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accuracy), cmocka_unit_test(spacing_of_calls),
                                       cmocka_unit_test(time_to_ask_again), cmocka_unit_test(threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
