/* Nominal costs of forces by tree: rows as text, what follows from them, and how they are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "gpunb/backend.h"
#include "gpunb/tree.h"
#include "gpunb/tree/lengths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gpunb_t *open_tree(size_t n, const struct gpunb_options *options)
{
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    if (gpunb_create(&h, n, options, &err)) fail_msg("%s", err.text);
    return h;
}

/* Every row comes back from its text, number by number. */
static void rows_as_text(void **state)
{
    (void)state;
    const char *name;
    for (int k = 0; (name = gpunb_backend_name(k)); k++) {
        struct gpunb_tree_costs row, read;
        struct nbc_error err = {0};
        char text[GPUNB_TREE_COSTS_TEXT], again[GPUNB_TREE_COSTS_TEXT];
        gpunb_tree_costs_row(name, &row);
        assert_string_equal(row.backend, name);
        row.pair *= 1 + 1e-15; /* as many digits as there may be */
        gpunb_tree_costs_print(&row, text);
        assert_true(strlen(text) + 1 < sizeof text);
        assert_int_equal(gpunb_tree_costs_read(text, "a text", &read, &err), NBC_OK);
        gpunb_tree_costs_print(&read, again);
        assert_string_equal(text, again);
        assert_true(read.pair == row.pair && read.local[7] == row.local[7] && read.field == row.field);
        assert_string_equal(read.processor, row.processor);
    }
}

/* A text of the greatest length there may be has room. */
static void longest_text(void **state)
{
    (void)state;
    struct gpunb_tree_costs row;
    char text[GPUNB_TREE_COSTS_TEXT];
    gpunb_tree_costs_row("ref", &row);
#define ONE(name) row.name = 1.2345678901234567e-300;
#define EACH(name)                                                                                                     \
    for (int k = 0; k < GPUNB_MOST_ORDER; k++) row.name[k] = 1.2345678901234567e-300;
    GPUNB_TREE_COSTS(ONE, EACH)
#undef ONE
#undef EACH
    memset(row.machine, 'm', sizeof row.machine - 1);
    memset(row.processor, 'p', sizeof row.processor - 1);
    row.machine[sizeof row.machine - 1] = row.processor[sizeof row.processor - 1] = '\0';
    gpunb_tree_costs_print(&row, text);
    struct nbc_error err = {0};
    if (gpunb_tree_costs_read(text, "a text", &row, &err)) fail_msg("%s", err.text);
}

/* Costs of a handle are those of its options, of its backend alone. */
static void costs_of_a_handle(void **state)
{
    (void)state;
    struct gpunb_tree_costs row;
    struct nbc_error err = {0};
    char text[GPUNB_TREE_COSTS_TEXT], used[GPUNB_TREE_COSTS_TEXT], words[GPUNB_TREE_MACHINE];
    struct gpunb_options options = {.backend = "portable", .force_error = 1e-3, .costs = text};
    gpunb_t *h = NULL;
    gpunb_tree_costs_row("portable", &row);
    row.pair = 1e6;
    snprintf(row.machine, sizeof row.machine, "slow one");
    gpunb_tree_costs_print(&row, text);
    h = open_tree(1000, &options);
    assert_true(gpunb_tree_is_worth(h, 1000, 1000)); /* else for many more */
    gpunb_tree_costs_in_use(h, used);
    assert_string_equal(used, text);
    gpunb_tree_describe_costs(h, words);
    assert_string_equal(words, "those given, of slow one");
    gpunb_free(h);
    h = NULL;
    options.backend = "ref";
    assert_int_equal(gpunb_create(&h, 1000, &options, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "the costs are those of backend 'portable', this one is 'ref'"));
    options.costs = "backend ref\nmachine\n";
    assert_int_equal(gpunb_create(&h, 1000, &options, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "gpunb_create: costs, line 2: the file ends without processor"));
    assert_null(h);
}

/* Handles of any size have the same order, leaf and group, and those that are asked for. */
static void sizes_do_not_depend_on_room(void **state)
{
    (void)state;
    struct gpunb_options options = {.backend = "portable", .force_error = 1e-4}, one, other;
    gpunb_t *h = open_tree(1, &options), *large = open_tree(100000, &options);
    gpunb_tree_settings(h, &one);
    gpunb_tree_settings(large, &other);
    assert_true(one.order == other.order && one.leaf == other.leaf && one.group == other.group);
    assert_true(one.order >= 1 && one.order <= GPUNB_MOST_ORDER);
    gpunb_free(h);
    gpunb_free(large);
    options.order = 7;
    options.group = 33;
    h = open_tree(1, &options);
    gpunb_tree_settings(h, &one);
    assert_true(one.order == 7 && one.group == 33 && one.leaf > 0);
    gpunb_free(h);
}

/* The order that is taken rises as the aim falls, and nothing that is allowed is predicted to be cheaper. */
static void the_cheapest_is_taken(void **state)
{
    (void)state;
    static const char *const backends[] = {"avx512", "avx2", "portable", "cuda"};
    for (size_t b = 0; b < sizeof backends / sizeof backends[0]; b++) {
        struct gpunb_tree_costs row;
        int last = 1;
        gpunb_tree_costs_row(backends[b], &row);
        for (double aim = 1e-2; aim > 9e-7; aim /= 10) {
            struct gpunb_tree_sizes sizes = {0};
            const size_t n = 1 << 18; /* those of the choice */
            gpunb_tree_choose(&row, aim, &sizes);
            assert_true(sizes.order >= last);
            last = sizes.order;
            const double least = gpunb_tree_cost(&row, &sizes, aim, n, n);
            for (int order = 1; order <= GPUNB_MOST_ORDER; order++) {
                struct gpunb_tree_sizes of_order = {.order = order};
                gpunb_tree_choose(&row, aim, &of_order);
                assert_int_equal(of_order.order, order);
                assert_true(gpunb_tree_cost(&row, &of_order, aim, n, n) >= least);
            }
        }
        assert_true(last > 2);
    }
}

