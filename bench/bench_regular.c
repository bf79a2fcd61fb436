/* Regular forces by a tree beside direct sums: errors of accelerations and jerks, counts, seconds.
 *
 * Usage: bench_regular [name=value ...]
 *   - n=N (131072): stars; ni=N (all): targets, some of them, in space at random
 *   - set=NAME (plummer): plummer (within r = 15), masses (m^-2.35 over a factor of 1000), clumps (a hundred small
 *     clusters), two (10^4 apart)
 *   - error=E (1e-4): aim; nb=K (100): neighbours of a target on average; dt=T (0.01): regular step
 *   - leaf=L, group=G, backend=NAME: as in struct gpunb_options
 *   - last=0 (1): without the last accelerations: a force by angle comes first
 *   - sample=M (1024): targets whose forces are made in double; repeat=R (3): of which the median time counts
 *   - direct=0 (1): without the time of direct sums
 *   - resident=1 (0): of a backend on a device, also the times where stars and lists are in its memory
 *
 * Prints errors relative to the regular acceleration and jerk of the target (50, 90, 99 percent, largest), whether
 * lists are those of direct sums of the same backend, work of a target, milliseconds. */
#include "bench/support/arguments.h"
#include "bench/support/bodies.h"
#include "device/device.h"
#include "device/emulated/emulated.h"
#include "gpunb/regf_device.h"
#include "gpunb/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    size_t n, ni, sample;
    const char *set, *backend;
    double error, nb, dt;
    int leaf, group, last, repeat, direct, resident;
};

enum { CAP = 1024 };

static void stop(const char *why)
{
    fprintf(stderr, "bench_regular: %s\n", why);
    exit(2);
}

static void *get(size_t n, size_t size)
{
    void *p = nbc_alloc(n, size);
    if (!p) stop("no memory");
    return p;
}

static uint64_t random_state = BENCH_SEED;

/* ---- stars */

struct stars {
    size_t n, n_i;
    double *mass, (*x)[3], (*v)[3], *r_nb2, *dt;
    int32_t *target; /* [n_i] */
};

/* Aarseth, Henon & Wielen 1974: a place and a velocity in a Plummer sphere. */
static void plummer_star(double size, double x[3], double v[3], double *density)
{
    const double scale = 3 * 3.141592653589793 / 16 * size;
    double r, q;
    do r = scale / sqrt(pow(bench_uniform(&random_state), -2.0 / 3) - 1);
    while (r > 15 * size);
    do q = bench_uniform(&random_state);
    while (0.1 * bench_uniform(&random_state) > q * q * pow(1 - q * q, 3.5));
    bench_on_sphere(&random_state, r, x);
    bench_on_sphere(&random_state, q * sqrt(2 / sqrt(r * r + scale * scale)), v);
    *density = 0.75 / 3.141592653589793 / pow(scale, 3) * pow(1 + r * r / (scale * scale), -2.5);
}

static void make_star(const struct settings *s, struct stars *stars, size_t i)
{
    const double size = strcmp(s->set, "clumps") ? 1 : 0.02, part = strcmp(s->set, "clumps") ? 1 : 0.01;
    double density;
    plummer_star(size, stars->x[i], stars->v[i], &density);
    for (int k = 0; k < 3; k++) stars->v[i][k] *= sqrt(part);
    stars->mass[i] = 1;
    if (!strcmp(s->set, "masses"))
        stars->mass[i] = pow(1 - bench_uniform(&random_state) * (1 - pow(1e-3, 1.35)), -1 / 1.35);
    if (!strcmp(s->set, "two")) stars->x[i][0] += i % 2 ? 1e4 : 0;
    if (!strcmp(s->set, "two")) density /= 2;
    const double *x = stars->x[i], r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    stars->r_nb2[i] = pow(s->nb / (4.18879 * density * part * (double)s->n), 2.0 / 3);
    stars->r_nb2[i] = fmin(stars->r_nb2[i], 0.1 * (r2 + 0.01));
    stars->dt[i] = s->dt;
}

