/* Shapes of the kernel of softened forces, timed on the GPU that is current: threads of a block, targets of a thread,
 * sources of a turn of the loop, blocks that a multiprocessor is to hold (MTM13 Fig. 1). The best ones go to the table
 * in gpunb/cuda/softened.cu. Usage: tune_softened [N [NI]], NI targets, the sources being N of a Plummer sphere. */
#include "gpunb/cuda/softened.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

typedef void (*kernel)(const softened_launch);

struct shape {
    int threads, width, unroll, blocks;
    kernel force, with_potential;
};

#define SHAPE(threads, width, unroll, blocks)                                                                          \
    {                                                                                                                  \
        threads, width, unroll, blocks, softened_kernel<threads, width, unroll, blocks, false>,                        \
            softened_kernel<threads, width, unroll, blocks, true>                                                      \
    }

const shape shapes[] = {
    SHAPE(32, 1, 16, 16), SHAPE(64, 1, 16, 10), SHAPE(128, 1, 16, 5), SHAPE(64, 2, 16, 10), SHAPE(128, 2, 8, 5),
    SHAPE(128, 2, 16, 4), SHAPE(128, 2, 16, 5), SHAPE(128, 2, 32, 5), SHAPE(256, 2, 16, 3), SHAPE(64, 4, 16, 8),
    SHAPE(128, 4, 4, 4),  SHAPE(128, 4, 8, 4),  SHAPE(128, 4, 16, 3), SHAPE(128, 4, 16, 4), SHAPE(128, 4, 16, 5),
    SHAPE(128, 4, 32, 3), SHAPE(128, 4, 32, 4), SHAPE(128, 3, 16, 3), SHAPE(256, 4, 16, 2), SHAPE(512, 4, 16, 1),
    SHAPE(128, 6, 8, 3),  SHAPE(128, 6, 16, 3), SHAPE(128, 8, 8, 2),  SHAPE(128, 8, 16, 2),
};

void check(cudaError_t code, const char *call)
{
    if (code == cudaSuccess) return;
    fprintf(stderr, "tune_softened: %s: %s\n", call, cudaGetErrorString(code));
    exit(1);
}
#define CHECK(call) check(call, #call)

template <typename T> T *on_device(size_t count)
{
    void *memory;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    return static_cast<T *>(memory);
}

double uniform()
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* A Plummer sphere in N-body units and in random order, as bench_gpunb has it. */
std::vector<double> make_cluster(size_t n)
{
    const double scale = 3.0 * 3.141592653589793 / 16.0;
    std::vector<double> x(3 * n);
    for (size_t i = 0; i < n; i++) {
        const double s = scale / std::sqrt(std::pow(uniform() * 0.99 + 1e-3, -2.0 / 3.0) - 1.0);
        const double c = 2.0 * uniform() - 1.0, p = 6.283185307179586 * uniform(), q = std::sqrt(1.0 - c * c);
        x[3 * i] = s * q * std::cos(p);
        x[3 * i + 1] = s * q * std::sin(p);
        x[3 * i + 2] = s * c;
    }
    return x;
}

/* Milliseconds of one launch: the shortest of some. */
float time_of(kernel k, int grid, int threads, const softened_launch &arguments)
{
    cudaEvent_t begin, end;
    float best = INFINITY;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int repeat = 0; repeat < 4; repeat++) {
        float time;
        CHECK(cudaEventRecord(begin));
        k<<<grid, threads>>>(arguments);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&time, begin, end));
        if (time < best) best = time;
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return best;
}

void measure(const shape &s, kernel k, const char *what, softened_launch arguments, int multiprocessors)
{
    cudaFuncAttributes attributes;
    int each = 0;
    CHECK(cudaFuncGetAttributes(&attributes, k));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, k, s.threads, 0));
    const int targets = s.threads * s.width, groups = (arguments.n_i + targets - 1) / targets;
    const long long units = (long long)groups * arguments.n_tiles;
    const int grid = (int)min(units, (long long)each * multiprocessors);
    arguments.slots = on_device<double>((size_t)(grid + groups) * SOFTENED_CUDA_SUMS * targets);
    const double time = 1e-3 * time_of(k, grid, s.threads, arguments);
    const double pairs = (double)arguments.n_i * arguments.n_j;
    printf("%7d %5d %6d %6d %9s %9d %5zu %5d %9.1f %9.1f %9.2f\n", s.threads, s.width, s.unroll, s.blocks, what,
           attributes.numRegs, attributes.localSizeBytes, each, 1e6 * time, 1e-9 * pairs / time, 26e-12 * pairs / time);
    fflush(stdout);
    CHECK(cudaFree(arguments.slots));
}

} // namespace

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 262144, n_i = argc > 2 ? strtoul(argv[2], NULL, 10) : n;
    if (n < 1 || n > 100000000 || n_i < 1 || n_i > n) {
        fprintf(stderr, "usage: tune_softened [N [NI]], NI <= N\n");
        return 2;
    }
    cudaDeviceProp device;
    int number = 0;
    CHECK(cudaGetDevice(&number));
    CHECK(cudaGetDeviceProperties(&device, number));
    const std::vector<double> x = make_cluster(n), mass(n, 1.0 / (double)n);
    double *x_there = on_device<double>(3 * n), *mass_there = on_device<double>(n);
    CHECK(cudaMemcpy(x_there, x.data(), 24 * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(mass_there, mass.data(), 8 * n, cudaMemcpyHostToDevice));
    device_softened job = {};
    job.sources = {x_there, mass_there, 24, 8, 0, (int)n};
    job.x = reinterpret_cast<const double(*)[3]>(x_there);
    job.n_i = (int)n_i;
    job.softening = 1.0 / 256.0;
    size_t bytes;
    CHECK(gpunb_cuda_softened_bytes(n_i, n, &bytes));
    softened_launch arguments;
    CHECK(gpunb_cuda_softened_prepare(job, on_device<char>(bytes), &arguments, 0));
    printf("%s, %zu sources, %zu targets, %s\n", device.name, n, n_i,
           arguments.order ? "along the curve" : "in the order of their numbers");
    printf("%7s %5s %6s %6s %9s %9s %5s %5s %9s %9s %9s\n", "threads", "width", "unroll", "blocks", "potential",
           "registers", "stack", "each", "us", "G/s", "TFlop/s");
    for (const shape &s : shapes) measure(s, s.force, "no", arguments, device.multiProcessorCount);
    for (const shape &s : shapes) measure(s, s.with_potential, "yes", arguments, device.multiProcessorCount);
    return 0;
}
