/* Expansions of the orders 1 to 15 in double (bench/orders/): errors of each kind of term fall with the distance as the
 * order says, those of walks fall with the order; both bases have the same terms; moves of expansions are exact. */
#include "bench/orders/orders.h"
#include "common/nbc.h"
#include "tests/support/test_size.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* In a ball about the origin, the first one on its surface. */
static void in_ball(int n, double radius, double (*x)[3])
{
    for (int i = 0; i < n;) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            x[i][k] = 2 * uniform() - 1;
            r2 += x[i][k] * x[i][k];
        }
        if (r2 > 1) continue;
        const double scale = i == 0 ? radius / sqrt(r2) : radius;
        for (int k = 0; k < 3; k++) x[i][k] *= scale;
        i++;
    }
}

/* ---- terms */

enum { BODIES = 6, SCENES = 40 };

struct scene {
    double mass[BODIES], s[BODIES][3], y[BODIES][3], apart[3]; /* apart: the centre of y seen from that of s */
};

static void make_scene(double distance, struct scene *c)
{
    double direction[1][3];
    for (int i = 0; i < BODIES; i++) c->mass[i] = 0.5 + uniform();
    in_ball(BODIES, 1, c->s);
    in_ball(BODIES, 1, c->y);
    in_ball(1, distance, direction);
    memcpy(c->apart, direction[0], sizeof c->apart);
}

/* Fields at y by terms of one kind. */
static void make_field(const struct orders_kernel *k, enum orders_kind kind, const struct scene *c, double (*field)[4])
{
    double moment[ORDERS_MOST_LENGTH] = {0}, local[ORDERS_MOST_LENGTH] = {0}, d[3];
    for (int j = 0; j < BODIES; j++) k->basis->add_body(k, c->mass[j], c->s[j], moment);
    if (kind == ORDERS_CELL_CELL) k->basis->cell_on_cell(k, moment, c->apart, local);
    for (int j = 0; j < BODIES && kind == ORDERS_BODY_CELL; j++) {
        for (int x = 0; x < 3; x++) d[x] = c->apart[x] - c->s[j][x];
        k->basis->body_on_cell(k, c->mass[j], d, local);
    }
    memset(field, 0, BODIES * sizeof *field);
    for (int i = 0; i < BODIES; i++) {
        for (int x = 0; x < 3; x++) d[x] = c->apart[x] + c->y[i][x];
        if (kind == ORDERS_CELL_BODY)
            k->basis->cell_on_body(k, moment, d, field[i]);
        else
            k->basis->local_on_body(k, local, c->y[i], field[i]);
    }
}

/* Mean squares of relative errors of potential and acceleration, added to. */
static void add_errors(const struct scene *c, double softening2, double (*field)[4], double error[2])
{
    for (int i = 0; i < BODIES; i++) {
        double at[3], exact[4] = {0}, sum = 0, of_exact = 0;
        for (int x = 0; x < 3; x++) at[x] = c->apart[x] + c->y[i][x];
        orders_direct(BODIES, c->mass, c->s, softening2, at, -1, exact);
        for (int x = 0; x < 3; x++) {
            sum += (field[i][x] - exact[x]) * (field[i][x] - exact[x]);
            of_exact += exact[x] * exact[x];
        }
        error[0] += (field[i][3] / exact[3] - 1) * (field[i][3] / exact[3] - 1) / BODIES;
        error[1] += sum / of_exact / BODIES;
    }
}

static void errors_at(const struct orders_basis *basis, int order, double softening, enum orders_kind kind, double r,
                      double error[2])
{
    struct orders_kernel k;
    double field[BODIES][4];
    orders_kernel_init(&k, basis, order, softening);
    random_state = 12345;
    error[0] = error[1] = 0;
    for (int n = 0; n < SCENES; n++) {
        struct scene c;
        make_scene(sqrt(r * r - k.softening2), &c);
        if (kind == ORDERS_CELL_BODY) memset(c.y, 0, sizeof c.y); /* bodies at the distance itself */
        if (kind == ORDERS_BODY_CELL) memset(c.s, 0, sizeof c.s);
        make_field(&k, kind, &c, field);
        add_errors(&c, k.softening2, field, error);
    }
    for (int e = 0; e < 2; e++) error[e] = sqrt(error[e] / SCENES);
}

