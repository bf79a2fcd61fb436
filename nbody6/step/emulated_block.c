#include "nbody6/step/emulated_block.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/step/dev_commit.h"
#include "nbody6/step/dev_correct.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/dev_image.h"
#include "nbody6/step/dev_quiet.h"
#include "nbody6/step/dev_regular.h"
#include "nbody6/step/dev_remote.h"
#include "nbody6/step/dev_select.h"
#include "nbody6/step/share.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

static int allocate_scratch(struct nb6_dev *dev)
{
    const size_t count = (size_t)dev->n, chunks = (size_t)nb6_dev_chunks(dev);
    dev->parts = NB6_EMULATED_PARTS;
    dev->targets = NB6_EMULATED_TARGETS;
    dev->count = nbc_alloc(NB6_EMULATED_PARTS, sizeof *dev->count);
    dev->brief = nbc_alloc(count, sizeof *dev->brief);
    dev->irr = nbc_alloc(count, sizeof *dev->irr);
    dev->reg = nbc_alloc(count, sizeof *dev->reg);
    dev->is_reg = nbc_alloc(count, sizeof *dev->is_reg);
    dev->flag = nbc_alloc(count, sizeof *dev->flag);
    dev->member = nbc_alloc(count, sizeof *dev->member);
    dev->corrected = nbc_alloc(count, sizeof *dev->corrected);
    dev->old_sum = nbc_alloc(count, sizeof *dev->old_sum);
    dev->source = nbc_alloc(chunks * NB6_DEV_LANES, sizeof *dev->source);
    dev->target = nbc_alloc(NB6_EMULATED_TARGETS, sizeof *dev->target);
    dev->partial = nbc_alloc(NB6_EMULATED_TARGETS * NB6_EMULATED_SLICES, sizeof *dev->partial);
    dev->hit = nbc_alloc(NB6_EMULATED_TARGETS * (size_t)nb6_dev_words(dev), sizeof *dev->hit);
    return dev->count && dev->brief && dev->irr && dev->reg && dev->is_reg && dev->flag && dev->member &&
           dev->corrected && dev->old_sum && dev->source && dev->target && dev->partial && dev->hit;
}

int nb6_emulated_allocate(struct nb6_dev *dev, const struct nb6_dev_size *size)
{
    if (!nb6_dev_allocate_state(dev, size, 2)) return 0;
    if (allocate_scratch(dev)) return 1;
    nb6_emulated_free(dev);
    return 0;
}

void nb6_emulated_free(struct nb6_dev *dev)
{
    void *const scratch[] = {dev->count,  dev->brief,   dev->irr,       dev->reg,     dev->is_reg,
                             dev->flag,   dev->member,  dev->corrected, dev->old_sum, dev->source,
                             dev->target, dev->partial, dev->hit};
    for (size_t k = 0; k < sizeof scratch / sizeof *scratch; k++) nbc_free(scratch[k]);
    nb6_dev_free_state(dev);
}

/* ---- loops ---- */

/* A stage: one function for each item. Items are given to threads as they come; what one of them makes does not depend
 * on the others. */
typedef void stage_item(const struct nb6_dev *dev, int64_t item);

struct stage {
    const struct nb6_dev *dev;
    stage_item *make;
    int64_t items;
};

static void stage_part(void *context, int part, int parts)
{
    const struct stage *stage = context;
    int64_t first, end;
    nbc_share(stage->items, part, parts, &first, &end);
    for (int64_t item = first; item < end; item++) stage->make(stage->dev, item);
}

/* Items that are worth a thread. */
enum { BODIES_OF_ONE = 16, SLICES_OF_ONE = 64, SOURCES_OF_ONE = 2048, LEVELS_OF_ONE = 16384 };

static void run(const struct nb6_dev *dev, stage_item *make, int64_t items, int64_t worth_a_thread)
{
    struct stage stage = {dev, make, items};
    nbc_team_run(nbc_parts(items, worth_a_thread), stage_part, &stage);
}

