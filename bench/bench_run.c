/* Whole runs and where their time goes: the benchmark of NA12 section 4 (Plummer, ETAI = 0.02, ETAR = 0.01), profiled
 * by stage and by size of the blocks. The start, with first lists and forces, is timed apart.
 *
 *     bench_run [options] [N ...]      --help lists them; N is 1024 4096 16384 by default */
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/app/profile_table.h"
#include "nbody6/app/wrapped_calls.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"

#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS_MAX = 101 };

struct options {
    double from, to;    /* the interval that is profiled */
    double force_error; /* of regular forces by a tree; 0: direct sums */
    long nnb_opt, binaries, seed, repeats, threads;
    const char *device;
    const char *engine;
    int json;
};

/* Counters of a run, and of this program, since their start. */
struct totals {
    struct nb6_counters counters;
    double stage_s[NB6_STAGE_COUNT];
    struct nb6_calls calls;
};

struct result {
    double start_s, wall_s, de_rel, nnb_mean;
    char reg[32], irr[32], engine[32];
    struct totals before, after; /* the interval */
    struct nb6_profile profile;
};

static const struct option long_options[] = {{"from", required_argument, NULL, 'f'},
                                             {"to", required_argument, NULL, 't'},
                                             {"nnb-opt", required_argument, NULL, 'n'},
                                             {"binaries", required_argument, NULL, 'b'},
                                             {"seed", required_argument, NULL, 's'},
                                             {"repeats", required_argument, NULL, 'r'},
                                             {"threads", required_argument, NULL, 'p'},
                                             {"device", required_argument, NULL, 'd'},
                                             {"engine", required_argument, NULL, 'e'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"force-error", required_argument, NULL, 'x'},
                                             {"help", no_argument, NULL, 'h'},
                                             {0}};

static void usage(FILE *out)
{
    fprintf(out,
            "usage: bench_run [options] [N ...]      systems; 1024 4096 16384\n"
            "  --from T       begin the profile at T, a multiple of the interval (0)\n"
            "  --to T         and end it there (2)\n"
            "  --nnb-opt N    wanted mean number of neighbours; 0: automatic (37)\n"
            "  --binaries N   so many of the systems are binaries: thermal eccentricities, semi-major axes uniform in\n"
            "                 the logarithm from 0.01/N to 1/N (0)\n"
            "  --seed N       of the model (1)\n"
            "  --repeats N    runs of each; the one of median wall time is shown, and the median start (1)\n"
            "  --threads N    (OMP_NUM_THREADS, or all cores)\n"
            "  --device NAME  backend of the regular force, as of nbody6 (auto)\n"
            "  --engine NAME  host, device, emulated, or auto (auto)\n"
            "  --force-error E  regular forces by a tree, FORCE_ERROR of &INRUN (0: direct sums)\n"
            "  --json         a line of JSON for each N\n");
}

static int whole(const char *text, long least, long most, long *value)
{
    char *end;
    *value = strtol(text, &end, 10);
    return end != text && !*end && *value >= least && *value <= most;
}

static int real(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && *value >= 0 && *value <= NB6_T_MAX;
}

static int take(int key, const char *text, struct options *o)
{
    switch (key) {
    case 'f':
        return real(text, &o->from);
    case 't':
        return real(text, &o->to);
    case 'n':
        return whole(text, 0, 1000000, &o->nnb_opt);
    case 'b':
        return whole(text, 0, 1000000000, &o->binaries);
    case 's':
        return whole(text, 0, INT32_MAX, &o->seed);
    case 'r':
        return whole(text, 1, REPEATS_MAX, &o->repeats);
    case 'p':
        return whole(text, 1, 4096, &o->threads);
    case 'd':
        o->device = text;
        return strlen(text) < sizeof((struct nb6_run_config *)NULL)->device;
    case 'e':
        o->engine = text;
        return 1;
    case 'x':
        return real(text, &o->force_error);
    case 'j':
        return o->json = 1;
    default:
        return 0;
    }
}

