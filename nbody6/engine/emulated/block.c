#include "nbody6/engine/emulated/block.h"

#include "common/nbc.h"
#include "nbody6/engine/emulated/host_service.h"
#include "nbody6/engine/emulated/stage.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/candidates.h"
#include "nbody6/engine/stages/commit.h"
#include "nbody6/engine/stages/correct.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/quiet.h"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/engine/stages/select.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

static int allocate_scratch(struct nb6_dev *dev)
{
    const size_t count = (size_t)dev->n, chunks = (size_t)nb6_dev_chunks(dev);
    dev->parts = NB6_EMULATED_PARTS;
    dev->targets = NB6_EMULATED_TARGETS;
    dev->count = nbc_alloc(NB6_EMULATED_PARTS, sizeof *dev->count);
    dev->predictor = nbc_alloc(count, sizeof *dev->predictor);
    dev->irr = nbc_alloc(count, sizeof *dev->irr);
    dev->reg = nbc_alloc(count, sizeof *dev->reg);
    dev->is_reg = nbc_alloc(count, sizeof *dev->is_reg);
    dev->flag = nbc_alloc(count, sizeof *dev->flag);
    dev->member = nbc_alloc(count, sizeof *dev->member);
    dev->corrected = nbc_alloc(count, sizeof *dev->corrected);
    dev->sums.source = nbc_alloc(chunks * NB6_DEV_LANES, sizeof *dev->sums.source);
    dev->target = nbc_alloc(NB6_EMULATED_TARGETS, sizeof *dev->target);
    dev->sums.partial = nbc_alloc(NB6_EMULATED_TARGETS * NB6_EMULATED_SLICES, sizeof *dev->sums.partial);
    dev->hit = nbc_alloc(NB6_EMULATED_TARGETS * (size_t)nb6_dev_words(dev), sizeof *dev->hit);
    return dev->count && dev->predictor && dev->irr && dev->reg && dev->is_reg && dev->flag && dev->member &&
           dev->corrected && dev->sums.source && dev->target && dev->sums.partial && dev->hit;
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
    void *const scratch[] = {dev->count,  dev->predictor, dev->irr,         dev->reg,    dev->is_reg,       dev->flag,
                             dev->member, dev->corrected, dev->sums.source, dev->target, dev->sums.partial, dev->hit};
    for (size_t k = 0; k < sizeof scratch / sizeof *scratch; k++) nbc_free(scratch[k]);
    nb6_dev_free_state(dev);
}

/* Items of a stage that make a thread worth its start. */
enum { SLICES_OF_ONE = 64, SOURCES_OF_ONE = 2048, LEVELS_OF_ONE = 16384 };

/* ---- results of warps: lanes are computed one after another, and added by halves, as shuffles do it ---- */

static void add_lanes(struct gpunb_dev_sum lanes[NB6_DEV_LANES])
{
    for (int half = NB6_DEV_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) gpunb_dev_add(&lanes[lane], &lanes[lane + half]);
}

static struct gpunb_dev_sum force_on(const struct nb6_dev *dev, const struct nb6_dev_point *point, int64_t member,
                                     const int32_t *list, int32_t nnb)
{
    struct gpunb_dev_sum lanes[NB6_DEV_LANES];
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) {
        struct nb6_dev_near near;
        nb6_dev_force_lane(dev, point, list, nnb, dev->control->t, lane, &lanes[lane], &near);
        if (near.body >= 0) dev->flag[member] |= NB6_DEV_NEAR;
    }
    add_lanes(lanes);
    return lanes[0];
}

static void make_irregular(const struct nb6_dev *dev, int64_t member)
{
    const int32_t i = dev->irr[member];
    const struct nb6_dev_point point = nb6_dev_predict(dev, i, dev->control->t);
    const struct gpunb_dev_sum sum = force_on(dev, &point, member, nb6_dev_list(dev, i), dev->star[i].nnb);
    nb6_dev_correct_irregular(dev, member, &point, &sum);
}

