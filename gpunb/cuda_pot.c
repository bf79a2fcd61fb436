/* The potential of all stars: targets divided among the devices. */
#include "gpunb/cuda_gpu.h"

#include <string.h>

enum { POT_PIECE = 1 << 16, POT_MIN_TILES = 8, POT_BLOCKS_PER_SM = 16 };

/* Bodies [first, first + n) of the job on one device, to gpu->host_pot. */
static int launch_piece(struct cuda_gpu *gpu, const struct gpunb_pot_job *job, size_t first, size_t n, double *to,
                        struct nbc_error *err)
{
    size_t blocks = (n + CUDA_POT_BLOCK - 1) / CUDA_POT_BLOCK, tiles = (job->n + CUDA_POT_BLOCK - 1) / CUDA_POT_BLOCK;
    size_t splits = (size_t)gpu->multiprocessors * POT_BLOCKS_PER_SM / blocks;
    if (splits > tiles / POT_MIN_TILES) splits = tiles / POT_MIN_TILES;
    if (splits < 1) splits = 1;
    NBC_TRY(gpunb_cuda_reserve(gpu, &gpu->pot_partial, splits * n * sizeof(double), err));
    CUDA_TRY(err, gpu,
             gpunb_cuda_potential(gpu->bodies.data, (int)job->n, (int)(job->i_first + first), (int)n, (int)splits,
                                  gpu->pot_partial.data, gpu->pot.data, gpu->stream));
    CUDA_TRY(err, gpu, cudaMemcpyAsync(to, gpu->pot.data, n * sizeof *to, cudaMemcpyDeviceToHost, gpu->stream));
    return NBC_OK;
}

/* This device's share of the targets, enqueued. */
static int launch_share(struct cuda_state *cuda, struct cuda_gpu *gpu, const struct gpunb_pot_job *job, size_t begin,
                        size_t end, struct nbc_error *err)
{
    NBC_TRY(gpunb_cuda_use(gpu, err));
    NBC_TRY(gpunb_cuda_reserve(gpu, &gpu->bodies, job->n * sizeof(struct cuda_body), err));
    NBC_TRY(gpunb_cuda_reserve(gpu, &gpu->pot, POT_PIECE * sizeof(double), err));
    NBC_TRY(gpunb_cuda_reserve(gpu, &gpu->host_pot, (end - begin) * sizeof(double), err));
    CUDA_TRY(err, gpu,
             cudaMemcpyAsync(gpu->bodies.data, cuda->host_bodies.data, job->n * sizeof(struct cuda_body),
                             cudaMemcpyHostToDevice, gpu->stream));
    gpu->bytes_sent += job->n * sizeof(struct cuda_body);
    for (size_t i = begin; i < end; i += POT_PIECE) {
        size_t n = end - i < POT_PIECE ? end - i : POT_PIECE;
        NBC_TRY(launch_piece(gpu, job, i, n, (double *)gpu->host_pot.data + (i - begin), err));
    }
    return NBC_OK;
}

int gpunb_cuda_pot(void *state, const struct gpunb_pot_job *job, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    size_t n_gpus = (size_t)cuda->n_gpus;
    NBC_TRY(gpunb_cuda_reserve(&cuda->gpus[0], &cuda->host_bodies, job->n * sizeof(struct cuda_body), err));
    struct cuda_body *bodies = cuda->host_bodies.data;
#pragma omp parallel for schedule(static) if (job->n > 8000)
    for (size_t j = 0; j < job->n; j++)
        bodies[j] = (struct cuda_body){{job->x[j][0], job->x[j][1], job->x[j][2]}, job->mass[j]};
    for (size_t g = 0; g < n_gpus; g++)
        NBC_TRY(launch_share(cuda, &cuda->gpus[g], job, job->n_i * g / n_gpus, job->n_i * (g + 1) / n_gpus, err));
    for (size_t g = 0; g < n_gpus; g++) {
        struct cuda_gpu *gpu = &cuda->gpus[g];
        size_t begin = job->n_i * g / n_gpus, end = job->n_i * (g + 1) / n_gpus;
        NBC_TRY(gpunb_cuda_use(gpu, err));
        CUDA_TRY(err, gpu, cudaStreamSynchronize(gpu->stream));
        memcpy(job->pot + begin, gpu->host_pot.data, (end - begin) * sizeof(double));
        cuda->bytes_received += (end - begin) * sizeof(double);
    }
    return NBC_OK;
}
