/* A step that fails leaves the state before it, bit for bit, and the run goes on: every call of a library and of the
 * regularization fails in turn, without doing anything or after it was done, its numbers turn into NaN, and every
 * allocation fails in turn. The linker puts the functions of this file between the driver and those (Makefile). */
#include "tests/support/failing_alloc.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/step.h"
#include "regularization/chain.h"
#include "regularization/ks.h"
#include "tests/support/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* ---- faults */

enum fault { NO_FAULT, REFUSED, FAILED_AFTERWARDS, NOT_A_NUMBER, NO_ALLOCATION, FAULT_KINDS };

static enum fault fault_kind;
static long calls_left; /* until the one that fails */

/* Whether this call fails. A fault happens once. */
static int is_due(enum fault kind)
{
    if (fault_kind != kind || calls_left-- > 0) return 0;
    fault_kind = NO_FAULT;
    return 1;
}

#define FAULTY(name, declared, passed)                                                                                 \
    int __real_##name declared;                                                                                        \
    int __wrap_##name declared;                                                                                        \
    int __wrap_##name declared                                                                                         \
    {                                                                                                                  \
        if (is_due(REFUSED)) return NBC_DEVICE;                                                                        \
        int status = __real_##name passed;                                                                             \
        return !status && is_due(FAILED_AFTERWARDS) ? NBC_NON_FINITE : status;                                         \
    }

int __real_gpuirr_begin(gpuirr_t *irr);
int __wrap_gpuirr_begin(gpuirr_t *irr);
int __wrap_gpuirr_begin(gpuirr_t *irr)
{
    return is_due(REFUSED) ? NBC_NO_MEMORY : __real_gpuirr_begin(irr); /* one that fails has not begun */
}

FAULTY(gpuirr_set_list, (gpuirr_t * irr, size_t i, size_t nnb, const int32_t *list), (irr, i, nnb, list))
FAULTY(gpuirr_pred_act, (gpuirr_t * irr, size_t n, const int32_t *act, double t), (irr, n, act, t))
FAULTY(gpuirr_pred_all, (gpuirr_t * irr, size_t lo, size_t hi, double t), (irr, lo, hi, t))
FAULTY(gpunb_predict, (gpunb_t * nb, size_t n, double t), (nb, n, t))
FAULTY(ks_init,
       (struct ks_pair * pair, const struct ks_options *options, const double mass[2], const double x[2][3],
        const double v[2][3], double t, struct nbc_error *err),
       (pair, options, mass, x, v, t, err))
FAULTY(ks_start, (struct ks_pair * pair, ks_perturb_fn perturb, void *context, struct nbc_error *err),
       (pair, perturb, context, err))
FAULTY(ks_advance_some,
       (struct ks_pair * pair, double t, int64_t steps, ks_perturb_fn perturb, void *context, int *done,
        struct nbc_error *err),
       (pair, t, steps, perturb, context, done, err))
FAULTY(ks_finish, (struct ks_pair * pair, double t, ks_perturb_fn perturb, void *context, struct nbc_error *err),
       (pair, t, perturb, context, err))
FAULTY(ks_unperturbed, (struct ks_pair * pair, double t, struct nbc_error *err), (pair, t, err))
FAULTY(chain_init,
       (struct chain * c, const struct chain_options *options, int n, const struct chain_body body[], double t,
        struct nbc_error *err),
       (c, options, n, body, t, err))
FAULTY(chain_advance,
       (struct chain * c, double t, const struct chain_field *field, struct chain_event *event, struct nbc_error *err),
       (c, t, field, event, err))

int __real_gpuirr_firr_vec(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                           int32_t *nearest);
int __wrap_gpuirr_firr_vec(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                           int32_t *nearest);
int __wrap_gpuirr_firr_vec(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                           int32_t *nearest)
{
    if (is_due(REFUSED)) return NBC_DEVICE;
    int status = __real_gpuirr_firr_vec(irr, n, act, acc, jerk, nearest);
    if (n > 0 && is_due(NOT_A_NUMBER)) acc[n - 1][1] = NAN;
    return status;
}

int __real_gpunb_regf(gpunb_t *nb, size_t n, const int32_t *self, const double *r_nb2, const double *dt_reg,
                      const double (*x)[3], const double (*v)[3], double (*acc)[3], double (*jerk)[3], double *pot,
                      size_t nb_cap, int32_t *nnb, int32_t *nblist);
