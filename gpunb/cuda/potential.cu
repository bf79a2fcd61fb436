/* The potential of all bodies, in double. Bodies are sorted along the curve. Of a tile that is far from the targets of
 * a warp, as nearly all are, the squared distances are r^2 = |d|^2 + 2 d s + |s|^2, d = c - x_i, s = x_j - c with the
 * centre c of the tile: a matrix product, which the GPU has units for. No pair is closer than the size of the tile
 * then, so that the sum loses no more than a few roundings. In a near tile differences are formed pair by pair. */
#include "gpunb/backend.h"
#include "gpunb/cuda/box.cuh"
#include "gpunb/cuda/kernels.h"
#include "gpunb/cuda/warp.cuh"

namespace
{

constexpr int SUMMERS = DEVICE_POT_BLOCK / WARP, MAKERS = 128; /* warps and threads of a block */
/* A fragment of the matrix product: 8 targets by 8 bodies; lane l has target l/4 and bodies 2 (l%4) and the next. */
constexpr int FRAGMENT = 8, FRAGMENTS = WARP / FRAGMENT, QUAD = 4;
constexpr int UNITS = sizeof(struct device_pot_tile) / 16, MIN_BLOCKS = 4;
static_assert(sizeof(struct device_pot_tile) % 16 == 0, "a tile travels in units of 16 bytes");
/* Factor of the result of inverse_root. */
constexpr double ROOT_SCALE = 0.375;

/* 1/(ROOT_SCALE sqrt(r2)) to a few roundings: of the hardware's y, good to 2^-20, and one step of third order,
 * y (1 + e/2 + 3/8 e^2) = 3/8 y ((5/3 - r2 y^2)^2 + 20/9), e = 1 - r2 y^2, of which the next term is below 2^-58. */
__device__ __forceinline__ double inverse_root(double r2)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(r2));
    const double z = fma(-r2, y * y, 5.0 / 3.0);
    return y * fma(z, z, 20.0 / 9.0);
}

/* ---- tiles */

/* One warp makes one tile. Places past the end repeat the last body without its mass. */
__global__ void __launch_bounds__(MAKERS) make_tiles(const struct device_body *bodies, int n, const int32_t *index,
                                                     struct device_pot_tile *tiles, struct device_body *sorted)
{
    const int lane = threadIdx.x % WARP, number = (blockIdx.x * MAKERS + threadIdx.x) / WARP;
    if (number * DEVICE_POT_TILE >= n) return;
    struct device_pot_tile *tile = &tiles[number];
    struct device_body own[2];
    for (int e = 0; e < 2; e++) {
        const int place = number * DEVICE_POT_TILE + e * WARP + lane;
        own[e] = bodies[index[min(place, n - 1)]];
        if (place >= n) own[e].m = 0.0;
        sorted[place] = own[e];
    }
    float centre[3], extent[3];
    for (int k = 0; k < 3; k++) {
        const float a = (float)own[0].x[k], b = (float)own[1].x[k];
        range(fminf(a, b), fmaxf(a, b), &centre[k], &extent[k]);
    }
    for (int e = 0; e < 2; e++) {
        double *from = tile->from[e * WARP + lane], s2 = 0.0;
        for (int k = 0; k < 3; k++) {
            from[k] = own[e].x[k] - (double)centre[k];
            s2 = fma(from[k], from[k], s2);
        }
        from[3] = s2;
        tile->m[e * WARP + lane] = own[e].m;
    }
    if (lane != 0) return;
    for (int k = 0; k < 3; k++) {
        tile->centre[k] = (double)centre[k];
        tile->extent[k] = extent[k];
    }
    tile->centre[3] = 0.5;
    tile->extent[3] = norm3df(extent[0], extent[1], extent[2]);
}

/* ---- sums */

/* The targets of a warp: lane l has target l, in the matrix product component l%4 of the target l/4 of each fragment.
 */
struct targets {
    vec3 centre, extent; /* the box of all */
    double own[FRAGMENTS];
    double sum[FRAGMENTS], near_sum;
};

