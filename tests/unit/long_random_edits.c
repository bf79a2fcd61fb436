/* Random clusters with binaries, systems, heavy stars and galaxies, on the engines that there are, in which stars
 * are kicked, lose and gain mass, come and go at random times: energy, momentum and angular momentum change by what is
 * booked; redundant data agree; the image is that of an import; what is refused changes nothing; other threads and
 * resumes at random moments have the same bits.
 *
 *     long_random_edits [FIRST [LAST]]    seeds, 1 to 200 if none are given */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/engine/engine.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/escape_scene.h"
#include "tests/support/galaxy.h"
#include "tests/support/image_check.h"

enum { MOST = 400, EDITS = 12 };
static const double SPAN = 0.12;

/* ---- numbers */

static uint64_t number;

static double uniform(void)
{
    number = number * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(number >> 11) * 0x1p-53;
}

static int below(int n)
{
    return (int)(n * uniform());
}

static void begin_numbers(uint64_t seed, uint64_t stream)
{
    number = (seed + 1) * 0x9e3779b97f4a7c15ull ^ stream * 0xbf58476d1ce4e5b9ull;
    for (int k = 0; k < 8; k++) (void)uniform();
}

/* ---- clusters */

static void choose_galaxy(struct nb6_config *config, int64_t n)
{
    switch (below(8)) {
    case 0:
        cluster_config_field(config, NB6_TIDE_POINT_MASS, n, 1e-2);
        break;
    case 1:
        config->tide = milky_way();
        break;
    case 2:
        config->tide = (struct nb6_tide_config){
            .kind = NB6_TIDE_GAS, .gas_mass = 1, .gas_length = 0.6, .gas_rate = 1.5, .gas_delay = 0.05};
        break;
    case 3:
        config->tide = (struct nb6_tide_config){
            .kind = NB6_TIDE_MILKY_WAY, .position_kpc = {8, 0, 0.02}, .velocity_kms = {10, 225, 7}};
        break;
    default:
        break;
    }
    if (config->tide.kind == NB6_TIDE_GALAXY || config->tide.kind == NB6_TIDE_MILKY_WAY) config->rbar_pc = 2;
}

static nb6_t *start_binaries(struct cluster_record *record)
{
    struct nb6_config config;
    struct nb6_model model;
    struct nbc_error err = {0};
    const int systems = 25 + below(140);
    cluster_config_with_binaries(&config, systems, below(systems / 2));
    config.model.seed = (uint64_t)below(1000000);
    config.binaries.range = pow(10, 3 * uniform());
    config.binaries.semi_max = pow(10, 1 - 2 * uniform()) / systems;
    config.pair.slow_down = below(2);
    config.pair.r_star = below(4) == 0 ? 1e-4 : 0;
    config.run.dt_adjust = config.run.dt_output = below(2) ? 0.0625 : 0.25;
    choose_galaxy(&config, systems);
    if (nb6_model_make(&config, &model, &err)) fail_msg("%s", err.text);
    for (int k = below(3); k > 0; k--) model.mass[model.n - 1 - below(10)] *= 5 + 30 * uniform();
    const struct cluster c = {model.n, model.mass, model.x, model.v};
    nb6_t *sim = cluster_start(&config, &c, record);
    nb6_model_free(&model);
    return sim;
}

static nb6_t *start_systems(struct cluster_record *record)
{
    struct scene scene = make_scene(1 + below((1 << ESCAPE_KINDS) - 1));
    nb6_t *sim = start_scene(&scene, below(2), NB6_ESCAPE_KEEP, record);
    cluster_free(&scene.c);
    return sim;
}

static nb6_t *start(uint64_t seed, enum nb6_engine_choice engine, struct cluster_record *record)
{
    begin_numbers(seed, 0);
    nb6_t *sim = below(3) ? start_binaries(record) : start_systems(record);
    sim->engine = engine;
    return sim;
}

/* ---- changes */

enum kind { WIND, LOSS, GAIN, KICK, COME, GO, KINDS };

struct change {
    enum kind kind;
    int64_t n, name[MOST];
    double mass[MOST], x[MOST][3], v[MOST][3];
};

static void choose_masses(const struct nb6_sim *sim, struct change *c, const double (*v)[3], const int64_t *all,
                          const double *had)
{
    static const double most[KINDS] = {[WIND] = 0.02, [LOSS] = 0.9, [GAIN] = -0.5, [KICK] = 0.3};
    const double share = below(4) ? 2.0 / (double)sim->n : 0.3 * uniform();
    const double speed = pow(10, 1.5 - 3 * uniform());
    for (int64_t i = 0; i < sim->n; i++) {
        if (uniform() > share || !(had[i] > 0)) continue;
        c->name[c->n] = all[i];
        c->mass[c->n] = (1 - most[c->kind] * uniform()) * had[i];
        for (int d = 0; d < 3; d++) c->v[c->n][d] = v[i][d] + speed * (uniform() - 0.5);
        c->n++;
    }
}

