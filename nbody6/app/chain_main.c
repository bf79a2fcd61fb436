/* The nbody6-chain command: integrates a few bodies from a table with the regularization library alone. */
#include "common/nbc.h"
#include "nbody6/app/screen.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/run/nbody6.h"
#include "regularization/chain.h"
#include "regularization/hierarchy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *path;
    double t_crit, radius;
    struct chain_options options; /* max_steps < 0: not given */
    int help, version;
};

/* Steps of n bodies, times n^2, that take about a minute. */
static const int64_t MOST_STEPS = 15000000;

static const char USAGE[] =
    "usage: nbody6-chain --tcrit T [options] BODIES.dat\n"
    "Integrates 2 to 16 bodies by chain regularization. BODIES.dat: a row m x y z vx vy vz for each body, G = 1.\n"
    "Prints the bodies at time T in the same columns, and comments: energies, closest approaches, hierarchy.\n\n"
    "  --tcrit T          end at time T (it begins at 0)\n"
    "  --method NAME      chain: KS-regularized chain; ar: algorithmic regularization; auto: one of these, by the\n"
    "                     masses (default)\n"
    "  --tolerance E      relative error of a step, 1e-15 to 1e-3 (default 1e-14)\n"
    "  --max-steps N      give up after N steps (default: 15 million over the square of the number of bodies, about a\n"
    "                     minute); 0: never\n"
    "  --slow G           slow down pairs whose perturbation times slow-down stays below G (default 0: none)\n"
    "  --pn ORDERS        post-Newtonian terms: 1, 2, 2.5, with commas between; needs --c-light\n"
    "  --c-light C        speed of light in the units of the table\n"
    "  --radius R         bodies have radius R: those that touch at pericentre merge\n"
    "  --help, --version  this text; the version\n";

static int number(const char *name, const char *text, double least, double most, double *value, struct nbc_error *err)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= least && *value <= most))
        return nbc_fail(err, NBC_BAD_INPUT, "%s: '%.40s' is no valid value; give a number from %g to %g", name, text,
                        least, most);
    return NBC_OK;
}

static int whole_number(const char *name, const char *text, int64_t *value, struct nbc_error *err)
{
    double x;
    int status = number(name, text, 0, 0x1p53, &x, err);
    if (!status && x != floor(x)) status = nbc_fail(err, NBC_BAD_INPUT, "%s: '%.40s' is no integer", name, text);
    if (!status) *value = (int64_t)x;
    return status;
}

static int orders(const char *text, int32_t *pn, struct nbc_error *err)
{
    static const char *const NAMES[3] = {"1", "2", "2.5"};
    static const int32_t BITS[3] = {CHAIN_PN1, CHAIN_PN2, CHAIN_PN25};
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        int known = 0;
        for (int k = 0; k < 3; k++) {
            if (strlen(NAMES[k]) != length || strncmp(at, NAMES[k], length) != 0) continue;
            *pn |= BITS[k];
            known = 1;
        }
        if (!known)
            return nbc_fail(err, NBC_BAD_INPUT, "--pn: '%.40s' is no list of 1, 2, 2.5 with commas between", text);
        if (!at[length]) return NBC_OK;
        at += length + 1;
    }
}

static int take_option(const char *name, const char *value, struct request *r, struct nbc_error *err)
{
    const double tiny = 1e-300, huge = 1e300;
    if (strcmp(name, "--tcrit") == 0) return number(name, value, tiny, huge, &r->t_crit, err);
    if (strcmp(name, "--tolerance") == 0) return number(name, value, 1e-15, 1e-3, &r->options.tolerance, err);
    if (strcmp(name, "--max-steps") == 0) return whole_number(name, value, &r->options.max_steps, err);
    if (strcmp(name, "--slow") == 0) return number(name, value, 0, 0.1, &r->options.slow, err);
    if (strcmp(name, "--c-light") == 0) return number(name, value, tiny, huge, &r->options.c_light, err);
    if (strcmp(name, "--radius") == 0) return number(name, value, 0, huge, &r->radius, err);
    if (strcmp(name, "--pn") == 0) return orders(value, &r->options.pn, err);
    struct nbc_error why = {0};
    if (chain_method_find(value, &r->options.method, &why) != NBC_OK)
        return nbc_fail(err, NBC_BAD_INPUT, "--method: %s", why.text);
    return NBC_OK;
}

