/* Initial models: scaling, rotation, seeds, threads, and what is refused. Their statistics: tests/physics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"
#include "nbody6/model/model.h"
#include "tests/support/model_pieces.h"

static struct nb6_config configure(enum nb6_model_kind kind, int64_t n, double q)
{
    struct nb6_config config;
    memset(&config, 0, sizeof config);
    config.model.kind = kind;
    config.model.imf = NB6_IMF_KROUPA2001;
    config.model.mass_min_msun = 0.08;
    config.model.mass_max_msun = 100.0;
    config.model.n = n;
    config.model.seed = 12;
    config.model.king_w0 = 6.0;
    config.model.virial_ratio = q;
    config.rbar_pc = 1.5;
    config.zmbar_msun = 0.7;
    return config;
}

static struct nb6_model make(const struct nb6_config *config)
{
    struct nb6_model model;
    struct nbc_error err = {0};
    if (nb6_model_make(config, &model, &err)) fail_msg("%s", err.text);
    return model;
}

struct sums {
    double kinetic, potential, mass, x[3], v[3], lz, kinetic_z;
};

static struct sums sum_up(const struct nb6_model *m)
{
    struct sums s;
    memset(&s, 0, sizeof s);
    for (int64_t i = 0; i < m->n; i++) {
        const double *x = m->x[i], *v = m->v[i];
        s.mass += m->mass[i];
        for (int d = 0; d < 3; d++) {
            s.kinetic += 0.5 * m->mass[i] * v[d] * v[d];
            s.x[d] += m->mass[i] * x[d];
            s.v[d] += m->mass[i] * v[d];
        }
        s.kinetic_z += 0.5 * m->mass[i] * v[2] * v[2];
        s.lz += m->mass[i] * (x[0] * v[1] - x[1] * v[0]);
        for (int64_t j = 0; j < i; j++) {
            double r2 = 0.0;
            for (int d = 0; d < 3; d++) r2 += (x[d] - m->x[j][d]) * (x[d] - m->x[j][d]);
            s.potential -= m->mass[i] * m->mass[j] / sqrt(r2);
        }
    }
    return s;
}

/* 1e-12: two sums of up to n^2/2 = 4.5e6 rounded terms; their errors add up like a random walk, far below that. */
static void assert_scaled(const struct nb6_model *model, double q, double energy)
{
    const struct sums s = sum_up(model);
    assert_true(fabs(s.mass - 1.0) < 1e-13);
    assert_true(fabs(s.kinetic + s.potential - energy) < 1e-12);
    assert_true(fabs(s.kinetic / -s.potential - q) < 1e-12);
    for (int d = 0; d < 3; d++) assert_true(fabs(s.x[d]) < 1e-13 && fabs(s.v[d]) < 1e-13);
}

static void energy_and_virial_ratio(void **state)
{
    (void)state;
    const int64_t n[] = {2, 3, 7, 8, 9, 100, 3000};
    const double q[] = {0.0, 0.25, 0.5, 0.9};
    for (int kind = NB6_MODEL_UNIFORM; kind <= NB6_MODEL_KING; kind++) {
        for (int a = 0; a < 7; a++) {
            for (int b = 0; b < 4; b++) {
                const struct nb6_config config = configure((enum nb6_model_kind)kind, n[a], q[b]);
                struct nb6_model model = make(&config);
                assert_int_equal(model.n, n[a]);
                assert_true(model.rbar_pc == 1.5);
                assert_scaled(&model, q[b], -0.25);
                for (int64_t i = 0; i < n[a]; i++) assert_int_equal(model.name[i], i + 1);
                nb6_model_free(&model);
            }
        }
    }
}

