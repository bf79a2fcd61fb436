/* Mass, size, virial ratio and times of a set of stars, summed over all pairs or by a sample. */
#include "nbody6/analysis/bulk.h"

#include "common/nbc.h"
#include "nbody6/model/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct stars {
    int64_t n;
    double *mass, (*x)[3], (*v)[3];
};

static void stars_new(int64_t n, struct stars *s)
{
    *s = (struct stars){n, malloc((size_t)n * sizeof *s->mass), malloc((size_t)n * sizeof *s->x),
                        malloc((size_t)n * sizeof *s->v)};
    assert_true(s->mass && s->x && s->v);
}

static void stars_free(struct stars *s)
{
    free(s->mass);
    free(s->x);
    free(s->v);
}

static void isotropic(nb6_random_t *random, double length, double a[3])
{
    const double z = 2 * nb6_random_uniform(random) - 1, phi = 2 * 3.14159265358979323846 * nb6_random_uniform(random);
    a[0] = length * sqrt(1 - z * z) * cos(phi);
    a[1] = length * sqrt(1 - z * z) * sin(phi);
    a[2] = length * z;
}

/* A homogeneous sphere of radius 1 and mass 1 with masses that differ by a factor of ten; T = 0.5 speed^2 but for the
 * motion of the centre of mass. */
static void make_sphere(int64_t n, double speed, struct stars *s)
{
    nb6_random_t *random;
    struct nbc_error err = {0};
    double sum = 0;
    assert_int_equal(nb6_random_create(7, NB6_RANDOM_POSITION, &random, &err), NBC_OK);
    stars_new(n, s);
    for (int64_t i = 0; i < n; i++) {
        s->mass[i] = pow(10, nb6_random_uniform(random));
        sum += s->mass[i];
        isotropic(random, cbrt(nb6_random_uniform(random)), s->x[i]);
        isotropic(random, speed, s->v[i]);
    }
    for (int64_t i = 0; i < n; i++) s->mass[i] /= sum;
    nb6_random_free(random);
}

static struct nb6_bulk bulk_of(const struct stars *s)
{
    struct nb6_bulk bulk;
    struct nbc_error err = {0};
    if (nb6_bulk_find(s->n, s->mass, (const double(*)[3])s->x, (const double(*)[3])s->v, &bulk, &err))
        fail_msg("%s", err.text);
    return bulk;
}

/* U = -0.6 (1 - sum m^2): the terms of a star with itself are missing. */
static double potential_of_sphere(const struct stars *s)
{
    double own = 0;
    for (int64_t i = 0; i < s->n; i++) own += s->mass[i] * s->mass[i];
    return -0.6 * (1 - own);
}

static void all_pairs(void **state)
{
    (void)state;
    struct stars s;
    make_sphere(2000, 0.5, &s);
    const struct nb6_bulk b = bulk_of(&s);
    double potential = 0, momentum[3] = {0}, kinetic = 0.125;
    for (int64_t i = 0; i < s.n; i++) {
        for (int64_t j = 0; j < i; j++) {
            double r2 = 0;
            for (int d = 0; d < 3; d++) r2 += (s.x[i][d] - s.x[j][d]) * (s.x[i][d] - s.x[j][d]);
            potential -= s.mass[i] * s.mass[j] / sqrt(r2);
        }
        for (int d = 0; d < 3; d++) momentum[d] += s.mass[i] * s.v[i][d];
    }
    for (int d = 0; d < 3; d++) kinetic -= 0.5 * momentum[d] * momentum[d];
    assert_int_equal(b.n, 2000);
    assert_int_equal(b.n_summed, b.n_system);
    assert_true(b.virial_error == 0);
    assert_true(fabs(b.mass - 1) < 1e-12);
    /* some stars are in binaries by chance, whose own energies are left out: below 1e-3 of all */
    assert_true(fabs(b.virial_ratio * -potential / kinetic - 1) < 2e-3);
    assert_true(fabs(b.t_cross - pow(-potential, -1.5)) < 2e-3 * b.t_cross);
    assert_true(fabs(b.t_relax - 0.138 * 2000 * pow(b.r_half, 1.5) / log(220)) < 1e-9);
    assert_true(b.r_half == b.structure.r_half);
    assert_true(fabs(b.r_half - cbrt(0.5)) < 0.1); /* the density centre of a homogeneous sphere may lie at 0.2 */
    assert_true(fabs(b.speed_centre -
                     sqrt(momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2])) < 1e-12);
    stars_free(&s);
}

