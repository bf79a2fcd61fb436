/** Stage 6 on a device: regular forces of some members of the block from all bodies, and their new lists. A slice of
 * the sources has whole chunks of NB6_DEV_LANES; each lane takes one source of a chunk. */
#ifndef NB6_DEV_REGULAR_H
#define NB6_DEV_REGULAR_H

#include "common/hd.h"
#include "nbody6/state/body.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/dev_state.h"

#include <math.h>
#include <stdint.h>

/** Where those are who take no part: farther than any sphere reaches, and squares of it fit a float. */
#define NB6_DEV_FAR 1e18f
/** Squares of distances up to this are zero: 1/r^3 would not fit a float. */
#define NB6_DEV_TINY_R2 1e-37f

/** Predict a source. */
NBC_HD void nb6_dev_predict_source(const struct nb6_dev *dev, int64_t j)
{
    struct nb6_dev_source *source = &dev->source[j];
    const int takes_part = j < dev->n && dev->level[j] >= 0;
    double x[3] = {0, 0, 0}, v[3] = {0, 0, 0};
    if (takes_part) nb6_predict(&dev->body[j], nb6_time_to_double(dev->control->t - dev->body[j].t0), x, v);
    source->mass = takes_part ? (float)dev->body[j].mass : 0.0f;
    for (int k = 0; k < 3; k++) {
        source->high[k] = takes_part ? (float)x[k] : NB6_DEV_FAR;
        source->low[k] = takes_part ? (float)(x[k] - (double)source->high[k]) : 0.0f;
        source->v[k] = (float)v[k];
    }
}

/** Targets of this round, of which `first` is the first.   @param[in] m  number of one, in [0, NB6_DEV_TARGETS) */
NBC_HD void nb6_dev_set_target(const struct nb6_dev *dev, int64_t first, int64_t m)
{
    struct nb6_dev_target *target = &dev->target[m];
    target->slot = dev->reg[first + m];
    target->nnb = -1;
    target->r_nb = dev->star[dev->irr[target->slot]].r_nb;
}

/** Chunks of a slice: [*first, *end). */
NBC_HD void nb6_dev_slice(const struct nb6_dev *dev, int slice, int64_t *first, int64_t *end)
{
    const int64_t chunks = nb6_dev_chunks(dev), each = (chunks + NB6_DEV_SLICES - 1) / NB6_DEV_SLICES;
    *first = slice * each < chunks ? slice * each : chunks;
    *end = *first + each < chunks ? *first + each : chunks;
}

/** One source, seen by a target: NA12 eq. 4, or eq. 10 and 11.   @return 1: it is a neighbour */
NBC_HD int nb6_dev_add_source(const struct nb6_dev_source *target, const struct nb6_dev_source *source, float dt,
                              float h2, int weighted, float sum[6])
{
    float dx[3], dv[3], p[3];
    for (int k = 0; k < 3; k++) {
        dx[k] = (source->high[k] - target->high[k]) + (source->low[k] - target->low[k]);
        dv[k] = source->v[k] - target->v[k];
        p[k] = dx[k] + dt * dv[k];
    }
    const float r2 = dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2], p2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    const float limit = weighted ? source->mass * h2 : h2;
    if (r2 < limit || p2 < limit) return 1;
    if (r2 <= NB6_DEV_TINY_R2) return 0;
    const float rv = dx[0] * dv[0] + dx[1] * dv[1] + dx[2] * dv[2];
    const float rinv = nbc_inverse_root(r2), rinv2 = rinv * rinv, mr3 = source->mass * rinv * rinv2;
    const float alpha = -3.0f * rv * rinv2;
    for (int k = 0; k < 3; k++) {
        sum[k] += mr3 * dx[k];
        sum[3 + k] += mr3 * (dv[k] + alpha * dx[k]);
    }
    return 0;
}

/** What one lane adds to a target's sum, from at most NB6_DEV_FLUSH chunks.
 *  @param[in] first, end  chunks   @return a bit for each chunk whose source of this lane is a neighbour */
NBC_HD uint32_t nb6_dev_regular_lane(const struct nb6_dev *dev, const struct nb6_dev_target *target, int64_t first,
                                     int64_t end, int lane, struct nb6_dev_sum *sum)
{
    const int32_t i = dev->irr[target->slot];
    const float h2 = (float)(target->r_nb * target->r_nb / dev->rules.neighbour_unit);
    const float dt = (float)nb6_step_length(dev->star[i].level_reg);
    float part[6] = {0, 0, 0, 0, 0, 0};
    uint32_t hits = 0;
    for (int64_t chunk = first; chunk < end; chunk++) {
        const int64_t j = chunk * NB6_DEV_LANES + lane;
        if (j == i) continue;
        const int hit = nb6_dev_add_source(&dev->source[i], &dev->source[j], dt, h2, dev->rules.weighted, part);
        hits |= (uint32_t)hit << (chunk - first);
    }
    nb6_dev_flush(part, sum);
    return hits;
}

/** Neighbours of a target, ascending, from its bits.   @return their number, also if it is more than `room` */
NBC_HD int32_t nb6_dev_read_hits(const uint32_t *hit, int64_t chunks, int64_t room, int32_t *list)
{
    int64_t n = 0;
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        for (int lane = 0; lane < NB6_DEV_LANES && hit[chunk] >> lane; lane++) {
            if (!(hit[chunk] >> lane & 1)) continue;
            if (n < room) list[n] = (int32_t)(chunk * NB6_DEV_LANES + lane);
            n++;
        }
    return (int32_t)n;
}

/** The list of a target, into the row for the block. One that is longer than lists may be gets a smaller sphere and is
 *  made again; one that the row cannot hold ends the block. */
NBC_HD void nb6_dev_make_list(const struct nb6_dev *dev, int64_t m)
{
    struct nb6_dev_target *target = &dev->target[m];
    const int64_t chunks = nb6_dev_chunks(dev);
    if (target->nnb >= 0) return;
    int32_t *list = nb6_dev_staged_list(dev, dev->irr[target->slot]);
    const int32_t nnb = nb6_dev_read_hits(dev->hit + m * chunks, chunks, dev->row_room, list);
    if (nnb > dev->rules.list_limit) {
        target->r_nb = nb6_smaller_radius(target->r_nb, dev->rules.list_limit, nnb);
        return;
    }
    target->nnb = nnb;
    if (nnb > dev->row_room) dev->flag[target->slot] |= NB6_DEV_TOO_LONG;
}

#endif