/* ---- what a device does by warps: lanes one after another, and their sums by halves, as shuffles do it ---- */

static void add_lanes(struct nb6_dev_sum lanes[NB6_DEV_LANES])
{
    for (int half = NB6_DEV_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) nb6_dev_add(&lanes[lane], &lanes[lane + half]);
}

static struct nb6_dev_sum force_on(const struct nb6_dev *dev, const struct nb6_dev_point *point, int64_t slot,
                                   const int32_t *list, int32_t nnb)
{
    struct nb6_dev_sum lanes[NB6_DEV_LANES];
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) {
        struct nb6_dev_near near;
        nb6_dev_force_lane(dev, point, list, nnb, dev->control->t, lane, &lanes[lane], &near);
        if (near.body >= 0) dev->flag[slot] |= NB6_DEV_NEAR;
    }
    add_lanes(lanes);
    return lanes[0];
}

static void make_irregular(const struct nb6_dev *dev, int64_t slot)
{
    const int32_t i = dev->irr[slot];
    const struct nb6_dev_point point = nb6_dev_predict(dev, i, dev->control->t);
    const struct nb6_dev_sum sum = force_on(dev, &point, slot, nb6_dev_list(dev, i), dev->star[i].nnb);
    nb6_dev_correct_irregular(dev, slot, &point, &sum);
}

/* The sums of a target, one for each slice. */
static struct nb6_dev_sum *partial_of(const struct nb6_dev *dev, int64_t m)
{
    return dev->partial + m * NB6_EMULATED_SLICES;
}

static uint32_t *hits_of(const struct nb6_dev *dev, int64_t m)
{
    return dev->hit + m * nb6_dev_words(dev);
}

/* What one lane adds from some chunks, at most NB6_DEV_FLUSH; the bits of neighbours. */
static void add_chunks(const struct nb6_dev *dev, const struct nb6_dev_viewer *viewer, int64_t first, int64_t end,
                       int lane, struct nb6_dev_sum *sum, uint32_t *hit)
{
    float part[6] = {0, 0, 0, 0, 0, 0};
    for (int64_t chunk = first; chunk < end; chunk++) {
        const struct nb6_dev_source *source = &dev->source[chunk * NB6_DEV_LANES + lane];
        hit[chunk] |= (uint32_t)nb6_dev_add_source(viewer, source, nb6_dev_limit2(viewer, source->size), part) << lane;
    }
    nb6_dev_flush(part, sum);
}

/* One slice of the sources for one target. */
static void make_slice(const struct nb6_dev *dev, int64_t item)
{
    const int64_t m = item / NB6_EMULATED_SLICES, slice = item % NB6_EMULATED_SLICES;
    struct nb6_dev_sum lanes[NB6_DEV_LANES];
    int64_t first, end;
    if (dev->target[m].nnb >= 0) return;
    const struct nb6_dev_viewer viewer = nb6_dev_view(dev, &dev->target[m]);
    uint32_t *hit = hits_of(dev, m);
    nb6_dev_slice(dev, slice, NB6_EMULATED_SLICES, &first, &end);
    memset(hit + first, 0, (size_t)(end - first) * sizeof *hit);
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) nb6_dev_clear(&lanes[lane]);
    for (int64_t tile = first; tile < end; tile += NB6_DEV_FLUSH) {
        const int64_t tile_end = tile + NB6_DEV_FLUSH < end ? tile + NB6_DEV_FLUSH : end;
        for (int lane = 0; lane < NB6_DEV_LANES; lane++)
            add_chunks(dev, &viewer, tile, tile_end, lane, &lanes[lane], hit);
    }
    add_lanes(lanes);
    partial_of(dev, m)[slice] = lanes[0];
}

