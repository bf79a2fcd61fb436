#include "nbody6/state/transaction.h"

#include "gpuirr/gpuirr.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"
#include "nbody6/state/touched_slots.h"

#include <string.h>

int nb6_transaction_keep(struct nb6_transaction *t, const struct nb6_event *event)
{
    if (!nbc_grow(&t->event, &t->event_capacity, t->n_event + 1, sizeof *t->event)) return NBC_NO_MEMORY;
    t->event[t->n_event++] = *event;
    return NBC_OK;
}

static int no_memory(struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to keep the state before a step");
}

static int grow_marks(struct nb6_transaction *t, int64_t bodies, int64_t slots)
{
    return nbc_grow(&t->body_is_saved, &t->bodies, bodies, sizeof *t->body_is_saved) &&
           nbc_grow(&t->slot_is_saved, &t->slots, slots, sizeof *t->slot_is_saved);
}

int nb6_transaction_begin(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_transaction *t = &sim->transaction;
    const struct nb6_subsystems *p = &sim->subsystems;
    if (t->open) return nbc_fail(err, NBC_INTERNAL, "a step begins within another one");
    if (!grow_marks(t, sim->n + p->capacity, p->capacity)) return no_memory(err);
    int status = gpuirr_begin(sim->irr);
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    t->n = sim->n;
    t->counters = sim->run.counters;
    t->run_book = sim->run.book;
    t->book = sim->book;
    t->ti_origin = sim->ti_origin;
    t->nb_cap = sim->nb_cap;
    t->n_pulls = sim->engine_image.touched.n_pulls;
    t->n_renumbered = sim->engine_image.touched.n_renumbered;
    t->n_slot = p->n_slot;
    t->count = p->count;
    t->n_chain = p->n_chain;
    t->n_untold = t->n_event;
    t->open = 1;
    return NBC_OK;
}

static struct nb6_saved_body copy_of(const struct nb6_sim *sim, int64_t i)
{
    return (struct nb6_saved_body){.i = (int32_t)i,
                                   .level = nb6_schedule_level(sim->schedule, (int32_t)i),
                                   .body = sim->body[i],
                                   .star = sim->star[i]};
}

int nb6_save_body(struct nb6_sim *sim, int64_t i, struct nbc_error *err)
{
    struct nb6_transaction *t = &sim->transaction;
    nb6_touch(&sim->engine_image.touched, &sim->edits, i);
    if (!t->open) return NBC_OK;
    if (!grow_marks(t, sim->n + sim->subsystems.capacity, sim->subsystems.capacity)) return no_memory(err);
    if (t->body_is_saved[i]) return NBC_OK;
    if (!nbc_grow(&t->body, &t->body_capacity, t->n_body + 1, sizeof *t->body)) return no_memory(err);
    t->body[t->n_body++] = copy_of(sim, i);
    t->body_is_saved[i] = 1;
    return NBC_OK;
}

static int save_perturbers(const struct nb6_perturbers *from, struct nb6_saved_slot *to)
{
    if (from->n > to->capacity) {
        nbc_free(to->perturber);
        to->capacity = 0;
        to->perturber = nbc_alloc((size_t)from->n + 16, sizeof *to->perturber);
        if (!to->perturber) return 0;
        to->capacity = from->n + 16;
    }
    to->n_perturber = from->n;
    if (from->n > 0) memcpy(to->perturber, from->body, (size_t)from->n * sizeof *from->body);
    return 1;
}

int nb6_save_slot(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    struct nb6_transaction *t = &sim->transaction;
    const struct nb6_subsystems *p = &sim->subsystems;
    nb6_touch_slot(&sim->engine_image.touched_slots, slot);
    if (!t->open) return NBC_OK;
    if (!grow_marks(t, sim->n + p->capacity, p->capacity)) return no_memory(err);
    if (t->slot_is_saved[slot]) return NBC_OK;
    if (!nbc_grow(&t->slot, &t->slot_capacity, t->n_saved + 1, sizeof *t->slot)) return no_memory(err);
    struct nb6_saved_slot *to = &t->slot[t->n_saved];
    const struct nb6_chain *chain = slot < p->n_slot ? nb6_chain_of(p, slot) : NULL;
    if (chain && !to->chain) to->chain = nbc_alloc(1, sizeof *to->chain);
    if ((chain && !to->chain) || !save_perturbers(&p->pert[slot], to)) return no_memory(err);
    if (chain) *to->chain = *chain;
    to->has_chain = chain != NULL;
    to->slot = (nb6_stored_slot)slot;
    to->system = p->system[slot];
    to->ks = p->ks[slot];
    t->n_saved++;
    t->slot_is_saved[slot] = 1;
    return NBC_OK;
}

int nb6_save_slots(struct nb6_sim *sim, int64_t n, const nb6_stored_slot *slot, struct nbc_error *err)
{
    struct nb6_transaction *t = &sim->transaction;
    int status = NBC_OK;
    if (t->open && !nbc_grow(&t->slot, &t->slot_capacity, t->n_saved + n, sizeof *t->slot)) return no_memory(err);
    for (int64_t k = 0; k < n && !status; k++) status = nb6_save_slot(sim, slot[k], err);
    return status;
}