/* Unbound: U = -1/2. Velocities as they are (Q < 0): the ratio of the sample, near 1/2 for a Plummer sphere. */
static void other_virial_ratios(void **state)
{
    (void)state;
    struct nb6_config config = configure(NB6_MODEL_PLUMMER, 500, 1.0);
    struct nb6_model model = make(&config);
    assert_scaled(&model, 1.0, 0.0);
    nb6_model_free(&model);
    config.model.virial_ratio = 2.0;
    model = make(&config);
    assert_scaled(&model, 2.0, 0.5);
    nb6_model_free(&model);
    config.model.virial_ratio = -1.0;
    config.model.imf = NB6_IMF_EQUAL;
    config.model.n = 2000;
    model = make(&config);
    const struct sums s = sum_up(&model);
    assert_true(fabs(s.kinetic + s.potential + 0.25) < 1e-12);
    assert_true(fabs(s.kinetic / -s.potential - 0.5) < 0.05); /* some 1/sqrt(n) each for T and U */
    nb6_model_free(&model);
}

/* VXROT = 1, VZROT = 1: the velocities of the model without rotation plus Omega x r, times one factor f. */
static void rotation(void **state)
{
    (void)state;
    struct nb6_config config = configure(NB6_MODEL_PLUMMER, 1000, 0.5);
    struct nb6_model still = make(&config);
    config.model.rotation_xy = 1.0;
    config.model.rotation_z = 1.0;
    struct nb6_model model = make(&config);
    assert_scaled(&model, 0.5, -0.25);
    const double f = model.v[0][2] / still.v[0][2];
    assert_true(f > 0.3 && f < 1.0); /* ordered motion was added, so that all had to be slowed down */
    for (int64_t i = 0; i < model.n; i++) {
        const double *x = model.x[i], *v = model.v[i], *u = still.v[i];
        assert_memory_equal(x, still.x[i], sizeof model.x[i]);
        /* Omega = -1: v = f (u + (y, -x, 0)); roundings of numbers of order 10 */
        assert_true(fabs(v[0] - f * (u[0] + x[1])) < 1e-13 && fabs(v[1] - f * (u[1] - x[0])) < 1e-13);
        assert_true(fabs(v[2] - f * u[2]) < 1e-13);
    }
    assert_true(sum_up(&model).lz < -0.1);
    nb6_model_free(&model);
    /* the z motion is scaled by VZROT before that */
    config.model.rotation_z = 0.0;
    model = make(&config);
    assert_scaled(&model, 0.5, -0.25);
    assert_true(sum_up(&model).kinetic_z < 1e-30);
    nb6_model_free(&model);
    nb6_model_free(&still);
}

/* Equal masses keep ZMBAR; drawn masses give their mean. */
static void mean_mass(void **state)
{
    (void)state;
    struct nb6_config config = configure(NB6_MODEL_UNIFORM, 200, 0.5);
    config.model.imf = NB6_IMF_EQUAL;
    struct nb6_model model = make(&config);
    assert_true(model.zmbar_msun == 0.7);
    for (int i = 0; i < 200; i++) assert_true(model.mass[i] == 1.0 / 200.0);
    nb6_model_free(&model);
    config.model.imf = NB6_IMF_POWER_LAW;
    config.model.imf_alpha = 2.35;
    model = make(&config);
    double lowest = 1.0, sum = 0.0, first = model.mass[0];
    int descending = 1;
    for (int i = 0; i < 200; i++) {
        lowest = fmin(lowest, model.mass[i]);
        sum += model.mass[i] * model.zmbar_msun * 200.0;
        descending &= model.mass[i] <= first;
        first = model.mass[i];
    }
    assert_true(fabs(sum / 200.0 - model.zmbar_msun) < 1e-14);
    assert_true(lowest * model.zmbar_msun * 200.0 >= 0.08 * (1.0 - 1e-14));
    assert_false(descending); /* masses do not know where they are */
    nb6_model_free(&model);
}

static uint64_t hash_of(const struct nb6_model *m)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over 64-bit words */
    for (int64_t i = 0; i < m->n; i++) {
        const double row[7] = {m->mass[i], m->x[i][0], m->x[i][1], m->x[i][2], m->v[i][0], m->v[i][1], m->v[i][2]};
        for (int k = 0; k < 7; k++) {
            uint64_t bits;
            memcpy(&bits, &row[k], sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
        }
    }
    return hash;
}

/* Recorded once, the same for gcc and clang, -O0 and -O3, SSE2 and AVX-512: the same seed gives the same bits
 * everywhere and in every version. */
