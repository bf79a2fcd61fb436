/* Sizes of essential trees against the model of Iwasawa et al. 2020, PASJ 72, 13, equations 42 and 43: interior ones of
 * 64 and of 1000 cubic domains of a homogeneous cube, masses at their centres, one angle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpunb/tree/essential.h"

enum { MOST_DOMAINS = 1000 };

/* Their angle is that of a cell's side at its distance, in trees whose leaves are cut further; ours that of the radius
 * of its bodies at the nearest place of a box, and leaves of 8 are sent as bodies: one factor, fitted to the sizes
 * below. A cube of side 1 has a radius of 0.87, which alone is a factor of 1.15. */
static const double THETA = 0.5, FACTOR = 1.35;

/* Eq. 42 but for its last terms, the tops of all domains that are not close, and eq. 43. */
static double size_of_model(double n, double domains)
{
    const double t = FACTOR * THETA, near = 1 / t + 1;
    const double close = 6 * near + 3 * M_PI * near * near + 4 * M_PI / 3 * near * near * near;
    return 14 * cbrt(n * n) / t + 21 * M_PI * cbrt(n) / (t * t) +
           28 * M_PI / (3 * t * t * t) * log2(t / 2.8 * (cbrt(n * domains) - cbrt(n))) + fmax(domains - close, 0);
}

struct domain {
    gpunb_t *handle;
    struct gpunb_essential *essential;
    double (*x)[3], (*acc)[3];
    struct gpunb_softened_job job;
};

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

static int place_along(int domain, int side, int k)
{
    return k == 0 ? domain / side / side : k == 1 ? domain / side % side : domain % side;
}

static void begin(struct domain *d, int own, int side, size_t n, const double *mass, const int32_t *self,
                  uint64_t *seed)
{
    const struct gpunb_options options = {
        .backend = "portable", .theta = THETA, .order = 1, .leaf = 8, .group = 256, .walk = GPUNB_WALK_GROUPS};
    d->x = malloc(n * sizeof *d->x);
    d->acc = malloc(n * sizeof *d->acc);
    assert_true(d->x && d->acc);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) d->x[i][k] = (place_along(own, side, k) + uniform(seed)) / side;
    d->job = (struct gpunb_softened_job){
        .n_i = n, .x = (const double(*)[3])d->x, .self = self, .softening = 1e-6, .acc = d->acc};
    assert_int_equal(gpunb_create(&d->handle, n, &options, NULL), NBC_OK);
    assert_int_equal(gpunb_essential_open(&d->essential, d->handle, side * side * side, own), NBC_OK);
    assert_int_equal(gpunb_send_positions(d->handle, n, mass, (const double(*)[3])d->x), NBC_OK);
    assert_int_equal(gpunb_essential_begin(d->essential, &d->job), NBC_OK);
}

static void tell_all(struct domain *domain, int domains)
{
    const size_t bytes = gpunb_essential_top_bytes(domain[0].essential);
    char *top = malloc((size_t)domains * bytes);
    struct gpunb_essential_reach *reach = malloc((size_t)domains * sizeof *reach);
    assert_true(top && reach);
    for (int p = 0; p < domains; p++) gpunb_essential_top(domain[p].essential, top + (size_t)p * bytes);
    for (int p = 0; p < domains; p++) {
        gpunb_essential_take_tops(domain[p].essential, top);
        gpunb_essential_reach(domain[p].essential, &reach[p]);
    }
    for (int p = 0; p < domains; p++) gpunb_essential_take_reaches(domain[p].essential, reach);
    free(top);
    free(reach);
}

/* A domain gets these: cells that act as a whole, and bodies. */
static double size_of(struct domain *domain, int domains, int to)
{
    struct gpunb_essential_counts counts;
    double tops = 0;
    for (int from = 0; from < domains; from++) {
        const void *data;
        size_t bytes;
        tops += from != to && !gpunb_essential_is_sent(domain[from].essential, from, to);
        if (!gpunb_essential_is_sent(domain[from].essential, from, to)) continue;
        assert_int_equal(gpunb_essential_export(domain[from].essential, to, gpunb_essential_boxes(domain[to].essential),
                                                &data, &bytes),
                         NBC_OK);
        assert_int_equal(gpunb_essential_take(domain[to].essential, from, data), NBC_OK);
    }
    gpunb_essential_get_counts(domain[to].essential, &counts);
    print_message("close %d, ", (int)counts.close);
    return tops + (double)(counts.whole + counts.bodies);
}

static void check_sizes(int side, size_t n)
{
    static struct domain domain[MOST_DOMAINS];
    const int domains = side * side * side, middle = side / 2, to = (middle * side + middle) * side + middle;
    double *mass = malloc(n * sizeof *mass);
    int32_t *self = malloc(n * sizeof *self);
    uint64_t seed = 3;
    assert_true(mass && self);
    for (size_t i = 0; i < n; i++) {
        mass[i] = 1;
        self[i] = (int32_t)i;
    }
    for (int p = 0; p < domains; p++) begin(&domain[p], p, side, n, mass, self, &seed);
    tell_all(domain, domains);
    const double size = size_of(domain, domains, to), model = size_of_model((double)n, domains);
    print_message("%d domains of %zu bodies: %.0f, model %.0f, ratio %.2f\n", domains, n, size, model, size / model);
    assert_true(fabs(size / model - 1) < 0.2);
    for (int p = 0; p < domains; p++) {
        gpunb_essential_free(domain[p].essential);
        gpunb_free(domain[p].handle);
        free(domain[p].x);
        free(domain[p].acc);
    }
    free(mass);
    free(self);
}

static void sizes_are_those_of_the_model(void **state)
{
    (void)state;
    for (size_t n = 1 << 12; n <= 1 << 15; n *= 2) check_sizes(4, n);
    check_sizes(10, 1 << 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_those_of_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