static int parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){.to = 2, .nnb_opt = 37, .seed = 1, .repeats = 1};
    for (int key; (key = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        if (key == 'h') {
            usage(stdout);
            exit(0);
        }
        if (!take(key, optarg, o)) return 0;
    }
    return o->to > o->from && fmod(o->from, o->to - o->from) == 0;
}

static int configure(int64_t n, const struct options *o, struct nb6_config *config, struct nbc_error *err)
{
    nb6_config_init(config);
    config->model.kind = NB6_MODEL_PLUMMER;
    config->model.n = n;
    config->model.seed = (uint64_t)o->seed;
    config->integration.eta_irr = 0.02;
    config->integration.eta_reg = 0.01;
    config->integration.nnb_opt = o->nnb_opt;
    config->run.dt_adjust = config->run.dt_output = o->to - o->from;
    config->run.t_crit = o->to;
    config->integration.force_error = o->force_error;
    if (o->device) snprintf(config->run.device, sizeof config->run.device, "%s", o->device);
    config->binaries.wanted = o->binaries > 0;
    config->binaries.n = o->binaries;
    config->binaries.semi_max = 1 / (double)n;
    config->binaries.range = 100;
    config->binaries.ecc = -1;
    return o->engine ? nb6_input_set(config, "ENGINE", o->engine, err) : NBC_OK;
}

static int keep(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    (void)sim;
    (void)err;
    *(struct nb6_adjust_row *)context = *row;
    return NBC_OK;
}

static struct totals totals_of(const nb6_t *sim)
{
    struct totals t = {.counters = sim->run.counters};
    memcpy(t.stage_s, sim->stage_s, sizeof t.stage_s);
    nb6_wrapped_calls.read(&t.calls);
    return t;
}

/* The interval alone. */
static int profile(nb6_t *sim, double to, struct result *r, struct nbc_error *err)
{
    int status = nb6_profile_start(sim, &nb6_wrapped_calls, err);
    if (status) return status;
    double began = nbc_wtime();
    r->before = totals_of(sim);
    status = nb6_evolve(sim, to, err);
    if (!status) status = nb6_bring_home(sim, err);
    r->wall_s = nbc_wtime() - began;
    r->after = totals_of(sim);
    r->profile = *nb6_profile_read(sim);
    return status;
}

/* The first adjust belongs to the start. */
static int evolve(nb6_t *sim, const struct options *o, double began, struct result *r, struct nbc_error *err)
{
    struct nb6_adjust_row first, last;
    struct nb6_observer observer = {.context = &last, .adjust = keep};
    nb6_set_observer(sim, &observer);
    int status = nb6_evolve(sim, 0, err);
    r->start_s = nbc_wtime() - began;
    if (!status && o->from > 0) status = nb6_evolve(sim, o->from, err);
    if (!status) status = nb6_bring_home(sim, err);
    if (status) return status;
    first = last;
    status = profile(sim, o->to, r, err);
    if (status) return status;
    r->de_rel = last.de_rel - first.de_rel;
    r->nnb_mean = last.nnb_mean;
    snprintf(r->reg, sizeof r->reg, "%s", gpunb_info(sim->reg)->name);
    snprintf(r->irr, sizeof r->irr, "%s", gpuirr_info(sim->irr)->name);
    snprintf(r->engine, sizeof r->engine, "%s", nb6_engine_name(sim));
    return NBC_OK;
}

static int run(struct nb6_config config, const struct options *o, struct result *r, struct nbc_error *err)
{
    nb6_t *sim = NULL;
    struct nb6_model model;
    int status = nb6_model_make(&config, &model, err);
    if (status) return status;
    config.model.n = model.n;
    double began = nbc_wtime();
    status = nb6_create(&sim, &config, err);
    if (!status)
        status = nb6_set_bodies(sim, model.n, model.name, model.mass, (const double(*)[3])model.x,
                                (const double(*)[3])model.v, err);
    nb6_model_free(&model);
    if (!status) status = evolve(sim, o, began, r, err);
    nb6_free(sim);
    return status;
}