/* Sums on a target, one for each slice. */
static struct gpunb_dev_sum *partial_of(const struct nb6_dev *dev, int64_t m)
{
    return dev->sums.partial + m * NB6_EMULATED_SLICES;
}

static uint32_t *hits_of(const struct nb6_dev *dev, int64_t m)
{
    return dev->hit + m * nb6_dev_words(dev);
}

/* Sums of one lane over some chunks, at most NB6_DEV_FLUSH.   @return bits of neighbours */
static void add_chunks(const struct nb6_dev *dev, const struct gpunb_dev_viewer *viewer, int64_t first, int64_t end,
                       int lane, struct gpunb_dev_sum *sum, uint32_t *hit)
{
    float part[6] = {0, 0, 0, 0, 0, 0};
    for (int64_t chunk = first; chunk < end; chunk++) {
        const struct gpunb_dev_source *source = &dev->sums.source[chunk * NB6_DEV_LANES + lane];
        int relation = gpunb_dev_add_source(viewer, source, gpunb_dev_limit2(viewer, source->size), part);
        if (relation == GPUNB_DEV_AT_EDGE)
            relation = gpunb_dev_settle(&viewer->at, source, viewer->r_nb2, viewer->dt_reg, dev->rules.weighted, sum);
        if (relation) hit[chunk] |= 1u << lane;
    }
    nb6_dev_flush(part, sum);
}

/* One slice of the sources for one target. */
static void make_slice(const struct nb6_dev *dev, int64_t item)
{
    const int64_t m = item / NB6_EMULATED_SLICES, slice = item % NB6_EMULATED_SLICES;
    struct gpunb_dev_sum lanes[NB6_DEV_LANES];
    int64_t first, end;
    if (dev->target[m].nnb >= 0) return;
    const struct gpunb_dev_viewer viewer = nb6_dev_view(dev, &dev->target[m]);
    uint32_t *hit = hits_of(dev, m);
    nb6_dev_slice(dev, slice, NB6_EMULATED_SLICES, &first, &end);
    memset(hit + first, 0, (size_t)(end - first) * sizeof *hit);
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) gpunb_dev_clear(&lanes[lane]);
    for (int64_t tile = first; tile < end; tile += NB6_DEV_FLUSH) {
        const int64_t tile_end = tile + NB6_DEV_FLUSH < end ? tile + NB6_DEV_FLUSH : end;
        for (int lane = 0; lane < NB6_DEV_LANES; lane++)
            add_chunks(dev, &viewer, tile, tile_end, lane, &lanes[lane], hit);
    }
    add_lanes(lanes);
    partial_of(dev, m)[slice] = lanes[0];
}

/* Collect neighbours, into the list as far as there is room.   @return their number */
static int64_t list_neighbours(const struct nb6_dev *dev, int64_t m, int32_t *list)
{
    const struct gpunb_dev_viewer viewer = nb6_dev_view(dev, &dev->target[m]);
    const int64_t chunks = nb6_dev_chunks(dev);
    const uint32_t *hit = hits_of(dev, m);
    int64_t n = 0;
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        uint32_t bits = gpunb_dev_others(&viewer, chunk, hit[chunk]);
        for (int32_t lane = 0; bits; lane++, bits >>= 1) {
            if (!(bits & 1)) continue;
            if (n < dev->row_room) list[n] = (int32_t)chunk * NB6_DEV_LANES + lane;
            n++;
        }
    }
    return n;
}

/* Make the list of a target in the row for the block. If it exceeds the longest list, the neighbour sphere shrinks,
 * and the list is made again; if it does not fit the row, the block ends. */