static void models_never_change(void **state)
{
    (void)state;
    const uint64_t recorded[3] = {0x9adc76c33efa4b2du, 0x63789b23740756b3u, 0xfb9f854711982f4u};
    for (int kind = NB6_MODEL_UNIFORM; kind <= NB6_MODEL_KING; kind++) {
        const struct nb6_config config = configure((enum nb6_model_kind)kind, 1000, 0.5);
        struct nb6_model model = make(&config);
        if (hash_of(&model) != recorded[kind]) fail_msg("kind %d: 0x%llxu", kind, (unsigned long long)hash_of(&model));
        nb6_model_free(&model);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const int before = omp_get_max_threads();
    uint64_t hash[3];
    for (int threads = 1; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        const struct nb6_config config = configure(NB6_MODEL_KING, 4001, 0.5);
        struct nb6_model model = make(&config);
        hash[threads - 1] = hash_of(&model);
        nb6_model_free(&model);
    }
    omp_set_num_threads(before);
    assert_int_equal(hash[0], hash[1]);
    assert_int_equal(hash[0], hash[2]);
}

/* Another seed, another cluster; another mass function, the same random places: up to scaling, all ratios agree. */
static void seeds_and_streams(void **state)
{
    (void)state;
    struct nb6_config config = configure(NB6_MODEL_PLUMMER, 100, 0.5);
    struct nb6_model a = make(&config);
    config.model.seed = 13;
    struct nb6_model b = make(&config);
    assert_int_not_equal(hash_of(&a), hash_of(&b));
    nb6_model_free(&b);
    config.model.seed = 12;
    config.model.imf = NB6_IMF_EQUAL;
    b = make(&config);
    const double ratio = (b.x[1][0] - b.x[0][0]) / (a.x[1][0] - a.x[0][0]);
    for (int i = 1; i < 100; i++) {
        /* differences are free of the centre of mass; roundings of about 1e-16 relative to differences above 1e-3 */
        assert_true(fabs((b.x[i][1] - b.x[0][1]) - ratio * (a.x[i][1] - a.x[0][1])) < 1e-13);
    }
    nb6_model_free(&a);
    nb6_model_free(&b);
}

static void assert_refused(const struct nb6_config *config, const char *word)
{
    struct nb6_model model = {.n = -77};
    struct nbc_error err = {0};
    assert_int_equal(nb6_model_make(config, &model, &err), NBC_BAD_INPUT);
    assert_int_equal(model.n, -77); /* untouched */
    if (!strstr(err.text, word)) fail_msg("'%s' does not say '%s'", err.text, word);
}

/* ---- two Plummer models */

static void set_number(struct nb6_config *config, const char *name, double value)
{
    const int k = nb6_input_find_variable("INSETUP", name);
    assert_true(k >= 0);
    memcpy((char *)config + nb6_input_offset(&nb6_input_variables[k]), &value, sizeof value);
}

static struct nb6_config configure_two(void)
{
    struct nb6_config config = configure(NB6_MODEL_TWO_PLUMMER, 700, 0.5);
    set_number(&config, "N2", 300);
    set_number(&config, "APO", 8);
    set_number(&config, "ECC", 0.6);
    set_number(&config, "SCALE", 0.5);
    return config;
}

/* Some of the stars as a model of their own, of total mass 1 and at rest; their mass and motion, which are taken off.
 */
static struct sums part_of(const struct nb6_model *all, int64_t first, int64_t n, struct nb6_model *part)
{
    struct sums s;
    memset(&s, 0, sizeof s);
    *part = (struct nb6_model){.n = n, .mass = all->mass + first, .x = all->x + first, .v = all->v + first};
    s.mass = sum_up(part).mass;
    for (int d = 0; d < 3; d++) {
        s.x[d] = sum_up(part).x[d] / s.mass;
        s.v[d] = sum_up(part).v[d] / s.mass;
    }
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            part->x[i][d] -= s.x[d];
            part->v[i][d] -= s.v[d];
        }
    const struct sums at_rest = sum_up(part);
    s.kinetic = at_rest.kinetic;
    s.potential = at_rest.potential;
    return s;
}

/* Each is in virial equilibrium, with virial radii M^2/(2 |U|) of 1 and SCALE; their centres are at the apocentre of an
 * orbit with a = APO/(1 + ECC), as the energy and angular momentum of two points say. 1e-12: as above. */
