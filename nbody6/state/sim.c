#include "nbody6/state/sim.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree.h"
#include "nbody6/input/properties.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/backend_name.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/nearest.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/subsystems.h"

#include <stdio.h>
#include <string.h>

/* Bodies that take part are never more than stars, for any number of slots. */
static int allocate(struct nb6_sim *sim, int64_t n, int64_t n_pair)
{
    struct nb6_active *a = &sim->active;
    if (!nb6_subsystems_alloc(&sim->subsystems, n, n_pair)) return 0;
    const size_t count = (size_t)n, room = count + (size_t)sim->subsystems.capacity;
    if (!sim->body) sim->body = nbc_alloc(room, sizeof *sim->body);
    if (!sim->star) sim->star = nbc_alloc(room, sizeof *sim->star);
    sim->schedule = nb6_schedule_create((int64_t)room);
    a->room = n;
    a->irr = nbc_alloc(count, sizeof *a->irr);
    a->reg = nbc_alloc(count, sizeof *a->reg);
    a->is_reg = nbc_alloc(count, sizeof *a->is_reg);
    a->acc = nbc_alloc(count, sizeof *a->acc);
    a->jerk = nbc_alloc(count, sizeof *a->jerk);
    a->noise = nbc_alloc(count, sizeof *a->noise);
    a->corrected = nbc_alloc(count, sizeof *a->corrected);
    a->x = nbc_alloc(count, sizeof *a->x);
    return sim->body && sim->star && sim->schedule && a->irr && a->reg && a->is_reg && a->acc && a->jerk && a->noise &&
           a->corrected && a->x;
}

/* A library makes its tables with the first predictor, a device in a tenth of a second for a million stars. */
static int open_tables(gpunb_t *reg, struct nbc_error *err)
{
    static const double zero[3];
    int status = gpunb_set_jp(reg, 0, zero, zero, zero, zero, 0, 0);
    if (!status) status = gpunb_clear_jp(reg, 0);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(reg)) : NBC_OK;
}

/* Costs fall with the number of targets, in comparison with direct sums. */
int64_t nb6_least_by_tree(const gpunb_t *reg, int64_t n)
{
    int64_t low = 0, high = n;
    if (!gpunb_regf_by_tree(reg, (size_t)n, (size_t)n)) return 0;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (gpunb_regf_by_tree(reg, (size_t)middle, (size_t)n))
            high = middle;
        else
            low = middle;
    }
    return high;
}

int64_t nb6_pairs_by_tree(const gpunb_t *reg, int64_t n_i, int64_t n_j)
{
    double by_tree;
    if (!gpunb_regf_by_tree(reg, (size_t)n_i, (size_t)n_j)) return 0;
    (void)gpunb_regf_pairs(reg, (size_t)n_i, (size_t)n_j, &by_tree);
    return (int64_t)(by_tree / (double)n_i) + 1;
}

/* @param[in] slots  room for centres of mass, beside n stars   @param[out] reg  NULL after a failure */
static int open_regular(const struct nb6_config *config, int64_t n, int64_t slots, const char *device, gpunb_t **reg,
                        struct nbc_error *err)
{
    struct gpunb_options options = {.backend = nb6_backend_name(device),
                                    .mass_weighted = config->integration.mass_weighted_nb,
                                    .precision = (enum gpunb_precision)config->run.precision,
                                    .force_error = config->integration.force_error};
    gpunb_t *made = NULL;
    *reg = NULL;
    int status = gpunb_create(&made, (size_t)n, &options, err); /* the backend may depend on n */
    if (status) return status;
    if (options.force_error > 0 && nb6_least_by_tree(made, INT32_MAX) == 0) {
        status = nbc_fail(
            err, NBC_BAD_INPUT,
            "FORCE_ERROR: the backend '%s' in this precision has no regular forces by a tree; give PREC='default', "
            "or FORCE_ERROR=0 for direct sums",
            gpunb_info(made)->name);
        gpunb_free(made);
        return status;
    }
    status = gpunb_reserve(made, (size_t)(n + slots));
    if (status) nbc_fail(err, status, "%s", gpunb_last_error(made));
    if (!status) status = open_tables(made, err);
    if (status)
        gpunb_free(made);
    else
        *reg = made;
    return status;
}