static void make_list(const struct nb6_dev *dev, int64_t m)
{
    struct nb6_dev_target *target = &dev->target[m];
    if (target->nnb >= 0) return;
    int32_t *list = nb6_dev_staged_list(dev, dev->irr[target->member]);
    const int64_t nnb = list_neighbours(dev, m, list);
    const int64_t limit = nb6_dev_list_limit(dev, target->body);
    if (nnb > limit) {
        target->r_nb = nb6_smaller_radius(target->r_nb, limit, nnb);
        return;
    }
    target->nnb = (int32_t)nnb;
    if (nnb > dev->row_room) dev->flag[target->member] |= NB6_DEV_TOO_LONG;
}

static void make_regular(const struct nb6_dev *dev, int64_t m)
{
    const struct nb6_dev_target *target = &dev->target[m];
    struct gpunb_dev_sum regular;
    if (dev->flag[target->member] & NB6_DEV_TOO_LONG) return;
    gpunb_dev_clear(&regular);
    for (int slice = 0; slice < NB6_EMULATED_SLICES; slice++) gpunb_dev_add(&regular, &partial_of(dev, m)[slice]);
    nb6_dev_correct_regular(dev, m, &regular);
}

static int finds_perturber(const struct nb6_dev *dev, int32_t i)
{
    double safe = INFINITY, of_lane;
    int found = 0;
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) {
        found |= nb6_dev_quiet_lane(dev, i, lane, NB6_DEV_LANES, &of_lane);
        safe = fmin(safe, of_lane);
    }
    if (!found) nb6_dev_quiet_goes_on(dev, i, safe);
    return found;
}

static int is_candidate(const struct nb6_dev *dev, int32_t i)
{
    struct nb6_dev_seen nearest, lane_has;
    nb6_dev_nearest_of_lane(dev, i, 0, &nearest);
    for (int lane = 1; lane < NB6_DEV_LANES; lane++) {
        nb6_dev_nearest_of_lane(dev, i, lane, &lane_has);
        if (lane_has.r2 < nearest.r2) nearest = lane_has;
    }
    return nb6_dev_is_candidate(dev, i, &nearest);
}

static void note_candidate(const struct nb6_dev *dev, int64_t member)
{
    const int32_t i = dev->irr[member];
    if (!(dev->flag[member] & NB6_DEV_LOOK)) return;
    if (i < dev->first_centre ? is_candidate(dev, i) : finds_perturber(dev, i)) dev->flag[member] |= NB6_DEV_CANDIDATE;
}

/* ---- stages ---- */

static int64_t parts_of_a_thread(const struct nb6_dev *dev)
{
    return dev->n > LEVELS_OF_ONE ? 1 : dev->parts;
}

static void select_members(const struct nb6_dev *dev)
{
    const int64_t worth = parts_of_a_thread(dev);
    nb6_emulated_stage(dev, nb6_dev_count_due, dev->parts, worth);
    nb6_dev_place_parts(dev);
    nb6_emulated_stage(dev, nb6_dev_fill_due, dev->parts, worth);
}

/* Rounds of so many targets, each repeated until all of them have a list that is not too long. */
static void make_regular_round(const struct nb6_dev *dev, int64_t first, int64_t n)
{
    struct nb6_dev_control *control = dev->control;
    for (int64_t m = 0; m < n; m++) nb6_dev_set_target(dev, first, m);
    for (int64_t pending = n; pending > 0;) {
        nb6_emulated_stage(dev, make_slice, n * NB6_EMULATED_SLICES, SLICES_OF_ONE);
        nb6_emulated_stage(dev, make_list, n, NB6_EMULATED_BODIES);
        control->pairs_reg_block += (uint64_t)(pending * dev->rules.step.n_source);
        pending = 0;
        for (int64_t m = 0; m < n; m++) pending += dev->target[m].nnb < 0;
        control->overflows_block += (uint64_t)pending;
    }
    for (int64_t m = 0; m < n; m++)
        if (dev->target[m].nnb > control->longest) control->longest = dev->target[m].nnb;
    nb6_emulated_stage(dev, make_regular, n, NB6_EMULATED_BODIES);
}

