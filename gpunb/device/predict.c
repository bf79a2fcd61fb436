/* Predictors of the sources: all of them in memory of the host and on every device, which fetches those that have
 * changed with the next prediction, and predicts its share of the sources. */
#include "gpunb/device/device.h"
#include "gpunb/predictor.h"

#include <limits.h>
#include <string.h>

enum {
    LAST_MARK = 254,    /* 0 and 255 are no marks */
    NO_SOURCE = INT_MAX /* no source was refused */
};

/* ---- memory */

int gpunb_device_more_sources(void *state, size_t n_j_max, struct nbc_error *err)
{
    struct device_state *devices = state;
    if (n_j_max <= devices->n_j_max) return NBC_OK;
    const size_t each = n_j_max / (size_t)devices->n_gpus + 1;
    for (int g = 0; g < devices->n_gpus; g++) {
        struct device_gpu *gpu = &devices->gpus[g];
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(gpunb_device_make_expected(gpu, err));
        NBD_TRY(nbd_wait(&gpu->device, err));
        NBD_TRY(gpunb_device_extend(gpu, &gpu->sources, each * sizeof(struct device_source), err));
        NBD_TRY(gpunb_device_extend(gpu, &gpu->host_sources, each * sizeof(struct device_source), err));
        gpu->n_j_max = each;
        gpu->plain.ready = gpu->curved.ready = 0;
    }
    devices->n_j_max = n_j_max;
    return NBC_OK;
}

int gpunb_device_predictors(void *state, size_t n, struct nbc_error *err)
{
    struct device_state *devices = state;
    const struct device_gpu *first = &devices->gpus[0];
    for (int g = 0; g < devices->n_gpus; g++) {
        struct device_gpu *gpu = &devices->gpus[g];
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(gpunb_device_make_expected(gpu, err));
        NBD_TRY(gpunb_device_finish_blocks(gpu, err));
        NBD_TRY(gpunb_device_extend(gpu, &gpu->jp, n * sizeof(struct gpunb_jp), err));
        gpu->order_version = 0; /* the numbers are lost */
        NBD_TRY(gpunb_device_reserve(gpu, &gpu->numbers, n * sizeof(int32_t), err));
    }
    NBD_TRY(gpunb_device_reserve(first, &devices->host_numbers, n * sizeof(int32_t), err));
    NBD_TRY(gpunb_device_extend(first, &devices->host_jp, n * sizeof(struct gpunb_jp), err));
    NBD_TRY(gpunb_device_extend(first, &devices->marks, n, err)); /* new entries have no valid mark */
    devices->n_jp = n;
    return NBC_OK;
}

/* ---- predictors */

/* Wait until the devices have read their input in host memory. */
static int settle(struct device_state *devices, struct nbc_error *err)
{
    for (int g = 0; g < devices->n_gpus; g++)
        NBD_TRY(nbd_stream_wait(&devices->gpus[g].device, devices->gpus[g].stream, err));
    __atomic_store_n(&devices->reading, 0, __ATOMIC_RELEASE);
    return NBC_OK;
}

/* Devices read the record in place: for a prediction, its value at the announcement. A run waits for its forces
 * before it sets predictors, so there is nothing to wait for here. A device that fails now reports it in the next
 * call. */
void gpunb_device_set_jp(void *state, size_t j, const struct gpunb_jp *jp)
{
    struct device_state *devices = state;
    if (__atomic_load_n(&devices->reading, __ATOMIC_ACQUIRE)) {
#pragma omp critical(gpunb_device_settle)
        if (devices->reading) (void)settle(devices, NULL);
    }
    ((struct gpunb_jp *)devices->host_jp.data)[j] = *jp;
    ((unsigned char *)devices->marks.data)[j] = devices->mark;
}

/* A new mark for predictors set from now on. When all marks have been used, those of old are cleared. */
static int next_mark(struct device_state *devices, struct nbc_error *err)
{
    if (devices->mark < LAST_MARK) {
        devices->mark++;
        return NBC_OK;
    }
    NBD_TRY(settle(devices, err));
    memset(devices->marks.data, 0, devices->n_jp);
    devices->mark = 1;
    return NBC_OK;
}

/* Marked predictors to a device. */
static int fetch(const struct device_state *devices, struct device_gpu *gpu, struct nbc_error *err)
{
    if (devices->n_jp == 0) return NBC_OK;
    NBD_LAUNCH(err, &gpu->device,
               gpu->kernels->store(devices->host_jp.data, devices->marks.data, devices->mark, (int)devices->n_jp,
                                   gpu->jp.data, gpu->stored.data, gpu->stream));
    return NBC_OK;
}