__device__ __forceinline__ void box_of(const double *x, targets &t)
{
    const vec3 a = {(float)x[0], (float)x[1], (float)x[2]};
    range(a, a, &t.centre, &t.extent);
}

/* Bit k: the k-th of the next 32 tiles is farther from all targets than its own size. NaN: it is not. The matrix units
 * for doubles came with compute capability 8.0. */
__device__ __forceinline__ uint32_t far_tiles(const struct device_pot_tile *tiles, int first, int end, const targets &t)
{
#if __CUDA_ARCH__ >= 800
    const int own = first + threadIdx.x % WARP;
    if (own >= end) return __ballot_sync(~0u, false);
    const struct device_pot_tile &tile = tiles[own];
    const vec3 d = {(float)tile.centre[0] - t.centre.x, (float)tile.centre[1] - t.centre.y,
                    (float)tile.centre[2] - t.centre.z};
    const vec3 extent = widened(vec3{tile.extent[0], tile.extent[1], tile.extent[2]} + t.extent, d);
    return __ballot_sync(~0u, to_box(d, extent) > tile.extent[3] * tile.extent[3]);
#else
    return 0;
#endif
}

/* r2 = r2 + row column, for two fragments of targets: 16 by 4 by 8. */
__device__ __forceinline__ void multiply(const double (&row)[2], double column, double (&r2)[2][2])
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(r2[0][0]), "+d"(r2[0][1]), "+d"(r2[1][0]), "+d"(r2[1][1])
        : "d"(row[0]), "d"(row[1]), "d"(column));
#elif __CUDA_ARCH__ >= 800
    for (int f = 0; f < 2; f++)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(r2[f][0]), "+d"(r2[f][1])
            : "d"(row[f]), "d"(column));
#endif
}

/* Sums over all bodies of a tile, which is in shared memory. */
__device__ __forceinline__ void add_far(const struct device_pot_tile &tile, int lane, targets &t)
{
    double row[FRAGMENTS], d2[FRAGMENTS];
    const double centre = tile.centre[lane % QUAD], weight = lane % QUAD < 3 ? 0.25 : 0.0;
#pragma unroll
    for (int f = 0; f < FRAGMENTS; f++) {
        row[f] = 2.0 * (centre - t.own[f]); /* 1 in the fourth component, where own is 0 */
        d2[f] = weight * row[f] * row[f];
        d2[f] += __shfl_xor_sync(~0u, d2[f], 1);
        d2[f] += __shfl_xor_sync(~0u, d2[f], 2);
    }
    const double *from = &tile.from[0][0] + lane, *m = tile.m + 2 * (lane % QUAD);
#pragma unroll
    for (int k = 0; k < DEVICE_POT_TILE; k += FRAGMENT) {
        const double column = from[4 * k];
        const double2 mass = *reinterpret_cast<const double2 *>(m + k);
#pragma unroll
        for (int f = 0; f < FRAGMENTS; f += 2) {
            double r2[2][2] = {{d2[f], d2[f]}, {d2[f + 1], d2[f + 1]}};
            multiply({row[f], row[f + 1]}, column, r2);
#pragma unroll
            for (int g = 0; g < 2; g++) {
                t.sum[f + g] = fma(mass.x, inverse_root(r2[g][0]), t.sum[f + g]);
                t.sum[f + g] = fma(mass.y, inverse_root(r2[g][1]), t.sum[f + g]);
            }
        }
    }
}

__device__ __forceinline__ void add_near(const struct device_body *bodies, const struct device_body &own, targets &t)
{
#pragma unroll 4
    for (int k = 0; k < DEVICE_POT_TILE; k++) {
        const double dx = bodies[k].x[0] - own.x[0], dy = bodies[k].x[1] - own.x[1], dz = bodies[k].x[2] - own.x[2];
        const double r2 = fma(dz, dz, fma(dy, dy, dx * dx));
        t.near_sum = fma(bodies[k].m, r2 > GPUNB_ZERO_R2 ? inverse_root(r2) : 0.0, t.near_sum);
    }
}