/* Neighbours, into the list as far as there is room.   @return their number */
static int64_t list_neighbours(const struct nb6_dev *dev, int64_t m, int32_t *list)
{
    const struct nb6_dev_viewer viewer = nb6_dev_view(dev, &dev->target[m]);
    const int64_t chunks = nb6_dev_chunks(dev);
    const uint32_t *hit = hits_of(dev, m);
    int64_t n = 0;
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        uint32_t bits = nb6_dev_others(&viewer, chunk, hit[chunk]);
        for (int32_t lane = 0; bits; lane++, bits >>= 1) {
            if (!(bits & 1)) continue;
            if (n < dev->row_room) list[n] = (int32_t)chunk * NB6_DEV_LANES + lane;
            n++;
        }
    }
    return n;
}

/* The list of a target, into the row for the block. One that is longer than lists may be gets a smaller sphere and is
 * made again; one that the row cannot hold ends the block. */
static void make_list(const struct nb6_dev *dev, int64_t m)
{
    struct nb6_dev_target *target = &dev->target[m];
    if (target->nnb >= 0) return;
    int32_t *list = nb6_dev_staged_list(dev, dev->irr[target->slot]);
    const int64_t nnb = list_neighbours(dev, m, list);
    const int64_t limit = nb6_dev_list_limit(dev, target->body);
    if (nnb > limit) {
        target->r_nb = nb6_smaller_radius(target->r_nb, limit, nnb);
        return;
    }
    target->nnb = (int32_t)nnb;
    if (nnb > dev->row_room) dev->flag[target->slot] |= NB6_DEV_TOO_LONG;
}

static void make_regular(const struct nb6_dev *dev, int64_t m)
{
    const struct nb6_dev_target *target = &dev->target[m];
    const int32_t i = dev->irr[target->slot];
    struct nb6_dev_sum regular;
    if (dev->flag[target->slot] & NB6_DEV_TOO_LONG) return;
    const struct nb6_dev_point point = nb6_dev_predict(dev, i, dev->control->t);
    const struct nb6_dev_sum irregular = force_on(dev, &point, target->slot, nb6_dev_staged_list(dev, i), target->nnb);
    nb6_dev_clear(&regular);
    for (int slice = 0; slice < NB6_EMULATED_SLICES; slice++) nb6_dev_add(&regular, &partial_of(dev, m)[slice]);
    nb6_dev_correct_regular(dev, m, &regular, &irregular);
}

static int finds_perturber(const struct nb6_dev *dev, int32_t i)
{
    double safe = INFINITY, of_lane;
    int found = 0;
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) {
        found |= nb6_dev_quiet_lane(dev, i, lane, &of_lane);
        safe = fmin(safe, of_lane);
    }
    if (!found) nb6_dev_quiet_goes_on(dev, i, safe);
    return found;
}

static int is_candidate(const struct nb6_dev *dev, int32_t i)
{
    struct nb6_dev_nearest nearest, lane_has;
    nb6_dev_nearest_of_lane(dev, i, 0, &nearest);
    for (int lane = 1; lane < NB6_DEV_LANES; lane++) {
        nb6_dev_nearest_of_lane(dev, i, lane, &lane_has);
        if (lane_has.r2 < nearest.r2) nearest = lane_has;
    }
    return nb6_dev_is_candidate(dev, i, &nearest);
}

static void look(const struct nb6_dev *dev, int64_t slot)
{
    const int32_t i = dev->irr[slot];
    if (!(dev->flag[slot] & NB6_DEV_LOOK)) return;
    if (i < dev->first_centre ? is_candidate(dev, i) : finds_perturber(dev, i)) dev->flag[slot] |= NB6_DEV_CANDIDATE;
}

/* ---- stages ---- */

static int64_t parts_of_a_thread(const struct nb6_dev *dev)
{
    return dev->n > LEVELS_OF_ONE ? 1 : dev->parts;
}

static void select_members(const struct nb6_dev *dev)
{
    const int64_t worth = parts_of_a_thread(dev);
    run(dev, nb6_dev_count_due, dev->parts, worth);
    nb6_dev_place_parts(dev);
    run(dev, nb6_dev_fill_due, dev->parts, worth);
}