static void by_sample(void **state)
{
    (void)state;
    struct stars s;
    make_sphere(NB6_BULK_ALL + 20000, 1, &s);
    const double wanted = 0.5 / -potential_of_sphere(&s);
    const struct nb6_bulk b = bulk_of(&s), again = bulk_of(&s);
    assert_int_equal(b.n_summed, NB6_BULK_SAMPLE);
    assert_true(b.virial_ratio == again.virial_ratio);
    /* of a sphere of 40000 stars the exact sum scatters by 1e-3 about that of the smooth sphere */
    assert_true(fabs(b.virial_ratio - wanted) < 4 * b.virial_error + 3e-3 * wanted);
    /* potentials in the sphere differ by a fifth: 2 x 0.2/100, three quarters of the stars are not in the sample */
    assert_true(b.virial_error > 0.001 * wanted && b.virial_error < 0.006 * wanted);
    stars_free(&s);
}

/* The standard error is what it says: of estimates by other parts of a larger list. */
static void error_of_sample(void **state)
{
    (void)state;
    enum { PARTS = 8, N = NB6_BULK_ALL + 5000 };
    struct stars s;
    double square = 0, error = 0;
    make_sphere((int64_t)PARTS * N, 1, &s);
    for (int k = 0; k < PARTS; k++) {
        const struct stars part = {N, s.mass + k * N, s.x + k * N, s.v + k * N};
        double sum = 0;
        for (int64_t i = 0; i < N; i++) sum += part.mass[i];
        for (int64_t i = 0; i < N; i++) part.mass[i] /= sum;
        const struct nb6_bulk b = bulk_of(&part);
        const double off = b.virial_ratio / (0.5 / -potential_of_sphere(&part)) - 1;
        square += off * off / PARTS;
        error += b.virial_error / b.virial_ratio / PARTS;
    }
    /* the parts themselves scatter by 1.2e-3; eight of them give a standard deviation to a quarter */
    const double scatter = sqrt(square), expected = sqrt(error * error + 1.2e-3 * 1.2e-3);
    assert_true(scatter > 0.4 * expected && scatter < 1.8 * expected);
    stars_free(&s);
}

/* Hard binaries do not count: their centres of mass do. */
static void binaries(void **state)
{
    (void)state;
    struct stars s, pairs;
    make_sphere(300, 0.4, &s);
    const struct nb6_bulk single = bulk_of(&s);
    stars_new(600, &pairs);
    for (int64_t i = 0; i < 300; i++) {
        const double a = 1e-5, speed = sqrt(s.mass[i] / a);
        for (int k = 0; k < 2; k++) {
            const double side = k ? 0.5 : -0.5;
            pairs.mass[2 * i + k] = 0.5 * s.mass[i];
            memcpy(pairs.x[2 * i + k], s.x[i], sizeof s.x[i]);
            memcpy(pairs.v[2 * i + k], s.v[i], sizeof s.v[i]);
            pairs.x[2 * i + k][0] += side * a;
            pairs.v[2 * i + k][1] += side * speed;
        }
    }
    const struct nb6_bulk b = bulk_of(&pairs);
    assert_int_equal(b.n, 600);
    assert_int_equal(b.multiples.n_binary + 2 * b.multiples.n_triple + 2 * b.multiples.n_larger > 290, 1);
    assert_true(fabs(b.virial_ratio / single.virial_ratio - 1) < 1e-3); /* orbits of 1e-5 change U by that */
    stars_free(&s);
    stars_free(&pairs);
}

static void odd_sets(void **state)
{
    (void)state;
    double mass[2] = {1, 0}, x[2][3] = {{0}, {1, 0, 0}}, v[2][3] = {{0}, {0, 1, 0}};
    struct stars s = {2, mass, x, v};
    assert_true(bulk_of(&s).virial_ratio == -1); /* a massless star has no potential energy */
    mass[1] = 1;
    v[1][1] = 2;
    const struct nb6_bulk b = bulk_of(&s); /* T about the centre is 1, U is -1 */
    assert_true(fabs(b.virial_ratio - 1) < 1e-15);
    assert_true(b.t_relax == 0);
    assert_true(fabs(b.speed_centre - 1) < 1e-15);
}

static void set_models(void **state)
{
    (void)state;
    struct nb6_bulk b = {.n = 1000, .mass = 1, .r_half = 0.77};
    nb6_bulk_set(-0.5, 0.5, &b);
    assert_true(fabs(b.t_cross - 2 * sqrt(2)) < 1e-14);
    assert_true(b.virial_ratio == 0.5 && b.virial_error == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pairs),       cmocka_unit_test(by_sample),
                                       cmocka_unit_test(error_of_sample), cmocka_unit_test(binaries),
                                       cmocka_unit_test(odd_sets),        cmocka_unit_test(set_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
