/* Cells on many targets at once: expansions about regions of targets against sums in long double, and the bound of the
 * ranks that they cut; and potentials of many bodies by series of 1/r. */
#include "tests/support/tree_cell.h"

#include "gpunb/tree/harmonic.h"
#include "gpunb/tree/local.h"
#include "gpunb/tree/potential.h"

#include <omp.h>

/* The expansion of a cell about a point at `distance`, at a target `reach` from there: its error beside what the bound
 * has for it, in units of mass/R^2. */
struct miss {
    double error, bound;
};

static struct miss miss_at(const gpunb_tree_t *tree, const struct bodies *b, double distance, double reach,
                           double softening, int direction)
{
    const struct tree_cell *cell = cell_of(tree);
    const int order = tree->use->sizes.order, top = tree_local_top(order), moments = tree_components_below(top + 1) - 4;
    const double *kept = tree->moment, big2 = distance * distance + softening * softening;
    real centre[3], x[3], u[3], y[3], moment[TREE_MOST_LOCALS], local[TREE_MOST_LOCALS] = {0};
    double sum[TREE_MOST_LOCALS], way[3];
    struct sum got;
    point_at(cell, b, direction, distance / cell->radius, centre);
    random_state = 4711 + (uint64_t)direction;
    on_sphere(way);
    for (int k = 0; k < 3; k++) {
        u[k] = (centre[k] - (real)cell->centre[k]) / sqrtl(big2);
        y[k] = way[k];
        x[k] = centre[k] + reach * y[k];
    }
    for (int m = 0; m < moments; m++) moment[m] = kept[m];
    const real mr = cell->mass / sqrtl(big2), t = reach / sqrtl(big2), ratio = cell->radius / (real)reach;
    if (top == 3)
        local_add_cell(moment, u, mr, t, ratio, 3, TREE_MOST_LOCAL, local);
    else if (top == 4)
        local_add_cell(moment, u, mr, t, ratio, 4, TREE_MOST_LOCAL, local);
    else if (top == 5)
        local_add_cell(moment, u, mr, t, ratio, 5, TREE_MOST_LOCAL, local);
    else
        local_add_cell(moment, u, mr, t, ratio, 6, TREE_MOST_LOCAL, local);
    for (int m = 0; m < TREE_MOST_LOCALS; m++) sum[m] = (double)local[m];
    local_sums(sum, y, TREE_MOST_LOCAL, got.acc, &got.pot);
    for (int k = 0; k < 3; k++) got.acc[k] /= reach;
    const struct sum exact = direct_sum(b, x, softening), off = difference(&got, &exact);
    const float s = (float)(cell->radius / sqrt(big2));
    const double left =
        tree_left_of_region(&cell->rest, cell->count, order, s, (float)t, (float)(softening * softening / big2)) +
        pow((double)t, TREE_MOST_LOCAL) * (TREE_MOST_LOCAL + 1) / (1 - (double)t);
    return (struct miss){(double)(length(off.acc) * big2 / cell->mass), left};
}

/* Errors of the first rank that is cut fall as a power of the size: of the region, 6, and of the cell, order + 3. A
 * wrong coefficient of any rank of either would stay behind. */
static void expansions_about_regions(void **state)
{
    (void)state;
    static const double sizes[] = {0.16, 0.04};
    for (int order = 1; order <= 4; order++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t e = 0; e < sizeof softenings / sizeof softenings[0]; e++) {
                double most[2] = {0, 0};
                gpunb_t *h = make_handle(order, MOST_BODIES);
                random_state = 88172645463325252u + (uint64_t)kind;
                const struct bodies b = make_bodies((enum kind)kind);
                gpunb_tree_t *tree = make_tree(h, &b);
                const double radius = cell_of(tree)->radius;
                for (int z = 0; z < 2; z++)
                    for (int k = 0; k < DIRECTIONS; k++) {
                        const double distance = radius / sizes[z];
                        const struct miss m = miss_at(tree, &b, distance, radius, softenings[e] * radius, k);
                        most[z] = fmax(most[z], m.error);
                        if (m.error > 1.25 * m.bound + 1e-13)
                            fail_msg("order %d, %s, softening %g, size %g: error %.3g above the bound %.3g", order,
                                     kind_names[kind], softenings[e], sizes[z], m.error, m.bound);
                    }
                const double least = pow(sizes[0] / sizes[1], fmin(TREE_MOST_LOCAL, order + 3)) / 2;
                if (most[0] < least * most[1])
                    fail_msg("order %d, %s, softening %g: errors %.3g and %.3g fall by %.3g, not by %.3g", order,
                             kind_names[kind], softenings[e], most[0], most[1], most[0] / most[1], least);
                gpunb_tree_free(tree);
                gpunb_free(h);
            }
}