/* The option at argv[*k]; moves *k past its value. */
static int parse_option(int argc, char **argv, int *k, struct request *r, struct nbc_error *err)
{
    static const char *const TAKES[] = {"--tcrit", "--method", "--tolerance", "--max-steps",
                                        "--slow",  "--pn",     "--c-light",   "--radius"};
    const char *text = argv[*k], *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : strlen(text);
    if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
        r->help = 1;
        return NBC_OK;
    }
    if (strcmp(text, "--version") == 0) {
        r->version = 1;
        return NBC_OK;
    }
    for (size_t o = 0; o < sizeof TAKES / sizeof TAKES[0]; o++) {
        if (strlen(TAKES[o]) != length || strncmp(text, TAKES[o], length) != 0) continue;
        const char *value = equals ? equals + 1 : *k + 1 < argc ? argv[++*k] : "";
        if (!*value) return nbc_fail(err, NBC_BAD_INPUT, "%s: a value is missing", TAKES[o]);
        return take_option(TAKES[o], value, r, err);
    }
    return nbc_fail(err, NBC_BAD_INPUT, "%.60s: unknown option; `nbody6-chain --help` lists the options", text);
}

static int parse(int argc, char **argv, struct request *r, struct nbc_error *err)
{
    for (int k = 1; k < argc; k++) {
        if (argv[k][0] == '-' && argv[k][1]) {
            int status = parse_option(argc, argv, &k, r, err);
            if (status) return status;
        } else if (r->path) {
            return nbc_fail(err, NBC_BAD_INPUT, "%s: one table only; %s was given before", argv[k], r->path);
        } else {
            r->path = argv[k];
        }
    }
    if (r->help || r->version) return NBC_OK;
    if (!r->path) return nbc_fail(err, NBC_BAD_INPUT, "no table of bodies is given; `nbody6-chain --help` says how");
    if (!(r->t_crit > 0)) return nbc_fail(err, NBC_BAD_INPUT, "--tcrit T is missing: the time at which to end");
    if (r->options.pn && !(r->options.c_light > 0))
        return nbc_fail(err, NBC_BAD_INPUT, "--pn: the speed of light is missing; give --c-light C");
    return NBC_OK;
}

static int read_bodies(const struct request *r, struct chain_body body[], int *n, struct nbc_error *err)
{
    struct nb6_config *config = nbc_alloc(1, sizeof *config);
    struct nb6_model model = {.n = 0};
    struct nb6_data_units units = {.unknown = ""};
    if (!config) return nbc_fail(err, NBC_NO_MEMORY, "no memory to read %s", r->path);
    if (strlen(r->path) >= sizeof config->model.data_path) {
        nbc_free(config);
        return nbc_fail(err, NBC_BAD_INPUT, "%.100s...: the path is too long", r->path);
    }
    strcpy(config->model.data_path, r->path);
    int status = nb6_model_read(config, &model, &units, err);
    nbc_free(config);
    if (status) return status;
    if (units.unit[0].kind == NB6_UNIT_PHYSICAL)
        status = nbc_fail(err, NBC_BAD_INPUT,
                          "%s: the file states physical units, and here masses, places and velocities have units in "
                          "which G = 1; convert them",
                          r->path);
    if (!status && model.n > CHAIN_MAX)
        status =
            nbc_fail(err, NBC_BAD_INPUT, "%s: %lld bodies; %d are the most", r->path, (long long)model.n, CHAIN_MAX);
    if (!status && model.n < 2)
        status = nbc_fail(err, NBC_BAD_INPUT, "%s: one body only: at least 2 are needed", r->path);
    for (int64_t i = 0; i < model.n && !status; i++) {
        body[i] = (struct chain_body){.id = i + 1, .mass = model.mass[i], .radius = r->radius};
        memcpy(body[i].x, model.x[i], sizeof body[i].x);
        memcpy(body[i].v, model.v[i], sizeof body[i].v);
        if (!(body[i].mass > 0))
            status = nbc_fail(err, NBC_BAD_INPUT, "%s: body %lld has no mass; give each a mass > 0", r->path,
                              (long long)i + 1);
    }
    *n = (int)model.n;
    nb6_model_free(&model);
    return status;
}