/* The sum of target `lane`, of which the four lanes of a row of a fragment have parts. */
__device__ __forceinline__ double sum_of_target(const targets &t, int lane)
{
    double all = 0.0;
#pragma unroll
    for (int f = 0; f < FRAGMENTS; f++) {
        double sum = t.sum[f];
        sum += __shfl_xor_sync(~0u, sum, 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        sum = __shfl_sync(~0u, sum, lane % FRAGMENT * QUAD);
        if (lane / FRAGMENT == f) all = sum;
    }
    return all + t.near_sum;
}

/* Block (b, s): a warp has 32 of the targets that begin with b*DEVICE_POT_BLOCK; all have part s of the tiles. */
__global__ void __launch_bounds__(DEVICE_POT_BLOCK, MIN_BLOCKS) sum_potential(const struct device_potential a)
{
    __shared__ struct device_pot_tile shared[SUMMERS][2];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, splits = gridDim.y;
    const int place = blockIdx.x * DEVICE_POT_BLOCK + threadIdx.x, row = place - lane + lane / QUAD;
    const int begin = (int)((long long)a.n_tiles * blockIdx.y / splits),
              end = (int)((long long)a.n_tiles * (blockIdx.y + 1) / splits);
    const struct device_body own = a.bodies[a.order[min(place, a.n_i - 1)]];
    targets t = {};
    box_of(own.x, t);
#pragma unroll
    for (int f = 0; f < FRAGMENTS; f++)
        if (lane % QUAD < 3) t.own[f] = a.bodies[a.order[min(row + FRAGMENT * f, a.n_i - 1)]].x[lane % QUAD];
    uint32_t far = 0;
    int buffer = 0;
    if (begin < end) begin_copy<UNITS>(reinterpret_cast<float4 *>(&shared[warp][0]), &a.tiles[begin]);
    for (int tile = begin; tile < end; tile++, buffer ^= 1, far >>= 1) {
        if ((tile - begin) % WARP == 0) far = far_tiles(a.tiles, tile, end, t);
        await_copy(tile + 1 < end, [&]() {
            begin_copy<UNITS>(reinterpret_cast<float4 *>(&shared[warp][buffer ^ 1]), &a.tiles[tile + 1]);
        });
        if (far & 1u)
            add_far(shared[warp][buffer], lane, t);
        else
            add_near(a.sorted + (size_t)tile * DEVICE_POT_TILE, own, t);
        __syncwarp();
    }
    const double sum = sum_of_target(t, lane);
    if (place < a.n_i) a.partial[(size_t)blockIdx.y * a.n_i + place] = sum;
}

__global__ void add_parts(const struct device_potential a, int splits, double *pot)
{
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= a.n_i) return;
    double sum = 0.0;
    for (int s = 0; s < splits; s++) sum += a.partial[(size_t)s * a.n_i + place];
    pot[a.order[place] - a.i_first] = -ROOT_SCALE * sum;
}

} // namespace

cudaError_t gpunb_cuda_pot_tiles(const struct device_body *bodies, int n, const int32_t *index,
                                 struct device_pot_tile *tiles, struct device_body *sorted, cudaStream_t stream)
{
    const int n_tiles = (n + DEVICE_POT_TILE - 1) / DEVICE_POT_TILE;
    make_tiles<<<(n_tiles + MAKERS / WARP - 1) / (MAKERS / WARP), MAKERS, 0, stream>>>(bodies, n, index, tiles, sorted);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_potential(const struct device_potential *potential, int splits, double *pot, cudaStream_t stream)
{
    const dim3 grid((potential->n_i + DEVICE_POT_BLOCK - 1) / DEVICE_POT_BLOCK, splits);
    sum_potential<<<grid, DEVICE_POT_BLOCK, 0, stream>>>(*potential);
    add_parts<<<grid.x, DEVICE_POT_BLOCK, 0, stream>>>(*potential, splits, pot);
    return cudaGetLastError();
}