/* Costs grow with targets, sources and accuracy; few targets have direct sums, many a tree. */
static void costs_grow(void **state)
{
    (void)state;
    struct gpunb_tree_costs row;
    const struct gpunb_tree_sizes sizes = {2, 32, 256};
    gpunb_tree_costs_row("avx512", &row);
    for (size_t n = 1024; n <= (size_t)1 << 26; n *= 2) {
        const double all = gpunb_tree_cost(&row, &sizes, 1e-3, n, n);
        assert_true(isfinite(all) && all > 0);
        assert_true(all < gpunb_tree_cost(&row, &sizes, 1e-4, n, n));
        assert_true(all > gpunb_tree_cost(&row, &sizes, 1e-3, n / 4, n));
        assert_true(all < gpunb_tree_cost(&row, &sizes, 1e-3, 2 * n, 2 * n));
        assert_true(gpunb_tree_cost(&row, &sizes, 1e-3, 1, n) > gpunb_direct_cost(&row, 1, n));
    }
    assert_true(gpunb_tree_cost(&row, &sizes, 1e-3, 1 << 20, 1 << 20) < gpunb_direct_cost(&row, 1 << 20, 1 << 20) / 20);
    assert_true(isfinite(gpunb_tree_cost(&row, &sizes, 1e-3, 0, 0)) &&
                isfinite(gpunb_tree_cost(&row, &sizes, 1, 1, 1)));
}

static double uniform(void)
{
    static uint64_t number = 1;
    number = number * 6364136223846793005u + 1442695040888963407u;
    return ((double)(number >> 11) + 0.5) * 0x1p-53;
}

/* A Plummer model, as the fit had: lists of a tree are as long as predicted, to the factor that one model differs by
 * from the mean of those of the fit, of which 19 of 20 are within 0.2. */
static void lists_are_as_predicted(void **state)
{
    (void)state;
    enum { N = 16384 };
    static double mass[N], x[N][3], acc[N][3];
    struct gpunb_options options = {
        .force_error = 1e-3, .order = 2, .leaf = 32, .group = 256, .walk = GPUNB_WALK_HYBRID};
    struct gpunb_tree_counts first, c;
    for (int i = 0; i < N; i++) {
        double r;
        do r = 1 / sqrt(pow(uniform(), -2.0 / 3) - 1);
        while (r > 25);
        const double z = 2 * uniform() - 1, s = sqrt(1 - z * z), phi = 6.283185307179586 * uniform();
        mass[i] = 1.0 / N;
        x[i][0] = 0.589 * r * s * cos(phi);
        x[i][1] = 0.589 * r * s * sin(phi);
        x[i][2] = 0.589 * r * z;
    }
    gpunb_t *h = open_tree(N, &options);
    struct gpunb_softened_job job = {.n_i = N, .x = (const double(*)[3])x, .softening = 0.02, .acc = acc};
    assert_int_equal(gpunb_send_positions(h, N, mass, (const double(*)[3])x), NBC_OK);
    assert_int_equal(gpunb_softened(h, &job), NBC_OK);
    gpunb_tree_get_counts(h, &first);
    job.acc_last = (const double(*)[3])acc;
    assert_int_equal(gpunb_softened(h, &job), NBC_OK);
    gpunb_tree_get_counts(h, &c);
    const int on_device = !strcmp(gpunb_info(h)->name, "cuda");
    const struct gpunb_tree_sizes sizes = {2, 32, on_device ? 64 : 256};
    const struct tree_lengths of = tree_lengths_of(&sizes, 1e-3, N, N, on_device);
    const double bodies = (double)(c.pair_terms - first.pair_terms) / N,
                 cells = (double)(c.cell_terms - first.cell_terms) / N;
    assert_true(fabs(log((of.bodies + 4 * of.cells) / (bodies + 4 * cells))) < 0.3);
    gpunb_free(h);
}

static void names_of_machines(void **state)
{
    (void)state;
    struct gpunb_tree_costs row;
    char text[GPUNB_TREE_MACHINE];
    gpunb_tree_costs_row("cuda", &row);
    gpunb_tree_describe_row(&row, 0, "device 0 (NVIDIA H200)", text);
    assert_string_equal(text, "cuda, NVIDIA H200");
    gpunb_tree_describe_row(&row, 0, "device 0 (NVIDIA A100)", text);
    assert_string_equal(text,
                        "cuda, NVIDIA H200, the nearest to device 0 (NVIDIA A100); bench/tune_tree finds those of this "
                        "machine");
    gpunb_tree_describe_row(&row, 0, "", text);
    assert_non_null(strstr(text, "the nearest to this machine"));
    gpunb_tree_describe_row(&row, 1, "device 0 (NVIDIA A100)", text);
    assert_string_equal(text, "those given, of NVIDIA H200");
    gpunb_t *direct = open_tree(10, NULL);
    gpunb_tree_describe_costs(direct, text);
    assert_string_equal(text, "");
    gpunb_free(direct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_as_text),           cmocka_unit_test(longest_text),
        cmocka_unit_test(costs_of_a_handle),      cmocka_unit_test(sizes_do_not_depend_on_room),
        cmocka_unit_test(the_cheapest_is_taken),  cmocka_unit_test(costs_grow),
        cmocka_unit_test(lists_are_as_predicted), cmocka_unit_test(names_of_machines),
    };
    return cmocka_run_group_tests_name("tree_costs", tests, NULL, NULL);
}
