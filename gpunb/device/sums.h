/** Regular sums on a device: records and arithmetic that the kernels of CUDA (gpunb/cuda/), those of emulated devices
 *  and the stages of device engines have in common.
 *
 *  Sources are at one time, as two floats. For many targets they are sorted along a curve, targets first, and cut into
 *  tiles of GPUNB_DEV_LANES. Neighbours are decided in double where floats cannot tell. */
#ifndef GPUNB_DEVICE_SUMS_H
#define GPUNB_DEVICE_SUMS_H

#include "common/hd.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GPUNB_DEV_LANES = 32,                         /**< of a warp, and sources of a chunk or a tile */
    GPUNB_DEV_TILE_UNITS = 100,                   /**< of 16 bytes */
    GPUNB_DEV_PAIR_TARGETS = 2 * GPUNB_DEV_LANES, /**< targets of a warp, two for each lane */
    GPUNB_DEV_GROUP = 128,                        /**< targets of a group; pairs between groups are summed once */
    GPUNB_DEV_MOST_GROUPS = 1 << 14,
    GPUNB_DEV_WARPS = 16,  /**< of a block of threads, one on each multiprocessor */
    GPUNB_DEV_DIGITS = 256 /**< values of a digit in a sort, each counted by each block of threads */
};

/** Position of sources that take no part: outside of any neighbour sphere, with a square that fits a float. */
#define GPUNB_DEV_FAR 1e18f
/** Squares of distances up to this are zero: 1/r^3 would not fit a float. */
#define GPUNB_DEV_TINY_R2 1e-37f
/** The error of floats in the square of a distance, now (r2) or after a step (p2), compared with that of a radius
 *  (limit2): at most GPUNB_DEV_EDGE (r2 + 4 limit2) where it matters, which is where the square is about limit2. A
 * component of a difference of two floats has an error of 2 roundings of 2^-24, one of a product with the step 2 of
 * that product, which is at most |r| + |p|; sums and squares add one each. So the error of p2 is at most 4.8e-7 |p| |r|
 * + 5.4e-7 p2, that of r2 4.2e-7 r2, and that of limit2, with the square root of a mass, 4e-7. */
#define GPUNB_DEV_EDGE 2.5e-7f

/** Mark of a count of neighbours, some of which have to be decided in double. */
enum { GPUNB_DEV_HAS_EDGE = 1 << 30 };

/** Counters: arrivals at barriers; units of work that warps have taken. */
enum { GPUNB_DEV_ARRIVED, GPUNB_DEV_TAKEN, GPUNB_DEV_COUNTERS = 4 };

/** Acceleration and jerk. */
struct gpunb_dev_sum {
    double acc[3], jerk[3];
};

/** A source: a position as two floats. One that takes no part is at GPUNB_DEV_FAR, without mass. */
struct gpunb_dev_source {
    NBC_ALIGNED(16) float high[3];
    float mass;
    float low[3];
    float size; /**< by how much its mass makes spheres larger: sqrt(mass), or 1 */
    float v[3], spare;
};

/** A target as seen by its sums. */
struct gpunb_dev_viewer {
    struct gpunb_dev_source at;
    double r_nb2, dt_reg; /**< square of the radius of the sphere for a source of size 1; its regular step */
    float h, dt;          /**< that radius and step */
    int32_t place;        /**< of the target itself among the sources: its number, or along the curve; -1: none */
    int32_t is_wanted;    /**< 0: its sums are known */
};

/** Neighbours among the sources of a chunk. */
struct gpunb_dev_found {
    uint32_t chunk, bits;
};

/** A chunk of the sources in the order of the curve, in units of 16 bytes (gpunb/cuda/tiles.cuh). */
struct gpunb_dev_tile {
    NBC_ALIGNED(16) float unit[GPUNB_DEV_TILE_UNITS][4];
};

/** A group of consecutive targets along the curve (gpunb/cuda/mutual.cuh). */
struct gpunb_dev_group {
    NBC_ALIGNED(16) float centre[3], size; /**< middle of its box; largest size, see gpunb_dev_source */
    float extent[3], diagonal;             /**< half extent of the box; length of that */
    float v[3], h;                         /**< middle of the velocities; radius of the largest sphere */
    float extent_v[3], mass;               /**< half extent of the velocities; mass of all */
    float dt;                              /**< longest regular step */
    int32_t unit[2];                       /**< exponents of the units of acceleration and jerk */
    int32_t apart;                         /**< groups with which pairs are summed once for both */
    int32_t is_spoiled, spare[3];          /**< 1: the sum of some target was not a number, or too large */
};

/** Slices of the sources on a group of targets, among all slices of a round. */
struct gpunb_dev_slices {
    int32_t first, number;
};

/** Input and output for a target of gpunb_regf_device. */
struct gpunb_dev_asked {
    double r_nb2, dt_reg;     /**< as in a viewer */
    int32_t source, row;      /**< number of the source that it is; row for its list */
    int32_t count;            /**< out: neighbours, of which the row has as many as it has room for */
    float size_last;          /**< of its last acceleration, for a force by tree */
    struct gpunb_dev_sum sum; /**< out: the force of all others */
};

