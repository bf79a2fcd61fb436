/* Bodies, handles and bounds for the tests of softened forces by a tree. */
#ifndef GPUNB_TREE_MODEL_H
#define GPUNB_TREE_MODEL_H

#include "common/hd.h"
#include "gpunb/tree.h"
#include "tests/conformance/gpunb_model.h"

/* Small leaves and groups, so that lists of a few thousand bodies have cells, and groups share cells. */
enum { LEAF = 16, GROUP = 32 };

/* ---- bodies */

enum scene {
    SPHERE,     /* a Plummer sphere of scale 0.6 */
    FAR_AWAY,   /* the same, 10^4 from the origin */
    TWO,        /* two of them 2000 apart */
    DECADES,    /* masses over 12 decades */
    BOX,        /* a homogeneous cube */
    LINE,       /* all on the x axis */
    PLANE,      /* all in the plane z = 0 */
    STRAY,      /* one body at 10^10 */
    HEAP,       /* a tenth of the bodies in one point */
    DUST,       /* two thirds of the bodies have no mass */
    POINT,      /* all in one point, which no float holds */
    WEIGHTLESS, /* no body has mass */
    LATTICE,    /* cubes of bodies, whose multipoles of order 1, 2, 3, 5 and 7 vanish */
    N_SCENES
};
static const char *const scene_names[N_SCENES] = {"sphere", "far away",   "two",    "decades", "box",
                                                  "line",   "plane",      "stray",  "heap",    "dust",
                                                  "point",  "weightless", "lattice"};

static const double one_point[3] = {0.1, -0.2, 0.3};

static inline void place_body(enum scene scene, struct model *m, size_t i)
{
    double *x = m->x[i];
    if (scene == FAR_AWAY) x[0] += 1e4;
    if (scene == TWO) x[0] += i % 2 ? 2000 : 0;
    if (scene == DECADES) m->mass[i] *= pow(10, -12 * uniform());
    if (scene == BOX)
        for (int k = 0; k < 3; k++) x[k] = uniform();
    if (scene == LINE) x[1] = x[2] = 0;
    if (scene == PLANE) x[2] = 0;
    if (scene == STRAY && i == m->n / 2) x[1] = 1e10;
    const size_t at[3] = {i % 16, i / 16 % 16, i / 256};
    for (int k = 0; k < 3 && scene == LATTICE; k++) x[k] = (double)at[k];
    if (scene == POINT || (scene == HEAP && i % 10 == 3)) memcpy(x, one_point, sizeof one_point);
    if (scene == WEIGHTLESS || (scene == DUST && i % 3 != 0)) m->mass[i] = 0;
}

static inline struct model make_scene(enum scene scene, size_t n)
{
    struct model m = make_model(PLUMMER, n);
    for (size_t i = 0; i < n; i++) place_body(scene, &m, i);
    return m;
}

static inline const double (*positions(const struct model *m))[3]
{
    return (const double(*)[3])m->x;
}

/* ---- handles and forces */

static inline int try_tree(gpunb_t **h, size_t n, struct gpunb_options options, struct nbc_error *err)
{
    options.backend = backend;
    options.precision = precision;
    return gpunb_create(h, n, &options, err);
}

/* By groups where no walk is named: without one few bodies have direct sums. */
static inline gpunb_t *make_tree_handle(size_t n, struct gpunb_options options)
{
    if (options.walk == GPUNB_WALK_DEFAULT) options.walk = GPUNB_WALK_HYBRID;
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    if (try_tree(&h, n, options, &err) != NBC_OK) fail_msg("%s", err.text);
    return h;
}

static inline double least_error(void)
{
    gpunb_t *h = make_tree_handle(1, (struct gpunb_options){.theta = 0.5});
    const double least = gpunb_tree_least_error(h);
    gpunb_free(h);
    return least;
}

struct forces {
    size_t n_i;
    double (*acc)[3], *pot;
};

/* Arrays of NaN. */
static inline struct forces make_forces(size_t n_i)
{
    struct forces f = {n_i, get(n_i, 24), get(n_i, 8)};
    memset(f.acc, 0xff, n_i * 24);
    memset(f.pot, 0xff, n_i * 8);
    return f;
}

static inline void free_forces(struct forces *f)
{
    free(f->acc);
    free(f->pot);
}

static inline void assert_same_forces(const struct forces *a, const struct forces *b)
{
    assert_int_equal(a->n_i, b->n_i);
    assert_memory_equal(a->acc, b->acc, a->n_i * sizeof *a->acc);
    assert_memory_equal(a->pot, b->pot, a->n_i * sizeof *a->pot);
}

static inline void send_model(gpunb_t *h, const struct model *m)
{
    if (gpunb_send_positions(h, m->n, m->mass, positions(m)) != NBC_OK) fail_msg("%s", gpunb_last_error(h));
}

/* All bodies as targets. */
static inline struct gpunb_softened_job job_of(const struct model *m, double softening, const struct forces *f)
{
    return (struct gpunb_softened_job){
        .n_i = f->n_i, .x = positions(m), .self = m->self, .softening = softening, .acc = f->acc, .pot = f->pot};
}

static inline void make_force_of(gpunb_t *h, const struct gpunb_softened_job *job)
{
    if (gpunb_softened(h, job) != NBC_OK) fail_msg("%s", gpunb_last_error(h));
}

/* Options that most tests open a handle with. */
static const struct gpunb_options usual = {.force_error = 1e-3, .leaf = LEAF, .group = GROUP};

static inline gpunb_tree_t *build(gpunb_t *h)
{
    gpunb_tree_t *tree = NULL;
    if (gpunb_tree_build(h, &tree) != NBC_OK) fail_msg("%s", gpunb_last_error(h));
    return tree;
}

