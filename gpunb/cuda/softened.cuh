/** The kernel of softened forces (MTM13 Listing 3, eq. 1), a template of its shape (threads of a block, targets of a
 *  thread, sources of a turn of the loop, blocks of a multiprocessor): bench/tune_softened.cu times the
 *  shapes, gpunb/cuda/softened.cu has those of the library.
 *
 *  Of tiles that are far from all targets of a warp nothing is needed but sums over sources of w = m/(r^2 +
 * eps^2)^(3/2) and w s, where s = x_j - c are positions in the frame of the tile: with d = c - x_i the force is sum w s
 * + d sum w, and r^2 = |d|^2 + |s|^2 + 2 d s. That is 12 instructions a pair, one fewer than with differences. In near
 * tiles differences are those of two-float numbers. */
#ifndef GPUNB_CUDA_SOFTENED_CUH
#define GPUNB_CUDA_SOFTENED_CUH

#include "gpunb/cuda/box.cuh"
#include "gpunb/cuda/pair.cuh"
#include "gpunb/cuda/softened_job.h"

/** Input and output of the kernel. */
struct softened_launch {
    const softened_tile *tiles;
    const int32_t *place; /* [n_j] of each source in the tiles */
    const int32_t *order; /* [n_i] target at each place, NULL: as they come */
    const double (*x)[3];
    const int32_t *self; /* NULL if no target leaves out itself */
    int self_first, n_j, n_i, n_tiles, rounded;
    float softening2;
    double *slots; /* [slots][SOFTENED_CUDA_SUMS][targets of a group] */
};

/** Tiles, and targets in their order: all that the kernel needs. Slots are those of the library's shapes. */
cudaError_t gpunb_cuda_softened_prepare(const device_softened &job, void *work, softened_launch *to,
                                        cudaStream_t stream);

/** Block of the grid that has a unit. */
static __device__ __forceinline__ int softened_owner(long long unit, long long units, int grid)
{
    return (int)(((unit + 1) * grid - 1) / units);
}

/* Kahan's sum: the rounding error of the sum so far is added with the next term. */
struct softened_total {
    float sum, lost;
    __device__ __forceinline__ void add(float term)
    {
        const float y = __fsub_rn(term, lost), t = __fadd_rn(sum, y);
        lost = __fsub_rn(__fsub_rn(t, sum), y);
        sum = t;
    }
    __device__ __forceinline__ double value() const
    {
        return (double)sum - (double)lost;
    }
};

/* A target as two floats, and the place of the source that it is. */
struct softened_target {
    vec3 high, low;
    int own;
    softened_total acc[3], pot;
};

/* Sums of a tile. */
struct softened_sums {
    vec3 acc;
    float pot;
};

/* A tile in shared memory: positions and squares of them with eps^2, masses; or low parts of near ones. */
struct softened_shared {
    float4 from[SOFTENED_TILE];
    float mass[SOFTENED_TILE];
    float4 low[SOFTENED_TILE];
};

template <bool POT> static __device__ __forceinline__ float softened_weight(float r2, float m, softened_sums &sum)
{
    const float y = rsqrt_hardware(r2), my = m * y;
    if (POT) sum.pot += my;
    return my * (y * y);
}

/* The same value, which the assembler does not make anew in each turn of a loop to save registers, as it does with
 * sums: that would be an instruction for each two pairs. */
static __device__ __forceinline__ float softened_kept(float value)
{
    return __shfl_sync(~0u, value, threadIdx.x % 32);
}

/* A far tile on WIDTH targets. */
template <int WIDTH, int UNROLL, bool POT>
static __device__ __forceinline__ void softened_far(const softened_shared &tile, vec3 centre,
                                                    softened_target (&t)[WIDTH])
{
    vec3 twice[WIDTH]; /* 2 d */
    float d2[WIDTH], weights[WIDTH];
    softened_sums sum[WIDTH];
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        const vec3 d = (centre - t[i].high) - t[i].low;
        d2[i] = dot(d, d);
        twice[i] = {softened_kept(d.x + d.x), softened_kept(d.y + d.y), softened_kept(d.z + d.z)};
        weights[i] = 0.0f;
        sum[i] = {};
    }
#pragma unroll UNROLL / 4
    for (int k = 0; k < SOFTENED_TILE; k += 4) {
        const float4 masses = *(const float4 *)(tile.mass + k);
        const float m[4] = {masses.x, masses.y, masses.z, masses.w};
#pragma unroll
        for (int part = 0; part < 4; part++) {
            const float4 s = tile.from[k + part];
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                const float r2 = fmaf(twice[i].x, s.x, fmaf(twice[i].y, s.y, fmaf(twice[i].z, s.z, s.w + d2[i])));
                const float w = softened_weight<POT>(r2, m[part], sum[i]);
                weights[i] += w;
                sum[i].acc.x = fmaf(w, s.x, sum[i].acc.x);
                sum[i].acc.y = fmaf(w, s.y, sum[i].acc.y);
                sum[i].acc.z = fmaf(w, s.z, sum[i].acc.z);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        const float half = 0.5f * weights[i];
        t[i].acc[0].add(fmaf(half, twice[i].x, sum[i].acc.x));
        t[i].acc[1].add(fmaf(half, twice[i].y, sum[i].acc.y));
        t[i].acc[2].add(fmaf(half, twice[i].z, sum[i].acc.z));
        if (POT) t[i].pot.add(sum[i].pot);
    }
}

