/* Cold collapse of a uniform sphere at rest (mass 1, radius 1, free fall 1.11) with masses at the centres of cells: the
 * lists and times of Iwasawa et al. 2020, PASJ 72, 13, figures 5 and 6 and table 2, by angle, groups and reuse.
 *
 * Usage: bench_collapse [name=value ...]
 *   - n=N (262144; 4194304 there), backend=NAME, leaf=L (16), soft=S (1/1024)
 *   - angles=A,... (0.25,0.5,0.75,1): of the paper, the side of a cell over its distance; a tree here takes A/1.31
 *   - groups=G,... (64,256,1024,4096,16384), reuse=K,... (1,2,4,8,16)
 *   - to=T (1), dt=DT (0.0625): end of each run, a multiple of four steps; its shared step, a power of two
 *   - seconds=S (80): no run begins after so many
 *
 * Each angle has all groups with a new tree each step; at 0.5 all groups, at other angles the fastest one, have each
 * reuse. A row has the mean size of a group, the mean list of a target beside eq. 30, with the one factor on all angles
 * that suits the rows with new trees best, milliseconds a step of the whole run and of its first and last quarter,
 * errors of 50 and 90 percent of 128 bodies at its end, and the step of the paper by its model (support/tree_model.h)
 * on its machine. */
#include "bench/support/arguments.h"
#include "bench/support/bodies.h"
#include "bench/support/tree_model.h"
#include "common/nbc.h"
#include "nbody6/app/collisionless/check.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 16, MOST_ROWS = 512, QUARTERS = 4, SAMPLE = 128 };

/* The angle of the paper over that of this tree, as in model_tree.c. */
static const double OF_RADIUS = 1.31;

/* The machine of table 2: rates of the host and of the link follow from its times of moments, sorts and EPI. */
static const struct paper_machine TITAN_V = {"TITAN V", 13.8e12, 40e9, 550e9, 12e9};

struct values {
    int n;
    double of[MOST_VALUES];
};

struct settings {
    size_t n;
    const char *backend;
    int leaf;
    double softening, to, dt, seconds, begin;
    struct values angles, groups, reuse;
};

struct row {
    double angle, group, reuse;
    struct tree_record record;      /* n, n_i and n_list */
    double step, first, last;       /* seconds of a step: mean, and of two quarters */
    double half, most;              /* errors that 50 and 90 of 100 bodies do not exceed */
    unsigned long long builds, all; /* trees that were built; forces */
};

static void stop(const char *why)
{
    fprintf(stderr, "bench_collapse: %s\n", why);
    exit(2);
}

static void check(int status, const struct nbc_error *err)
{
    if (status) stop(err->text);
}

/* ---- one run */

/* Options as an input gives them, so that they are those of nbody6-collisionless.   @return as nb6_input_read_text */
static int options_of(const struct settings *s, double angle, double group, double reuse,
                      struct nb6_collisionless_options *options, struct nbc_error *err)
{
    char text[512];
    struct nb6_config config;
    const struct nb6_input_options none = {0};
    const int size =
        snprintf(text, sizeof text,
                 "&ININPUT N=%zu, TCRIT=%.17g, DTADJ=%.17g, DELTAT=%.17g /\n&INSCALE Q=0 /\n&INCOLLISIONLESS "
                 "SOFTENING=%.17g, DT=%.17g, THETA=%.17g, ORDER=1, LEAF=%d, GROUP=%.0f, WALK='groups', REUSE=%.0f /\n",
                 s->n, s->to, s->to, s->to, s->softening, s->dt, angle / OF_RADIUS, s->leaf, group, reuse);
    const int status = nb6_input_read_text("bench_collapse", text, (size_t)size, &none, &config, err);
    if (status) return status;
    const int given = nb6_collisionless_options_of(&config, options, err);
    options->force.backend = s->backend;
    return given;
}

