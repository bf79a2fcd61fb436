/** Kernels of emulated devices: each is a loop over what the threads of a GPU have, with the results, lists and orders
 *  that struct gpunb_kernels asks for. Sums are in double. Private to backend_emulated.c and the files of kernels. */
#ifndef GPUNB_DEVICE_EMULATED_H
#define GPUNB_DEVICE_EMULATED_H

#include "gpunb/device/kernels.h"

struct device_tree_export;
struct device_tree_walk;
struct essential_measure;

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
int gpunb_emulated_keys(const struct device_positions *positions, const struct gpunb_map *map, uint32_t *keys,
                        int32_t *places, struct nbd_stream *stream);
int gpunb_emulated_sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys,
                        const int32_t *places, int32_t *sorted_places, int n, struct nbd_stream *stream);
int gpunb_emulated_sort64(void *scratch, size_t *bytes, const uint64_t *keys, uint64_t *sorted_keys,
                          const int32_t *places, int32_t *sorted_places, int n, int bits, struct nbd_stream *stream);
int gpunb_emulated_rank(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                        struct nbd_stream *stream);

/* force_emulated.c, finish_emulated.c */
int gpunb_emulated_blocks_per_sm(const struct device_variant *variant, int *blocks);
int gpunb_emulated_force(const struct device_variant *variant, const struct device_force *force,
                         struct nbd_stream *stream);
int gpunb_emulated_finish(const struct device_finish *finish, struct nbd_stream *stream);
/** A sorted row to the host, in half its size if possible.   @return 1: it was not possible */
int gpunb_emulated_send_row(const int32_t *sorted, int found, int32_t *out);

/* sums_emulated.c */
int gpunb_emulated_pot_tiles(const struct device_body *bodies, int n, const int32_t *index,
                             struct device_pot_tile *tiles, struct device_body *sorted, struct nbd_stream *stream);
int gpunb_emulated_potential(const struct device_potential *potential, int splits, double *pot,
                             struct nbd_stream *stream);
int gpunb_emulated_softened_bytes(size_t n_i, size_t n_j, size_t *bytes);
int gpunb_emulated_softened_sum(const struct device_softened *job, void *work, struct nbd_stream *stream);

/* regular_emulated.c */
int gpunb_emulated_regular_blocks(int device, int *blocks);
int gpunb_emulated_regular_prepare(const struct gpunb_dev_job *job, int is_again, int blocks,
                                   struct nbd_stream *stream);
int gpunb_emulated_regular_pairs(const struct gpunb_dev_job *job, int64_t share, int blocks, struct nbd_stream *stream);
int gpunb_emulated_regular_viewers(const struct gpunb_dev_job *job, int64_t first, int64_t n,
                                   struct nbd_stream *stream);
int gpunb_emulated_regular_left(const struct gpunb_dev_job *job, int64_t first, int64_t n, int64_t share, int blocks,
                                struct nbd_stream *stream);
int gpunb_emulated_regular_finish(const struct gpunb_dev_job *job, int64_t first, int64_t n, int blocks,
                                  struct nbd_stream *stream);

/* whole_emulated.c */
int gpunb_emulated_regular_sources(const struct device_source *sources, int n, int weighted,
                                   struct gpunb_dev_source *to, struct nbd_stream *stream);
int gpunb_emulated_regular_ask(const struct device_asking *asking, struct nbd_stream *stream);
int gpunb_emulated_regular_send(const struct device_sending *sending, struct nbd_stream *stream);

/* tree_export_emulated.c */
int gpunb_emulated_tree_measure(const struct device_tree_walk *walk, struct essential_measure *measure,
                                struct nbd_stream *stream);
int gpunb_emulated_tree_choose(const struct device_tree_export *job, int levels, struct nbd_stream *stream);
int gpunb_emulated_tree_write(const struct device_tree_export *job, int64_t cells, struct nbd_stream *stream);

/* tree_emulated.c */
extern const struct gpunb_tree_kernels gpunb_emulated_tree_kernels;

/* regular_tree_emulated.c */
extern const struct gpunb_regular_tree_kernels gpunb_emulated_regular_tree_kernels;

/** The table of them. */
extern const struct gpunb_kernels gpunb_emulated_kernels;

#endif
