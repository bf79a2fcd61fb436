/** Kernels of emulated devices: each is a loop over what the threads of a GPU have, with the results, lists and orders
 *  that struct gpunb_kernels asks for. Sums are in double. Private to backend_emulated.c and the files of kernels. */
#ifndef GPUNB_DEVICE_EMULATED_H
#define GPUNB_DEVICE_EMULATED_H

#include "gpunb/device/kernels.h"

/** A tile as emulated devices have it: sources one component after the other, and the boxes that hold them. Places past
 *  the end repeat the last source without its mass. */
struct device_emulated_tile {
    double x[DEVICE_TILE][3];
    float v[DEVICE_TILE][3], m[DEVICE_TILE];
    double centre[3], extent[3]; /**< half the size, rounded up */
    double centre_v[3], extent_v[3];
    double m_max;
};

/** A number rounded to float, to even ones as the processor does. It is done on the bits of the double because gcc 12
 *  drops (double)(float)value where it vectorises. */
static inline double gpunb_emulated_rounded(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0xfffffffu + (bits >> 29 & 1u)) & ~(uint64_t)0x1fffffffu;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* sources_emulated.c */
int gpunb_emulated_store(const struct gpunb_jp *from, const unsigned char *marks, unsigned char mark, int n,
                         struct gpunb_jp *jp, uint64_t *count, struct nbd_stream *stream);
int gpunb_emulated_predict_share(const struct device_prediction *prediction, struct nbd_stream *stream);
int gpunb_emulated_tiles(const struct device_source *sources, int n, int identity, const struct device_layout *layout,
                         const struct device_copy *copy, struct nbd_stream *stream);
int gpunb_emulated_predicted_tiles(const struct device_prediction *prediction, const struct device_layout *layout,
                                   const struct device_copy *copy, struct nbd_stream *stream);

/* order_emulated.c */
int gpunb_emulated_source_keys(const struct device_source *sources, int n, const struct gpunb_map *map, uint32_t *keys,
                               int32_t *places, struct nbd_stream *stream);
int gpunb_emulated_target_keys(const struct device_targets *targets, const struct gpunb_map *map, uint32_t *keys,
                               int32_t *places, struct nbd_stream *stream);
int gpunb_emulated_body_keys(const struct device_body *bodies, int first, int n, const struct gpunb_map *map,
                             uint32_t *keys, int32_t *places, struct nbd_stream *stream);
int gpunb_emulated_sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys,
                        const int32_t *places, int32_t *sorted_places, int n, struct nbd_stream *stream);
int gpunb_emulated_rank(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                        struct nbd_stream *stream);

/* force_emulated.c, finish_emulated.c */
int gpunb_emulated_blocks_per_sm(const struct device_variant *variant, int *blocks);
int gpunb_emulated_force(const struct device_variant *variant, const struct device_force *force,
                         struct nbd_stream *stream);
int gpunb_emulated_finish(const struct device_finish *finish, struct nbd_stream *stream);

/* sums_emulated.c */
int gpunb_emulated_pot_tiles(const struct device_body *bodies, int n, const int32_t *index,
                             struct device_pot_tile *tiles, struct device_body *sorted, struct nbd_stream *stream);
int gpunb_emulated_potential(const struct device_potential *potential, int splits, double *pot,
                             struct nbd_stream *stream);
int gpunb_emulated_softened_bytes(size_t n_i, size_t n_j, size_t *bytes);
int gpunb_emulated_softened_sum(const struct device_softened *job, void *work, struct nbd_stream *stream);

/** The table of them. */
extern const struct gpunb_kernels gpunb_emulated_kernels;

#endif
