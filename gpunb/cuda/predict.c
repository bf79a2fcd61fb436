/* Predictors of the sources: all of them in memory of the host and on every device, which fetches those that have
 * changed with the next prediction, and predicts its share of the sources. */
#include "gpunb/cuda/gpu.h"
#include "gpunb/predictor.h"

#include <limits.h>
#include <string.h>

enum {
    LAST_MARK = 254,    /* 0 and 255 are no marks */
    NO_SOURCE = INT_MAX /* no source was refused */
};

/* ---- memory */

int gpunb_cuda_more_sources(void *state, size_t n_j_max, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    if (n_j_max <= cuda->n_j_max) return NBC_OK;
    const size_t each = n_j_max / (size_t)cuda->n_gpus + 1;
    for (int g = 0; g < cuda->n_gpus; g++) {
        struct cuda_gpu *gpu = &cuda->gpus[g];
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(gpunb_cuda_make_expected(gpu, err));
        NBD_TRY(nbd_wait(&gpu->device, err));
        NBD_TRY(gpunb_cuda_extend(gpu, &gpu->sources, each * sizeof(struct cuda_source), err));
        NBD_TRY(gpunb_cuda_extend(gpu, &gpu->host_sources, each * sizeof(struct cuda_source), err));
        gpu->n_j_max = each;
        gpu->plain.ready = gpu->curved.ready = 0;
    }
    cuda->n_j_max = n_j_max;
    return NBC_OK;
}

int gpunb_cuda_predictors(void *state, size_t n, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    const struct cuda_gpu *first = &cuda->gpus[0];
    for (int g = 0; g < cuda->n_gpus; g++) {
        struct cuda_gpu *gpu = &cuda->gpus[g];
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(gpunb_cuda_make_expected(gpu, err));
        NBD_TRY(gpunb_cuda_finish_blocks(gpu, err));
        NBD_TRY(gpunb_cuda_extend(gpu, &gpu->jp, n * sizeof(struct gpunb_jp), err));
        gpu->order_version = 0; /* the numbers are lost */
        NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->numbers, n * sizeof(int32_t), err));
    }
    NBD_TRY(gpunb_cuda_reserve(first, &cuda->host_numbers, n * sizeof(int32_t), err));
    NBD_TRY(gpunb_cuda_extend(first, &cuda->host_jp, n * sizeof(struct gpunb_jp), err));
    NBD_TRY(gpunb_cuda_extend(first, &cuda->marks, n, err)); /* new entries have no valid mark */
    cuda->n_jp = n;
    return NBC_OK;
}

/* ---- predictors */

/* Wait until the devices have read their input in host memory. */
static int settle(struct cuda_state *cuda, struct nbc_error *err)
{
    for (int g = 0; g < cuda->n_gpus; g++) NBD_TRY(nbd_stream_wait(&cuda->gpus[g].device, cuda->gpus[g].stream, err));
    __atomic_store_n(&cuda->reading, 0, __ATOMIC_RELEASE);
    return NBC_OK;
}

/* Devices read the record in place: for a prediction, its value at the announcement. A run waits for its forces
 * before it sets predictors, so there is nothing to wait for here. A device that fails now reports it in the next
 * call. */
void gpunb_cuda_set_jp(void *state, size_t j, const struct gpunb_jp *jp)
{
    struct cuda_state *cuda = state;
    if (__atomic_load_n(&cuda->reading, __ATOMIC_ACQUIRE)) {
#pragma omp critical(gpunb_cuda_settle)
        if (cuda->reading) (void)settle(cuda, NULL);
    }
    ((struct gpunb_jp *)cuda->host_jp.data)[j] = *jp;
    ((unsigned char *)cuda->marks.data)[j] = cuda->mark;
}

/* A new mark for predictors set from now on. When all marks have been used, those of old are cleared. */
static int next_mark(struct cuda_state *cuda, struct nbc_error *err)
{
    if (cuda->mark < LAST_MARK) {
        cuda->mark++;
        return NBC_OK;
    }
    NBD_TRY(settle(cuda, err));
    memset(cuda->marks.data, 0, cuda->n_jp);
    cuda->mark = 1;
    return NBC_OK;
}

/* Marked predictors to a device. */
static int fetch(const struct cuda_state *cuda, struct cuda_gpu *gpu, struct nbc_error *err)
{
    if (cuda->n_jp == 0) return NBC_OK;
    NBD_LAUNCH(err, &gpu->device,
               gpunb_cuda_store(cuda->host_jp.data, cuda->marks.data, cuda->mark, (int)cuda->n_jp, gpu->jp.data,
                                gpu->stored.data, stream_of(gpu->stream)));
    return NBC_OK;
}