static struct stars make_stars(const struct settings *s)
{
    const size_t n = s->n;
    struct stars stars = {.n = n, .n_i = s->ni ? s->ni : n, .mass = get(n, 8), .x = get(n, 24), .v = get(n, 24)};
    double centre[100][3], moving[100][3], sum = 0;
    stars.r_nb2 = get(n, 8);
    stars.dt = get(n, 8);
    stars.target = get(stars.n_i, 4);
    for (int c = 0; c < 100; c++) plummer_star(1, centre[c], moving[c], &(double){0});
    for (size_t i = 0; i < n; i++) {
        make_star(s, &stars, i);
        for (int k = 0; k < 3 && !strcmp(s->set, "clumps"); k++) {
            stars.x[i][k] += centre[i % 100][k];
            stars.v[i][k] += moving[i % 100][k];
        }
        sum += stars.mass[i];
    }
    for (size_t i = 0; i < n; i++) stars.mass[i] /= sum;
    for (size_t k = 0; k < stars.n_i; k++) stars.target[k] = (int32_t)(k * n / stars.n_i);
    return stars;
}

/* ---- forces */

struct forces {
    size_t n;
    int32_t *self, *nnb, *list;
    double *r_nb2, *dt, (*x)[3], (*v)[3], (*acc)[3], (*jerk)[3], (*last)[3];
};

/* Targets number 0, step, ... of the stars' targets. */
static struct forces make_forces(const struct stars *s, size_t n)
{
    struct forces f = {.n = n, .self = get(n, 4), .nnb = get(n, 4), .list = get(n * CAP, 4), .r_nb2 = get(n, 8)};
    f.dt = get(n, 8);
    f.x = get(n, 24);
    f.v = get(n, 24);
    f.acc = get(n, 24);
    f.jerk = get(n, 24);
    f.last = get(n, 24);
    for (size_t k = 0; k < n; k++) {
        const int32_t i = s->target[k * s->n_i / n];
        f.self[k] = i;
        f.r_nb2[k] = s->r_nb2[i];
        f.dt[k] = s->dt[i];
        memcpy(f.x[k], s->x[i], sizeof f.x[k]);
        memcpy(f.v[k], s->v[i], sizeof f.v[k]);
    }
    return f;
}

static gpunb_t *open_handle(const struct stars *s, const struct settings *set, const char *backend, double error)
{
    gpunb_t *h;
    struct nbc_error err;
    const struct gpunb_options options = {.backend = backend,
                                          .force_error = error,
                                          .leaf = set->leaf,
                                          .group = set->group,
                                          .walk = error > 0 ? GPUNB_WALK_FMM : GPUNB_WALK_DEFAULT};
    if (gpunb_create(&h, s->n, &options, &err) ||
        gpunb_send(h, s->n, s->mass, (const double(*)[3])s->x, (const double(*)[3])s->v))
        stop(err.text);
    return h;
}