/* ---- harmonic expansions, and potentials of many bodies by them */

static void random_point(double size, double x[3])
{
    for (int k = 0; k < 3; k++) x[k] = size * (2 * uniform() - 1);
}

/* Sums of 81 numbers whose sizes are up to (1 + 1)^8, after shifts of 1. */
static const double OF_SHIFTS = 1e-12;

/* Moments about another centre are those of the bodies about it, and a series about another centre has the same values:
 * what is cut is cut at a rank, which shifts keep. */
static void harmonics_about_other_centres(void **state)
{
    (void)state;
    random_state = 88172645463325252u;
    for (int turn = 0; turn < 100; turn++) {
        double t[3], s[3], back[3], other[3], one[HARMONICS], two[HARMONICS], moved[HARMONICS] = {0};
        random_point(1, t);
        random_point(1, s);
        for (int k = 0; k < 3; k++) {
            back[k] = -s[k];
            other[k] = -s[k] - t[k];
        }
        harmonic_functions(back, one);
        harmonic_functions(other, two);
        harmonic_add_moments(one, t, moved);
        for (int b = 0; b < HARMONICS; b++) assert_true(fabs(moved[b] - two[b]) < OF_SHIFTS);
        for (int b = 0; b < HARMONICS; b++) one[b] = 2 * uniform() - 1;
        harmonic_move_series(one, t, moved);
        for (int k = 0; k < 3; k++) other[k] = s[k] + t[k];
        assert_true(fabs(harmonic_value(moved, s) - harmonic_value(one, other)) < OF_SHIFTS);
    }
}

/* Bodies in a ball with a dense centre, far from the origin; equal masses, masses over twelve decades, two such balls,
 * a line, a plane, and a hundred and more of them at one place. */
enum { MANY = TEST_SANITIZED ? 700 : 4000, AT_ONE_PLACE = MANY / 20 };
static const double ROUNDED = 1e-10; /* of 1/r in vectors, 1e-11, and of positions that are 1000 away */

struct many {
    double mass[MANY], x[MANY][3], exact[MANY], mean;
};

static void make_many(enum kind kind, struct many *m)
{
    random_state = 88172645463325252u + (uint64_t)kind;
    for (int i = 0; i < MANY; i++) {
        on_sphere(m->x[i]);
        const double r = 0.01 + pow(uniform(), 3);
        m->mass[i] = (kind == DECADES ? pow(10, -12 * uniform()) : 1) / MANY;
        for (int k = 0; k < 3; k++) m->x[i][k] *= (kind == LINE && k > 0) || (kind == PLANE && k > 1) ? 0 : r;
        if (kind == TWO) m->x[i][1] += i % 2 ? 1e4 : 0;
        if (kind == SHELL && i > 0 && i <= AT_ONE_PLACE) memcpy(m->x[i], m->x[0], sizeof m->x[i]);
    }
    m->mean = 0;
    for (int i = 0; i < MANY; i++) m->x[i][0] += 1000;
    for (int i = 0; i < MANY; i++) {
        real sum = 0;
        for (int j = 0; j < MANY; j++) {
            real r2 = 0;
            for (int k = 0; k < 3; k++) r2 += (real)(m->x[j][k] - m->x[i][k]) * (m->x[j][k] - m->x[i][k]);
            if (r2 > 0) sum -= m->mass[j] / sqrtl(r2);
        }
        m->exact[i] = (double)sum;
        m->mean -= m->exact[i] / MANY;
    }
}

