/* Sizes of essential trees against the model of Iwasawa et al. 2020, PASJ 72, 13, equations 42 and 43: interior ones of
 * 64 and of 1000 cubic domains of a homogeneous cube, masses at their centres, one angle; how many domains send them,
 * and their bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpunb/tree/essential.h"

/* Their angle is that of a cell's side at its distance, in trees whose leaves are cut further; ours that of the radius
 * of its bodies at the nearest place of a box, and leaves of 8 are sent as bodies: one factor, fitted to the sizes
 * below. A cube of side 1 has a radius of 0.87, which alone is a factor of 1.15. */
static const double THETA = 0.5, FACTOR = 1.35;

/* Eq. 42 but for its last term, the tops of all domains that are not close, */
static double sent_of_model(double n, double domains)
{
    const double t = FACTOR * THETA;
    return 14 * cbrt(n * n) / t + 21 * M_PI * cbrt(n) / (t * t) +
           28 * M_PI / (3 * t * t * t) * log2(t / 2.8 * (cbrt(n * domains) - cbrt(n)));
}

/* and these, by eq. 43. */
static double tops_of_model(double domains)
{
    const double near = 1 / (FACTOR * THETA) + 1;
    return fmax(domains - 6 * near - 3 * M_PI * near * near - 4 * M_PI / 3 * near * near * near, 0);
}

/* Domains that one is close to: cubes whose radius, over the angle, reaches it from their centres. Eq. 43 is the volume
 * in which they are, for small angles. */
