/* Sources of an emulated device: predictors, predictions, tiles. */
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"
#include "gpunb/device/predicted.h"

#include <string.h>

/* Extents are rounded up by this: they are compared with distances that have roundings of their own. */
static const double round_up = 1.00001, position_rounding = 2.4e-7;

struct store_job {
    const struct gpunb_jp *from;
    const unsigned char *marks;
    struct gpunb_jp *jp;
    uint64_t *count;
    int n;
    unsigned char mark;
};

static void store(const void *job)
{
    const struct store_job *j = job;
    for (int k = 0; k < j->n; k++) {
        if (j->marks[k] != j->mark) continue;
        j->jp[k] = j->from[k];
        ++*j->count;
    }
}

int gpunb_emulated_store(const struct gpunb_jp *from, const unsigned char *marks, unsigned char mark, int n,
                         struct gpunb_jp *jp, uint64_t *count, struct nbd_stream *stream)
{
    const struct store_job job = {from, marks, jp, count, n, mark};
    return nbd_emulated_launch(stream, store, &job, sizeof job);
}

static void predict(const void *job)
{
    const struct device_prediction *p = job;
    for (int k = 0; k < p->n; k++) p->sources[k] = gpunb_predicted_source(p, k);
}

int gpunb_emulated_predict_share(const struct device_prediction *prediction, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, predict, prediction, sizeof *prediction);
}

/* ---- tiles */

struct tiles_job {
    const struct device_source *sources; /* NULL: they are predicted */
    struct device_prediction prediction;
    struct device_layout layout;
    struct device_copy copy;
    int n, identity;
};

NBC_ASSERT_CONSTANT(sizeof(struct device_emulated_tile) <= DEVICE_TILE_BYTES, "a tile has the room of one of CUDA");

/* Middle of the extremes, and the largest distance from it, rounded up. */
static double middle(const double *values, double *extent)
{
    double low = values[0], high = values[0];
    for (int k = 1; k < DEVICE_TILE; k++) {
        low = fmin(low, values[k]);
        high = fmax(high, values[k]);
    }
    const double centre = low + 0.5 * (high - low);
    *extent = fmax(high - centre, centre - low) * round_up + fabs(centre) * position_rounding;
    return centre;
}

static void make_boxes(struct device_emulated_tile *tile)
{
    double values[DEVICE_TILE];
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < DEVICE_TILE; k++) values[k] = tile->x[k][c];
        tile->centre[c] = middle(values, &tile->extent[c]);
        for (int k = 0; k < DEVICE_TILE; k++) values[k] = (double)tile->v[k][c];
        tile->centre_v[c] = middle(values, &tile->extent_v[c]);
    }
    tile->m_max = 0.0;
    for (int k = 0; k < DEVICE_TILE; k++) tile->m_max = fmax(tile->m_max, (double)tile->m[k]);
}

/* The source at a place, whose number is noted. */
static struct device_source take_source(const struct tiles_job *a, int place)
{
    const int inside = place < a->n ? place : a->n - 1, j = a->identity ? inside : a->layout.index[inside];
    struct device_source s = a->sources ? a->sources[j] : gpunb_predicted_source(&a->prediction, j);
    if (!a->sources && place < a->n) a->prediction.sources[j] = s;
    if (a->identity || place >= a->n) a->layout.index[place] = j;
    if (place < a->n) a->layout.place[j] = place;
    if (place >= a->n) s.m = 0.0f;
    return s;
}

static void make_tiles(const void *job)
{
    const struct tiles_job *a = job;
    memcpy(a->copy.to, a->copy.from, a->copy.bytes);
    for (int number = 0; number * DEVICE_TILE < a->n; number++) {
        struct device_emulated_tile *tile = (void *)((char *)a->layout.tiles + (size_t)number * DEVICE_TILE_BYTES);
        for (int k = 0; k < DEVICE_TILE; k++) {
            const struct device_source s = take_source(a, number * DEVICE_TILE + k);
            memcpy(tile->x[k], s.x, sizeof s.x);
            memcpy(tile->v[k], s.v, sizeof s.v);
            tile->m[k] = s.m;
        }
        make_boxes(tile);
    }
}

int gpunb_emulated_tiles(const struct device_source *sources, int n, int identity, const struct device_layout *layout,
                         const struct device_copy *copy, struct nbd_stream *stream)
{
    const struct tiles_job job = {.sources = sources, .layout = *layout, .copy = *copy, .n = n, .identity = identity};
    return nbd_emulated_launch(stream, make_tiles, &job, sizeof job);
}

int gpunb_emulated_predicted_tiles(const struct device_prediction *prediction, const struct device_layout *layout,
                                   const struct device_copy *copy, struct nbd_stream *stream)
{
    const struct tiles_job job = {
        .prediction = *prediction, .layout = *layout, .copy = *copy, .n = prediction->n, .identity = 1};
    return nbd_emulated_launch(stream, make_tiles, &job, sizeof job);
}