/* Errors fall as a power of sizes over the distance, softening included, of which it is a part here: the order + 1, for
 * accelerations of expansions about targets the order. Sizes over the farther distance are a sixtieth, or for high
 * orders what leaves 1e-11 of the potential, ten thousand times its rounding. The squares of the next rank, up to a
 * twentieth of those of the first one at the farther place and a tenth at the nearer one (order 15), make the exponent
 * larger by ln(1.05)/ln(1.5)/2 = 0.06. */
static void assert_order(const struct orders_basis *basis, int order, double softened, enum orders_kind kind)
{
    const double ratio = 1.5, sizes = kind == ORDERS_CELL_CELL ? 2 : 1,
                 r = sizes * fmin(60, pow(10, 11.0 / (order + 1)));
    double near[2], far[2];
    errors_at(basis, order, softened * r / ratio, kind, r / ratio, near);
    errors_at(basis, order, softened * r, kind, r, far);
    for (int e = 0; e < 2; e++) {
        const double exponent = log(near[e] / far[e]) / log(ratio),
                     expected = order + (e == 0 || kind == ORDERS_CELL_BODY ? 1 : 0);
        print_message("%s, order %d, softening %g, %s, %s: %.1e, exponent %.2f\n", basis->name, order, softened,
                      orders_kind_names[kind], e == 0 ? "potential" : "acceleration", far[e], exponent);
        if (!(fabs(exponent - expected) < 0.15)) fail_msg("exponent %.2f, not %.0f", exponent, expected);
    }
}

static void test_terms_have_their_order(void **state)
{
    (void)state;
    for (int order = 1; order <= ORDERS_MOST; order += test_size(1, 7))
        for (int kind = 0; kind < ORDERS_BODY_BODY; kind++) {
            assert_order(&orders_harmonics, order, 0, (enum orders_kind)kind);
            assert_order(&orders_tensors, order, 0, (enum orders_kind)kind);
            assert_order(&orders_tensors, order, 0.5, (enum orders_kind)kind);
        }
}

/* The terms are the same sums in another order. Of up to 816 numbers of up to 2^15 times the field, each rounded to
 * 1e-16: some 1e-13 of it, if they add up at random. */
static void test_bases_have_the_same_terms(void **state)
{
    (void)state;
    struct orders_kernel tensors, harmonics;
    random_state = 777;
    for (int order = 1; order <= ORDERS_MOST; order++)
        for (int kind = 0; kind < ORDERS_BODY_BODY; kind++) {
            struct scene c;
            double one[BODIES][4], other[BODIES][4];
            orders_kernel_init(&tensors, &orders_tensors, order, 0);
            orders_kernel_init(&harmonics, &orders_harmonics, order, 0);
            make_scene(4, &c);
            if (order % 3 == 0) { /* on the axis, where there is no azimuth */
                c.apart[0] = c.apart[1] = 0;
                c.apart[2] = order % 2 ? 4 : -4;
            }
            make_field(&tensors, (enum orders_kind)kind, &c, one);
            make_field(&harmonics, (enum orders_kind)kind, &c, other);
            for (int i = 0; i < BODIES; i++)
                for (int x = 0; x < 4; x++)
                    if (!(fabs(one[i][x] - other[i][x]) < 1e-13 * fabs(one[i][3])))
                        fail_msg("order %d, %s: %.17g and %.17g", order, orders_kind_names[kind], one[i][x],
                                 other[i][x]);
        }
}

/* ---- moves */