int __wrap_gpunb_regf(gpunb_t *nb, size_t n, const int32_t *self, const double *r_nb2, const double *dt_reg,
                      const double (*x)[3], const double (*v)[3], double (*acc)[3], double (*jerk)[3], double *pot,
                      size_t nb_cap, int32_t *nnb, int32_t *nblist);
int __wrap_gpunb_regf(gpunb_t *nb, size_t n, const int32_t *self, const double *r_nb2, const double *dt_reg,
                      const double (*x)[3], const double (*v)[3], double (*acc)[3], double (*jerk)[3], double *pot,
                      size_t nb_cap, int32_t *nnb, int32_t *nblist)
{
    if (is_due(REFUSED)) return NBC_DEVICE;
    int status = __real_gpunb_regf(nb, n, self, r_nb2, dt_reg, x, v, acc, jerk, pot, nb_cap, nnb, nblist);
    if (n > 0 && is_due(NOT_A_NUMBER)) jerk[0][2] = NAN;
    return status;
}

/* ---- the state, as one number */

static uint64_t mixed(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t k = 0; k < bytes; k += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, byte + k, bytes - k < sizeof word ? bytes - k : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t mixed_bodies(const struct nb6_sim *sim, uint64_t hash)
{
    for (int64_t i = 0; i < nb6_bodies(sim); i++) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        const int level = nb6_schedule_level(sim->schedule, (int32_t)i);
        hash = mixed(hash, &level, sizeof level);
        hash = mixed(hash, &nnb, sizeof nnb);
        hash = mixed(hash, list, nnb * sizeof *list);
        hash = mixed(hash, &sim->pairs.resolved_by[i], sizeof *sim->pairs.resolved_by);
        if (i >= sim->n && sim->pairs.pair[i - sim->n].member[0] < 0) continue; /* nobody is there */
        hash = mixed(hash, &sim->body[i], sizeof sim->body[i]);
        hash = mixed(hash, &sim->star[i], sizeof sim->star[i]);
    }
    return hash;
}

static uint64_t mixed_slots(const struct nb6_pairs *p, uint64_t hash)
{
    hash = mixed(hash, &p->n_slot, sizeof p->n_slot);
    hash = mixed(hash, &p->count, sizeof p->count);
    hash = mixed(hash, p->source, (size_t)p->n_source * sizeof *p->source);
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        hash = mixed(hash, &p->pair[slot].member, sizeof p->pair[slot].member);
        if (p->pair[slot].member[0] < 0) continue;
        hash = mixed(hash, &p->pair[slot], sizeof p->pair[slot]);
        hash = mixed(hash, &p->leader[slot], sizeof *p->leader);
        hash = mixed(hash, &p->follower[slot], sizeof *p->follower);
        hash = mixed(hash, &p->next[slot], sizeof *p->next);
        hash = mixed(hash, p->pert[slot].body, (size_t)p->pert[slot].n * sizeof *p->pert[slot].body);
        const struct nb6_chain *chain = nb6_chain_of(p, slot);
        hash = chain ? mixed(hash, chain, sizeof *chain) : mixed(hash, &p->ks[slot], sizeof p->ks[slot]);
    }
    return hash;
}

static uint64_t state_of(const struct nb6_sim *sim)
{
    uint64_t hash = 0xcbf29ce484222325u;
    hash = mixed(hash, &sim->n, sizeof sim->n);
    hash = mixed(hash, &sim->ti_now, sizeof sim->ti_now);
    hash = mixed(hash, &sim->ti_origin, sizeof sim->ti_origin);
    hash = mixed(hash, &sim->nb_cap, sizeof sim->nb_cap);
    hash = mixed(hash, &sim->counters, sizeof sim->counters);
    hash = mixed(hash, &sim->book, sizeof sim->book);
    return mixed_slots(&sim->pairs, mixed_bodies(sim, hash));
}

/* ---- runs */

struct heard {
    int64_t events;
};

static int on_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    struct heard *heard = context;
    (void)sim;
    (void)event;
    (void)err;
    heard->events++;
    return NBC_OK;
}

/* GPUNB has the predictors of all bodies that take part and of nobody else: forces on a few points are those of a
 * library that was opened just now. */