/* A predictor that is set while a device reads it is marked anew: the device fetches it again before it predicts. */
int gpunb_cuda_push_jp(void *state, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    for (int g = 0; g < cuda->n_gpus; g++) {
        NBD_TRY(nbd_use(&cuda->gpus[g].device, err));
        NBD_TRY(fetch(cuda, &cuda->gpus[g], err));
    }
    return next_mark(cuda, err);
}

static int lacks_numbers(const struct cuda_gpu *gpu, const struct gpunb_order *order)
{
    return order->number && order->n > 0 && gpu->order_version != order->version;
}

static void stage_numbers(const struct cuda_state *cuda, const struct gpunb_order *order)
{
    int wanted = 0;
    for (int g = 0; g < cuda->n_gpus; g++) wanted |= lacks_numbers(&cuda->gpus[g], order);
    if (wanted) memcpy(cuda->host_numbers.data, order->number, order->n * sizeof *order->number);
}

static int send_numbers(const struct cuda_state *cuda, struct cuda_gpu *gpu, const struct gpunb_order *order,
                        struct nbc_error *err)
{
    if (!lacks_numbers(gpu, order)) return NBC_OK;
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, gpu->numbers.data, cuda->host_numbers.data,
                     order->n * sizeof *order->number, err));
    gpu->order_version = order->version;
    return NBC_OK;
}

/* This device's share of the sources. */
static int predict_share(const struct cuda_state *cuda, struct cuda_gpu *gpu, size_t first, size_t end,
                         const struct gpunb_order *order, struct nbc_error *err)
{
    gpu->plain.ready = gpu->curved.ready = 0;
    gpu->predicted = 1;
    gpu->j_first = first;
    gpu->n_j = end - first;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(fetch(cuda, gpu, err));
    NBD_TRY(send_numbers(cuda, gpu, order, err));
    gpu->prediction = (struct cuda_prediction){.jp = gpu->jp.data,
                                               .number = order->number ? gpu->numbers.data : NULL,
                                               .first = (int)first,
                                               .n = (int)gpu->n_j,
                                               .t = cuda->t_predicted,
                                               .sources = gpu->sources.data,
                                               .refused = gpu->refused.data};
    gpu->expected = gpu->n_j > 0;
    return NBC_OK;
}

int gpunb_cuda_make_expected(struct cuda_gpu *gpu, struct nbc_error *err)
{
    if (!gpu->expected) return NBC_OK;
    gpu->expected = 0;
    NBD_LAUNCH(err, &gpu->device, gpunb_cuda_predict_share(&gpu->prediction, stream_of(gpu->stream)));
    return NBC_OK;
}

/* The same map as if these sources had been sent. Records that other threads wrote are prefetched, or they would
 * arrive one by one. */
static struct cuda_map map_of(const struct cuda_state *cuda, const struct gpunb_order *order, double t)
{
    const struct gpunb_jp *jp = cuda->host_jp.data;
    double x[CUDA_SAMPLE][3], v[3];
    size_t j[CUDA_SAMPLE];
    const size_t count = gpunb_cuda_sample(order->n);
    for (size_t s = 0; s < count; s++) {
        j[s] = gpunb_number_at(order, s * order->n / count);
        for (size_t byte = 0; byte < sizeof *jp; byte += 64) __builtin_prefetch((const char *)&jp[j[s]] + byte);
    }
    for (size_t s = 0; s < count; s++) gpunb_jp_at(&jp[j[s]], t, x[s], v);
    return gpunb_cuda_make_map(count, (const double(*)[3])x);
}

int gpunb_cuda_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    const size_t n_gpus = (size_t)cuda->n_gpus;
    cuda->t_predicted = t;
    if (cuda->reading) NBD_TRY(settle(cuda, err));
    gpunb_cuda_refuse_nobody(cuda);
    stage_numbers(cuda, order);
    if (order->n > 0) cuda->map = map_of(cuda, order, t);
    cuda->reading = 1;
    for (size_t g = 0; g < n_gpus; g++)
        NBD_TRY(predict_share(cuda, &cuda->gpus[g], order->n * g / n_gpus, order->n * (g + 1) / n_gpus, order, err));
    NBD_TRY(next_mark(cuda, err));
    cuda->n_j = order->n;
    return NBC_OK;
}

/* ---- invalid predictions */

void gpunb_cuda_refuse_nobody(struct cuda_state *cuda)
{
    for (int g = 0; g < cuda->n_gpus; g++) *(int *)cuda->gpus[g].refused.data = NO_SOURCE;
}

int gpunb_cuda_check_predictions(const struct cuda_state *cuda, struct nbc_error *err)
{
    for (int g = 0; g < cuda->n_gpus; g++) {
        const int j = *(const volatile int *)cuda->gpus[g].refused.data;
        if (j != NO_SOURCE)
            return gpunb_refuse_prediction(err, (size_t)j, (const struct gpunb_jp *)cuda->host_jp.data + j,
                                           cuda->t_predicted);
    }
    return NBC_OK;
}