static double error_of(const struct nb6_collisionless *s, int64_t i)
{
    double sum[3] = {0}, d2 = 0, a2 = 0;
    for (int64_t j = 0; j < s->n; j++) {
        double d[3], r2 = s->softening * s->softening;
        for (int k = 0; k < 3; k++) {
            d[k] = s->x0[j][k] - s->x0[i][k];
            r2 += d[k] * d[k];
        }
        const double w = s->mass[j] / (r2 * sqrt(r2));
        for (int k = 0; k < 3; k++) sum[k] += w * d[k];
    }
    for (int k = 0; k < 3; k++) {
        d2 += (s->acc[i][k] - sum[k]) * (s->acc[i][k] - sum[k]);
        a2 += sum[k] * sum[k];
    }
    return sqrt(d2 / a2);
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void find_errors(struct nb6_collisionless *s, struct row *row)
{
    struct nbc_error err = {0};
    double error[SAMPLE];
    const int64_t m = s->n < SAMPLE ? s->n : SAMPLE;
    check(nb6_collisionless_home(s, &err), &err);
#pragma omp parallel for schedule(dynamic)
    for (int64_t k = 0; k < m; k++) error[k] = error_of(s, k * s->n / m);
    qsort(error, (size_t)m, sizeof error[0], by_value);
    row->half = error[m / 2];
    row->most = error[m * 9 / 10];
}

static struct row run(const struct settings *s, const struct bench_bodies *b, double angle, double group, double reuse)
{
    struct nb6_collisionless_options options;
    struct nb6_collisionless *system = NULL;
    struct gpunb_tree_counts before, after;
    struct nbc_error err = {0};
    struct row row = {.angle = angle, .group = group, .reuse = reuse};
    check(options_of(s, angle, group, reuse, &options, &err), &err);
    check(nb6_collisionless_create(&system, (int64_t)s->n, NULL, b->mass, (const double(*)[3])b->x,
                                   (const double(*)[3])b->v, &options, &err),
          &err);
    nb6_collisionless_tree_counts(system, &before);
    for (int q = 1; q <= QUARTERS; q++) {
        const double begin = nbc_wtime(), blocks = (double)system->n_blocks;
        check(nb6_collisionless_evolve(system, s->to * q / QUARTERS, &err), &err);
        const double seconds = nbc_wtime() - begin, of_step = seconds / ((double)system->n_blocks - blocks);
        row.step += seconds;
        if (q == 1) row.first = of_step;
        if (q == QUARTERS) row.last = of_step;
    }
    row.step /= (double)system->n_blocks;
    nb6_collisionless_tree_counts(system, &after);
    const struct gpunb_tree_counts work = tree_work_since(&after, &before);
    const double targets = (double)work.targets;
    row.record = (struct tree_record){.n = (double)s->n,
                                      .n_i = targets / (double)work.groups,
                                      .n_list = (double)(work.cell_terms + work.pair_terms) / targets};
    row.builds = work.builds;
    row.all = work.forces;
    find_errors(system, &row);
    nb6_collisionless_free(system);
    return row;
}

/* ---- all runs */

struct table {
    int n;
    struct row row[MOST_ROWS];
};

static int is_over(const struct settings *s, const struct table *t)
{
    return nbc_wtime() - s->begin > s->seconds || t->n == MOST_ROWS;
}

/* All groups of an angle with new trees.   @return the fastest */
static double run_groups(const struct settings *s, const struct bench_bodies *b, double angle, struct table *t)
{
    double best = INFINITY, fastest = s->groups.of[0];
    for (int g = 0; g < s->groups.n && !is_over(s, t); g++) {
        t->row[t->n] = run(s, b, angle, s->groups.of[g], 1);
        if (t->row[t->n].step < best) {
            best = t->row[t->n].step;
            fastest = s->groups.of[g];
        }
        t->n++;
    }
    return fastest;
}

static void run_all(const struct settings *s, const struct bench_bodies *b, struct table *t)
{
    double fastest[MOST_VALUES];
    for (int a = 0; a < s->angles.n; a++) fastest[a] = run_groups(s, b, s->angles.of[a], t);
    for (int a = 0; a < s->angles.n; a++)
        for (int g = 0; g < s->groups.n; g++)
            for (int k = 0; k < s->reuse.n; k++) {
                const int is_wanted = s->angles.of[a] == 0.5 || s->groups.of[g] == fastest[a];
                if (s->reuse.of[k] > 1 && is_wanted && !is_over(s, t))
                    t->row[t->n++] = run(s, b, s->angles.of[a], s->groups.of[g], s->reuse.of[k]);
            }
}

/* The factor on the angle of eq. 30, of the rows whose trees are new. */
static double factor_of(const struct table *t)
{
    struct tree_record record[MOST_ROWS];
    double theta[MOST_ROWS];
    int n = 0;
    for (int r = 0; r < t->n; r++) {
        if (t->row[r].reuse > 1) continue;
        record[n] = t->row[r].record;
        theta[n++] = t->row[r].angle;
    }
    return tree_model_factor(record, theta, n);
}

static void print(const struct settings *s, const struct table *t)
{
    const double factor = factor_of(t);
    printf(
        "%zu bodies, t = 0 to %g in steps of %g, leaves of %d, backend %s; factor on the angle of eq. 30: %.3f (%.3f "
        "on that of this tree)\n",
        s->n, s->to, s->dt, s->leaf, s->backend ? s->backend : "auto", factor, factor * OF_RADIUS);
    printf("%5s %6s %5s %6s %8s %8s %6s %9s %9s %9s %8s %8s %9s %9s\n", "angle", "group", "reuse", "n_i", "list",
           "eq.30", "ratio", "ms", "first", "last", "50 perc.", "90 perc.", "paper, ms", "trees");
    for (int r = 0; r < t->n; r++) {
        const struct row *w = &t->row[r];
        const double eq30 = tree_work_list_length(w->record.n, w->record.n_i, w->angle * factor);
        printf("%5.2f %6.0f %5.0f %6.0f %8.0f %8.0f %6.3f %9.2f %9.2f %9.2f %8.1e %8.1e %9.1f %4llu/%llu\n", w->angle,
               w->group, w->reuse, w->record.n_i, w->record.n_list, eq30, w->record.n_list / eq30, 1e3 * w->step,
               1e3 * w->first, 1e3 * w->last, w->half, w->most,
               1e3 * paper_step(&TITAN_V, w->record.n, w->record.n_i, w->angle, (int)w->reuse), w->builds, w->all);
    }
    printf(
        "table 2 of the paper, 2^22 bodies, angle 0.5: 360 ms with new trees and n_i = 1500, 420 with n_i = 230, 95 of "
        "a reusing step\n");
}

/* ---- what is asked for */

static struct values values_of(const char *text)
{
    struct values v = {0};
    char *end = NULL;
    for (const char *at = text; v.n < MOST_VALUES; at = end + 1) {
        v.of[v.n++] = strtod(at, &end);
        if (end == at || !(v.of[v.n - 1] > 0) || (*end && *end != ',')) stop("lists are numbers above 0: 0.25,0.5");
        if (!*end) return v;
    }
    stop("a list has at most 16 values");
    return v;
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {.n = 262144, .leaf = 16, .softening = 1.0 / 1024, .to = 1, .dt = 1.0 / 16, .seconds = 80};
    const char *angles = "0.25,0.5,0.75,1", *groups = "64,256,1024,4096,16384", *reuse = "1,2,4,8,16";
    const struct bench_argument known[] = {
        {.name = "backend", .text = &s.backend}, {.name = "n", .size = &s.n},
        {.name = "leaf", .whole = &s.leaf},      {.name = "soft", .real = &s.softening},
        {.name = "to", .real = &s.to},           {.name = "dt", .real = &s.dt},
        {.name = "seconds", .real = &s.seconds}, {.name = "angles", .text = &angles},
        {.name = "groups", .text = &groups},     {.name = "reuse", .text = &reuse},
    };
    bench_read_arguments("bench_collapse", argc, argv, known, sizeof known / sizeof known[0]);
    s.angles = values_of(angles);
    s.groups = values_of(groups);
    s.reuse = values_of(reuse);
    if (!(s.dt > 0) || fmod(s.to, QUARTERS * s.dt) != 0) stop("to is a multiple of four steps dt");
    return s;
}

int main(int argc, char **argv)
{
    static struct table table;
    struct nb6_collisionless_options options;
    struct nbc_error err = {0};
    struct settings s = read_settings(argc, argv);
    check(options_of(&s, s.angles.of[0], s.groups.of[0], 1, &options, &err), &err);
    struct bench_bodies b;
    if (!bench_bodies_make(&b, BENCH_SPHERE, s.n)) stop("no memory for the bodies; give a smaller n=N");
    s.begin = nbc_wtime();
    run_all(&s, &b, &table);
    if (table.n == 0) stop("no run fits the time; give a larger seconds=S");
    print(&s, &table);
    bench_bodies_free(&b);
    return 0;
}