static void check_sources(const struct nb6_sim *sim)
{
    enum { POINTS = 3, CAP = 512 };
    static const double r_nb2[POINTS] = {0.01, 1e-4, 1e20}, dt[POINTS], v[POINTS][3];
    static const double x[POINTS][3] = {{0.1, 0.2, -0.3}, {0, 0, 0}, {3, 3, 3}};
    static int32_t list[2][POINTS][CAP];
    double acc[2][POINTS][3], jerk[2][POINTS][3];
    int32_t nnb[2][POINTS];
    const size_t n = (size_t)nb6_bodies(sim);
    const struct gpunb_options options = {.backend = gpunb_info(sim->reg)->name};
    gpunb_t *reg[2] = {sim->reg, NULL};
    assert_int_equal(gpunb_create(&reg[1], n, &options, NULL), NBC_OK);
    for (size_t i = 0; i < n; i++) {
        const struct nb6_body *b = &sim->body[i];
        if (!nb6_takes_part(sim, (int64_t)i)) continue;
        const double t0 = nb6_time_to_double(b->t0 - sim->ti_origin);
        assert_int_equal(gpunb_set_jp(reg[1], i, b->x0, b->v0, b->acc, b->jerk, b->mass, t0), NBC_OK);
    }
    for (int k = 0; k < 2; k++) {
        assert_int_equal(gpunb_predict(reg[k], n, nb6_time_to_double(sim->ti_now - sim->ti_origin)), NBC_OK);
        assert_int_equal(
            gpunb_regf(reg[k], POINTS, NULL, r_nb2, dt, x, v, acc[k], jerk[k], NULL, CAP, nnb[k], list[k][0]), NBC_OK);
    }
    gpunb_free(reg[1]);
    assert_int_equal(nnb[0][2], sim->pairs.n_source);
    assert_memory_equal(acc[0], acc[1], sizeof acc[0]);
    assert_memory_equal(jerk[0], jerk[1], sizeof jerk[0]);
    assert_memory_equal(nnb[0], nnb[1], sizeof nnb[0]);
    for (int k = 0; k < POINTS; k++)
        assert_memory_equal(list[0][k], list[1][k], (size_t)nnb[0][k] * sizeof list[0][k][0]);
}

/* One step, after every fault of a kind was tried in it.   @return faults that made it fail */
static int64_t step_with_faults(struct nb6_sim *sim, enum fault kind, const struct heard *heard)
{
    int64_t failures = 0;
    for (long k = 0;; k++) {
        struct nbc_error err = {0};
        const uint64_t before = state_of(sim);
        const int64_t told = heard->events, blocks = (int64_t)sim->counters.blocks, undecided = sim->book.undecided;
        int paused = 0;
        fault_kind = kind;
        calls_left = k;
        fail_alloc(kind == NO_ALLOCATION ? k : -1);
        const int status = nb6_step(sim, &paused, &err);
        const int happened = kind == NO_ALLOCATION ? alloc_left < 0 : fault_kind == NO_FAULT;
        fault_kind = NO_FAULT;
        fail_alloc(-1);
        check_sources(sim);
        if (!status) {
            if (!happened || paused || k > 2000) return failures;
            continue; /* the block stands: what failed was done without */
        }
        if (!happened) fail_msg("without a fault: status %d, %s", status, err.text);
        assert_true(err.text[0] != '\0' || kind != NO_ALLOCATION);
        failures++;
        /* One of the transactions of a step stands, and the next one failed: it is tried again in the next step. */
        if ((int64_t)sim->counters.blocks > blocks || sim->book.undecided != undecided) return failures;
        if (state_of(sim) != before) print_message("fault %d, call %ld: status %d, %s\n", kind, k, status, err.text);
        assert_int_equal(state_of(sim), before);
        assert_int_equal(heard->events, told);
    }
}

static nb6_t *begin(const struct nb6_config *config, int64_t n, const double *mass, const double (*x)[3],
                    const double (*v)[3])
{
    struct nbc_error err = {0};
    nb6_t *sim = NULL;
    if (nb6_create(&sim, config, &err)) fail_msg("%s", err.text);
    if (nb6_set_bodies(sim, n, NULL, mass, x, v, &err)) fail_msg("%s", err.text);
    return sim;
}

/* Nothing but binaries, whose stars collide. */
static nb6_t *binaries(double t_x, uint64_t seed)
{
    struct nb6_config config;
    struct nb6_model model;
    struct nbc_error err = {0};
    cluster_config(&config);
    cluster_config_ref(&config);
    config.model.n = config.binaries.n = 15;
    config.model.seed = seed;
    config.pair.r_star = 1e-4;
    if (t_x > 0) cluster_config_field(&config, NB6_TIDE_POINT_MASS, 30, t_x);
    if (nb6_model_make(&config, &model, &err)) fail_msg("%s", err.text);
    nb6_t *sim = begin(&config, model.n, model.mass, (const double(*)[3])model.x, (const double(*)[3])model.v);
    nb6_model_free(&model);
    return sim;
}