/* A component of a target in the frame of a tile, as two floats: made as those of sources are, so that a difference of
 * equal positions is zero. */
static __device__ __forceinline__ void softened_in_frame(float x_high, float x_low, float centre, float *high,
                                                         float *low)
{
    const double x = ((double)x_high + (double)x_low) - (double)centre;
    *high = (float)x;
    *low = (float)(x - (double)*high);
}

/* Sources of a near tile whose terms are summed in float: one of them may be most of the sum, and all others lose what
 * is below its last digit, each time to the same side if they are equal. */
constexpr int SOFTENED_RUN = 32;

template <bool POT> static __device__ __forceinline__ void softened_keep(const softened_sums &sum, softened_target &t)
{
    t.acc[0].add(sum.acc.x);
    t.acc[1].add(sum.acc.y);
    t.acc[2].add(sum.acc.z);
    if (POT) t.pot.add(sum.pot);
}

/* A near tile on WIDTH targets. OWN: some target may leave out itself. */
template <int WIDTH, bool POT, bool OWN>
static __device__ __forceinline__ void softened_near(const softened_shared &tile, vec3 centre, int first,
                                                     float softening2, softened_target (&t)[WIDTH])
{
    vec3 high[WIDTH], low[WIDTH];
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        softened_in_frame(t[i].high.x, t[i].low.x, centre.x, &high[i].x, &low[i].x);
        softened_in_frame(t[i].high.y, t[i].low.y, centre.y, &high[i].y, &low[i].y);
        softened_in_frame(t[i].high.z, t[i].low.z, centre.z, &high[i].z, &low[i].z);
    }
    for (int begin = 0; begin < SOFTENED_TILE; begin += SOFTENED_RUN) {
        softened_sums sum[WIDTH] = {};
#pragma unroll 4
        for (int k = begin; k < begin + SOFTENED_RUN; k++) {
            const float4 s = tile.from[k], s_low = tile.low[k];
            const float mass = tile.mass[k];
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                const vec3 r = (first3(s) - high[i]) + (first3(s_low) - low[i]);
                const float r2 = fmaf(r.z, r.z, fmaf(r.y, r.y, fmaf(r.x, r.x, softening2)));
                const float y = rsqrt_hardware(r2), my = mass * y, w = my * (y * y);
                if (POT) sum[i].pot += OWN && t[i].own == first + k ? 0.0f : my;
                sum[i].acc.x = fmaf(w, r.x, sum[i].acc.x);
                sum[i].acc.y = fmaf(w, r.y, sum[i].acc.y);
                sum[i].acc.z = fmaf(w, r.z, sum[i].acc.z);
            }
        }
#pragma unroll
        for (int i = 0; i < WIDTH; i++) softened_keep<POT>(sum[i], t[i]);
    }
}

/* The target at a place; places past the end repeat the last one. */
static __device__ __forceinline__ softened_target softened_load(const softened_launch &a, int place)
{
    const int at = min(place, a.n_i - 1), i = a.order ? a.order[at] : at;
    float high[3], low[3];
    for (int k = 0; k < 3; k++) {
        const double x = a.x[i][k];
        high[k] = (float)x;
        low[k] = a.rounded ? 0.0f : (float)(x - (double)high[k]);
    }
    softened_target t = {{high[0], high[1], high[2]}, {low[0], low[1], low[2]}, -1, {}, {}};
    if (a.self && a.self[i] >= a.self_first && a.self[i] - a.self_first < a.n_j)
        t.own = a.place[a.self[i] - a.self_first];
    return t;
}

/* The box about all targets of a warp. */
struct softened_box {
    vec3 centre, extent;
};

template <int WIDTH> static __device__ __forceinline__ softened_box softened_bounds(const softened_target (&t)[WIDTH])
{
    vec3 low = t[0].high, high = low;
#pragma unroll
    for (int i = 1; i < WIDTH; i++) {
        low = {fminf(low.x, t[i].high.x), fminf(low.y, t[i].high.y), fminf(low.z, t[i].high.z)};
        high = {fmaxf(high.x, t[i].high.x), fmaxf(high.y, t[i].high.y), fmaxf(high.z, t[i].high.z)};
    }
    softened_box box;
    range(low.x, high.x, &box.centre.x, &box.extent.x);
    range(low.y, high.y, &box.centre.y, &box.extent.y);
    range(low.z, high.z, &box.centre.z, &box.extent.z);
    return box;
}