/** Sources, and scratch of their sums: pointers to memory of the device. */
struct gpunb_dev_sums {
    int64_t n, stride; /**< sources; numbers in a half of `key` and of `order` */
    int64_t gpus;      /**< that share the sums */
    int64_t most;      /**< targets of a round */
    int32_t weighted;  /**< spheres are larger for heavier neighbours */
    int32_t spare;
    struct gpunb_dev_source *source; /**< [chunks][GPUNB_DEV_LANES] */
    struct gpunb_dev_viewer *viewer; /**< [most] targets of a round */
    struct gpunb_dev_sum *partial;   /**< sums of slices of the sources on targets */
    struct gpunb_dev_found *found;   /**< [most][chunks] neighbours, without zeros; each slice has its part */
    int32_t *n_found;                /**< as `partial`; entries in each part, with GPUNB_DEV_HAS_EDGE */
    /* along the curve */
    uint32_t *key;               /**< [2][stride] */
    int32_t *order;              /**< [2][stride] the first half: sources along the curve, targets before others */
    int32_t *owner;              /**< [n] of each source that is a target, a number of the caller's */
    int32_t *digits;             /**< [blocks of threads][GPUNB_DEV_DIGITS] */
    struct gpunb_dev_tile *tile; /**< [chunks] */
    /* of gpunb_regf_device alone */
    struct gpunb_dev_group *group;   /**< [groups] */
    uint32_t *apart;                 /**< [groups][words] groups that are apart, a bit for each */
    struct gpunb_dev_slices *slices; /**< slices of all groups of targets, numbered within their rounds */
    int64_t *mutual;                 /**< [GPUs][6][targets of groups] sums of pairs of targets, in units */
    uint32_t *counter;               /**< [GPUNB_DEV_COUNTERS] */
};

NBC_HD int64_t gpunb_dev_chunks_of(int64_t n)
{
    return (n + GPUNB_DEV_LANES - 1) / GPUNB_DEV_LANES;
}

NBC_HD int64_t gpunb_dev_chunks(const struct gpunb_dev_sums *sums)
{
    return gpunb_dev_chunks_of(sums->n);
}

NBC_HD void gpunb_dev_add(struct gpunb_dev_sum *sum, const struct gpunb_dev_sum *other)
{
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += other->acc[k];
        sum->jerk[k] += other->jerk[k];
    }
}

NBC_HD void gpunb_dev_clear(struct gpunb_dev_sum *sum)
{
    for (int k = 0; k < 3; k++) sum->acc[k] = sum->jerk[k] = 0;
}

NBC_HD int gpunb_dev_takes_part(const struct gpunb_dev_source *source)
{
    return source->high[0] < GPUNB_DEV_FAR;
}

/** A source at a position.   @param[in] weighted  as in struct gpunb_dev_sums */
NBC_HD struct gpunb_dev_source gpunb_dev_source_at(const double x[3], const double v[3], float mass, int weighted)
{
    struct gpunb_dev_source source;
    source.mass = mass;
    source.size = weighted ? sqrtf(mass > 0 ? mass : 0.0f) : 1.0f;
    source.spare = 0.0f;
    for (int k = 0; k < 3; k++) {
        source.high[k] = nbc_rounded(x[k]);
        source.low[k] = (float)(x[k] - (double)source.high[k]);
        source.v[k] = (float)v[k];
    }
    return source;
}

/** Whether a position and a velocity, rounded to float, are those of a source bit for bit. */
NBC_HD int gpunb_dev_is_at(const struct gpunb_dev_source *source, const double x[3], const double v[3])
{
    int is = 1;
    for (int k = 0; k < 3; k++) {
        const float high = nbc_rounded(x[k]);
        is &= high == source->high[k] && (float)(x[k] - (double)high) == source->low[k] && (float)v[k] == source->v[k];
    }
    return is;
}

/** Radius and step of a target as floats: beyond all distances between sources, but not those that take no part. */
NBC_HD float gpunb_dev_radius(double r_nb2)
{
    return (float)fmin(sqrt(r_nb2), 1e16);
}

NBC_HD float gpunb_dev_step(double dt_reg)
{
    return (float)fmin(dt_reg, 1e30);
}

/** Square of the radius of the sphere for neighbours of a size. */
NBC_HD float gpunb_dev_limit2(const struct gpunb_dev_viewer *viewer, float size)
{
    const float limit = viewer->h * size, limit2 = limit * limit;
    return limit2 > GPUNB_DEV_TINY_R2 ? limit2 : GPUNB_DEV_TINY_R2;
}