static double force(gpunb_t *h, const struct forces *f, int with_last)
{
    const double begin = nbc_wtime();
    const struct gpunb_regf_job job = {.n_i = f->n,
                                       .self = f->self,
                                       .r_nb2 = f->r_nb2,
                                       .dt_reg = f->dt,
                                       .x = (const double(*)[3])f->x,
                                       .v = (const double(*)[3])f->v,
                                       .acc_last = with_last ? (const double(*)[3])f->last : NULL,
                                       .acc = f->acc,
                                       .jerk = f->jerk,
                                       .nb_cap = CAP,
                                       .nnb = f->nnb,
                                       .nblist = f->list};
    int status = gpunb_regf_start_job(h, &job);
    if (!status) status = gpunb_regf_wait(h);
    if (status && status != NBC_NB_OVERFLOW) stop(gpunb_last_error(h));
    return 1e3 * (nbc_wtime() - begin);
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void print_errors(const char *what, const double (*got)[3], const double (*exact)[3], size_t n, size_t n_got)
{
    double *error = get(n, 8);
    for (size_t k = 0; k < n; k++) {
        double d2 = 0, a2 = 0;
        for (int c = 0; c < 3; c++) {
            const double d = got[k * n_got / n][c] - exact[k][c];
            d2 += d * d;
            a2 += exact[k][c] * exact[k][c];
        }
        error[k] = sqrt(d2 / a2);
        if (!(error[k] < 1)) printf("[%zu: %g of %g]", k, sqrt(d2), sqrt(a2));
    }
    qsort(error, n, sizeof *error, by_value);
    printf("%s %.1e %.1e %.1e %.1e; ", what, error[n / 2], error[n * 9 / 10], error[n * 99 / 100], error[n - 1]);
    nbc_free(error);
}

/* Rows whose lists differ from those of direct sums. */
static size_t differing_lists(const struct forces *all, const struct forces *sample)
{
    size_t rows = 0;
    for (size_t k = 0; k < sample->n; k++) {
        const size_t at = k * all->n / sample->n;
        const int32_t n = all->nnb[at];
        rows += n != sample->nnb[k] ||
                (n <= CAP && memcmp(all->list + at * CAP, sample->list + k * CAP, (size_t)n * sizeof(int32_t)) != 0);
    }
    return rows;
}

static double median_time(gpunb_t *h, const struct settings *s, const struct stars *stars, const struct forces *f)
{
    double ms[99];
    for (int r = 0; r < s->repeat; r++) {
        gpunb_send(h, stars->n, stars->mass, (const double(*)[3])stars->x, (const double(*)[3])stars->v);
        ms[r] = force(h, f, s->last);
    }
    qsort(ms, (size_t)s->repeat, sizeof *ms, by_value);
    return ms[s->repeat / 2];
}

/* ---- in memory of a device */

struct resident {
    struct nbd_device device;
    struct nbd_stream *stream;
    struct gpunb_regf_device job;
};

static void must(int status, const struct nbc_error *err)
{
    if (status) stop(err->text);
}

static void *on_device(const struct resident *r, const void *from, size_t bytes)
{
    struct nbc_error err;
    void *to;
    must(nbd_alloc(&r->device, NBD_ON_DEVICE, bytes, &to, &err), &err);
    if (from) must(nbd_copy(&r->device, r->stream, to, from, bytes, &err), &err);
    must(nbd_stream_wait(&r->device, r->stream, &err), &err);
    return to;
}

/* Targets know their last accelerations. */
static struct resident make_resident(gpunb_t *h, const struct stars *s, const struct forces *f)
{
    struct resident r = {.job = {.n_j = s->n, .n_i = f->n, .row_room = CAP / 2, .has_last = 1}};
    struct nbc_error err;
    struct gpunb_dev_source *source = get(s->n + GPUNB_DEV_LANES, sizeof *source);
    struct gpunb_dev_asked *asked = get(f->n, sizeof *asked);
    if (gpunb_regf_device_bytes(h, s->n, &r.job.scratch_bytes)) stop(gpunb_last_error(h));
    must(nbd_open(&r.device, strcmp(gpunb_info(h)->name, "cuda") ? nbd_emulated : nbd_cuda, gpunb_regf_device_first(h),
                  "bench_regular", &err),
         &err);
    must(nbd_stream_open(&r.device, NBD_MIDDLE, &r.stream, &err), &err);
    for (size_t i = 0; i < s->n; i++) source[i] = gpunb_dev_source_at(s->x[i], s->v[i], (float)s->mass[i], 0);
    for (size_t k = 0; k < f->n; k++) {
        const double *a = f->last[k];
        asked[k] = (struct gpunb_dev_asked){.r_nb2 = f->r_nb2[k],
                                            .dt_reg = f->dt[k],
                                            .source = f->self[k],
                                            .row = (int32_t)k,
                                            .size_last = (float)sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])};
    }
    r.job.source = on_device(&r, source, (s->n + GPUNB_DEV_LANES) * sizeof *source);
    r.job.asked = on_device(&r, asked, f->n * sizeof *asked);
    r.job.lists = on_device(&r, NULL, f->n * r.job.row_room * sizeof *r.job.lists);
    r.job.scratch = on_device(&r, NULL, r.job.scratch_bytes);
    nbc_free(source);
    nbc_free(asked);
    return r;
}

static double resident_ms(gpunb_t *h, const struct settings *s, const struct stars *stars, const struct forces *f)
{
    struct resident r = make_resident(h, stars, f);
    struct nbc_error err;
    double ms[99];
    for (int k = -1; k < s->repeat; k++) { /* the first one loads kernels */
        const double begin = nbc_wtime();
        if (gpunb_regf_device(h, &r.job, r.stream)) stop(gpunb_last_error(h));
        must(nbd_stream_wait(&r.device, r.stream, &err), &err);
        if (k >= 0) ms[k] = 1e3 * (nbc_wtime() - begin);
    }
    void *memory[] = {r.job.source, r.job.asked, r.job.lists, r.job.scratch};
    for (int k = 0; k < 4; k++) nbd_free(&r.device, NBD_ON_DEVICE, memory[k]);
    nbd_stream_close(&r.device, r.stream);
    qsort(ms, (size_t)s->repeat, sizeof *ms, by_value);
    return ms[s->repeat / 2];
}