static void two_spheres(void **state)
{
    (void)state;
    const struct nb6_config config = configure_two();
    struct nb6_model model = make(&config), sphere[2];
    const struct sums all = sum_up(&model),
                      s[2] = {part_of(&model, 0, 400, &sphere[0]), part_of(&model, 400, 300, &sphere[1])};
    assert_true(model.n == 700 && fabs(all.mass - 1) < 1e-13);
    for (int d = 0; d < 3; d++) assert_true(fabs(all.x[d]) < 1e-12 && fabs(all.v[d]) < 1e-12);
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(s[k].kinetic / -s[k].potential - 0.5) < 1e-12);
        assert_true(fabs(-s[k].mass * s[k].mass / (2 * s[k].potential) - (k ? 0.5 : 1)) < 1e-12);
    }
    double r2 = 0, v2 = 0, rv = 0;
    for (int d = 0; d < 3; d++) {
        const double x = s[0].x[d] - s[1].x[d], v = s[0].v[d] - s[1].v[d];
        r2 += x * x;
        v2 += v * v;
        rv += x * v;
    }
    assert_true(fabs(sqrt(r2) - 8) < 1e-12 && fabs(rv) < 1e-12);
    assert_true(fabs(-0.5 / (0.5 * v2 - 1 / sqrt(r2)) - 8 / 1.6) < 1e-11);
    assert_true(fabs(sphere[0].x[0][0] - 2 * sphere[1].x[0][0]) > 1e-3); /* other stars, not the same ones smaller */
    nb6_model_free(&model);
}

static void refusals(void **state)
{
    (void)state;
    struct nb6_config config = configure(NB6_MODEL_PLUMMER, 1, 0.5);
    assert_refused(&config, "at least 2");
    config.model.n = -5;
    assert_refused(&config, "at least 2");
    config = configure(NB6_MODEL_KING, 10, 0.5);
    config.model.king_w0 = 30.0;
    assert_refused(&config, "W0");
    config = configure(NB6_MODEL_UNIFORM, 10, 0.5);
    config.model.mass_min_msun = 0.0;
    assert_refused(&config, "BODYN");
}

/* The bits do not depend on how much of a model is in memory. */
static void pieces(void **state)
{
    (void)state;
    static const enum nb6_model_kind kinds[] = {NB6_MODEL_PLUMMER, NB6_MODEL_KING, NB6_MODEL_UNIFORM};
    for (int k = 0; k < 3; k++) {
        struct nb6_config config = configure(kinds[k], 1500, k == 0 ? 0.5 : k == 1 ? 1.25 : 0);
        if (k == 0) {
            config.model.rotation_xy = 0.7;
            config.model.rotation_z = 1.2;
        }
        model_pieces_assert_same(&config);
    }
    struct nb6_config gas = configure(NB6_MODEL_PLUMMER, 2, 0.5);
    gas.tide.kind = NB6_TIDE_GAS;
    gas.tide.gas_mass = gas.tide.gas_length = 1;
    model_pieces_assert_same(&gas);
    struct nb6_config many = configure(NB6_MODEL_PLUMMER, 200001, 0.5); /* with the potential of the smooth model */
    many.model.imf = NB6_IMF_EQUAL;
    model_pieces_assert_same(&many);
    const struct nb6_config two = configure_two();
    model_pieces_assert_same(&two);
    struct nb6_config wrong = configure(NB6_MODEL_PLUMMER, 100, 0.5);
    wrong.model.mass_min_msun = 0;
    model_pieces_assert_refused(&wrong, "BODYN");
    struct nb6_config pairs = configure(NB6_MODEL_PLUMMER, 100, 0.5);
    pairs.binaries.n = 10;
    model_pieces_assert_whole(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_and_virial_ratio),
        cmocka_unit_test(other_virial_ratios),
        cmocka_unit_test(rotation),
        cmocka_unit_test(mean_mass),
        cmocka_unit_test(models_never_change),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(seeds_and_streams),
        cmocka_unit_test(two_spheres),
        cmocka_unit_test(pieces),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("models", tests, NULL, NULL);
}