static inline void make_tree_force(gpunb_t *h, gpunb_tree_t *tree, const struct gpunb_softened_job *job)
{
    if (gpunb_tree_force(h, tree, job) != NBC_OK) fail_msg("%s", gpunb_last_error(h));
}

/* ---- sums to compare with */

struct exact {
    double acc[3], pot, size; /* size: the summed sizes of all terms of the acceleration */
};

/* Positions as the backend takes them. */
static inline double as_taken(double x)
{
    return precision == GPUNB_FLOAT ? (double)nbc_rounded(x) : x;
}

static inline struct exact exact_sum(const struct model *m, const double x[3], int32_t self, double softening)
{
    long double acc[3] = {0}, pot = 0, size = 0;
    for (size_t j = 0; j < m->n; j++) {
        long double d[3], r2 = 0;
        for (int k = 0; k < 3; k++) {
            d[k] = (long double)as_taken(m->x[j][k]) - as_taken(x[k]);
            r2 += d[k] * d[k];
        }
        const long double big2 = r2 + (long double)softening * softening, mr = m->mass[j] / sqrtl(big2);
        for (int k = 0; k < 3; k++) acc[k] += mr / big2 * d[k];
        size += mr / big2 * sqrtl(r2);
        if (self != (int32_t)j) pot += mr;
    }
    return (struct exact){{(double)acc[0], (double)acc[1], (double)acc[2]}, (double)-pot, (double)size};
}

/* Of n bodies as many as there is time for. */
static inline size_t some(size_t n)
{
    return few_sizes() ? n * 2 / 5 : n;
}

/* Sums of every `step`-th target: of all kinds, which change from body to body with periods of 2, 3, 5 and 10. */
struct sample {
    size_t n, step;
    struct exact *sum;
};

static inline struct sample sample_sums(const struct model *m, const double (*x)[3], const int32_t *self, size_t n_i,
                                        double softening)
{
    const size_t most = (size_t)test_seeds(few_sizes() ? 200 : 400, 1000);
    struct sample s = {.step = n_i > most ? n_i / most : 1};
    while (s.step % 2 == 0 || s.step % 3 == 0 || s.step % 5 == 0) s.step++;
    s.n = (n_i + s.step - 1) / s.step;
    s.sum = get(s.n, sizeof *s.sum);
#pragma omp parallel for schedule(dynamic, 8)
    for (size_t k = 0; k < s.n; k++) s.sum[k] = exact_sum(m, x[k * s.step], self ? self[k * s.step] : -1, softening);
    return s;
}

/* ---- bounds */

struct errors {
    double acc_99, acc_most; /* relative to |a|; to the scale of tree.h */
    double pot_99, pot_most; /* relative to |pot| */
};

static inline int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static inline double distance_of(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return norm(d);
}

/* An error of 0 is 0 whatever it relates to; NaN, and any error of what is 0, is without bound. */
static inline double ratio(double error, double of)
{
    return error == 0 ? 0 : error > 0 && of > 0 ? error / of : INFINITY;
}

static inline struct errors errors_of(const struct sample *s, const struct forces *f)
{
    double *acc = get(s->n, 8), *pot = get(s->n, 8);
    struct errors e = {0};
    for (size_t k = 0; k < s->n; k++) {
        const struct exact *sum = &s->sum[k];
        const size_t i = k * s->step;
        const double error = distance_of(f->acc[i], sum->acc), size = norm(sum->acc);
        acc[k] = ratio(error, size);
        pot[k] = ratio(fabs(f->pot[i] - sum->pot), fabs(sum->pot));
        e.acc_most = fmax(e.acc_most, ratio(error, fmax(size, 0.01 * sum->size)));
        e.pot_most = fmax(e.pot_most, pot[k]);
    }
    qsort(acc, s->n, sizeof *acc, by_value);
    qsort(pot, s->n, sizeof *pot, by_value);
    if (s->n > 0) {
        e.acc_99 = acc[(s->n - 1) * 99 / 100];
        e.pot_99 = pot[(s->n - 1) * 99 / 100];
    }
    free(acc);
    free(pot);
    return e;
}

/* Misses of a test, which prints them all before it fails. */
static int misses;

static inline void assert_no_misses(void)
{
    const int missed = misses;
    misses = 0;
    assert_int_equal(missed, 0);
}

/* The promises of tree.h, where there are a hundred targets: 99 of 100 accelerations within the aim, and potentials
 * within a tenth of it or what sums of floats leave. None is above 20 times that, accelerations against the scale. */
static inline void check_within(const char *what, const struct sample *s, const struct forces *f, double aim)
{
    const struct errors e = errors_of(s, f);
    const double pot_aim = fmax(0.1 * aim, precision == GPUNB_DOUBLE ? 0 : 3e-7);
    const int are_99_within = e.acc_99 <= aim && e.pot_99 <= pot_aim;
    if ((are_99_within || s->n < 100) && e.acc_most <= 20 * aim && e.pot_most <= 20 * pot_aim) return;
    misses++;
    print_message("%s: aim %.2g: acc 99 percent %.2g, most %.2g of the scale; pot 99 percent %.2g, most %.2g\n", what,
                  aim, e.acc_99, e.acc_most, e.pot_99, e.pot_most);
}

static inline void check_model(const char *what, const struct model *m, const struct forces *f, double softening,
                               double aim)
{
    const struct sample s = sample_sums(m, positions(m), m->self, m->n, softening);
    check_within(what, &s, f, aim);
    free(s.sum);
}

#endif
