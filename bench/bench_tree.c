/* Softened forces by a tree: errors against sums in double, counts and seconds.
 *
 * Usage: bench_tree [name=value ...]
 *   - n=N (131072): bodies
 *   - set=NAME (plummer): plummer (within r = 15), far (the same, 10^4 away), steep (r^-4 with a core of 1e-3), king
 *     (W0 = 9), disc, two (2000 radii apart), masses (over 12 decades), cube, sphere, points (a tenth in one), line,
 * plane, outlier (one at 10^10)
 *   - soft=S (0.02): softening
 *   - error=E, theta=T: aim or angle; none: 4e-4
 *   - order=P, leaf=L, group=G, backend=NAME: as in struct gpunb_options
 *   - walk=W (auto): hybrid, groups, fmm, single, i, j, likewise
 *   - sample=M (1024): targets whose sum is made in double
 *   - repeat=R (3): forces of which the median time counts
 *   - last=0 (1): without the last accelerations: a force by angle comes first
 *   - memory=M (host): where bodies are: host, or device, of a backend that has them: then nothing is copied
 *   - reuse=K (0): instead of all this, bodies move by a leapfrog, and a tree serves K of its steps; steps=S (2 K),
 *     dt=T (1/256), speed=V (1): of the bodies at the start, in any direction, in units of (|a| r/2)^(1/2)
 *   - flops=F, bandwidth=B: the most operations and bytes a second of the machine; none: support/tree_work.h
 *
 * Prints a line: errors (50, 90, 99 percent, largest) relative to |a|, terms of a target, tests of a group,
 * milliseconds; and the floor of a force, the least time that its operations and bytes take, with the percentage of it
 * that was reached. With reuse=K a line for each age of the tree: milliseconds of build or renewal and of the force,
 * terms, tests, and pairs of a group and a cell that fail, as in nbody6/collisionless/rebuild.h, of those accepted at
 * age 0. */
#include "bench/support/arguments.h"
#include "bench/support/bodies.h"
#include "bench/support/resident.h"
#include "bench/support/tree_report.h"
#include "gpunb/tree_kept.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    size_t n, sample;
    const char *set, *walk, *backend, *memory;
    double softening, error, theta, dt, speed, flops, bandwidth;
    int order, leaf, group, repeat, last, reuse, steps;
};

static void stop(const char *why)
{
    fprintf(stderr, "bench_tree: %s\n", why);
    exit(2);
}

static void *get(size_t n, size_t size)
{
    void *p = nbc_alloc(n, size);
    if (!p) stop("no memory");
    return p;
}

static uint64_t random_state = BENCH_SEED;

static double plummer_radius(void)
{
    double r;
    do r = 3 * 3.141592653589793 / 16 / sqrt(pow(bench_uniform(&random_state), -2.0 / 3) - 1);
    while (r > 15);
    return r;
}

static void make_king(size_t n, double *mass, double (*x)[3])
{
    struct nb6_config config;
    struct nb6_model model = {0};
    struct nbc_error err = {0};
    nb6_config_init(&config);
    config.model.kind = NB6_MODEL_KING;
    config.model.king_w0 = 9;
    config.model.n = (int64_t)n;
    if (nb6_model_make(&config, &model, &err)) stop(err.text);
    memcpy(mass, model.mass, n * sizeof *mass);
    memcpy(x, model.x, n * sizeof *x);
    nb6_model_free(&model);
}