static void momentum(const struct chain *c, const struct chain_body body[], double p[3], double j[3])
{
    memset(p, 0, 3 * sizeof *p);
    memset(j, 0, 3 * sizeof *j);
    for (int i = 0; i < c->n; i++) {
        const double *x = body[i].x, *v = body[i].v, m = body[i].mass;
        for (int k = 0; k < 3; k++) {
            p[k] += m * v[k];
            j[k] += m * (x[(k + 1) % 3] * v[(k + 2) % 3] - x[(k + 2) % 3] * v[(k + 1) % 3]);
        }
    }
}

static int no_end(const struct request *r, const struct chain *c, struct nbc_error *err)
{
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s: after %lld steps it is at t = %.9g of %.9g. Allow more steps with --max-steps N, slow tight pairs "
        "down with --slow 1e-4, or give a larger --tolerance than %g",
        r->path, (long long)c->steps, c->t, r->t_crit, r->options.tolerance);
}

/* To the end, with the mergers on the way. */
static int integrate(const struct request *r, struct chain *c, double *lost, struct nbc_error *err)
{
    struct chain_event event;
    for (;;) {
        int status = chain_advance(c, r->t_crit, NULL, &event, err);
        if (status || event.kind == CHAIN_NONE) return status;
        if (event.kind == CHAIN_STEPS) return no_end(r, c, err);
        printf("# merger at t = %.14e: bodies %lld and %lld at a distance of %.6e", c->t, (long long)event.id[0],
               (long long)event.id[1], event.r);
        if (c->n == 2) {
            printf("; no others are left, so that it ends here\n");
            return NBC_OK;
        }
        double energy;
        status = chain_merge(c, event.id[0], event.id[1], r->radius, &energy, err);
        if (status) return status;
        *lost += energy;
        printf("; body %lld stays, %.14e of energy is lost\n", (long long)event.id[0], energy);
    }
}

static void print_conserved(const struct chain *c, double energy0, double lost, const double p0[3], const double j0[3],
                            const struct chain_body body[])
{
    double p[3], j[3], energy = chain_energy(c), error = energy - chain_energy_booked(c);
    momentum(c, body, p, j);
    printf("# energy in the frame of the centre of mass: %.14e at the start, %.14e at the end\n", energy0, energy);
    if (lost != 0) printf("#   lost in mergers: %.14e\n", lost);
    printf("#   error: %.2e, relative %.2e\n", error, error / fabs(energy0));
    if (c->options.pn & (CHAIN_PN1 | CHAIN_PN2))
        printf("#   with 1PN and 2PN terms: %.14e at the end\n", chain_energy_pn(c));
    printf("# momentum at the start: %.14e %.14e %.14e\n#   change: %.2e %.2e %.2e\n", p0[0], p0[1], p0[2],
           p[0] - p0[0], p[1] - p0[1], p[2] - p0[2]);
    printf("# angular momentum at the start: %.14e %.14e %.14e\n#   change: %.2e %.2e %.2e\n", j0[0], j0[1], j0[2],
           j[0] - j0[0], j[1] - j0[1], j[2] - j0[2]);
}

/* Loss of tolerance by rounding. */
static void print_accuracy(const struct chain *c)
{
    if (c->unreached == 0) return;
    printf(
        "# the tolerance %g is below rounding here: %lld of %lld steps did not reach it, and have errors up to %.1e\n",
        c->options.tolerance, (long long)c->unreached, (long long)c->steps, c->worst_error);
}

static void print_closest(const struct chain *c)
{
    printf("# closest approaches\n");
    for (int a = 0; a < c->n; a++)
        for (int b = a + 1; b < c->n; b++) {
            double distance, t;
            chain_closest(c, a, b, &distance, &t);
            printf("#   bodies %lld and %lld: %.8e at t = %.8f\n", (long long)c->id[a], (long long)c->id[b], distance,
                   t);
        }
}