NBC_HD float gpunb_dev_differences(const struct gpunb_dev_source *from, const struct gpunb_dev_source *to, float dx[3],
                                   float dv[3])
{
    for (int k = 0; k < 3; k++) {
        dx[k] = (to->high[k] - from->high[k]) + (to->low[k] - from->low[k]);
        dv[k] = to->v[k] - from->v[k];
    }
    return dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2];
}

/** The same in double. */
NBC_HD void gpunb_dev_exact(const struct gpunb_dev_source *from, const struct gpunb_dev_source *to, double dx[3],
                            double dv[3])
{
    for (int k = 0; k < 3; k++) {
        dx[k] = ((double)to->high[k] - (double)from->high[k]) + ((double)to->low[k] - (double)from->low[k]);
        dv[k] = (double)to->v[k] - (double)from->v[k];
    }
}

/** NA12 eq. 10 and 11.   @param[in] rinv  1/r; 0: nothing is added */
NBC_HD void gpunb_dev_add_pair(const float dx[3], const float dv[3], float mass, float rinv, float sum[6])
{
    const float rv = dx[0] * dv[0] + dx[1] * dv[1] + dx[2] * dv[2];
    const float rinv2 = rinv * rinv, mr3 = mass * rinv * rinv2, alpha = -3.0f * rinv2 * rv;
    for (int k = 0; k < 3; k++) {
        sum[k] += mr3 * dx[k];
        sum[3 + k] += mr3 * (dv[k] + alpha * dx[k]);
    }
}

/** The relation of a pair as floats have it: GPUNB_DEV_NEIGHBOUR and GPUNB_DEV_OTHER for certain; GPUNB_DEV_AT_EDGE: it
 * has to be decided in double. */
enum { GPUNB_DEV_OTHER = 0, GPUNB_DEV_NEIGHBOUR = 1, GPUNB_DEV_AT_EDGE = 2 };

/** @param[in] r2, p2  squares of the distance now and after the step */
NBC_HD int gpunb_dev_decide(float r2, float p2, float limit2)
{
    const float least = fminf(r2, p2);
    const int is_close = least - GPUNB_DEV_EDGE * r2 < limit2 * (1 + 4 * GPUNB_DEV_EDGE);
    const int is_sure = least + GPUNB_DEV_EDGE * r2 < limit2 * (1 - 4 * GPUNB_DEV_EDGE);
    return is_sure ? GPUNB_DEV_NEIGHBOUR : is_close ? GPUNB_DEV_AT_EDGE : GPUNB_DEV_OTHER;
}

/** A source, unless it is in the sphere now or after the step (NA12 eq. 4), as the target itself is, or may be.
 *  @return as gpunb_dev_decide; nothing was added unless GPUNB_DEV_OTHER */
NBC_HD int gpunb_dev_add_source(const struct gpunb_dev_viewer *viewer, const struct gpunb_dev_source *source,
                                float limit2, float sum[6])
{
    float dx[3], dv[3], p2 = 0;
    const float r2 = gpunb_dev_differences(&viewer->at, source, dx, dv);
    for (int k = 0; k < 3; k++) p2 += (dx[k] + viewer->dt * dv[k]) * (dx[k] + viewer->dt * dv[k]);
    const int relation = gpunb_dev_decide(r2, p2, limit2);
    gpunb_dev_add_pair(dx, dv, source->mass, relation ? 0.0f : nbc_inverse_root(r2), sum);
    return relation;
}

/** A pair in double: NA12 eq. 4, and eq. 10 and 11 into `sum` if it is no neighbour.
 *  @param[in] r_nb2, dt_reg  of the target   @return whether it is a neighbour */
NBC_HD int gpunb_dev_settle(const struct gpunb_dev_source *at, const struct gpunb_dev_source *source, double r_nb2,
                            double dt_reg, int weighted, struct gpunb_dev_sum *sum)
{
    double dx[3], dv[3], r2 = 0, p2 = 0, rv = 0;
    const double limit2 = weighted ? (double)source->mass * r_nb2 : r_nb2;
    gpunb_dev_exact(at, source, dx, dv);
    for (int k = 0; k < 3; k++) {
        const double p = dx[k] + dt_reg * dv[k];
        r2 += dx[k] * dx[k];
        p2 += p * p;
        rv += dx[k] * dv[k];
    }
    if (r2 < limit2 || p2 < limit2) return 1;
    if (!(r2 > (double)GPUNB_DEV_TINY_R2)) return 0;
    const double mr3 = (double)source->mass / (r2 * sqrt(r2)), alpha = -3 * rv / r2;
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += mr3 * dx[k];
        sum->jerk[k] += mr3 * (dv[k] + alpha * dx[k]);
    }
    return 0;
}

/** Clear the bit of the target itself among the neighbours in a chunk. */
NBC_HD uint32_t gpunb_dev_others(const struct gpunb_dev_viewer *viewer, int64_t chunk, uint32_t bits)
{
    return viewer->place / GPUNB_DEV_LANES == chunk ? bits & ~(1u << viewer->place % GPUNB_DEV_LANES) : bits;
}

#endif