int nb6_save_motion(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int status = nb6_save_slot(sim, slot, err);
    if (!sim->transaction.open || slot >= p->n_slot) return status;
    for (int32_t k = p->pert[slot].n - 1; k >= 0 && nb6_is_centre(sim, p->pert[slot].body[k]) && !status; k--) {
        const nb6_slot other = nb6_slot_of(sim, p->pert[slot].body[k]);
        if (nb6_goes_on_demand(p, other)) status = nb6_save_slot(sim, other, err);
    }
    return status;
}

int nb6_save_aged(struct nb6_sim *sim, nb6_index i, struct nbc_error *err)
{
    struct nb6_transaction *t = &sim->transaction;
    if (!t->open || !sim->ageing) return NBC_OK;
    if (!nbc_grow(&t->aged, &t->aged_capacity, t->n_aged + 1, sizeof *t->aged)) return no_memory(err);
    t->aged[t->n_aged++] = (struct nb6_saved_aged){.i = i, .aged = sim->ageing->aged[i]};
    return NBC_OK;
}

int nb6_save_all(struct nb6_sim *sim, struct nbc_error *err)
{
    nb6_touched_any(&sim->engine_image.touched); /* numbers mean other bodies */
    sim->edits++;
    return nb6_save_all_as_they_are(sim, err);
}

/* Copies of a million bodies are made by all threads. */
enum { PARALLEL_BODIES = 4096 };

/* Zeros would be written by one thread, and take longer than the copies. */
static int reserve_bodies(struct nb6_transaction *t, int64_t n)
{
    if (n <= t->body_capacity) return 1;
    struct nb6_saved_body *body = nbc_alloc_unset((size_t)n, sizeof *body);
    if (!body) return 0;
    if (t->n_body > 0) memcpy(body, t->body, (size_t)t->n_body * sizeof *body);
    nbc_free(t->body);
    t->body = body;
    t->body_capacity = n;
    return 1;
}

static int64_t count_unsaved(const struct nb6_transaction *t, int64_t bodies)
{
    int64_t n = 0;
    for (int64_t i = 0; i < bodies; i++) n += !t->body_is_saved[i];
    return n;
}

/* All that are not saved yet. */
static int save_bodies(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_transaction *t = &sim->transaction;
    const int64_t bodies = nb6_bodies(sim), first = t->n_body;
    if (!grow_marks(t, sim->n + sim->subsystems.capacity, sim->subsystems.capacity) ||
        !reserve_bodies(t, first + count_unsaved(t, bodies)))
        return no_memory(err);
    if (first == 0) {
#pragma omp parallel for schedule(static) if (bodies > PARALLEL_BODIES)
        for (int64_t i = 0; i < bodies; i++) t->body[i] = copy_of(sim, i);
        memset(t->body_is_saved, 1, (size_t)bodies);
        t->n_body = bodies;
        return NBC_OK;
    }
    for (int64_t i = 0; i < bodies; i++) {
        if (t->body_is_saved[i]) continue;
        t->body[t->n_body++] = copy_of(sim, i);
        t->body_is_saved[i] = 1;
    }
    return NBC_OK;
}

int nb6_save_all_as_they_are(struct nb6_sim *sim, struct nbc_error *err)
{
    nb6_touched_slots_any(&sim->engine_image.touched_slots);
    if (!sim->transaction.open) return NBC_OK;
    sim->transaction.are_all_saved = 1;
    int status = save_bodies(sim, err);
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot && !status; slot++) status = nb6_save_slot(sim, slot, err);
    for (int64_t i = 0; i < sim->n && sim->ageing && !status; i++) status = nb6_save_aged(sim, (nb6_index)i, err);
    return status;
}

/* Free the copies made when bodies were renumbered; block steps save a few bodies only: copies of a million bodies have
 * 450 MB. */
static void give_back(struct nb6_transaction *t)
{
    enum { BODIES_TO_KEEP = 65536 };
    if (t->body_capacity <= BODIES_TO_KEEP) return;
    nbc_free(t->body);
    t->body = NULL;
    t->body_capacity = 0;
}

void nb6_transaction_close(struct nb6_transaction *t)
{
    for (int64_t k = 0; k < t->n_body; k++) t->body_is_saved[t->body[k].i] = 0;
    for (int64_t k = 0; k < t->n_saved; k++) t->slot_is_saved[t->slot[k].slot] = 0;
    t->n_body = t->n_saved = t->n_aged = 0;
    t->open = t->are_all_saved = 0;
    give_back(t);
}

void nb6_transaction_free(struct nb6_transaction *t)
{
    for (int64_t k = 0; k < t->slot_capacity; k++) {
        nbc_free(t->slot[k].perturber);
        nbc_free(t->slot[k].chain);
    }
    nbc_free(t->body_is_saved);
    nbc_free(t->slot_is_saved);
    nbc_free(t->body);
    nbc_free(t->slot);
    nbc_free(t->aged);
    nbc_free(t->event);
    *t = (struct nb6_transaction){0};
}