static void assert_moves(const struct orders_kernel *k)
{
    const int length = k->basis->length(k->order);
    const double d[3] = {0.3, -0.2, 0.6}, nowhere[3] = {0}, far[3] = {2, -3, 1};
    double moment[ORDERS_MOST_LENGTH] = {0}, moved[ORDERS_MOST_LENGTH] = {0}, expected[ORDERS_MOST_LENGTH] = {0};
    double local[ORDERS_MOST_LENGTH] = {0}, shifted[ORDERS_MOST_LENGTH] = {0}, s[BODIES][3];
    in_ball(BODIES, 1, s);
    for (int j = 0; j < BODIES; j++) {
        const double t[3] = {s[j][0] + d[0], s[j][1] + d[1], s[j][2] + d[2]};
        k->basis->add_body(k, 1, s[j], moment);
        k->basis->add_body(k, 1, t, expected);
    }
    k->basis->move_moments(k, moment, d, moved);
    k->basis->move_moments(k, moment, nowhere, moved);
    /* Numbers of all ranks are sums of products of coordinates below 2 over factorials, below 10. */
    for (int a = 0; a < length; a++) assert_true(fabs(moved[a] - moment[a] - expected[a]) < 1e-13);
    k->basis->body_on_cell(k, 1, far, local);
    k->basis->move_local(k, local, d, shifted);
    for (int j = 0; j < BODIES; j++) {
        const double t[3] = {s[j][0] + d[0], s[j][1] + d[1], s[j][2] + d[2]};
        double one[4] = {0}, other[4] = {0};
        k->basis->local_on_body(k, local, t, one);
        k->basis->local_on_body(k, shifted, s[j], other);
        for (int x = 0; x < 4; x++) assert_true(fabs(one[x] - other[x]) < 1e-13);
    }
}

static void test_moves_are_exact(void **state)
{
    (void)state;
    struct orders_kernel k;
    random_state = 4242;
    for (int order = 1; order <= ORDERS_MOST; order++) {
        orders_kernel_init(&k, &orders_tensors, order, 0.1);
        assert_moves(&k);
        orders_kernel_init(&k, &orders_harmonics, order, 0);
        assert_moves(&k);
    }
}

/* ---- walks */

enum { CUBE, CLUSTER };
static const double THETA = 0.5;

struct bodies {
    size_t n;
    double *mass, (*x)[3], (*field)[4], (*exact)[4];
};

static void make_bodies(int set, size_t n, double softening, struct bodies *b)
{
    *b = (struct bodies){.n = n,
                         .mass = calloc(n, sizeof *b->mass),
                         .x = calloc(n, sizeof *b->x),
                         .field = calloc(n, sizeof *b->field),
                         .exact = calloc(n, sizeof *b->exact)};
    assert_true(b->mass && b->x && b->field && b->exact);
    random_state = 99;
    for (size_t i = 0; i < n; i++) {
        b->mass[i] = 1 / (double)n;
        if (set == CUBE)
            for (int k = 0; k < 3; k++) b->x[i][k] = uniform();
        else
            in_ball(1, 1 / sqrt(pow(1e-3 + uniform(), -2.0 / 3) - 0.998), &b->x[i]); /* a Plummer model, cut */
    }
    for (size_t i = 0; i < n; i++)
        orders_direct(n, b->mass, (const double(*)[3])b->x, softening * softening, b->x[i], (ptrdiff_t)i, b->exact[i]);
}

static void free_bodies(struct bodies *b)
{
    free(b->mass);
    free(b->x);
    free(b->field);
    free(b->exact);
}

/* Costs at which all kinds are the cheapest for some pairs of cells: by their work, so few bodies are summed directly.
 */
static const double test_costs[ORDERS_KINDS] = {4, 1, 1, 1};