int nb6_sim_open_regular(const struct nb6_config *config, int64_t n, gpunb_t **reg, struct nbc_error *err)
{
    return open_regular(config, n, nb6_subsystems_room(0), config->run.device, reg, err);
}

int nb6_sim_tell_tree(const struct nb6_config *config, int64_t n, int64_t *targets, struct nbc_error *err)
{
    gpunb_t *reg;
    const int status = nb6_sim_open_regular(config, n, &reg, err);
    if (status) return status;
    *targets = nb6_least_by_tree(reg, n);
    gpunb_free(reg);
    return NBC_OK;
}

static int grow_regular(struct nb6_sim *sim, size_t room, struct nbc_error *err)
{
    const int status = gpunb_reserve(sim->reg, room);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(sim->reg)) : NBC_OK;
}

static int open_libraries(struct nb6_sim *sim, int64_t n, struct nbc_error *err)
{
    const int64_t slots = sim->subsystems.capacity;
    struct gpuirr_options irr = {.backend = nb6_backend_name(sim->run.config.run.irr_backend)};
    int status = sim->reg ? grow_regular(sim, (size_t)(n + slots), err)
                          : open_regular(&sim->run.config, n, slots, sim->run.config.run.device, &sim->reg, err);
    return status ? status : gpuirr_create(&sim->irr, (size_t)(n + slots), &irr, err);
}

int nb6_regular_on_gpu(const gpunb_t *reg)
{
    return strcmp(gpunb_info(reg)->name, "cuda") == 0;
}

int nb6_sim_on_gpu(const struct nb6_sim *sim)
{
    return nb6_regular_on_gpu(sim->reg);
}

