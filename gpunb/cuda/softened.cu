/* Softened forces on one device: order along the curve, tiles, the kernel in the shapes that the library uses, and
 * the sum of the slots. Everything is enqueued; nothing is allocated. */
#include "gpunb/cuda/softened.cuh"
#include "gpunb/curve.h"
#include "gpunb/device/softened_sources.h"

namespace
{

/* Interactions from which it pays to sort sources and targets along the curve, so that most tiles are far. */
constexpr double CURVE_PAIRS = 6e8;
/* Nearer than this part of the radius of a tile squares of distances from its centre lose digits: (1 + 2)^2 roundings
 * of a float here, of which the potential has a half, all with one sign. */
constexpr float NEAR_RADIUS = 0.5f;

/* ---- shapes */

typedef void (*kernel)(const softened_launch);

struct shape {
    int threads, width; /* of a block; targets of a thread */
    int targets;        /* from which on it is taken */
    kernel force, with_potential;
};

#define SHAPE(threads, width, unroll, blocks, targets)                                                                 \
    {                                                                                                                  \
        threads, width, targets, softened_kernel<threads, width, unroll, blocks, false>,                               \
            softened_kernel<threads, width, unroll, blocks, true>                                                      \
    }

/* From the largest calls to the smallest. bench/tune_softened measures other shapes. */
const shape shapes[] = {SHAPE(128, 4, 32, 3, 32768), SHAPE(128, 2, 16, 4, 129), SHAPE(32, 1, 16, 16, 0)};

const shape &shape_of(int n_i)
{
    const shape *s = shapes;
    while (n_i < s->targets) s++;
    return *s;
}

/* Blocks that fill the current device, not more than there are units of work. */
cudaError_t grid_of(const shape &s, kernel k, int n_i, int n_tiles, int *groups, int *grid)
{
    int device = 0, multiprocessors = 0, each = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess) code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (code == cudaSuccess) code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, k, s.threads, 0);
    const int targets = s.threads * s.width;
    *groups = (n_i + targets - 1) / targets;
    const long long units = (long long)*groups * n_tiles, fill = (long long)multiprocessors * max(each, 1);
    *grid = (int)min(units, fill);
    return code;
}

/* ---- scratch */

/* The parts of `work`, one after the other. */
struct scratch {
    gpunb_map *map;
    uint32_t *keys; /* [2][larger number] */
    int32_t *places, *order_j, *order_i, *place;
    softened_tile *tiles;
    double *slots;
    void *sort;
    size_t sort_bytes, bytes;
};

template <typename T> void take(char *work, size_t *at, size_t count, T **part)
{
    *part = reinterpret_cast<T *>(work + *at);
    *at += (count * sizeof(T) + 255) / 256 * 256;
}

/* The most slots that any number of targets up to n_i needs. */
cudaError_t slots_of(size_t n_i, size_t n_tiles, size_t *doubles)
{
    *doubles = 0;
    for (const shape &s : shapes)
        for (const kernel k : {s.force, s.with_potential}) {
            int groups, grid;
            const cudaError_t code = grid_of(s, k, (int)n_i, (int)n_tiles, &groups, &grid);
            if (code != cudaSuccess) return code;
            const size_t slots = (size_t)(grid + groups), need = slots * SOFTENED_CUDA_SUMS * s.threads * s.width;
            if (need > *doubles) *doubles = need;
        }
    return cudaSuccess;
}

cudaError_t lay_out(size_t n_i, size_t n_j, char *work, scratch *to)
{
    const size_t n = n_i > n_j ? n_i : n_j, n_tiles = (n_j + SOFTENED_TILE - 1) / SOFTENED_TILE;
    size_t doubles, at = 0;
    cudaError_t code = slots_of(n_i, n_tiles, &doubles);
    if (code == cudaSuccess) code = gpunb_cuda_sort(NULL, &to->sort_bytes, NULL, NULL, NULL, NULL, (int)n, NULL);
    if (code != cudaSuccess) return code;
    take(work, &at, 1, &to->map);
    take(work, &at, 2 * n, &to->keys);
    take(work, &at, n, &to->places);
    take(work, &at, n_j, &to->order_j);
    take(work, &at, n_i, &to->order_i);
    take(work, &at, n_j, &to->place);
    take(work, &at, n_tiles, &to->tiles);
    take(work, &at, doubles, &to->slots);
    char *sort;
    take(work, &at, to->sort_bytes, &sort);
    to->sort = sort;
    to->bytes = at;
    return cudaSuccess;
}

/* ---- sources */

constexpr int BLOCK = 256, SAMPLE = 255;

/* The middle one of `count` values, of which each thread has one. */
__device__ double median(double value, int count, double *values, double *result)
{
    const int own = threadIdx.x;
    __syncthreads();
    if (own < count) values[own] = value;
    __syncthreads();
    int before = 0;
    for (int k = 0; own < count && k < count; k++) before += values[k] < value || (values[k] == value && k < own);
    if (own < count && before == count / 2) *result = value;
    __syncthreads();
    return *result;
}

