/* The potential of all bodies, in double. */
#include "gpunb/backend.h"
#include "gpunb/cuda_kernels.h"

namespace
{

/* 1/sqrt(r2) to a few roundings: the hardware's 2^-20 and one step of third order. */
__device__ __forceinline__ double rsqrt_double(double r2)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(r2));
    const double e = fma(-r2 * y, y, 1.0);
    return fma(y * e, fma(0.375, e, 0.5), y);
}

/* Block (b, s): bodies b*CUDA_POT_BLOCK ... of the targets, part s of the sources. */
__global__ void __launch_bounds__(CUDA_POT_BLOCK)
    potential(const struct cuda_body *bodies, int n, int first, int n_i, double *partial)
{
    __shared__ struct cuda_body tile[CUDA_POT_BLOCK];
    const int i = blockIdx.x * CUDA_POT_BLOCK + threadIdx.x, splits = gridDim.y;
    const struct cuda_body own = bodies[first + min(i, n_i - 1)];
    const int tiles = (n + CUDA_POT_BLOCK - 1) / CUDA_POT_BLOCK;
    const int begin = (int)((long long)tiles * blockIdx.y / splits),
              end = (int)((long long)tiles * (blockIdx.y + 1) / splits);
    double sum = 0.0;
    for (int t = begin; t < end; t++) {
        const int j = t * CUDA_POT_BLOCK + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = bodies[min(j, n - 1)];
        if (j >= n) tile[threadIdx.x].m = 0.0;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < CUDA_POT_BLOCK; k++) {
            const double dx = tile[k].x[0] - own.x[0], dy = tile[k].x[1] - own.x[1], dz = tile[k].x[2] - own.x[2];
            const double r2 = fma(dz, dz, fma(dy, dy, dx * dx));
            const double rinv = r2 > GPUNB_ZERO_R2 ? rsqrt_double(r2) : 0.0;
            sum = fma(tile[k].m, rinv, sum);
        }
    }
    if (i < n_i) partial[(size_t)blockIdx.y * n_i + i] = sum;
}

__global__ void add_parts(const double *partial, int splits, int n_i, double *pot)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_i) return;
    double sum = 0.0;
    for (int s = 0; s < splits; s++) sum += partial[(size_t)s * n_i + i];
    pot[i] = -sum;
}

} // namespace

cudaError_t gpunb_cuda_potential(const struct cuda_body *bodies, int n, int first, int n_i, int splits, double *partial,
                                 double *pot, cudaStream_t stream)
{
    const dim3 grid((n_i + CUDA_POT_BLOCK - 1) / CUDA_POT_BLOCK, splits);
    potential<<<grid, CUDA_POT_BLOCK, 0, stream>>>(bodies, n, first, n_i, partial);
    add_parts<<<grid.x, CUDA_POT_BLOCK, 0, stream>>>(partial, splits, n_i, pot);
    return cudaGetLastError();
}