/* Rounds of so many targets, each until all of them have a list that may be as long. */
static void make_regular_round(const struct nb6_dev *dev, int64_t first, int64_t n)
{
    struct nb6_dev_control *control = dev->control;
    for (int64_t m = 0; m < n; m++) nb6_dev_set_target(dev, first, m);
    for (int64_t pending = n; pending > 0;) {
        run(dev, make_slice, n * NB6_EMULATED_SLICES, SLICES_OF_ONE);
        run(dev, make_list, n, BODIES_OF_ONE);
        control->pairs_reg_block += (uint64_t)(pending * dev->rules.step.n_source);
        pending = 0;
        for (int64_t m = 0; m < n; m++) pending += dev->target[m].nnb < 0;
        control->overflows_block += (uint64_t)pending;
    }
    for (int64_t m = 0; m < n; m++)
        if (dev->target[m].nnb > control->longest) control->longest = dev->target[m].nnb;
    run(dev, make_regular, n, BODIES_OF_ONE);
}

static void make_regular_all(const struct nb6_dev *dev)
{
    const int64_t n = dev->control->n_reg;
    if (n == 0) return;
    run(dev, nb6_dev_predict_source, nb6_dev_chunks(dev) * NB6_DEV_LANES, SOURCES_OF_ONE);
    for (int64_t first = 0; first < n; first += dev->targets)
        make_regular_round(dev, first, n - first < dev->targets ? n - first : dev->targets);
}

/* Slot of the first member with one of these flags, -1: none has. */
static int64_t find_flag(const struct nb6_dev *dev, int flags)
{
    for (int64_t slot = 0; slot < dev->control->n_irr; slot++)
        if (dev->flag[slot] & flags) return slot;
    return -1;
}

static double booked(struct nb6_sim *sim, enum nb6_stage stage, double start)
{
    const double now = nbc_wtime();
    nb6_profile_stage(sim, stage, now - start);
    return now;
}

/* ---- the host's share ---- */

/* What the host has to do with a block after its commit. */
enum after { ON, TELL, ASK };

/* The watched members of the block, who are many only if systems are. */
static int64_t find_watched(const struct nb6_dev *dev)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < dev->control->n_irr && dev->control->n_ask > 0; slot++)
        if (dev->watch[dev->irr[slot]] & NB6_DEV_ASK) dev->member[n++] = dev->irr[slot];
    return n;
}

/* Whether the host is told of the steps of a body, and not asked. */
static int is_told_of(const struct nb6_dev *dev, int32_t i)
{
    return (dev->watch[i] & (NB6_DEV_ASK | NB6_DEV_REMOTE)) == NB6_DEV_REMOTE;
}

/* What remote pairs add to the force on a member. */
static void correct_from_afar(const struct nb6_dev *dev, int64_t slot)
{
    const int32_t i = dev->irr[slot];
    if (!is_told_of(dev, i)) return;
    const struct nb6_dev_point point = nb6_dev_predict(dev, i, dev->control->t);
    double sum[6] = {0};
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) nb6_dev_add_perturbers(dev, &point, i, lane, sum);
    for (int64_t k = 0; k < dev->control->n_ask; k++) {
        const int32_t q = dev->ask[k];
        if (!nb6_dev_is_resolver(dev, q, i)) continue;
        for (int lane = 0; lane < NB6_DEV_LANES; lane++)
            nb6_dev_add_remote(dev, &point, NULL, q, nb6_dev_remote_of(dev, q), lane, sum);
    }
    nb6_dev_set_correction(dev, i, sum);
}

/* The tide of the neighbours of a remote pair.   @return whether the host has to choose perturbers */
static int look_from_afar(const struct nb6_dev *dev, int32_t i, double field[6], double field_dot[6])
{
    int is_found = 0, hits = 0;
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) {
        struct nb6_dev_look look;
        nb6_dev_remote_lane(dev, i, lane, &look);
        is_found |= look.is_found;
        hits += look.hits;
        for (int k = 0; k < 6; k++) {
            field[k] += (double)look.field[k];
            field_dot[k] += (double)look.field_dot[k];
        }
    }
    return nb6_dev_remote_has_found(dev, i, is_found, hits);
}