/* Beside stars that are there, some of them very near. */
static void choose_new(struct change *c, int64_t n, const double (*x)[3], const double (*v)[3], const double *had)
{
    for (c->n = 0; c->n < 1 + below(3); c->n++) {
        const int64_t i = below((int)n);
        const double r = pow(10, -3 * uniform());
        c->mass[c->n] = fmax(had[i], 1e-3) * (0.2 + uniform());
        for (int d = 0; d < 3; d++) {
            c->x[c->n][d] = x[i][d] + r * (uniform() - 0.5);
            c->v[c->n][d] = v[i][d] + uniform() - 0.5;
        }
    }
}

static int choose(nb6_t *sim, struct change *c)
{
    static int64_t all[MOST];
    static double had[MOST], x[MOST][3], v[MOST][3];
    struct nbc_error err = {0};
    assert_true(sim->n < MOST - 8);
    *c = (struct change){.kind = (enum kind)below(KINDS)};
    if (nb6_get_bodies(sim, sim->n, all, had, x, v, &err)) fail_msg("%s", err.text);
    if (c->kind == COME) {
        choose_new(c, sim->n, (const double(*)[3])x, (const double(*)[3])v, had);
    } else if (c->kind == GO) {
        for (int k = 1 + below(3); k > 0 && sim->n > 10; k--) c->name[c->n++] = all[below((int)sim->n)];
    } else {
        choose_masses(sim, c, (const double(*)[3])v, all, had);
    }
    return c->n > 0;
}

static int make(nb6_t *sim, const struct change *c, struct nbc_error *err)
{
    if (c->kind == COME)
        return nb6_add_bodies(sim, c->n, NULL, c->mass, (const double(*)[3])c->x, (const double(*)[3])c->v, err);
    if (c->kind == GO) return nb6_remove_bodies(sim, c->n, c->name, err);
    const int is_slow = c->kind == WIND || (c->kind == GAIN && c->n % 2);
    return nb6_set_masses(sim, c->n, c->name, c->mass, c->kind == KICK ? (const double(*)[3])c->v : NULL,
                          is_slow ? NB6_MASS_SLOW : NB6_MASS_SUDDEN, err);
}

/* ---- checks */

struct sums {
    struct nb6_energy energy;
    struct nb6_run_book book;
    const void *library;
};

static struct sums sums_of(nb6_t *sim)
{
    return (struct sums){cluster_energy_now(sim), sim->run.book, sim->reg};
}

static double booked(const struct nb6_run_book *book)
{
    return book->ledger.booked[NB6_CHANNEL_STARS] + book->ledger.booked[NB6_CHANNEL_CHANGED];
}

/* Rounding of sums; systems that are made anew lose tides that they did not resolve. */
static void assert_closed(const nb6_t *sim, const struct sums *was, const struct sums *is, const struct change *c)
{
    const struct nb6_star_transfers *a[2] = {&was->book.transfers.stars, &was->book.transfers.changed};
    const struct nb6_star_transfers *b[2] = {&is->book.transfers.stars, &is->book.transfers.changed};
    const double size =
        1 + fabs(was->energy.binding) + fabs(was->energy.total) + fabs(is->energy.binding) + fabs(is->energy.total);
    const int is_made_anew = was->library != is->library;
    const double energy = is->energy.total - was->energy.total - booked(&is->book) + booked(&was->book);
    const double slowed = sim->run.config.pair.slow_down > 0 ? 1e-5 : 0;
    if (!(fabs(energy) < (is_made_anew ? 1e-3 : 1e-12) * size))
        fail_msg("energy off by %g of %g, change %d of %lld", energy, size, (int)c->kind, (long long)c->n);
    if (is_made_anew) return;
    for (int k = 0; k < 3; k++) {
        double momentum = is->energy.mass * is->energy.centre_v[k] - was->energy.mass * was->energy.centre_v[k];
        double spin = is->energy.angular_momentum[k] - was->energy.angular_momentum[k];
        for (int m = 0; m < 2; m++) {
            momentum -= b[m]->momentum[k] - a[m]->momentum[k];
            spin -= b[m]->angular_momentum[k] - a[m]->angular_momentum[k];
        }
        if (!(fabs(momentum) < 1e-13 * size && fabs(spin) < 1e-11 * size + slowed))
            fail_msg("momentum off by %g, spin by %g, change %d of %lld", momentum, spin, (int)c->kind,
                     (long long)c->n);
    }
}

/* The move of all that a change leaves to be moved, as engines.c makes it. */
static void assert_image(nb6_t *sim)
{
    struct nbc_error err = {0};
    if (sim->engine != NB6_ENGINE_EMULATED || !sim->engine_image.image) return;
    if (!sim->engine_image.ahead) {
        if (!nb6_emulated_engine.supports(sim)) return;
        if (nb6_emulated_engine.import(sim, &err)) fail_msg("%s", err.text);
        nb6_touched_begin(&sim->engine_image.touched, sim->edits);
        sim->engine_image.edits = sim->edits;
        cluster_assert_records_of_all_systems(sim);
    }
    cluster_assert_image_is_an_import(sim);
}