static int close_to(int side, int middle)
{
    int close = 0;
    for (int x = -middle; x < side - middle; x++)
        for (int y = -middle; y < side - middle; y++)
            for (int z = -middle; z < side - middle; z++) {
                const double away[3] = {fmax(abs(x) - 0.5, 0), fmax(abs(y) - 0.5, 0), fmax(abs(z) - 0.5, 0)};
                const double d2 = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
                close += d2 > 0 && d2 < 0.75 / (THETA * THETA);
            }
    return close;
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

/* Domains of one cube, of as many bodies each, of which one at a time is there beside the one that gets trees. */
struct cube {
    int side, domains, to;
    size_t n;
    double *mass;
    int32_t *self;
    char *top; /* [domains] */
    size_t top_bytes;
    struct gpunb_essential_reach *reach; /* [domains] those of the others are not needed */
};

static void begin(const struct cube *c, struct domain *d, int own)
{
    const struct gpunb_options options = {
        .backend = "portable", .theta = THETA, .order = 1, .leaf = 8, .group = 256, .walk = GPUNB_WALK_GROUPS};
    uint64_t seed = 3 + (uint64_t)own;
    d->x = malloc(c->n * sizeof *d->x);
    d->acc = malloc(c->n * sizeof *d->acc);
    assert_true(d->x && d->acc);
    for (size_t i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++) d->x[i][k] = (place_along(own, c->side, k) + uniform(&seed)) / c->side;
    d->job = (struct gpunb_softened_job){
        .n_i = c->n, .x = (const double(*)[3])d->x, .self = c->self, .softening = 1e-6, .acc = d->acc};
    assert_int_equal(gpunb_create(&d->handle, c->n, &options, NULL), NBC_OK);
    assert_int_equal(gpunb_essential_open(&d->essential, d->handle, c->domains, own), NBC_OK);
    assert_int_equal(gpunb_send_positions(d->handle, c->n, c->mass, (const double(*)[3])d->x), NBC_OK);
    assert_int_equal(gpunb_essential_begin(d->essential, &d->job), NBC_OK);
}

static void end(struct domain *d)
{
    gpunb_essential_free(d->essential);
    gpunb_free(d->handle);
    free(d->x);
    free(d->acc);
}

static struct cube make_cube(int side, size_t n)
{
    const int domains = side * side * side, middle = side / 2;
    struct cube c = {.side = side,
                     .domains = domains,
                     .to = (middle * side + middle) * side + middle,
                     .n = n,
                     .mass = malloc(n * sizeof *c.mass),
                     .self = malloc(n * sizeof *c.self),
                     .reach = calloc((size_t)domains, sizeof *c.reach)};
    assert_true(c.mass && c.self && c.reach);
    for (size_t i = 0; i < n; i++) {
        c.mass[i] = 1;
        c.self[i] = (int32_t)i;
    }
    return c;
}

static void find_tops(struct cube *c)
{
    for (int p = 0; p < c->domains; p++) {
        struct domain d;
        begin(c, &d, p);
        c->top_bytes = gpunb_essential_top_bytes(d.essential);
        if (!c->top) c->top = malloc((size_t)c->domains * c->top_bytes);
        assert_non_null(c->top);
        gpunb_essential_top(d.essential, c->top + (size_t)p * c->top_bytes);
        end(&d);
    }
}

/* Items that the domain in the middle gets: cells that act as a whole, and bodies; of them those that essential trees
 * have; bytes, in all and of items without headings and shapes; and the trees. */
struct size {
    double all, sent, bytes, of_items;
    int close;
};

static struct size find_size(struct cube *c)
{
    struct domain to;
    struct gpunb_essential_counts counts;
    struct size size = {0};
    begin(c, &to, c->to);
    gpunb_essential_take_tops(to.essential, c->top);
    gpunb_essential_reach(to.essential, &c->reach[c->to]);
    gpunb_essential_take_reaches(to.essential, c->reach);
    for (int from = 0; from < c->domains; from++) {
        struct domain d;
        const void *data;
        size_t bytes;
        size.all += from != c->to && !gpunb_essential_is_sent(to.essential, from, c->to);
        if (!gpunb_essential_is_sent(to.essential, from, c->to)) continue;
        begin(c, &d, from);
        gpunb_essential_take_tops(d.essential, c->top);
        gpunb_essential_take_reaches(d.essential, c->reach);
        assert_int_equal(gpunb_essential_export(d.essential, c->to, gpunb_essential_boxes(to.essential), &data, &bytes),
                         NBC_OK);
        assert_int_equal(gpunb_essential_take(to.essential, from, data), NBC_OK);
        size.bytes += (double)bytes;
        end(&d);
    }
    gpunb_essential_get_counts(to.essential, &counts);
    end(&to);
    size.close = (int)counts.close;
    size.sent = (double)(counts.whole + counts.bodies);
    size.all += size.sent;
    size.of_items = (double)(counts.whole * c->top_bytes + counts.bodies * sizeof(double[4]));
    return size;
}

/* Items: 0.89 to 0.94 of the model, for which they are continuous. Its bytes are those of its items, of which as many
 * are cells as there are; what else is in a message adds 6 percent. */
static void check_sizes(int side, size_t n)
{
    struct cube c = make_cube(side, n);
    find_tops(&c);
    const struct size size = find_size(&c);
    const double sent = sent_of_model((double)n, c.domains), all = sent + tops_of_model(c.domains);
    const double bytes = sent * size.of_items / size.sent;
    print_message(
        "%d domains of %zu bodies: %d trees, %.0f items, model %.0f, ratio %.2f, %.0f bytes, model %.0f, %.2f\n",
        c.domains, n, size.close, size.all, all, size.all / all, size.bytes, bytes, size.bytes / bytes);
    assert_int_equal(size.close, close_to(side, side / 2));
    assert_true(fabs(size.all / all - 1) < 0.15);
    assert_true(fabs(size.bytes / bytes - 1) < 0.1);
    free(c.mass);
    free(c.self);
    free(c.top);
    free(c.reach);
}

static void sizes_are_those_of_the_model(void **state)
{
    (void)state;
    for (size_t n = 1 << 12; n <= 1 << 15; n *= 2) check_sizes(4, n);
    for (size_t n = 1 << 12; n <= 1 << 15; n *= 2) check_sizes(10, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_those_of_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
