#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "tests/support/cluster.h"

static void demand(int status, const char *what, const struct nbc_error *err)
{
    if (status) fail_msg("%s: %s: %s", what, nbc_status_name(status), err->text);
}

static void *memory(size_t count, size_t size)
{
    void *block = nbc_alloc(count, size);
    if (!block) fail_msg("no memory for a test");
    return block;
}

void cluster_config(struct nb6_config *config)
{
    nb6_config_init(config);
    config->tide.kind = NB6_TIDE_NONE;
    config->escape = NB6_ESCAPE_KEEP;
    config->run.t_crit = 1e6;
    config->run.dt_adjust = config->run.dt_output = 1;
    config->run.energy_tol = 1e100;
    config->run.force_check = 0;
    strcpy(config->run.device, "cpu");
    strcpy(config->run.irr_backend, "auto");
    config->integration.eta_irr = config->integration.eta_reg = 0.02;
    config->integration.dt_max = 0.125;
}

void cluster_config_with_binaries(struct nb6_config *config, int64_t systems, int64_t binaries)
{
    cluster_config(config);
    config->model.n = systems;
    config->model.seed = 3;
    config->binaries.wanted = 1;
    config->binaries.n = binaries;
    config->binaries.semi_max = 0.3 / (double)systems;
    config->binaries.range = 3;
    config->run.dt_adjust = config->run.dt_output = 0.125;
}

void cluster_config_ref(struct nb6_config *config)
{
    strcpy(config->run.device, "ref");
    strcpy(config->run.irr_backend, "ref");
}

void cluster_config_fixed(struct nb6_config *config, double dt_irr, double dt_reg, double r_nb)
{
    config->integration.dt_fixed_irr = dt_irr;
    config->integration.dt_fixed_reg = dt_reg;
    config->integration.r_nb_init = r_nb;
    config->integration.fixed_nnb = 1;
}

/* t_x is proportional to the third power of the length unit. */
void cluster_config_field(struct nb6_config *config, enum nb6_tide_kind kind, int64_t n, double t_x)
{
    config->tide = (struct nb6_tide_config){.kind = kind, .galaxy_mass_msun = 1e11, .galaxy_distance_kpc = 8.5};
    const struct nb6_units units = nb6_units_from(1, config->zmbar_msun, n);
    struct nb6_external external;
    struct nbc_error err = {0};
    demand(nb6_external_make(config, &units, &external, &err), "nb6_external_make", &err);
    config->rbar_pc = cbrt(t_x / external.t_x);
}

struct cluster cluster_alloc(int64_t n)
{
    size_t count = (size_t)n;
    struct cluster c = {.n = n, .mass = memory(count, sizeof *c.mass)};
    c.x = memory(count, sizeof *c.x);
    c.v = memory(count, sizeof *c.v);
    return c;
}

struct cluster cluster_copy(const struct cluster *cluster)
{
    struct cluster c = cluster_alloc(cluster->n);
    memcpy(c.mass, cluster->mass, (size_t)c.n * sizeof *c.mass);
    memcpy(c.x, cluster->x, (size_t)c.n * sizeof *c.x);
    memcpy(c.v, cluster->v, (size_t)c.n * sizeof *c.v);
    return c;
}

void cluster_free(struct cluster *cluster)
{
    nbc_free(cluster->mass);
    nbc_free(cluster->x);
    nbc_free(cluster->v);
    memset(cluster, 0, sizeof *cluster);
}

struct cluster cluster_plummer(int64_t n, uint64_t seed)
{
    struct nb6_config config;
    struct nb6_model model;
    struct nbc_error err = {0};
    cluster_config(&config);
    config.model.kind = NB6_MODEL_PLUMMER;
    config.model.imf = NB6_IMF_EQUAL;
    config.model.n = n;
    config.model.seed = seed;
    config.model.virial_ratio = 0.5;
    demand(nb6_model_make(&config, &model, &err), "nb6_model_make", &err);
    struct cluster cluster = cluster_alloc(n);
    memcpy(cluster.mass, model.mass, (size_t)n * sizeof *cluster.mass);
    memcpy(cluster.x, model.x, (size_t)n * sizeof *cluster.x);
    memcpy(cluster.v, model.v, (size_t)n * sizeof *cluster.v);
    nb6_model_free(&model);
    return cluster;
}