void nb6_regular_name(const gpunb_t *reg, char *text, size_t size)
{
    enum { ROOM = 64 };
    int gpu[ROOM];
    const int n = gpunb_gpus(reg, ROOM, gpu);
    size_t used = (size_t)snprintf(text, size, "%s", gpunb_info(reg)->name);
    for (int k = 0; k < n && k < ROOM && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%c%d", k ? ',' : ':', gpu[k]);
    if (used >= size) snprintf(text, size, "%s", gpunb_info(reg)->name); /* above every given name */
}

void nb6_potential_give_up(struct nb6_sim *sim)
{
    struct nb6_potential_cache *potential = &sim->potential;
    nbc_free(potential->mass);
    nbc_free(potential->x);
    potential->mass = NULL;
    potential->x = NULL;
    potential->started = 0;
}

int nb6_sim_use_backend(struct nb6_sim *sim, const char *device, struct nbc_error *err)
{
    gpunb_t *reg = NULL;
    int status = open_regular(&sim->run.config, sim->n, sim->subsystems.capacity, device, &reg, err);
    if (status) return status;
    gpunb_free(sim->reg);
    sim->reg = reg;
    nb6_potential_give_up(sim);
    snprintf(sim->run.config.run.device, sizeof sim->run.config.run.device, "%s", device);
    return NBC_OK;
}

int nb6_sim_irr_on_gpu(const struct nb6_sim *sim)
{
    return strcmp(gpuirr_info(sim->irr)->name, "cuda") == 0;
}

const char *nb6_sim_irregular_on_cpu(void)
{
    int k = 0;
    while (!gpuirr_backend(k)->available) k++; /* the reference is, and devices come after it */
    return gpuirr_backend(k)->name;
}

int nb6_sim_use_irregular(struct nb6_sim *sim, const char *backend, struct nbc_error *err)
{
    const struct gpuirr_options options = {.backend = backend};
    const size_t room = (size_t)(sim->n + sim->subsystems.capacity);
    gpuirr_t *irr = NULL;
    int status = gpuirr_create(&irr, room, &options, err);
    if (status) return status;
    for (size_t i = 0; i < room && !status; i++) {
        size_t nnb;
        const nb6_index *list = gpuirr_get_list(sim->irr, i, &nnb);
        if (nnb > 0) status = gpuirr_set_list(irr, i, nnb, list);
    }
    if (status) nbc_fail(err, status, "%s", gpuirr_last_error(irr));
    gpuirr_free(status ? irr : sim->irr);
    if (status) return status;
    sim->irr = irr;
    snprintf(sim->run.config.run.irr_backend, sizeof sim->run.config.run.irr_backend, "%s", backend);
    return NBC_OK;
}

int nb6_sim_open(struct nb6_sim *sim, int64_t n, int64_t n_pair, struct nbc_error *err)
{
    sim->n = n;
    if (!allocate(sim, n, n_pair))
        return nbc_fail(err, NBC_NO_MEMORY, "not enough memory for %lld stars", (long long)n);
    return open_libraries(sim, n, err);
}

static int grow_bodies(struct nb6_sim *sim, size_t room)
{
    const size_t used = (size_t)nb6_bodies(sim);
    struct nb6_body *body = nbc_realloc(sim->body, used, room, sizeof *body);
    if (!body) return 0;
    sim->body = body;
    struct nb6_star *star = nbc_realloc(sim->star, used, room, sizeof *star);
    if (!star) return 0;
    sim->star = star;
    return nb6_schedule_reserve(sim->schedule, (int64_t)room);
}

int nb6_sim_reserve(struct nb6_sim *sim, int64_t n_slot, struct nbc_error *err)
{
    if (n_slot <= sim->subsystems.capacity) return NBC_OK;
    const int64_t slots = nb6_subsystems_room(n_slot);
    const size_t room = (size_t)(sim->n + slots);
    int status = gpuirr_reserve(sim->irr, room);
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    status = grow_regular(sim, room, err);
    if (status) return status;
    if (!grow_bodies(sim, room) || !nb6_subsystems_reserve(&sim->subsystems, sim->n, slots))
        return nbc_fail(err, NBC_NO_MEMORY, "not enough memory for %lld pairs and chains", (long long)slots);
    return NBC_OK;
}

static int grow_active(struct nb6_active *a, int64_t n)
{
    const size_t had = (size_t)a->room, room = (size_t)n;
#define GROW(array)                                                                                                    \
    do {                                                                                                               \
        void *grown = nbc_realloc(array, had, room, sizeof *(array));                                                  \
        if (!grown) return 0;                                                                                          \
        (array) = grown;                                                                                               \
    } while (0)
    GROW(a->irr);
    GROW(a->reg);
    GROW(a->is_reg);
    GROW(a->acc);
    GROW(a->jerk);
    GROW(a->noise);
    GROW(a->corrected);
    GROW(a->x);
#undef GROW
    a->room = n;
    return 1;
}

int nb6_sim_reserve_stars(struct nb6_sim *sim, int64_t n_new, struct nbc_error *err)
{
    enum { SHARE_MORE = 64 }; /* all tables are copied */
    const int64_t n = sim->n + n_new, more = sim->n / SHARE_MORE, slots = sim->subsystems.n_slot + n_new;
    if (n > sim->active.room && !grow_active(&sim->active, n + more))
        return nbc_fail(err, NBC_NO_MEMORY, "not enough memory for %lld stars", (long long)n);
    return slots <= sim->subsystems.capacity ? NBC_OK : nb6_sim_reserve(sim, slots + more, err);
}

void nb6_sim_close_regular(struct nb6_sim *sim)
{
    if (sim->reg) gpunb_free(sim->reg);
    sim->reg = NULL;
    nb6_potential_give_up(sim);
    nbc_free(sim->potential.pot);
    sim->potential = (struct nb6_potential_cache){0};
}

void nb6_sim_close(struct nb6_sim *sim)
{
    struct nb6_active *a = &sim->active;
    nbc_free(sim->body);
    nbc_free(sim->star);
    nb6_schedule_free(sim->schedule);
    nbc_free(a->irr);
    nbc_free(a->reg);
    nbc_free(a->is_reg);
    nbc_free(a->acc);
    nbc_free(a->jerk);
    nbc_free(a->noise);
    nbc_free(a->corrected);
    for (int k = 0; k < 2; k++) {
        nbc_free(a->chunk[k]);
        nbc_free(a->rows[k]);
    }
    nbc_free(a->regular);
    nbc_free(a->x);
    nb6_subsystems_free(&sim->subsystems);
    nb6_transaction_free(&sim->transaction);
    nb6_motions_forget(sim);
    nbc_free(sim->profile);
    nb6_sim_close_regular(sim);
    nb6_nearest_free(sim->nearest);
    nb6_properties_free(sim->run.properties);
    nb6_ageing_free(sim->ageing);
    if (sim->irr) gpuirr_free(sim->irr);
}