/* Roots of mean squares of the errors of potential and acceleration over those of direct sums. */
static void walk_errors(const struct bodies *b, const struct orders_kernel *k, enum orders_walk walk, double error[2],
                        struct orders_counts *counts)
{
    struct orders_job job = {.kernel = k,
                             .walk = walk,
                             .theta = THETA,
                             .leaf = 4,
                             .n = b->n,
                             .mass = b->mass,
                             .x = (const double(*)[3])b->x,
                             .field = b->field};
    double sum[2] = {0}, of_exact[2] = {0};
    memcpy(job.cost, test_costs, sizeof job.cost);
    assert_int_equal(orders_force(&job, counts), NBC_OK);
    for (size_t i = 0; i < b->n; i++)
        for (int x = 0; x < 4; x++) {
            const double d = b->field[i][x] - b->exact[i][x];
            sum[x < 3] += d * d;
            of_exact[x < 3] += b->exact[i][x] * b->exact[i][x];
        }
    for (int e = 0; e < 2; e++) error[e] = sqrt(sum[e] / of_exact[e]);
}

/* Each walk has the kinds of terms that it claims, and no others. */
static void assert_kinds(enum orders_walk walk, const struct orders_counts *counts)
{
    assert_int_equal(counts->terms[ORDERS_CELL_CELL] > 0, walk != ORDERS_TREECODE);
    assert_int_equal(counts->terms[ORDERS_CELL_BODY] > 0, walk != ORDERS_FMM);
    assert_int_equal(counts->terms[ORDERS_BODY_CELL] > 0, walk == ORDERS_HYBRID);
    assert_true(counts->terms[ORDERS_BODY_BODY] > 0);
}

enum { N_ORDERS = 6 };
static const int walk_orders[N_ORDERS] = {1, 5, 9, 3, 12, ORDERS_MOST};

static void assert_walk(const struct bodies *b, const struct orders_basis *basis, double softening,
                        enum orders_walk walk)
{
    double x = 0, xx = 0, y[2] = {0}, xy[2] = {0}, orders = 0;
    for (int o = 0; o < test_size(N_ORDERS, 3); o++) {
        const int order = walk_orders[o];
        struct orders_kernel k;
        struct orders_counts counts;
        double error[2];
        orders_kernel_init(&k, basis, order, softening);
        walk_errors(b, &k, walk, error, &counts);
        assert_kinds(walk, &counts);
        orders += 1;
        x += order;
        xx += order * order;
        print_message("%s, %s, order %2d: %.2e %.2e; %.0f %.0f %.0f %.0f\n", basis->name, orders_walk_names[walk],
                      order, error[0], error[1], counts.terms[0], counts.terms[1], counts.terms[2], counts.terms[3]);
        for (int e = 0; e < 2; e++) {
            y[e] += log(error[e]);
            xy[e] += order * log(error[e]);
            /* No worse than the bound, by whose powers the largest errors fall. */
            assert_true(error[e] < pow(THETA, order + (e == 0)));
        }
        if (order == 5) { /* four digits and two, as Yokota & Barba 2012 have them with this angle */
            assert_true(error[0] < 1e-4);
            assert_true(error[1] < 1e-2);
        }
    }
    for (int e = 0; e < 2; e++) {
        const double factor = exp((orders * xy[e] - x * y[e]) / (orders * xx - x * x));
        print_message("a factor of %.3f an order\n", factor);
        assert_true(factor < THETA);
    }
}

static void test_walks_converge(void **state)
{
    (void)state;
    struct bodies b;
    make_bodies(CUBE, (size_t)test_size(500, 200), 0, &b);
    for (int walk = 0; walk < ORDERS_WALKS; walk++) assert_walk(&b, &orders_harmonics, 0, (enum orders_walk)walk);
    free_bodies(&b);
}

static void test_softened_walks_converge(void **state)
{
    (void)state;
    struct bodies b;
    const double softening = 0.1;
    make_bodies(CLUSTER, (size_t)test_size(300, 150), softening, &b);
    for (int walk = 0; walk < ORDERS_WALKS; walk++) assert_walk(&b, &orders_tensors, softening, (enum orders_walk)walk);
    free_bodies(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_have_their_order),  cmocka_unit_test(test_bases_have_the_same_terms),
        cmocka_unit_test(test_moves_are_exact),         cmocka_unit_test(test_walks_converge),
        cmocka_unit_test(test_softened_walks_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