/* A node as text: a body's number, or both parts in brackets. */
static void print_node(const struct chain *c, const struct hierarchy *h, int node)
{
    if (node < h->n) {
        printf("%lld", (long long)c->id[node]);
        return;
    }
    printf("(");
    print_node(c, h, h->pair[node - h->n].first);
    printf(" ");
    print_node(c, h, h->pair[node - h->n].second);
    printf(")");
}

static void print_hierarchy(const struct chain *c, const struct chain_body body[])
{
    double mass[CHAIN_MAX], x[CHAIN_MAX][3], v[CHAIN_MAX][3];
    struct hierarchy h;
    for (int i = 0; i < c->n; i++) {
        mass[i] = body[i].mass;
        memcpy(x[i], body[i].x, sizeof x[i]);
        memcpy(v[i], body[i].v, sizeof v[i]);
    }
    if (hierarchy_find(c->n, mass, (const double(*)[3])x, (const double(*)[3])v, &h) != NBC_OK) return;
    printf("# hierarchy:");
    for (int k = 0; k < h.roots; k++) {
        printf(" ");
        print_node(c, &h, h.root[k]);
    }
    printf("\n");
    for (int k = 0; k < h.pairs; k++) {
        const struct hierarchy_pair *pair = &h.pair[k];
        printf("#   ");
        print_node(c, &h, h.n + k);
        printf(": a = %.9e e = %.9f period = %.9e", pair->orbit.a, pair->orbit.e, pair->orbit.period);
        if (pair->ratio > 0)
            printf(", inclination %.4f deg, pericentre %.4f of the critical one: %s",
                   pair->inclination * 180 / 3.14159265358979324, pair->ratio, pair->stable ? "stable" : "unstable");
        printf("\n");
    }
    if (h.roots != 2) return;
    struct hierarchy_orbit orbit;
    double d[3], w[3], total;
    hierarchy_roots_relative(&h, mass, (const double(*)[3])x, (const double(*)[3])v, &total, d, w);
    hierarchy_orbit_find(total, d, w, &orbit);
    printf("#   the two parts: relative speed at infinity %.9e\n", sqrt(-total / orbit.a));
}

static int run(const struct request *r, struct nbc_error *err)
{
    struct chain_body body[CHAIN_MAX];
    struct chain c;
    int n = 0;
    double lost = 0, p[3], j[3];
    int status = read_bodies(r, body, &n, err);
    struct chain_options options = r->options;
    if (options.max_steps < 0) options.max_steps = n > 0 ? MOST_STEPS / ((int64_t)n * n) : 0;
    if (!status) status = chain_init(&c, &options, n, body, 0, err);
    if (status) return status;
    double energy = chain_energy(&c);
    momentum(&c, body, p, j);
    status = integrate(r, &c, &lost, err);
    if (status) return status;
    chain_slow_end(&c); /* the end state is that of the bodies, not of slowed orbits */
    chain_bodies(&c, body);
    printf("# nbody6-chain %s, method %s, tolerance %g: %s at t = %.14e\n", NB6_VERSION, chain_method_name(c.method),
           r->options.tolerance, r->path, c.t);
    print_accuracy(&c);
    print_conserved(&c, energy, lost, p, j, body);
    print_closest(&c);
    print_hierarchy(&c, body);
    printf("# %lld steps, %lld evaluations, chain rebuilt %lld times\n# m x y z vx vy vz\n", (long long)c.steps,
           (long long)c.evaluations, (long long)c.switches);
    for (int i = 0; i < c.n; i++)
        printf("%.14e %.14e %.14e %.14e %.14e %.14e %.14e\n", body[i].mass, body[i].x[0], body[i].x[1], body[i].x[2],
               body[i].v[0], body[i].v[1], body[i].v[2]);
    return NBC_OK;
}

int main(int argc, char **argv)
{
    struct nbc_error err = {0};
    struct request r = {0};
    nb6_screen_open("nbody6-chain");
    chain_options_init(&r.options);
    r.options.max_steps = -1;
    int status = parse(argc, argv, &r, &err);
    if (status == NBC_OK && r.help)
        fputs(USAGE, stdout);
    else if (status == NBC_OK && r.version)
        printf("nbody6-chain %s\n", NB6_VERSION);
    else if (status == NBC_OK)
        status = run(&r, &err);
    return nb6_screen_end(status, 1, &err);
}