struct cluster_orbit cluster_orbit_of(const struct cluster *c, double scale)
{
    double x[3], v[3], m = c->mass[0] + c->mass[1], r2 = 0, v2 = 0, xv = 0;
    struct cluster_orbit o;
    for (int k = 0; k < 3; k++) {
        x[k] = c->x[0][k] - c->x[1][k];
        v[k] = c->v[0][k] - c->v[1][k];
        r2 += x[k] * x[k];
        v2 += v[k] * v[k];
        xv += x[k] * v[k];
    }
    const double r = sqrt(r2);
    o.a = 1 / (2 / r - v2 / m);
    for (int k = 0; k < 3; k++) {
        int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        o.e[k] = ((v2 - m / r) * x[k] - xv * v[k]) / m;
        o.l[k] = (x[k1] * v[k2] - x[k2] * v[k1]) / sqrt(m * scale);
    }
    return o;
}

double cluster_orbits_apart(const struct cluster_orbit *a, const struct cluster_orbit *b)
{
    double d = fabs(a->a / b->a - 1);
    for (int k = 0; k < 3; k++) d = fmax(d, fmax(fabs(a->e[k] - b->e[k]), fabs(a->l[k] - b->l[k])));
    return d;
}

struct cluster cluster_with_field(int64_t first, int64_t stars, uint64_t seed)
{
    struct cluster field = cluster_plummer(stars, seed), c = cluster_alloc(first + stars);
    for (int64_t i = 0; i < stars; i++) {
        c.mass[first + i] = field.mass[i];
        for (int k = 0; k < 3; k++) {
            c.x[first + i][k] = 2 * field.x[i][k];
            c.v[first + i][k] = field.v[i][k] / sqrt(2);
        }
    }
    cluster_free(&field);
    return c;
}

struct cluster cluster_from_rows(int64_t n, const double (*row)[7])
{
    struct cluster cluster = cluster_alloc(n);
    for (int64_t i = 0; i < n; i++) {
        cluster.mass[i] = row[i][0];
        memcpy(cluster.x[i], &row[i][1], sizeof cluster.x[i]);
        memcpy(cluster.v[i], &row[i][4], sizeof cluster.v[i]);
    }
    return cluster;
}

double cluster_closest(const struct cluster *cluster)
{
    double closest = INFINITY;
    for (int64_t i = 0; i < cluster->n; i++)
        for (int64_t j = 0; j < i; j++) {
            double r2 = 0;
            for (int k = 0; k < 3; k++) r2 += pow(cluster->x[i][k] - cluster->x[j][k], 2);
            closest = fmin(closest, sqrt(r2));
        }
    return closest;
}

long double cluster_energy(const struct cluster *cluster)
{
    long double energy = 0;
    for (int64_t i = 0; i < cluster->n; i++) {
        for (int k = 0; k < 3; k++) energy += 0.5L * cluster->mass[i] * cluster->v[i][k] * cluster->v[i][k];
        for (int64_t j = 0; j < i; j++) {
            long double r2 = 0;
            for (int k = 0; k < 3; k++) {
                long double d = (long double)cluster->x[i][k] - cluster->x[j][k];
                r2 += d * d;
            }
            energy -= cluster->mass[i] * (long double)cluster->mass[j] / sqrtl(r2);
        }
    }
    return energy;
}

struct cluster_sums cluster_sums_of(const struct cluster *c)
{
    struct cluster_sums s = {.energy = cluster_energy(c)};
    for (int64_t i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++) {
            const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            const long double m = c->mass[i];
            s.momentum[k] += m * c->v[i][k];
            s.angular_momentum[k] +=
                m * ((long double)c->x[i][k1] * c->v[i][k2] - (long double)c->x[i][k2] * c->v[i][k1]);
        }
    return s;
}

long double cluster_energy_in_field(const struct cluster *cluster, const struct nb6_external *field)
{
    long double energy = cluster_energy(cluster);
    for (int64_t i = 0; i < cluster->n; i++) {
        const long double x = cluster->x[i][0], z = cluster->x[i][2];
        energy -= 0.5L * cluster->mass[i] * (field->t_x * x * x + field->t_z * z * z);
    }
    return energy;
}

/* Room for one more than n items: their memory doubles whenever n is a power of two. A collapse has 10^4 events, and a
 * copy of all for each of them took a tenth of its time. */