/* A predictor that is set while a device reads it is marked anew: the device fetches it again before it predicts. */
int gpunb_device_push_jp(void *state, struct nbc_error *err)
{
    struct device_state *devices = state;
    for (int g = 0; g < devices->n_gpus; g++) {
        NBD_TRY(nbd_use(&devices->gpus[g].device, err));
        NBD_TRY(fetch(devices, &devices->gpus[g], err));
    }
    return next_mark(devices, err);
}

static int lacks_numbers(const struct device_gpu *gpu, const struct gpunb_order *order)
{
    return order->number && order->n > 0 && gpu->order_version != order->version;
}

static void stage_numbers(const struct device_state *devices, const struct gpunb_order *order)
{
    int wanted = 0;
    for (int g = 0; g < devices->n_gpus; g++) wanted |= lacks_numbers(&devices->gpus[g], order);
    if (wanted) memcpy(devices->host_numbers.data, order->number, order->n * sizeof *order->number);
}

static int send_numbers(const struct device_state *devices, struct device_gpu *gpu, const struct gpunb_order *order,
                        struct nbc_error *err)
{
    if (!lacks_numbers(gpu, order)) return NBC_OK;
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, gpu->numbers.data, devices->host_numbers.data,
                     order->n * sizeof *order->number, err));
    gpu->order_version = order->version;
    return NBC_OK;
}

/* This device's share of the sources. */
static int predict_share(const struct device_state *devices, struct device_gpu *gpu, size_t first, size_t end,
                         const struct gpunb_order *order, struct nbc_error *err)
{
    gpu->plain.ready = gpu->curved.ready = 0;
    gpu->predicted = 1;
    gpu->j_first = first;
    gpu->n_j = end - first;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(fetch(devices, gpu, err));
    NBD_TRY(send_numbers(devices, gpu, order, err));
    gpu->prediction = (struct device_prediction){.jp = gpu->jp.data,
                                                 .number = order->number ? gpu->numbers.data : NULL,
                                                 .first = (int)first,
                                                 .n = (int)gpu->n_j,
                                                 .t = devices->t_predicted,
                                                 .sources = gpu->sources.data,
                                                 .refused = gpu->refused.data};
    gpu->expected = gpu->n_j > 0;
    return NBC_OK;
}

int gpunb_device_make_expected(struct device_gpu *gpu, struct nbc_error *err)
{
    if (!gpu->expected) return NBC_OK;
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->predict_share(&gpu->prediction, gpu->stream));
    gpu->expected = 0;
    return NBC_OK;
}

/* The same map as if these sources had been sent. Records that other threads wrote are prefetched, or they would
 * arrive one by one. */
static struct gpunb_map map_of(const struct device_state *devices, const struct gpunb_order *order, double t)
{
    const struct gpunb_jp *jp = devices->host_jp.data;
    double x[DEVICE_SAMPLE][3], v[3];
    size_t j[DEVICE_SAMPLE];
    const size_t count = gpunb_device_sample(order->n);
    for (size_t s = 0; s < count; s++) {
        j[s] = gpunb_number_at(order, s * order->n / count);
        for (size_t byte = 0; byte < sizeof *jp; byte += 64) __builtin_prefetch((const char *)&jp[j[s]] + byte);
    }
    for (size_t s = 0; s < count; s++) gpunb_jp_at(&jp[j[s]], t, x[s], v);
    return gpunb_device_make_map(count, (const double(*)[3])x);
}

int gpunb_device_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err)
{
    struct device_state *devices = state;
    const size_t n_gpus = (size_t)devices->n_gpus;
    devices->t_predicted = t;
    if (devices->reading) NBD_TRY(settle(devices, err));
    gpunb_device_refuse_nobody(devices);
    stage_numbers(devices, order);
    if (order->n > 0) devices->map = map_of(devices, order, t);
    devices->reading = 1;
    for (size_t g = 0; g < n_gpus; g++)
        NBD_TRY(
            predict_share(devices, &devices->gpus[g], order->n * g / n_gpus, order->n * (g + 1) / n_gpus, order, err));
    NBD_TRY(next_mark(devices, err));
    devices->n_j = order->n;
    return NBC_OK;
}

/* ---- invalid predictions */

void gpunb_device_refuse_nobody(struct device_state *devices)
{
    for (int g = 0; g < devices->n_gpus; g++) *(int *)devices->gpus[g].refused.data = NO_SOURCE;
}

int gpunb_device_check_predictions(const struct device_state *devices, struct nbc_error *err)
{
    for (int g = 0; g < devices->n_gpus; g++) {
        const int j = *(const volatile int *)devices->gpus[g].refused.data;
        if (j != NO_SOURCE)
            return gpunb_refuse_prediction(err, (size_t)j, (const struct gpunb_jp *)devices->host_jp.data + j,
                                           devices->t_predicted);
    }
    return NBC_OK;
}