static void print_resident(const struct settings *s, const struct stars *stars, const struct forces *all, gpunb_t *tree,
                           gpunb_t *direct)
{
    if (!s->resident) return;
    printf("resident %.2f ms", resident_ms(tree, s, stars, all));
    if (s->direct) printf(", direct %.2f", resident_ms(direct, s, stars, all));
    printf("; ");
}

static void print_work(const gpunb_t *h, size_t forces)
{
    struct gpunb_tree_counts c;
    gpunb_tree_get_counts(h, &c);
    const double targets = (double)c.targets, per = 1e3 / (double)forces;
    printf("of a target %.0f pairs, %.1f cells, %.2f of regions; %.0f targets a group, %.0f tests a group;",
           (double)c.pair_terms / targets, (double)c.cell_terms / targets, (double)c.local_terms / targets,
           targets / (double)c.groups, (double)c.tests / (double)c.groups);
    for (int k = 0; k < GPUNB_TREE_STAGES; k++)
        printf(" %s %.1f", gpunb_tree_stage_name((enum gpunb_tree_stage)k), per * c.seconds[k]);
    printf("\n");
}

static void measure(const struct settings *s)
{
    const struct stars stars = make_stars(s);
    const struct forces all = make_forces(&stars, stars.n_i),
                        sample = make_forces(&stars, s->sample < stars.n_i ? s->sample : stars.n_i);
    gpunb_t *tree = open_handle(&stars, s, s->backend, s->error), *ref = open_handle(&stars, s, "ref", 0),
            *direct = open_handle(&stars, s, s->backend, 0);
    force(tree, &all, 0);
    memcpy(all.last, all.acc, all.n * sizeof *all.last);
    const double ms = median_time(tree, s, &stars, &all);
    force(ref, &sample, 0);
    printf("%s n %zu of %zu, aim %g, %s: ", s->set, all.n, stars.n, s->error, gpunb_info(tree)->name);
    print_errors("acc", (const double(*)[3])all.acc, (const double(*)[3])sample.acc, sample.n, all.n);
    print_errors("jerk", (const double(*)[3])all.jerk, (const double(*)[3])sample.jerk, sample.n, all.n);
    force(direct, &sample, 0);
    double neighbours = 0;
    for (size_t k = 0; k < sample.n; k++) neighbours += sample.nnb[k];
    printf("%.0f neighbours, %zu lists of %zu differ; %.1f ms", neighbours / (double)sample.n,
           differing_lists(&all, &sample), sample.n, ms);
    if (s->direct) printf(", direct %.1f", median_time(direct, s, &stars, &all));
    printf("; ");
    print_resident(s, &stars, &all, tree, direct);
    print_work(tree, (size_t)s->repeat + 2);
    gpunb_free(tree);
    gpunb_free(ref);
    gpunb_free(direct);
}

int main(int argc, char **argv)
{
    struct settings s = {.n = 131072, .sample = 1024, .set = "plummer", .error = 1e-4, .nb = 100, .dt = 0.01};
    s.last = s.direct = 1;
    s.repeat = 3;
    const struct bench_argument known[] = {
        {.name = "n", .size = &s.n},
        {.name = "ni", .size = &s.ni},
        {.name = "sample", .size = &s.sample},
        {.name = "set", .text = &s.set},
        {.name = "backend", .text = &s.backend},
        {.name = "error", .real = &s.error},
        {.name = "nb", .real = &s.nb},
        {.name = "dt", .real = &s.dt},
        {.name = "leaf", .whole = &s.leaf},
        {.name = "group", .whole = &s.group},
        {.name = "last", .whole = &s.last},
        {.name = "repeat", .whole = &s.repeat},
        {.name = "direct", .whole = &s.direct},
        {.name = "resident", .whole = &s.resident},
    };
    bench_read_arguments("bench_regular", argc, argv, known, sizeof known / sizeof known[0]);
    if (s.repeat < 1 || s.repeat > 99 || s.n < 1 || s.sample < 1)
        stop("n, sample and repeat are 1 or more, repeat at most 99");
    measure(&s);
    return 0;
}