/* A circular binary of two equal stars in the place of star i and the next. */
static void put_binary(struct cluster *c, int64_t i, double mass, double a, const double x[3], const double v[3])
{
    const double speed = 0.5 * sqrt(mass / a);
    for (int m = 0; m < 2; m++) {
        const double side = m ? -1 : 1;
        const double place[3] = {x[0] + side * a / 2, x[1], x[2]}, velocity[3] = {v[0], v[1] + side * speed, v[2]};
        c->mass[i + m] = mass / 2;
        memcpy(c->x[i + m], place, sizeof place);
        memcpy(c->v[i + m], velocity, sizeof velocity);
    }
}

/* Two binaries meet, in a chain; a third one has a companion, and is frozen with it. */
static nb6_t *encounters(void)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    struct cluster c = cluster_with_field(7, 20, 3);
    put_binary(&c, 0, 0.08, 1e-3, (double[3]){-0.012, -0.002, 0}, (double[3]){0.5, 0, 0});
    put_binary(&c, 2, 0.04, 3e-3, (double[3]){0.012, 0.002, 0}, (double[3]){-0.5, 0, 0});
    put_binary(&c, 4, 0.04, 1e-3, (double[3]){0.3, 0.4, 0}, (double[3]){0, 0, 0});
    const double r = 0.02, x[3] = {0.3 + r, 0.4, 0}, v[3] = {0, sqrt(0.06 / r), 0};
    c.mass[6] = 0.02;
    memcpy(c.x[6], x, sizeof x);
    memcpy(c.v[6], v, sizeof v);
    nb6_t *sim = begin(&config, c.n, c.mass, (const double(*)[3])c.x, (const double(*)[3])c.v);
    cluster_free(&c);
    return sim;
}

/* Steps with all faults of all kinds, one kind after the other. */
static void run_with_faults(nb6_t *sim, int steps, int64_t failures[FAULT_KINDS])
{
    struct heard heard = {0};
    const struct nb6_observer observer = {.context = &heard, .event = on_event};
    nb6_set_observer(sim, &observer);
    for (int k = 0; k < steps; k++) {
        enum fault kind = (enum fault)(1 + k % (FAULT_KINDS - 1));
        if (kind == NO_ALLOCATION && !CAN_FAIL_ALLOC) kind = REFUSED;
        failures[kind] += step_with_faults(sim, kind, &heard);
    }
}

static void every_fault(void **state)
{
    enum { STEPS = 6000, SYSTEMS = 3 };
    (void)state;
    int64_t failures[FAULT_KINDS] = {0};
    struct nb6_counters all = {0};
    can_fail_alloc();
    for (int k = 0; k < SYSTEMS; k++) {
        nb6_t *sim = k == 2 ? encounters() : binaries(k ? 0.1 : 0, (uint64_t)k + 1);
        run_with_faults(sim, STEPS, failures);
        all.pairs_formed += sim->counters.pairs_formed;
        all.pairs_ended += sim->counters.pairs_ended;
        all.chains_formed += sim->counters.chains_formed;
        all.chains_ended += sim->counters.chains_ended;
        all.hierarchies_formed += sim->counters.hierarchies_formed;
        all.mergers += sim->counters.mergers;
        nb6_free(sim);
    }
    print_message("pairs %d and %d, chains %d and %d, hierarchies %d, mergers %d; faults:", (int)all.pairs_formed,
                  (int)all.pairs_ended, (int)all.chains_formed, (int)all.chains_ended, (int)all.hierarchies_formed,
                  (int)all.mergers);
    for (int kind = 1; kind < FAULT_KINDS; kind++) {
        print_message(" %lld", (long long)failures[kind]);
        if (kind != NO_ALLOCATION || CAN_FAIL_ALLOC) assert_true(failures[kind] > 1000);
    }
    print_message("\n");
    /* or less is tested than meant */
    assert_true(all.pairs_ended > 10 && all.chains_formed > 0 && all.chains_ended > 0);
    assert_true(all.hierarchies_formed > 0 && all.mergers > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_fault)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