static void assert_field(nb6_t *sim)
{
    struct nbc_error err = {0};
    struct cluster now = cluster_now(sim);
    const double x[1][3] = {{uniform() - 0.5, uniform() - 0.5, uniform() - 0.5}};
    double potential;
    long double sum = 0;
    if (nb6_get_field(sim, 1, x, &potential, NULL, NULL, NULL, &err)) fail_msg("%s", err.text);
    for (int64_t i = 0; i < now.n; i++) {
        long double r2 = 0;
        for (int d = 0; d < 3; d++) r2 += ((long double)now.x[i][d] - x[0][d]) * ((long double)now.x[i][d] - x[0][d]);
        sum -= now.mass[i] / sqrtl(r2);
    }
    if (!(fabsl(potential - sum) < 1e-10L * -sum)) fail_msg("potential %g, not %g", potential, (double)sum);
    cluster_free(&now);
}

/* ---- runs */

/* Of one run. */
struct way {
    enum nb6_engine_choice engine;
    int threads, resumes, checks; /* resumes: at which moments it goes on from a checkpoint, bits */
};

static int refused;

/* @return whether something was changed */
static void change_once(nb6_t *sim, int checks)
{
    struct nbc_error err = {0};
    struct change c;
    if (!choose(sim, &c)) return;
    const int looks = below(3) == 0;
    const struct sums was = sums_of(sim);
    const uint64_t before = checks && looks ? cluster_state_at_home(sim) : 0;
    const int status = make(sim, &c, &err);
    if (status) {
        if (status != NBC_BAD_INPUT && status != NBC_BAD_STATE) fail_msg("status %d: %s", status, err.text);
        if (checks && looks && cluster_state_at_home(sim) != before) fail_msg("refused, and changed: %s", err.text);
        refused++;
        return;
    }
    if (!checks) return;
    const struct sums is = sums_of(sim);
    assert_closed(sim, &was, &is, &c);
    cluster_assert_consistent(sim);
    cluster_check_sources(sim);
    assert_image(sim);
}

static uint64_t run(uint64_t seed, const struct way *way, double *error)
{
    struct cluster_record record = {0};
    struct nbc_error err = {0};
    double t = 0;
    omp_set_num_threads(way->threads);
    nb6_t *sim = start(seed, way->engine, way->checks ? &record : NULL);
    begin_numbers(seed, 1);
    for (int k = 0; k < EDITS; k++) {
        t += 2 * SPAN / EDITS * uniform();
        if (below(4) == 0) t = ceil(64 * t) / 64;
        if (nb6_evolve(sim, t, &err)) fail_msg("t = %g: %s", t, err.text);
        if (way->resumes >> (2 * k) & 1) sim = cluster_resumed(sim);
        change_once(sim, way->checks);
        if (way->resumes >> (2 * k + 1) & 1) sim = cluster_resumed(sim);
        if (way->checks)
            assert_field(sim);
        else
            (void)uniform(), (void)uniform(), (void)uniform();
    }
    cluster_evolve(sim, 0.0625 * ceil(16 * t) + 0.0625);
    cluster_assert_consistent(sim);
    cluster_check_sources(sim);
    if (way->checks) *error = record.row[record.n_rows - 1].de_cluster;
    cluster_record_free(&record);
    return cluster_state_at_end(sim);
}

static void try_seed(void **state)
{
    const uint64_t seed = (uint64_t)(uintptr_t)*state;
    char why[NB6_ENGINE_WHY];
    for (enum nb6_engine_choice engine = NB6_ENGINE_HOST; engine <= NB6_ENGINE_EMULATED; engine++) {
        if (engine == NB6_ENGINE_DEVICE && nb6_engine_missing("device", why)) continue;
        double error = 0;
        refused = 0;
        const uint64_t bits = run(seed, &(struct way){engine, 1, 0, 1}, &error);
        print_message("seed %llu, engine %d: error %.2g, %d refused\n", (unsigned long long)seed, (int)engine, error,
                      refused);
        begin_numbers(seed, 2 + engine);
        const int resumes = below(1 << 24) & below(1 << 24), all = below(8) == 0;
        assert_true(run(seed, &(struct way){engine, 3, 0, 0}, NULL) == bits);
        assert_true(run(seed, &(struct way){engine, 2, all ? 0xffffff : resumes, 0}, NULL) == bits);
    }
}

int main(int argc, char **argv)
{
    const int first = argc > 1 ? atoi(argv[1]) : 1, last = argc > 2 ? atoi(argv[2]) : argc > 1 ? first : 200;
    int failed = 0;
    for (int seed = first; seed <= last; seed++) {
        char name[32];
        snprintf(name, sizeof name, "seed_%d", seed);
        const struct CMUnitTest test[] = {{name, try_seed, NULL, NULL, (void *)(uintptr_t)seed}};
        failed += cmocka_run_group_tests(test, NULL, NULL);
    }
    return failed > 0;
}