/* Centre and scale of the map of the curve, as gpunb_device_make_map has them. */
__global__ void __launch_bounds__(BLOCK) make_map(const softened_sources s, gpunb_map *map)
{
    __shared__ double values[SAMPLE], result;
    const int count = min(s.n, SAMPLE), own = min((int)threadIdx.x, count - 1);
    const double *x = softened_position(&s, (size_t)own * s.n / count);
    double distance = 0.0;
    if (threadIdx.x == 0) result = 0.0; /* without a middle one: NaN among the sources */
    for (int k = 0; k < 3; k++) {
        const double centre = median(x[k], count, values, &result);
        distance = fmax(distance, fabs(x[k] - centre));
        if (threadIdx.x == 0) map->centre[k] = centre;
    }
    const double scale = median(distance, count, values, &result);
    if (threadIdx.x == 0) map->per_scale = scale > 0.0 ? 1.0 / scale : 1.0;
}

__global__ void __launch_bounds__(BLOCK)
    make_keys(const softened_sources s, const gpunb_map *map, uint32_t *keys, int32_t *places)
{
    const int j = blockIdx.x * BLOCK + threadIdx.x;
    if (j >= s.n) return;
    keys[j] = gpunb_curve_key(softened_position(&s, j), map);
    places[j] = j;
}