static void *one_more(void *items, size_t n, size_t size)
{
    if (n & (n - 1)) return items;
    void *more = nbc_realloc(items, n, n ? 2 * n : 1, size);
    if (!more) fail_msg("no memory for more than %zu rows or events", n);
    return more;
}

static int keep_row(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    (void)sim;
    (void)err;
    struct cluster_record *record = context;
    size_t n = (size_t)record->n_rows++;
    record->row = one_more(record->row, n, sizeof *row);
    record->row[n] = *row;
    return NBC_OK;
}

static int keep_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    (void)sim;
    (void)err;
    struct cluster_record *record = context;
    size_t n = (size_t)record->n_events++;
    record->event = one_more(record->event, n, sizeof *event);
    record->event[n] = *event;
    return NBC_OK;
}

nb6_t *cluster_start(const struct nb6_config *config, const struct cluster *cluster, struct cluster_record *record)
{
    struct nbc_error err = {0};
    nb6_t *sim = NULL;
    demand(nb6_create(&sim, config, &err), "nb6_create", &err);
    if (record) {
        memset(record, 0, sizeof *record);
        nb6_set_observer(sim, &(struct nb6_observer){.context = record, .adjust = keep_row, .event = keep_event});
    }
    demand(nb6_set_bodies(sim, cluster->n, NULL, cluster->mass, (const double(*)[3])cluster->x,
                          (const double(*)[3])cluster->v, &err),
           "nb6_set_bodies", &err);
    return sim;
}

nb6_t *cluster_start_model(const struct nb6_config *config, struct cluster_record *record)
{
    struct nb6_model model;
    struct nbc_error err = {0};
    demand(nb6_model_make(config, &model, &err), "nb6_model_make", &err);
    const struct cluster c = {model.n, model.mass, model.x, model.v};
    nb6_t *sim = cluster_start(config, &c, record);
    nb6_model_free(&model);
    return sim;
}

void cluster_evolve(nb6_t *sim, double t)
{
    struct nbc_error err = {0};
    demand(nb6_evolve(sim, t, &err), "nb6_evolve", &err);
    demand(nb6_bring_home(sim, &err), "nb6_bring_home", &err);
}

nb6_t *cluster_through_checkpoint(nb6_t *sim)
{
    struct nbc_error err = {0};
    nb6_t *resumed = NULL;
    char path[] = "/tmp/nb6_test_cluster_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    int status = nb6_checkpoint(sim, path, &err);
    if (!status) status = nb6_restore(&resumed, path, &err);
    unlink(path);
    if (status) fail_msg("%s", err.text);
    return resumed;
}

nb6_t *cluster_resumed(nb6_t *sim)
{
    nb6_t *resumed = cluster_through_checkpoint(sim);
    nb6_free(sim);
    return resumed;
}

struct nb6_energy cluster_energy_now(nb6_t *sim)
{
    struct nbc_error err = {0};
    struct nb6_energy energy;
    demand(nb6_get_energy(sim, &energy, &err), "nb6_get_energy", &err);
    return energy;
}

struct cluster cluster_now(nb6_t *sim)
{
    struct nbc_error err = {0};
    struct cluster now = cluster_alloc(nb6_count(sim));
    demand(nb6_get_bodies(sim, now.n, NULL, now.mass, now.x, now.v, &err), "nb6_get_bodies", &err);
    return now;
}

void cluster_record_free(struct cluster_record *record)
{
    nbc_free(record->row);
    nbc_free(record->event);
    memset(record, 0, sizeof *record);
}

double cluster_rms_distance(const struct cluster *a, const struct cluster *b)
{
    assert_int_equal(a->n, b->n);
    double sum = 0;
    for (int64_t i = 0; i < a->n; i++)
        for (int k = 0; k < 3; k++) sum += pow(a->x[i][k] - b->x[i][k], 2);
    return sqrt(sum / (double)a->n);
}

double cluster_farthest(const struct cluster *a, const struct cluster *b)
{
    assert_int_equal(a->n, b->n);
    double worst = 0;
    for (int64_t i = 0; i < a->n; i++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) r2 += (a->x[i][k] - b->x[i][k]) * (a->x[i][k] - b->x[i][k]);
        worst = fmax(worst, sqrt(r2));
    }
    return worst;
}
