/* The interface of the chain: arguments, time, slices, slow-down. Members that come and go are in test_chain_members.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "regularization/hierarchy.h"
#include "tests/support/fewbody.h"
#include "tests/support/test_size.h"

static const double REST[3] = {0};

/* A field of tides; its mean is rounding alone. */
static int tide(void *context, double t, int n, const double mass[], const double cm[3], const double x[][3],
                const double v[][3], double acc[][3])
{
    const double strength = *(const double *)context;
    (void)t;
    (void)mass;
    (void)v;
    (void)cm;
    for (int i = 0; i < n; i++) {
        acc[i][0] = 2 * strength * x[i][0];
        acc[i][1] = -strength * x[i][1];
        acc[i][2] = -strength * x[i][2];
    }
    return 0;
}

static void arguments(void **state)
{
    (void)state;
    struct chain c;
    struct chain_body body[CHAIN_MAX + 1];
    struct chain_options options, bad;
    struct chain_event event;
    struct nbc_error err = {0};
    int32_t method;
    fewbody_triple(body);
    chain_options_init(&options);
    assert_int_equal(chain_method_find("chain", &method, &err), NBC_OK);
    assert_int_equal(method, CHAIN_METHOD_KS);
    assert_int_equal(chain_method_find("ar", &method, &err), NBC_OK);
    assert_int_equal(method, CHAIN_METHOD_AR);
    assert_int_equal(chain_method_find("auto", &method, &err), NBC_OK);
    assert_int_equal(method, CHAIN_METHOD_AUTO);
    assert_int_equal(options.method, CHAIN_METHOD_AUTO);
    assert_int_equal(chain_method_find("leapfrog", &method, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "'leapfrog'"));
    assert_null(chain_method_name(CHAIN_METHODS));

    assert_int_equal(chain_init(&c, &options, 1, body, 0, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(chain_init(&c, &options, CHAIN_MAX + 1, body, 0, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(chain_init(&c, &options, 3, body, NAN, &err), NBC_NON_FINITE);
    bad = options;
    bad.tolerance = 0;
    assert_int_equal(chain_init(&c, &bad, 3, body, 0, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "tolerance"));
    bad = options;
    bad.method = 7;
    assert_int_equal(chain_init(&c, &bad, 3, body, 0, &err), NBC_BAD_ARGUMENT);
    bad = options;
    bad.pn = CHAIN_PN1;
    assert_int_equal(chain_init(&c, &bad, 3, body, 0, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "speed of light"));
    bad = options;
    bad.slow = 1;
    assert_int_equal(chain_init(&c, &bad, 3, body, 0, &err), NBC_BAD_ARGUMENT);
    body[1].x[2] = NAN;
    assert_int_equal(chain_init(&c, &options, 3, body, 0, &err), NBC_NON_FINITE);
    assert_non_null(strstr(err.text, "position"));
    fewbody_triple(body);
    body[2].mass = 0;
    assert_int_equal(chain_init(&c, &options, 3, body, 0, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "mass"));
    fewbody_triple(body);
    body[2].id = 10;
    assert_int_equal(chain_init(&c, &options, 3, body, 0, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "identity"));
    fewbody_triple(body);
    memcpy(body[2].x, body[0].x, sizeof body[2].x);
    assert_int_equal(chain_init(&c, &options, 3, body, 0, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "same place"));

    fewbody_triple(body);
    assert_int_equal(chain_init(&c, &options, 3, body, 1, &err), NBC_OK);
    assert_int_equal(chain_advance(&c, 0.5, NULL, &event, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(chain_advance(&c, 1, NULL, &event, &err), NBC_OK);
    assert_true(chain_size() == sizeof c);
}

static void state_comes_back(void **state)
{
    struct chain_body body[3], back[3];
    fewbody_triple(body);
    struct chain c = fewbody_start(*state, 1e-14, 3, body);
    chain_bodies(&c, back);
    for (int i = 0; i < 3; i++) {
        assert_true(back[i].id == body[i].id && back[i].mass == body[i].mass);
        for (int k = 0; k < 3; k++) {
            /* 100 in the last bits */
            assert_true(fabs(back[i].x[k] - body[i].x[k]) < 1e-13);
            assert_true(fabs(back[i].v[k] - body[i].v[k]) < 1e-14);
        }
    }
}

/* A struct without pointers: copied as bytes and continued in the copy it gives the same bits, as do the same calls. */
static void a_value(void **state)
{
    struct chain_body body[3];
    fewbody_triple(body);
    struct chain a = fewbody_start(*state, 1e-14, 3, body), b;
    fewbody_advance(&a, 3, NULL, NULL);
    unsigned char *bytes = malloc(sizeof a);
    assert_non_null(bytes);
    memcpy(bytes, &a, sizeof a);
    fewbody_advance(&a, 17, NULL, NULL);
    memcpy(&b, bytes, sizeof b);
    free(bytes);
    fewbody_advance(&b, 17, NULL, NULL);
    assert_memory_equal(&a, &b, sizeof a);
}

/* Stops on the way land on the time and change the path by rounding only, which the motion magnifies a little. */
static void stops_on_the_way(void **state)
{
    struct chain_body body[3], whole[3], parts[3];
    fewbody_triple(body);
    struct chain a = fewbody_start(*state, 1e-14, 3, body), b = a;
    fewbody_advance(&a, 20, NULL, NULL);
    for (int k = 1; k <= 640; k += test_size(1, 9)) {
        fewbody_advance(&b, 0.03125 * k, NULL, NULL);
        assert_true(b.t == 0.03125 * k);
        assert_true(fabs(b.t_low) < 1e-14);
    }
    chain_bodies(&a, whole);
    chain_bodies(&b, parts);
    double difference = fewbody_distance(3, whole, parts);
    print_message("%s: stops change the end by %.1e\n", (char *)*state, difference);
    assert_true(difference < 1e-9);
    struct nbc_error err = {0};
    struct chain_body at[3];
    const struct chain before = b;
    assert_int_equal(chain_bodies_at(&b, 20.5, NULL, at, &err), NBC_OK);
    assert_memory_equal(&before, &b, sizeof b);
    fewbody_advance(&b, 20.5, NULL, NULL);
    chain_bodies(&b, parts);
    assert_true(fewbody_distance(3, at, parts) == 0);
}

static void steps_are_limited(void **state)
{
    struct chain_body body[3];
    fewbody_triple(body);
    struct chain c = fewbody_start(*state, 1e-14, 3, body);
    c.options.max_steps = 5;
    assert_int_equal(fewbody_advance(&c, 100, NULL, NULL), CHAIN_STEPS);
    assert_true(c.t > 0 && c.t < 100);
    while (c.t < 20)
        if (fewbody_advance(&c, 20, NULL, NULL) == CHAIN_NONE) break;
    assert_true(c.t == 20);
}

/* A pair whose members touch at each pericentre, a third body, and perhaps a field and slow-down, to t = 60 in slices
 * of so many steps.   @return number of collisions */
static int in_slices(const char *method, double slow, const struct chain_field *field, int64_t slice, struct chain *c)
{
    struct chain_body body[3];
    struct chain_event event = {.kind = CHAIN_STEPS};
    int collisions = 0;
    fewbody_pair(body, 1, REST, REST);
    body[0].radius = body[1].radius = 0.3;
    body[2] = fewbody(3, 0.5, (double[3]){0, 30, 8}, (double[3]){0.25, 0, 0});
    *c = fewbody_start(method, 1e-13, 3, body);
    c->options.slow = slow;
    c->options.max_steps = slice;
    for (int64_t calls = 0; event.kind != CHAIN_NONE; calls++) {
        const int64_t before = c->steps;
        assert_true(calls < 100000);
        fewbody_advance(c, 60, field, &event);
        collisions += event.kind == CHAIN_COLLISION;
        /* Landing, and every pericentre that is looked for, takes some steps more. */
        assert_true(slice == 0 || event.kind != CHAIN_STEPS || c->steps >= before + slice);
    }
    return collisions;
}

/* Any slices give the bits of one call. */
static void slices(void **state)
{
    static const int64_t slice[] = {1, 2, 3, 7, 50};
    double strength = 1e-5;
    const struct chain_field field = {.acceleration = tide, .context = &strength};
    for (int k = 0; k < 4; k++) {
        struct chain whole, part;
        const double slow = k & 1 ? 1e-2 : 0;
        const struct chain_field *f = k & 2 ? &field : NULL;
        int collisions = in_slices(*state, slow, f, 0, &whole);
        assert_true(collisions > 3);
        for (size_t i = 0; i < sizeof slice / sizeof slice[0]; i += (size_t)test_size(1, 3)) {
            assert_int_equal(in_slices(*state, slow, f, slice[i], &part), collisions);
            part.options.max_steps = 0;
            assert_memory_equal(&whole, &part, sizeof whole);
        }
        print_message("%s: slow-down up to %g, %d collisions, %ld steps\n", (char *)*state,
                      fmax(whole.kappa[0], whole.kappa[1]), collisions, (long)whole.steps);
    }
}

static void centre_of_mass_moves(void **state)
{
    struct chain_body body[3];
    double x[3], v[3], x1[3], v1[3];
    fewbody_triple(body);
    struct chain c = fewbody_start(*state, 1e-14, 3, body);
    chain_centre(&c, x, v);
    fewbody_advance(&c, 10, NULL, NULL);
    chain_centre(&c, x1, v1);
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(x1[k] - x[k] - 10 * v[k]) < 1e-12);
        assert_true(v1[k] == v[k]);
    }
    chain_set_centre(&c, REST, REST);
    chain_bodies(&c, body);
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += body[i].mass * body[i].x[0];
    assert_true(fabs(sum) < 1e-13);
}

/* A force on the centre of mass, however small beside the system's own, costs no step. */
static void mean_of_nothing(void **state)
{
    double strength = 1e-20;
    const struct chain_field field = {.acceleration = tide, .context = &strength};
    struct chain_body body[3];
    double x[3], v[3];
    fewbody_pair(body, 1, REST, REST);
    body[2] = fewbody(3, 1, (double[3]){0, 3, 4}, (double[3]){0.05, 0.16, -0.11});
    struct chain c = fewbody_start(*state, 1e-14, 3, body);
    chain_set_centre(&c, REST, REST);
    fewbody_advance(&c, 20, &field, NULL);
    chain_centre(&c, x, v);
    for (int k = 0; k < 3; k++) assert_true(fabs(x[k]) < 1e-14 && fabs(v[k]) < 1e-14);
}

/* An inclined triple over a part of a Kozai-Lidov cycle, alone or in a field: eccentricity, inclination and outer orbit
 * must come out the same with slow-down, for a fraction of the work, and the energy at its end. */
static void slowed(const char *method, double strength)
{
    double e[2], a[2], error[2];
    int64_t work[2];
    const struct chain_field field = {.acceleration = tide, .context = &strength};
    for (int slow = 0; slow < 2; slow++) {
        struct chain_body body[3];
        struct chain c;
        struct chain_options options;
        struct nbc_error err = {0};
        fewbody_pair(body, 1, REST, REST);
        body[2] = fewbody(3, 1, (double[3]){0, 30, 45}, (double[3]){0.05, 0.16, -0.11});
        chain_options_init(&options);
        assert_int_equal(chain_method_find(method, &options.method, &err), NBC_OK);
        options.slow = slow ? 1e-3 : 0;
        memset(&c, 0, sizeof c);
        if (chain_init(&c, &options, 3, body, 0, &err)) fail_msg("%s", err.text);
        double largest = 1;
        for (int k = 1; k <= 100; k++) {
            fewbody_advance(&c, 150 * k, strength > 0 ? &field : NULL, NULL);
            for (int i = 0; i < 2; i++) largest = fmax(largest, c.kappa[i]);
        }
        assert_true(slow ? largest >= 4 : largest == 1);
        chain_slow_end(&c);
        error[slow] = fabs(chain_energy(&c) / chain_energy_booked(&c) - 1);
        work[slow] = c.evaluations;
        chain_bodies(&c, body);
        struct hierarchy_orbit orbit;
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = body[1].x[k] - body[0].x[k];
            v[k] = body[1].v[k] - body[0].v[k];
        }
        hierarchy_orbit_find(2, x, v, &orbit);
        e[slow] = orbit.e;
        a[slow] = orbit.a;
    }
    print_message("%s, tide %.0e: e = %.6f, slowed %.6f (began with 0.5); a = %.6f, %.6f; energy errors %.1e, %.1e; "
                  "forces %ld, %ld\n",
                  method, strength, e[0], e[1], a[0], a[1], error[0], error[1], (long)work[0], (long)work[1]);
    /* The change of the eccentricity is the same to one percent; the bound of perturbation times slow-down is 1e-3
     * within an orbit, of which little is left in the mean. */
    assert_true(fabs(e[0] - 0.5) > 0.01);
    assert_true(fabs(e[1] - e[0]) < 0.01 * fabs(e[0] - 0.5));
    assert_true(fabs(a[1] / a[0] - 1) < 1e-4);
    assert_true(error[1] < 1e-10);
    assert_true(2 * work[1] < work[0]);
}

static void slow_down(void **state)
{
    slowed(*state, 0);
}

static void slow_down_in_a_field(void **state)
{
    TEST_SKIP_SANITIZED();
    slowed(*state, 2e-6); /* a third of the tide of the outer body */
}

#define BOTH(test) cmocka_unit_test_prestate(test, "chain"), cmocka_unit_test_prestate(test, "ar")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments), BOTH(state_comes_back),  BOTH(a_value),
        BOTH(stops_on_the_way),      BOTH(steps_are_limited), BOTH(slices),
        BOTH(centre_of_mass_moves),  BOTH(mean_of_nothing),   BOTH(slow_down),
        BOTH(slow_down_in_a_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