/* Largest value of the block. */
__device__ __forceinline__ float block_max(float value, float *scratch)
{
    value = warp_max(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    for (int w = 0; w < SOFTENED_TILE / 32; w++) value = fmaxf(value, scratch[w]);
    return value;
}

/* A block makes a tile. */
__global__ void __launch_bounds__(SOFTENED_TILE)
    make_tiles(const softened_sources s, const int32_t *order, int to_float, softened_tile *tiles, int32_t *places)
{
    __shared__ float scratch[SOFTENED_TILE / 32];
    softened_tile &tile = tiles[blockIdx.x];
    const int place = blockIdx.x * SOFTENED_TILE + threadIdx.x, at = min(place, s.n - 1);
    const int j = order ? order[at] : at;
    float from[3], low[3], centre[3], extent[3];
    for (int k = 0; k < 3; k++) {
        const double x = softened_rounded(softened_position(&s, j)[k], to_float);
        const float near_x = (float)x, high = block_max(near_x, scratch), least = -block_max(-near_x, scratch);
        centre[k] = least + 0.5f * (high - least);
        extent[k] = widened(0.5f * (high - least), centre[k]);
        const double d = x - (double)centre[k];
        from[k] = (float)d;
        low[k] = (float)(d - (double)from[k]);
    }
    const float m = place < s.n ? softened_mass(&s, j) : 0.0f;
    tile.from[threadIdx.x] = make_float4(from[0], from[1], from[2], m);
    tile.low[threadIdx.x] = make_float4(low[0], low[1], low[2], 0.0f);
    if (place < s.n) places[j] = place;
    if (threadIdx.x != 0) return;
    const float radius = NEAR_RADIUS * norm3df(extent[0], extent[1], extent[2]);
    tile.centre = make_float4(centre[0], centre[1], centre[2], radius * radius);
    tile.extent = make_float4(extent[0], extent[1], extent[2], 0.0f);
}

cudaError_t sort_along_curve(const softened_sources &s, const scratch &w, int32_t *order, cudaStream_t stream)
{
    size_t bytes = w.sort_bytes;
    make_keys<<<(s.n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(s, w.map, w.keys, w.places);
    return gpunb_cuda_sort(w.sort, &bytes, w.keys, w.keys + s.n, w.places, order, s.n, stream);
}

/* ---- results */

/* Target i again in double: for sums that do not fit a float. */
__device__ void exact_target(const device_softened &a, int i, double sum[SOFTENED_CUDA_SUMS])
{
    const int self = a.self ? a.self[i] - a.self_first : -1;
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = softened_rounded(a.x[i][k], a.rounded);
    for (int q = 0; q < SOFTENED_CUDA_SUMS; q++) sum[q] = 0.0;
    for (int j = 0; j < a.sources.n; j++) {
        const double *from = softened_position(&a.sources, j);
        double d[3], r2 = a.softening * a.softening;
        for (int k = 0; k < 3; k++) {
            d[k] = softened_rounded(from[k], a.rounded) - x[k];
            r2 += d[k] * d[k];
        }
        const double mr = (double)softened_mass(&a.sources, j) / sqrt(r2);
        for (int k = 0; k < 3; k++) sum[k] += mr / r2 * d[k];
        if (j != self) sum[3] += mr;
    }
}

constexpr int LANES = 32;

/* Slots of a group, added by blockDim.y threads for each target, whose sums are added then. */
__global__ void add_slots(const device_softened a, const double *slots, const int32_t *order, int targets, int n_tiles,
                          int grid)
{
    __shared__ double sums[SOFTENED_CUDA_SUMS][LANES][LANES];
    const int place = blockIdx.x * LANES + threadIdx.x, group = blockIdx.x * LANES / targets, row = threadIdx.y;
    const long long units = (long long)((a.n_i + targets - 1) / targets) * n_tiles, begin = (long long)group * n_tiles;
    const int first = softened_owner(begin, units, grid), last = softened_owner(begin + n_tiles - 1, units, grid);
    const double *from = slots + (size_t)group * SOFTENED_CUDA_SUMS * targets + (place - group * targets);
    double sum[SOFTENED_CUDA_SUMS] = {};
    for (int b = first + row; b <= last; b += blockDim.y)
        for (int q = 0; q < (a.pot ? 4 : 3); q++) sum[q] += from[((size_t)b * SOFTENED_CUDA_SUMS + q) * targets];
    for (int q = 0; q < SOFTENED_CUDA_SUMS; q++) sums[q][row][threadIdx.x] = sum[q];
    __syncthreads();
    if (row > 0 || place >= a.n_i) return;
    for (int r = 1; r < blockDim.y; r++)
        for (int q = 0; q < SOFTENED_CUDA_SUMS; q++) sum[q] += sums[q][r][threadIdx.x];
    const int i = order ? order[place] : place;
    if (!isfinite(sum[0] + sum[1] + sum[2] + sum[3])) exact_target(a, i, sum);
    for (int k = 0; k < 3; k++) a.acc[i][k] = sum[k];
    if (a.pot) a.pot[i] = -sum[3];
}

cudaError_t launch(const device_softened &job, const softened_launch &arguments, cudaStream_t stream)
{
    const shape &s = shape_of(job.n_i);
    const kernel k = job.pot ? s.with_potential : s.force;
    int groups, grid;
    const cudaError_t code = grid_of(s, k, job.n_i, arguments.n_tiles, &groups, &grid);
    if (code != cudaSuccess) return code;
    k<<<grid, s.threads, 0, stream>>>(arguments);
    const int slots = grid / groups + 2, rows = slots < LANES ? slots : LANES;
    add_slots<<<(job.n_i + LANES - 1) / LANES, dim3(LANES, rows), 0, stream>>>(
        job, arguments.slots, arguments.order, s.threads * s.width, arguments.n_tiles, grid);
    return cudaGetLastError();
}

} // namespace

cudaError_t gpunb_cuda_softened_bytes(size_t n_i, size_t n_j, size_t *bytes)
{
    scratch w = {};
    *bytes = 0;
    if (n_i == 0 || n_j == 0) return cudaSuccess;
    const cudaError_t code = lay_out(n_i, n_j, NULL, &w);
    *bytes = w.bytes;
    return code;
}

cudaError_t gpunb_cuda_softened_prepare(const device_softened &job, void *work, softened_launch *to,
                                        cudaStream_t stream)
{
    const softened_sources &s = job.sources;
    const int n_tiles = (s.n + SOFTENED_TILE - 1) / SOFTENED_TILE;
    const bool curved = (double)job.n_i * s.n >= CURVE_PAIRS;
    scratch w = {};
    cudaError_t code = lay_out(job.n_i, s.n, static_cast<char *>(work), &w);
    if (code == cudaSuccess && curved) {
        const softened_sources targets = {job.x, NULL, sizeof *job.x, 0, 0, job.n_i};
        make_map<<<1, BLOCK, 0, stream>>>(s, w.map);
        code = sort_along_curve(s, w, w.order_j, stream);
        if (code == cudaSuccess) code = sort_along_curve(targets, w, w.order_i, stream);
    }
    if (code != cudaSuccess) return code;
    make_tiles<<<n_tiles, SOFTENED_TILE, 0, stream>>>(s, curved ? w.order_j : NULL, job.rounded, w.tiles, w.place);
    const float softening2 = (float)(job.softening * job.softening);
    *to = {w.tiles,
           w.place,
           curved ? w.order_i : NULL,
           job.x,
           job.pot ? job.self : NULL,
           job.self_first,
           s.n,
           job.n_i,
           n_tiles,
           job.rounded,
           softening2,
           w.slots};
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_softened_sum(const struct device_softened *job, void *work, cudaStream_t stream)
{
    softened_launch arguments;
    if (job->n_i == 0) return cudaSuccess;
    if (job->sources.n == 0) {
        const cudaError_t code = cudaMemsetAsync(job->acc, 0, (size_t)job->n_i * sizeof *job->acc, stream);
        if (code != cudaSuccess || !job->pot) return code;
        return cudaMemsetAsync(job->pot, 0, (size_t)job->n_i * sizeof *job->pot, stream);
    }
    const cudaError_t code = gpunb_cuda_softened_prepare(*job, work, &arguments, stream);
    return code == cudaSuccess ? launch(*job, arguments, stream) : code;
}