static void make_body(const char *set, size_t i, size_t n, double *mass, double x[3])
{
    *mass = 1 / (double)n;
    bench_on_sphere(&random_state, plummer_radius(), x);
    if (!strcmp(set, "far")) {
        x[0] += 1e4;
        x[1] -= 3e3;
    } else if (!strcmp(set, "steep")) {
        bench_on_sphere(&random_state, 1e-3 * (1 / bench_uniform(&random_state) - 0.999), x);
    } else if (!strcmp(set, "disc")) {
        const double r = -log(bench_uniform(&random_state) * bench_uniform(&random_state)),
                     phi = 6.283185307179586 * bench_uniform(&random_state);
        x[0] = r * cos(phi);
        x[1] = r * sin(phi);
        x[2] = 0.1 * atanh(2 * bench_uniform(&random_state) - 1);
    } else if (!strcmp(set, "two")) {
        x[0] += i % 2 ? 2000 : 0;
    } else if (!strcmp(set, "masses")) {
        *mass *= pow(10, -12 * bench_uniform(&random_state));
    } else if (!strcmp(set, "cube")) {
        for (int k = 0; k < 3; k++) x[k] = bench_uniform(&random_state);
    } else if (!strcmp(set, "sphere")) {
        bench_on_sphere(&random_state, cbrt(bench_uniform(&random_state)), x);
    } else if (!strcmp(set, "points")) {
        if (i % 10 == 0) x[0] = x[1] = x[2] = 0.25;
    } else if (!strcmp(set, "line")) {
        x[1] = x[2] = 0;
    } else if (!strcmp(set, "plane")) {
        x[2] = 0;
    } else if (!strcmp(set, "outlier")) {
        if (i == 0) x[1] = 1e10;
    } else if (strcmp(set, "plummer") != 0)
        stop("there is no such set");
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static double error_of(const struct settings *s, const double *mass, const double (*x)[3], size_t i,
                       const double acc[3])
{
    double sum[3] = {0}, d2 = 0, a2 = 0;
    for (size_t j = 0; j < s->n; j++) {
        double d[3], r2 = s->softening * s->softening;
        for (int k = 0; k < 3; k++) {
            d[k] = x[j][k] - x[i][k];
            r2 += d[k] * d[k];
        }
        const double w = mass[j] / (r2 * sqrt(r2));
        for (int k = 0; k < 3; k++) sum[k] += w * d[k];
    }
    for (int k = 0; k < 3; k++) {
        d2 += (acc[k] - sum[k]) * (acc[k] - sum[k]);
        a2 += sum[k] * sum[k];
    }
    return sqrt(d2 / a2);
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {.n = 131072,
                         .sample = 1024,
                         .set = "plummer",
                         .walk = "auto",
                         .memory = "host",
                         .softening = 0.02,
                         .dt = 1.0 / 256,
                         .speed = 1,
                         .repeat = 3,
                         .last = 1};
    const struct bench_argument known[] = {
        {.name = "n", .size = &s.n},
        {.name = "set", .text = &s.set},
        {.name = "soft", .real = &s.softening},
        {.name = "error", .real = &s.error},
        {.name = "theta", .real = &s.theta},
        {.name = "order", .whole = &s.order},
        {.name = "leaf", .whole = &s.leaf},
        {.name = "group", .whole = &s.group},
        {.name = "walk", .text = &s.walk},
        {.name = "backend", .text = &s.backend},
        {.name = "sample", .size = &s.sample},
        {.name = "repeat", .whole = &s.repeat},
        {.name = "memory", .text = &s.memory},
        {.name = "flops", .real = &s.flops},
        {.name = "bandwidth", .real = &s.bandwidth},
        {.name = "last", .whole = &s.last},
        {.name = "reuse", .whole = &s.reuse},
        {.name = "steps", .whole = &s.steps},
        {.name = "dt", .real = &s.dt},
        {.name = "speed", .real = &s.speed},
    };
    bench_read_arguments("bench_tree", argc, argv, known, sizeof known / sizeof known[0]);
    if (s.error == 0 && s.theta == 0) s.error = 4e-4;
    return s;
}

static enum gpunb_walk walk_of(const char *name)
{
    static const char *const names[] = {"auto", "groups", "single", "i", "j", "hybrid", "fmm"};
    for (int k = 0; k < 7; k++)
        if (!strcmp(name, names[k])) return (enum gpunb_walk)k;
    stop("there is no such walk");
    return GPUNB_WALK_DEFAULT;
}

/* ---- forces */

static void check(int status, const struct nbc_error *err)
{
    if (status) stop(err->text);
}

static struct resident settle(gpunb_t *h, size_t n, const double *mass, const struct gpunb_softened_job *job)
{
    struct resident r;
    struct nbc_error err = {0};
    check(resident_open(&r, h, n, mass, job, &err), &err);
    printf("%.0f bytes a body on the device\n", (double)r.job.work_bytes / (double)n);
    return r;
}

static double time_resident(struct resident *r, gpunb_t *h)
{
    struct nbc_error err = {0};
    double seconds;
    check(resident_force(r, h, &seconds, &err), &err);
    return seconds;
}

static double time_on_host(const struct settings *s, gpunb_t *h, const double *mass, const double (*x)[3],
                           const struct gpunb_softened_job *job)
{
    const double begin = nbc_wtime();
    if (gpunb_send_positions(h, s->n, mass, x) || gpunb_softened(h, job)) stop(gpunb_last_error(h));
    return nbc_wtime() - begin;
}

/* ---- trees that serve many steps */

/* Bodies on their way, and their tree. */
struct motion {
    const struct settings *s;
    gpunb_t *h;
    gpunb_tree_t *tree;
    double *mass, (*x)[3], (*v)[3], (*acc)[3];
    int32_t *self;
    struct resident resident; /* of memory=device */
    int is_resident;
};

/* Seconds and counts of forces by trees of one age. */
struct age {
    double tree_s, force_s;
    struct gpunb_tree_counts counts;
    int n;
};

static void start_motion(struct motion *m)
{
    m->v = get(m->s->n, 24);
    for (size_t i = 0; i < m->s->n; i++) {
        double r2 = 0, a2 = 0;
        for (int k = 0; k < 3; k++) {
            r2 += m->x[i][k] * m->x[i][k];
            a2 += m->acc[i][k] * m->acc[i][k];
        }
        bench_on_sphere(&random_state, m->s->speed * sqrt(sqrt(a2 * r2) / 2), m->v[i]);
    }
    if (!m->is_resident && gpunb_tree_create(m->h, &m->tree)) stop(gpunb_last_error(m->h));
    if (m->is_resident && gpunb_softened_device_tree(m->h, m->s->n, &m->tree)) stop(gpunb_last_error(m->h));
}

static void move(struct motion *m, double kick, double drift)
{
    for (size_t i = 0; i < m->s->n; i++)
        for (int k = 0; k < 3; k++) {
            m->v[i][k] += kick * m->acc[i][k];
            m->x[i][k] += drift * m->v[i][k];
        }
}

static void time_kept_on_host(struct motion *m, int is_new, struct age *age)
{
    const struct gpunb_softened_job job = {.n_i = m->s->n,
                                           .x = (const double(*)[3])m->x,
                                           .self = m->self,
                                           .softening = m->s->softening,
                                           .acc_last = (const double(*)[3])m->acc,
                                           .acc = m->acc};
    if (gpunb_send_positions(m->h, m->s->n, m->mass, (const double(*)[3])m->x)) stop(gpunb_last_error(m->h));
    const double begin = nbc_wtime();
    if (is_new ? gpunb_tree_rebuild(m->h, 0, m->tree) : gpunb_tree_renew(m->h, m->tree)) stop(gpunb_last_error(m->h));
    const double middle = nbc_wtime();
    if (gpunb_tree_force(m->h, m->tree, &job)) stop(gpunb_last_error(m->h));
    age->tree_s += middle - begin;
    age->force_s += nbc_wtime() - middle;
}

/* The tree alone, then both: the force is what is left. */
static void time_kept_resident(struct motion *m, int is_new, struct age *age)
{
    struct resident *r = &m->resident;
    struct nbc_error err = {0};
    void *x = (void *)(uintptr_t)r->job.x_j;
    r->job.kept = is_new ? GPUNB_TREE_BUILT : GPUNB_TREE_RENEWED;
    r->job.tree = m->tree;
    check(nbd_copy(&r->device, r->stream, x, m->x, m->s->n * sizeof *m->x, &err), &err);
    check(nbd_stream_wait(&r->device, r->stream, &err), &err);
    r->job.n_i = 0;
    const double tree_s = time_resident(r, m->h);
    r->job.n_i = m->s->n;
    age->tree_s += tree_s;
    age->force_s += time_resident(r, m->h) - tree_s;
    r->job.acc_last = (const double(*)[3])r->job.acc;
    check(nbd_copy(&r->device, r->stream, m->acc, r->job.acc, m->s->n * sizeof *m->acc, &err), &err);
    check(nbd_stream_wait(&r->device, r->stream, &err), &err);
}

static void print_age(const struct settings *s, int k, const struct age *age, const struct age *young)
{
    const struct gpunb_tree_counts *c = &age->counts, *of_young = &young->counts;
    const double accepted = (double)(of_young->listed_cells + of_young->local_terms) / young->n,
                 opened = (double)of_young->tests / young->n - accepted,
                 now = (double)(c->tests - c->listed_cells - c->local_terms) / age->n, targets = (double)s->n * age->n;
    printf("age %2d: %s %.3f ms, force %.3f ms; cells %.0f bodies %.0f a target, tests %.0f a group; failed %.1f%%\n",
           k, k ? "renewal" : "build", 1e3 * age->tree_s / age->n, 1e3 * age->force_s / age->n,
           (double)c->cell_terms / targets, (double)c->pair_terms / targets, (double)c->tests / (double)c->groups,
           100 * (now - opened) / accepted);
}

/* Counts since those before.   @param[in,out] sum */
static void add_since(struct gpunb_tree_counts *sum, gpunb_t *h, const struct gpunb_tree_counts *before)
{
    struct gpunb_tree_counts now;
    gpunb_tree_get_counts(h, &now);
    sum->tests += now.tests - before->tests;
    sum->groups += now.groups - before->groups;
    sum->listed_cells += now.listed_cells - before->listed_cells;
    sum->local_terms += now.local_terms - before->local_terms;
    sum->cell_terms += now.cell_terms - before->cell_terms;
    sum->pair_terms += now.pair_terms - before->pair_terms;
}

static void run_reuse(struct motion *m)
{
    const int reuse = m->s->reuse, steps = m->s->steps > 0 ? m->s->steps : 2 * reuse;
    struct age *age = get((size_t)reuse, sizeof *age);
    start_motion(m);
    move(m, m->s->dt / 2, m->s->dt);
    for (int step = 0; step < steps; step++) {
        struct age *a = &age[step % reuse];
        struct gpunb_tree_counts before;
        gpunb_tree_get_counts(m->h, &before);
        if (m->is_resident)
            time_kept_resident(m, step % reuse == 0, a);
        else
            time_kept_on_host(m, step % reuse == 0, a);
        add_since(&a->counts, m->h, &before);
        a->n++;
        move(m, m->s->dt, m->s->dt);
    }
    for (int k = 0; k < reuse && k < steps; k++) print_age(m->s, k, &age[k], &age[0]);
    gpunb_tree_free(m->tree);
}

int main(int argc, char **argv)
{
    const struct settings s = read_settings(argc, argv);
    const struct gpunb_options options = {.backend = s.backend,
                                          .force_error = s.error,
                                          .theta = s.theta,
                                          .order = s.order,
                                          .leaf = s.leaf,
                                          .group = s.group,
                                          .walk = walk_of(s.walk)};
    double *mass = get(s.n, 8), (*x)[3] = get(s.n, 24), (*acc)[3] = get(s.n, 24), seconds[64];
    int32_t *self = get(s.n, 4);
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    const int is_king = !strcmp(s.set, "king");
    if (is_king) make_king(s.n, mass, x);
    for (size_t i = 0; i < s.n; i++) {
        if (!is_king) make_body(s.set, i, s.n, &mass[i], x[i]);
        self[i] = (int32_t)i;
    }
    if (gpunb_create(&h, s.n, &options, &err)) stop(err.text);
    struct gpunb_softened_job job = {
        .n_i = s.n, .x = (const double(*)[3])x, .self = self, .softening = s.softening, .acc = acc};
    if (gpunb_send_positions(h, s.n, mass, (const double(*)[3])x) || gpunb_softened(h, &job)) stop(gpunb_last_error(h));
    if (s.last) job.acc_last = (const double(*)[3])acc;
    struct gpunb_tree_counts before, counts;
    gpunb_tree_get_counts(h, &before);
    const int repeat = s.repeat < 64 ? s.repeat : 64;
    const int is_resident = !strcmp(s.memory, "device");
    struct resident resident = {0};
    if (is_resident) resident = settle(h, s.n, mass, &job);
    if (s.reuse > 0) {
        struct motion m = {.s = &s, .h = h, .mass = mass, .x = x, .acc = acc, .self = self};
        m.resident = resident;
        m.is_resident = is_resident;
        run_reuse(&m);
        gpunb_free(h);
        return 0;
    }
    for (int r = 0; r < repeat; r++)
        seconds[r] = is_resident ? time_resident(&resident, h) : time_on_host(&s, h, mass, (const double(*)[3])x, &job);
    if (is_resident) check(resident_read(&resident, acc, &err), &err);
    gpunb_tree_get_counts(h, &counts);
    resident_close(&resident);
    const struct gpunb_tree_counts work = tree_work_since(&counts, &before);
    qsort(seconds, (size_t)repeat, sizeof *seconds, by_value);
    const size_t m = s.sample < s.n ? s.sample : s.n;
    double *errors = get(m, 8);
#pragma omp parallel for schedule(dynamic)
    for (size_t k = 0; k < m; k++) {
        const size_t i = k * s.n / m;
        errors[k] = error_of(&s, mass, (const double(*)[3])x, i, acc[i]);
    }
    qsort(errors, m, sizeof *errors, by_value);
    const double targets = (double)s.n * repeat, groups = (double)work.groups;
    printf("%-8s n %zu soft %g error %g theta %g: 50 %.1e 90 %.1e 99 %.1e 100 %.1e; cells %.0f bodies %.0f a target, "
           "%.0f cells a group, "
           "group %.0f, tests %.0f; %.3f ms:",
           s.set, s.n, s.softening, s.error, s.theta, errors[m / 2], errors[m * 9 / 10], errors[m * 99 / 100],
           errors[m - 1], (double)work.cell_terms / targets, (double)work.pair_terms / targets,
           (double)work.local_terms / groups, targets / groups, (double)work.tests / groups, 1e3 * seconds[repeat / 2]);
    for (int k = 0; k < GPUNB_TREE_STAGES; k++)
        printf(" %s %.2f", gpunb_tree_stage_name((enum gpunb_tree_stage)k), 1e3 * work.seconds[k] / repeat);
    printf("\n");
    const struct machine_rates rates = {s.flops, s.bandwidth};
    if (tree_report_floor(h, s.n, &work, repeat, seconds[repeat / 2], rates)) stop(gpunb_last_error(h));
    gpunb_free(h);
    return 0;
}