typedef unsigned long long whole_number;

static void print_text(int64_t n, const struct options *o, const struct result *r)
{
    const struct nb6_counters *a = &r->before.counters, *b = &r->after.counters;
    printf("N = %lld", (long long)n);
    if (o->binaries) printf(", %ld of them binaries", o->binaries);
    printf(", seed %ld, NNBOPT = %ld, t = %g to %g, %d threads, %s and %s, %s engine\n", o->seed, o->nnb_opt, o->from,
           o->to, omp_get_max_threads(), r->reg, r->irr, r->engine);
    printf("  start %.3f s; interval %.3f s", r->start_s, r->wall_s);
    if (o->repeats > 1) printf(" (median of %ld)", o->repeats);
    printf("\n  %llu blocks, %llu with regular members; %llu irregular and %llu regular steps\n",
           (whole_number)(b->blocks - a->blocks), (whole_number)(b->blocks_reg - a->blocks_reg),
           (whole_number)(b->steps_irr - a->steps_irr), (whole_number)(b->steps_reg - a->steps_reg));
    printf("  dE/E = %.2e; %.1f neighbours in the mean; %llu blocks by tree\n  seconds:", r->de_rel, r->nnb_mean,
           (whole_number)(b->calls_by_tree - a->calls_by_tree));
    for (int k = 0; k < NB6_STAGE_COUNT; k++)
        printf("%s %s %.3f", k ? "," : "", nb6_stage_names[k], r->after.stage_s[k] - r->before.stage_s[k]);
    putchar('\n');
    nb6_profile_print(stdout, &r->profile);
    fflush(stdout);
}

/* Members of an object of JSON, after others. */
static void print_stages(const double *after, const double *before)
{
    printf(", \"stage_s\": {");
    for (int k = 0; k < NB6_STAGE_COUNT; k++)
        printf("%s\"%s\": %.9f", k ? ", " : "", nb6_stage_names[k], after[k] - before[k]);
    printf("}");
}

static void print_counted_calls(const struct nb6_calls *after, const struct nb6_calls *before)
{
    printf(", \"allocations\": %llu, \"bytes_cleared\": %llu, \"mallocs\": %llu, \"bytes_malloc\": %llu, \"regions\": ",
           (whole_number)(after->allocations - before->allocations),
           (whole_number)(after->bytes_cleared - before->bytes_cleared),
           (whole_number)(after->mallocs - before->mallocs),
           (whole_number)(after->bytes_malloc - before->bytes_malloc));
    if (nb6_wrapped_calls.sees_regions)
        printf("%llu", (whole_number)(after->regions - before->regions));
    else
        printf("null");
}

static void print_json_row(const struct nb6_profile_row *row)
{
    static const struct nb6_profile_row nothing;
    printf("\"blocks\": %llu, \"steps_irr\": %llu, \"steps_reg\": %llu, \"wall_s\": %.9f", (whole_number)row->blocks,
           (whole_number)row->steps_irr, (whole_number)row->steps_reg, row->wall_s);
    print_stages(row->stage_s, nothing.stage_s);
    print_counted_calls(&row->calls, &nothing.calls);
    printf(", \"bytes_sent\": %llu, \"bytes_received\": %llu}", (whole_number)row->bytes_sent,
           (whole_number)row->bytes_received);
}

static void print_json_table(const struct nb6_profile *p)
{
    printf(", \"table\": [");
    for (int regular = 0; regular < 2; regular++)
        for (int size = 0; size < NB6_PROFILE_SIZES; size++) {
            uint64_t least, most;
            nb6_profile_range(size, &least, &most);
            printf("%s{\"regular\": %s, \"least\": %llu, \"most\": ", regular + size > 0 ? ", " : "",
                   regular ? "true" : "false", (whole_number)least);
            if (most)
                printf("%llu, ", (whole_number)most);
            else
                printf("null, ");
            print_json_row(&p->block[regular][size]);
        }
    printf("], \"between\": {");
    print_json_row(&p->between);
}