/* The host is told of a step; it may have to choose perturbers, of a system that it moves if the list is new. */
static int tell(struct nb6_sim *sim, struct nb6_dev *dev, int64_t slot, struct nbc_error *err)
{
    const int32_t i = dev->irr[slot];
    const struct nb6_remote *remote = nb6_dev_remote_of(dev, i);
    struct nb6_dev_note note = {.body = dev->body[i], .t = dev->control->t, .place = i, .level = dev->level[i]};
    if (remote && remote->n > 0) {
        if (look_from_afar(dev, i, note.field, note.field_dot)) dev->flag[slot] |= NB6_DEV_CANDIDATE;
        note.has_tide = 1;
        note.has_new_list = nb6_dev_has_new_list(dev, i);
    } else if (dev->watch[i] & NB6_DEV_SHOW && nb6_dev_has_new_list(dev, i)) {
        dev->flag[slot] |= NB6_DEV_CANDIDATE;
    }
    return nb6_share_note(sim, dev, 1, &note, err);
}

static int tell_all(struct nb6_sim *sim, struct nb6_dev *dev, enum after after, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t slot = 0; slot < dev->control->n_irr && dev->control->n_ask > 0 && !status; slot++) {
        const int32_t i = dev->irr[slot];
        if (is_told_of(dev, i) || (after == TELL && dev->watch[i] & NB6_DEV_ASK)) status = tell(sim, dev, slot, err);
    }
    return status;
}

/* @return a reason to stop; NB6_STOP_BLOCKS: on with the block */
static enum nb6_stop_reason ask_before(struct nb6_sim *sim, struct nb6_dev *dev, enum after *after, int *status,
                                       struct nbc_error *err)
{
    const struct nb6_dev_control *control = dev->control;
    const int64_t n = find_watched(dev);
    if (control->n_ask > 0) run(dev, correct_from_afar, control->n_irr, BODIES_OF_ONE);
    *after = n > 0 || control->t_ask <= control->t ? ASK : ON;
    if (*after == ON) return NB6_STOP_BLOCKS;
    switch (nb6_share_before(sim, dev, control->ti_now, control->t, n, dev->member, status, err)) {
    case NB6_SHARE_TELL:
        *after = TELL;
        return NB6_STOP_BLOCKS;
    case NB6_SHARE_GO:
        return NB6_STOP_BLOCKS;
    case NB6_SHARE_PAUSED:
        return NB6_STOP_PAUSED;
    default:
        return NB6_STOP_HOST;
    }
}

/* Who is shown: those at whom the host has to look, and if it was asked before, watched members. */
static int64_t show(const struct nb6_dev *dev, enum after after)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < dev->control->n_irr; slot++) {
        const int32_t i = dev->irr[slot];
        const int is_watched = after == ASK && dev->watch[i] & NB6_DEV_ASK;
        if (!is_watched && !(dev->flag[slot] & NB6_DEV_CANDIDATE)) continue;
        const int with_others = !is_watched || dev->watch[i] & NB6_DEV_SHOW || dev->flag[slot] & NB6_DEV_LOOK;
        dev->shown[i] = (int8_t)(with_others ? NB6_DEV_WITH_OTHERS : NB6_DEV_ALONE);
        dev->member[n++] = i;
    }
    return n;
}

/* Tides that the host has asked for. */
static void sum_tides(const struct nb6_sim *sim, const struct nb6_dev *dev)
{
    int64_t n;
    const int32_t *centre = nb6_share_concerned(sim, &n);
    for (int64_t k = 0; k < n; k++) {
        struct nb6_dev_tide tide = {{0}, {0}};
        const double farthest2 = nb6_dev_farthest2(dev, centre[k], 0, 1);
        for (int32_t j = 0; j < dev->n; j++) nb6_dev_add_far_tide(dev, centre[k], j, farthest2, &tide);
        dev->far[k] = tide;
    }
}