static int make_regular_all(const struct nb6_dev *dev, struct nb6_emulated_forces *forces, struct nbc_error *err)
{
    const int64_t n = dev->control->n_reg;
    if (n == 0) return NBC_OK;
    nb6_emulated_stage(dev, nb6_dev_predict_source, nb6_dev_chunks(dev) * NB6_DEV_LANES, SOURCES_OF_ONE);
    if (n * dev->n >= dev->leaving) return nb6_emulated_leave(forces, dev, err);
    for (int64_t first = 0; first < n; first += dev->targets)
        make_regular_round(dev, first, n - first < dev->targets ? n - first : dev->targets);
    return NBC_OK;
}

/* Index of the first member with one of these flags, -1: none has. */
static int64_t find_flag(const struct nb6_dev *dev, int flags)
{
    for (int64_t member = 0; member < dev->control->n_irr; member++)
        if (dev->flag[member] & flags) return member;
    return -1;
}

static double booked(struct nb6_sim *sim, enum nb6_stage stage, double start)
{
    const double now = nbc_wtime();
    nb6_profile_stage(sim, stage, now - start);
    return now;
}

/* ---- a block ---- */

/* All stages after select, up to the regular corrector.   @return NB6_STOP_BLOCKS: the block can be committed */
static enum nb6_stop_reason make_block(struct nb6_sim *sim, const struct nb6_dev *dev,
                                       struct nb6_emulated_forces *forces, int64_t *unsound, int *status,
                                       struct nbc_error *err)
{
    double now = nbc_wtime();
    nb6_emulated_stage(dev, make_irregular, dev->control->n_irr, NB6_EMULATED_BODIES);
    now = booked(sim, NB6_STAGE_IRREGULAR, now);
    *status = make_regular_all(dev, forces, err);
    (void)booked(sim, NB6_STAGE_REGULAR, now);
    if (*status) return NB6_STOP_DEVICE;
    *unsound = find_flag(dev, NB6_DEV_UNSOUND_IRR | NB6_DEV_UNSOUND_REG);
    if (*unsound >= 0) return NB6_STOP_NON_FINITE;
    return find_flag(dev, NB6_DEV_TOO_LONG) >= 0 ? NB6_STOP_OVERFLOW : NB6_STOP_BLOCKS;
}

enum nb6_stop_reason nb6_emulated_block(struct nb6_sim *sim, struct nb6_dev *dev, struct nb6_emulated_forces *forces,
                                        nb6_time t_stop, int64_t *unsound, int *status, struct nbc_error *err)
{
    struct nb6_dev_control *control = dev->control;
    double now = nbc_wtime();
    enum nb6_emulated_after after;
    *status = NBC_OK;
    nb6_emulated_stage(dev, nb6_dev_find_level, dev->parts, parts_of_a_thread(dev));
    control->t = nb6_dev_next(dev);
    if (control->t > t_stop) return NB6_STOP_REACHED;
    select_members(dev);
    (void)booked(sim, NB6_STAGE_SCHEDULE, now);
    enum nb6_stop_reason reason = nb6_emulated_ask_before(sim, dev, &after, status, err);
    if (reason != NB6_STOP_BLOCKS) return reason;
    if (after == NB6_AFTER_ON) nb6_host_service_reached(sim, control->ti_now);
    nb6_emulated_meanwhile(sim, dev);
    reason = make_block(sim, dev, forces, unsound, status, err);
    if (reason != NB6_STOP_BLOCKS) {
        nb6_host_service_cancel(sim);
        return reason;
    }
    now = nbc_wtime();
    nb6_emulated_stage(dev, nb6_dev_commit, control->n_irr, NB6_EMULATED_BODIES);
    nb6_dev_count_block(dev);
    now = booked(sim, NB6_STAGE_COMMIT, now);
    nb6_emulated_stage(dev, note_candidate, control->n_irr, NB6_EMULATED_BODIES);
    (void)booked(sim, NB6_STAGE_PAIRS, now);
    return nb6_emulated_ask_after(sim, dev, after, status, err);
}