/* Whether a tile is near to a box. NaN counts as near. */
static __device__ __forceinline__ bool softened_is_near(float4 centre, float4 extent, const softened_box &box)
{
    const vec3 d = first3(centre) - box.centre, e = first3(extent) + box.extent;
    return !(to_box(d, {widened(e.x, d.x), widened(e.y, d.y), widened(e.z, d.z)}) > centre.w);
}

/* Sources of a tile on their way to shared memory: loaded before the sums of the tile before it, stored after them. */
template <int THREADS> struct softened_staging {
    static constexpr int EACH = (SOFTENED_TILE + THREADS - 1) / THREADS;
    float4 centre, extent, from[EACH], low[EACH];

    __device__ __forceinline__ void load(const softened_tile &tile)
    {
        centre = tile.centre;
        extent = tile.extent;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int k = e * THREADS + threadIdx.x;
            if (SOFTENED_TILE % THREADS != 0 && k >= SOFTENED_TILE) break;
            from[e] = tile.from[k];
            low[e] = tile.low[k];
        }
    }
    __device__ __forceinline__ void store(float softening2, softened_shared &to) const
    {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int k = e * THREADS + threadIdx.x;
            if (SOFTENED_TILE % THREADS != 0 && k >= SOFTENED_TILE) break;
            const float4 s = from[e];
            to.from[k] = make_float4(s.x, s.y, s.z, fmaf(s.z, s.z, fmaf(s.y, s.y, fmaf(s.x, s.x, softening2))));
            to.mass[k] = s.w;
            to.low[k] = low[e];
        }
    }
};

/* A group's tiles [tile, end), of which the first is staged. */
template <int THREADS, int WIDTH, int UNROLL, bool POT>
static __device__ __forceinline__ void softened_tiles(const softened_launch &a, int tile, int end,
                                                      const softened_box &box, softened_shared (&shared)[2],
                                                      softened_target (&t)[WIDTH])
{
    softened_staging<THREADS> next;
    int buffer = 0;
    next.load(a.tiles[tile]);
    __syncthreads(); /* no thread is in the group before any more */
    next.store(a.softening2, shared[0]);
    for (; tile < end; tile++, buffer ^= 1) {
        const vec3 centre = first3(next.centre);
        const bool near = softened_is_near(next.centre, next.extent, box);
        const bool more = tile + 1 < end;
        __syncthreads();
        if (more) next.load(a.tiles[tile + 1]);
        if (near) {
            bool own = false;
            const int first = tile * SOFTENED_TILE;
#pragma unroll
            for (int i = 0; i < WIDTH; i++) own |= (unsigned)(t[i].own - first) < SOFTENED_TILE;
            if (POT && __any_sync(~0u, own))
                softened_near<WIDTH, POT, true>(shared[buffer], centre, first, a.softening2, t);
            else
                softened_near<WIDTH, POT, false>(shared[buffer], centre, first, a.softening2, t);
        } else {
            softened_far<WIDTH, UNROLL, POT>(shared[buffer], centre, t);
        }
        if (more) next.store(a.softening2, shared[buffer ^ 1]);
    }
}

template <int THREADS, int WIDTH, int UNROLL, int BLOCKS, bool POT>
__global__ void __launch_bounds__(THREADS, BLOCKS) softened_kernel(const softened_launch a)
{
    constexpr int GROUP = THREADS * WIDTH;
    __shared__ softened_shared shared[2];
    const int groups = (a.n_i + GROUP - 1) / GROUP, grid = gridDim.x;
    const int mine = threadIdx.x / 32 * (32 * WIDTH) + threadIdx.x % 32; /* the first of WIDTH targets of a group */
    const long long units = (long long)groups * a.n_tiles;
    long long unit = units * blockIdx.x / grid;
    const long long end = units * (blockIdx.x + 1) / grid;
    while (unit < end) {
        const int group = (int)(unit / a.n_tiles), tile = (int)(unit - (long long)group * a.n_tiles);
        const int stop = (int)min((long long)a.n_tiles, tile + (end - unit));
        softened_target t[WIDTH];
#pragma unroll
        for (int i = 0; i < WIDTH; i++) t[i] = softened_load(a, group * GROUP + mine + 32 * i);
        const softened_box box = softened_bounds(t);
        softened_tiles<THREADS, WIDTH, UNROLL, POT>(a, tile, stop, box, shared, t);
        double *out = a.slots + (size_t)(blockIdx.x + group) * SOFTENED_CUDA_SUMS * GROUP + mine;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            for (int k = 0; k < 3; k++) out[k * GROUP + 32 * i] = t[i].acc[k].value();
            if (POT) out[3 * GROUP + 32 * i] = t[i].pot.value();
        }
        unit += stop - tile;
    }
}

#endif