/* @return NB6_STOP_BLOCKS: on with the next block */
static enum nb6_stop_reason ask_after(struct nb6_sim *sim, struct nb6_dev *dev, enum after after, int *status,
                                      struct nbc_error *err)
{
    const int64_t n = show(dev, after);
    if (n == 0 && after != ASK) return NB6_STOP_BLOCKS;
    enum nb6_share_answer answer = nb6_share_after(sim, dev, dev->control->t, n, dev->member, 0, status, err);
    if (answer == NB6_SHARE_TIDES) {
        sum_tides(sim, dev);
        answer = nb6_share_after(sim, dev, dev->control->t, n, dev->member, 1, status, err);
    }
    return answer == NB6_SHARE_GO ? NB6_STOP_BLOCKS : NB6_STOP_ENCOUNTER;
}

/* What a host does while it waits for a device: more of it in some blocks than in others. */
enum { MOTIONS_MEANWHILE = 5 };

static void meanwhile(struct nb6_sim *sim, uint64_t motions)
{
    while (motions > 0 && nb6_share_meanwhile(sim)) motions--;
}

/* ---- a block ---- */

/* Stages 3 to 7.   @return NB6_STOP_BLOCKS: it can be committed */
static enum nb6_stop_reason make(struct nb6_sim *sim, const struct nb6_dev *dev, int64_t *unsound)
{
    double now = nbc_wtime();
    run(dev, make_irregular, dev->control->n_irr, BODIES_OF_ONE);
    now = booked(sim, NB6_STAGE_IRREGULAR, now);
    make_regular_all(dev);
    (void)booked(sim, NB6_STAGE_REGULAR, now);
    *unsound = find_flag(dev, NB6_DEV_UNSOUND_IRR | NB6_DEV_UNSOUND_REG);
    if (*unsound >= 0) return NB6_STOP_NON_FINITE;
    return find_flag(dev, NB6_DEV_TOO_LONG) >= 0 ? NB6_STOP_OVERFLOW : NB6_STOP_BLOCKS;
}

enum nb6_stop_reason nb6_emulated_block(struct nb6_sim *sim, struct nb6_dev *dev, nb6_time t_stop, int64_t *unsound,
                                        int *status, struct nbc_error *err)
{
    struct nb6_dev_control *control = dev->control;
    double now = nbc_wtime();
    enum after after;
    *status = NBC_OK;
    run(dev, nb6_dev_find_level, dev->parts, parts_of_a_thread(dev));
    control->t = nb6_dev_next(dev);
    if (control->t > t_stop) return NB6_STOP_REACHED;
    select_members(dev);
    (void)booked(sim, NB6_STAGE_SCHEDULE, now);
    enum nb6_stop_reason reason = ask_before(sim, dev, &after, status, err);
    if (reason != NB6_STOP_BLOCKS) return reason;
    if (after == ON) nb6_share_reached(sim, control->ti_now);
    meanwhile(sim, control->blocks % MOTIONS_MEANWHILE);
    reason = make(sim, dev, unsound);
    if (reason != NB6_STOP_BLOCKS) {
        nb6_share_cancel(sim);
        return reason;
    }
    now = nbc_wtime();
    run(dev, nb6_dev_commit, control->n_irr, BODIES_OF_ONE);
    nb6_dev_count_block(dev);
    now = booked(sim, NB6_STAGE_COMMIT, now);
    run(dev, look, control->n_irr, BODIES_OF_ONE);
    (void)booked(sim, NB6_STAGE_PAIRS, now);
    *status = tell_all(sim, dev, after, err);
    if (*status) return NB6_STOP_ENCOUNTER;
    return ask_after(sim, dev, after, status, err);
}