static void print_json(int64_t n, const struct options *o, const struct result *r)
{
    const struct nb6_counters *a = &r->before.counters, *b = &r->after.counters;
    printf("{\"n\": %lld, \"binaries\": %ld, \"seed\": %ld, \"nnb_opt\": %ld, \"from\": %g, \"to\": %g, "
           "\"threads\": %d, \"gpunb\": \"%s\", \"gpuirr\": \"%s\", \"engine\": \"%s\", \"repeats\": %ld, ",
           (long long)n, o->binaries, o->seed, o->nnb_opt, o->from, o->to, omp_get_max_threads(), r->reg, r->irr,
           r->engine, o->repeats);
    printf("\"start_s\": %.6f, \"wall_s\": %.6f, \"de_rel\": %.9e, \"nnb_mean\": %.6f, \"blocks\": %llu, "
           "\"blocks_reg\": %llu, \"calls_by_tree\": %llu, \"steps_irr\": %llu, \"steps_reg\": %llu",
           r->start_s, r->wall_s, r->de_rel, r->nnb_mean, (whole_number)(b->blocks - a->blocks),
           (whole_number)(b->blocks_reg - a->blocks_reg), (whole_number)(b->calls_by_tree - a->calls_by_tree),
           (whole_number)(b->steps_irr - a->steps_irr), (whole_number)(b->steps_reg - a->steps_reg));
    print_stages(r->after.stage_s, r->before.stage_s);
    print_counted_calls(&r->after.calls, &r->before.calls);
    print_json_table(&r->profile);
    printf("}\n");
    fflush(stdout);
}

static int by_wall(const void *a, const void *b)
{
    const double x = ((const struct result *)a)->wall_s, y = ((const struct result *)b)->wall_s;
    return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_start(const struct result *results, long n)
{
    double start[REPEATS_MAX];
    for (long k = 0; k < n; k++) start[k] = results[k].start_s;
    qsort(start, (size_t)n, sizeof start[0], by_value);
    return start[(n - 1) / 2];
}

/* All repetitions for one N, of which one is shown, with the median of all starts. */
static int measure(int64_t n, const struct options *o, struct nbc_error *err)
{
    static struct result results[REPEATS_MAX];
    struct nb6_config config;
    int status = configure(n, o, &config, err);
    for (long k = 0; k < o->repeats && !status; k++) status = run(config, o, &results[k], err);
    if (status) return status;
    const double start_s = median_start(results, o->repeats);
    qsort(results, (size_t)o->repeats, sizeof results[0], by_wall);
    struct result *shown = &results[(o->repeats - 1) / 2];
    shown->start_s = start_s;
    (o->json ? print_json : print_text)(n, o, shown);
    return NBC_OK;
}

int main(int argc, char **argv)
{
    static char *defaults[] = {"1024", "4096", "16384"};
    struct options o;
    struct nbc_error err = {0};
    if (!parse(argc, argv, &o)) {
        usage(stderr);
        return 2;
    }
    if (o.threads) omp_set_num_threads((int)o.threads);
    const int count = optind < argc ? argc - optind : 3;
    for (int k = 0; k < count; k++) {
        long n;
        const char *text = optind < argc ? argv[optind + k] : defaults[k];
        int status = whole(text, 2, 1000000000, &n) ? measure(n, &o, &err)
                                                    : nbc_fail(&err, NBC_BAD_INPUT, "'%s' is no number of stars", text);
        if (status) {
            fprintf(stderr, "bench_run: N = %s: %s\n", text, err.text);
            return nbc_status_exit_code(status);
        }
    }
    return 0;
}