static gpunb_t *open_backend(const char *name)
{
    const struct gpunb_options options = {.backend = name};
    struct nbc_error err;
    gpunb_t *h = NULL;
    return gpunb_create(&h, MANY, &options, &err) ? NULL : h;
}

static void potential_of(gpunb_t *h, const struct many *m, double aim, double *pot)
{
    if (gpunb_potential_by_tree(h, MANY, m->mass, (const double(*)[3])m->x, aim * m->mean, pot))
        fail_msg("%s", gpunb_last_error(h));
}

/* @return the root of the mean square of errors, in units of the mean potential */
static double error_of_many(const struct many *m, const double *pot)
{
    double sum = 0;
    for (int i = 0; i < MANY; i++) sum += (pot[i] - m->exact[i]) * (pot[i] - m->exact[i]);
    return sqrt(sum / MANY) / m->mean;
}

static const char *const backends[] = {"portable", "avx2", "avx512", "ref", "emulated"};
enum { N_BACKENDS = sizeof backends / sizeof backends[0] };

/* A body meets some hundred cells, each of which may be wrong by two aims, with independent signs in the main: twenty
 * aims in all. An aim of 1e-14 leaves all to pairs; of 1e-4 it leaves errors that can be seen. */
static void potentials_of_many(void **state)
{
    (void)state;
    static const double aims[] = {1e-4, 1e-6, 1e-8, 1e-14};
    static struct many m;
    static double pot[MANY];
    for (int kind = 0; kind < KINDS; kind++) {
        make_many((enum kind)kind, &m);
        for (int b = 0; b < N_BACKENDS; b++) {
            gpunb_t *h = open_backend(backends[b]);
            double error[4];
            if (!h) continue;
            for (int a = 0; a < 4; a++) {
                potential_of(h, &m, aims[a], pot);
                error[a] = error_of_many(&m, pot);
                if (!(error[a] < 20 * aims[a] + ROUNDED))
                    fail_msg("%s, %s, aim %g: wrong by %g", backends[b], kind_names[kind], aims[a], error[a]);
            }
            if (!(error[0] > 1e-8 && error[2] < 0.1 * error[0]))
                fail_msg("%s, %s: errors %g to %g", backends[b], kind_names[kind], error[0], error[2]);
            gpunb_free(h);
        }
    }
}

/* For any number of threads; devices and `ref` have those of the first backend that can. Arguments are checked. */
static void bits_of_many(void **state)
{
    (void)state;
    static struct many m;
    static double pot[3][MANY];
    gpunb_t *ref = open_backend("ref"), *emulated = open_backend("emulated");
    const int threads = omp_get_max_threads();
    make_many(DECADES, &m);
    potential_of(ref, &m, 1e-7, pot[0]);
    potential_of(emulated, &m, 1e-7, pot[1]);
    omp_set_num_threads(threads > 1 ? 1 : 3);
    potential_of(ref, &m, 1e-7, pot[2]);
    omp_set_num_threads(threads);
    assert_memory_equal(pot[0], pot[1], sizeof pot[0]);
    assert_memory_equal(pot[0], pot[2], sizeof pot[0]);
    assert_int_equal(gpunb_potential_by_tree(ref, MANY, m.mass, (const double(*)[3])m.x, 0, pot[0]), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_potential_by_tree(ref, 0, m.mass, (const double(*)[3])m.x, 1, pot[0]), NBC_OK);
    m.mass[7] = -1;
    assert_int_equal(gpunb_potential_by_tree(ref, MANY, m.mass, (const double(*)[3])m.x, 1, pot[0]), NBC_BAD_ARGUMENT);
    assert_memory_equal(pot[0], pot[1], sizeof pot[0]);
    gpunb_free(ref);
    gpunb_free(emulated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expansions_about_regions),
        cmocka_unit_test(harmonics_about_other_centres),
        cmocka_unit_test(potentials_of_many),
        cmocka_unit_test(bits_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
