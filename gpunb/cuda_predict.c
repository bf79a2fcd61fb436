/* Predictors of the sources: all of them here and on every device, which gets those that changed with the next
 * prediction and predicts its share of the sources. */
#include "common/team.h"
#include "gpunb/cuda_gpu.h"
#include "gpunb/predictor.h"

#include <limits.h>
#include <string.h>

enum {
    CHANGES_OF_A_PART = 200, /* predictors that a thread copies in some microseconds */
    NOBODY = INT_MAX         /* no source was refused */
};

/* Bytes of so many changed predictors on their way: the records, then their numbers. */
static size_t bytes_of_changes(size_t n)
{
    return n * (sizeof(struct gpunb_jp) + sizeof(int32_t));
}

/* ---- memory */

/* More room in a buffer that keeps what it holds. The rest of memory of the host is NaN: equal to no source. */
static int grow(const struct cuda_gpu *gpu, struct cuda_buffer *buffer, size_t bytes, struct nbc_error *err)
{
    struct cuda_buffer grown = {.on_host = buffer->on_host};
    if (bytes <= buffer->bytes) return NBC_OK;
    NBC_TRY(gpunb_cuda_reserve(gpu, &grown, bytes, err));
    if (grown.on_host) memset(grown.data, 0xff, grown.bytes);
    cudaError_t code =
        buffer->bytes > 0 ? cudaMemcpy(grown.data, buffer->data, buffer->bytes, cudaMemcpyDefault) : cudaSuccess;
    if (code != cudaSuccess) {
        gpunb_cuda_release(&grown);
        return gpunb_cuda_fail(err, gpu, "cudaMemcpy", code);
    }
    gpunb_cuda_release(buffer);
    *buffer = grown;
    return NBC_OK;
}

int gpunb_cuda_more_sources(void *state, size_t n_j_max, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    if (n_j_max <= cuda->n_j_max) return NBC_OK;
    const size_t each = n_j_max / (size_t)cuda->n_gpus + 1;
    for (int g = 0; g < cuda->n_gpus; g++) {
        struct cuda_gpu *gpu = &cuda->gpus[g];
        NBC_TRY(gpunb_cuda_use(gpu, err));
        NBC_TRY(gpunb_cuda_make_expected(gpu, err));
        CUDA_TRY(err, gpu, cudaDeviceSynchronize());
        NBC_TRY(grow(gpu, &gpu->sources, each * sizeof(struct cuda_source), err));
        NBC_TRY(grow(gpu, &gpu->host_sources, each * sizeof(struct cuda_source), err));
        gpu->n_j_max = each;
        gpu->plain.ready = gpu->curved.ready = 0;
    }
    cuda->n_j_max = n_j_max;
    return NBC_OK;
}

static int reserve_on_host(struct cuda_state *cuda, size_t n, struct nbc_error *err)
{
    struct gpunb_jp *jp = nbc_realloc(cuda->jp, cuda->n_jp, n, sizeof *jp);
    if (jp) cuda->jp = jp;
    unsigned char *is_changed = nbc_realloc(cuda->is_changed, cuda->n_jp, n + sizeof(uint64_t), sizeof *is_changed);
    if (is_changed) cuda->is_changed = is_changed;
    int32_t *changed = nbc_realloc(cuda->changed_jp, cuda->n_jp, n, sizeof *changed);
    if (changed) cuda->changed_jp = changed;
    if (jp && is_changed && changed) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for the predictors of %zu sources", n);
}

/* Room for all of them to change at once. */
int gpunb_cuda_predictors(void *state, size_t n, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    NBC_TRY(reserve_on_host(cuda, n, err));
    for (int g = 0; g < cuda->n_gpus; g++) {
        struct cuda_gpu *gpu = &cuda->gpus[g];
        NBC_TRY(gpunb_cuda_use(gpu, err));
        CUDA_TRY(err, gpu, cudaDeviceSynchronize());
        NBC_TRY(grow(gpu, &gpu->jp, n * sizeof *cuda->jp, err));
        gpu->order_version = 0; /* the numbers are lost */
        NBC_TRY(gpunb_cuda_reserve(gpu, &gpu->numbers, n * sizeof(int32_t), err));
    }
    NBC_TRY(gpunb_cuda_reserve(&cuda->gpus[0], &cuda->host_numbers, n * sizeof(int32_t), err));
    NBC_TRY(gpunb_cuda_reserve(&cuda->gpus[0], &cuda->host_changes, bytes_of_changes(n), err));
    cuda->n_jp = n;
    return NBC_OK;
}

/* ---- predictors */

void gpunb_cuda_set_jp(void *state, size_t j, const struct gpunb_jp *jp)
{
    struct cuda_state *cuda = state;
    cuda->jp[j] = *jp;
    cuda->is_changed[j] = 1;
}

/* Who has changed is found by a look at the marks of all, eight at a time: to count changes as they come would make
 * threads wait for each other. */
static void find_changes(struct cuda_state *cuda)
{
    const unsigned char *mark = cuda->is_changed;
    cuda->n_changed = 0;
    for (size_t j = 0; j < cuda->n_jp; j += sizeof(uint64_t)) {
        uint64_t marks = 0;
        memcpy(&marks, mark + j, sizeof marks);
        for (size_t k = j; marks && k < j + sizeof marks; k++)
            if (mark[k]) cuda->changed_jp[cuda->n_changed++] = (int32_t)k;
    }
}

static void copy_changes(void *context, int part, int parts)
{
    const struct cuda_state *cuda = context;
    struct gpunb_jp *record = cuda->host_changes.data;
    int64_t first, end;
    nbc_share((int64_t)cuda->n_changed, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) record[k] = cuda->jp[cuda->changed_jp[k]];
}

/* Changed predictors to pinned memory. */
static void stage_changes(struct cuda_state *cuda)
{
    find_changes(cuda);
    const size_t n = cuda->n_changed;
    nbc_team_run(nbc_parts((int64_t)n, CHANGES_OF_A_PART), copy_changes, cuda);
    memcpy((struct gpunb_jp *)cuda->host_changes.data + n, cuda->changed_jp, n * sizeof *cuda->changed_jp);
}

static int send_changes(const struct cuda_state *cuda, struct cuda_gpu *gpu, struct nbc_error *err)
{
    const size_t n = cuda->n_changed;
    const struct gpunb_jp *records = cuda->host_changes.data;
    if (n == 0) return NBC_OK;
    gpu->bytes_sent += bytes_of_changes(n);
    CUDA_TRY(err, gpu,
             gpunb_cuda_store(cuda->host_changes.data, (const int32_t *)(const void *)(records + n), (int)n,
                              gpu->jp.data, gpu->stream));
    return NBC_OK;
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
    CUDA_TRY(err, gpu,
             cudaMemcpyAsync(gpu->numbers.data, cuda->host_numbers.data, order->n * sizeof *order->number,
                             cudaMemcpyHostToDevice, gpu->stream));
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
    NBC_TRY(gpunb_cuda_use(gpu, err));
    NBC_TRY(send_changes(cuda, gpu, err));
    NBC_TRY(send_numbers(cuda, gpu, order, err));
    gpu->prediction = (struct cuda_prediction){.jp = gpu->jp.data,
                                               .number = order->number ? gpu->numbers.data : NULL,
                                               .first = (int)first,
                                               .n = (int)gpu->n_j,
                                               .t = cuda->t_predicted,
                                               .sources = gpu->sources.data,
                                               .refused = gpu->refused.data};
    gpu->expected = gpu->n_j > 0;
    CUDA_TRY(err, gpu, cudaEventRecord(gpu->sent, gpu->stream));
    return NBC_OK;
}

int gpunb_cuda_make_expected(struct cuda_gpu *gpu, struct nbc_error *err)
{
    if (!gpu->expected) return NBC_OK;
    gpu->expected = 0;
    CUDA_TRY(err, gpu, gpunb_cuda_predict_share(&gpu->prediction, gpu->stream));
    return NBC_OK;
}

/* The same map as if these sources had been sent. */
static struct cuda_map map_of(const struct cuda_state *cuda, const struct gpunb_order *order, double t)
{
    double x[CUDA_SAMPLE][3], v[3];
    const size_t count = gpunb_cuda_sample(order->n);
    for (size_t s = 0; s < count; s++) gpunb_jp_at(&cuda->jp[gpunb_number_at(order, s * order->n / count)], t, x[s], v);
    return gpunb_cuda_make_map(count, (const double(*)[3])x);
}

static void forget_changes(struct cuda_state *cuda)
{
    for (size_t k = 0; k < cuda->n_changed; k++) cuda->is_changed[cuda->changed_jp[k]] = 0;
    cuda->n_changed = 0;
}

int gpunb_cuda_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    const size_t n_gpus = (size_t)cuda->n_gpus;
    cuda->t_predicted = t;
    for (size_t g = 0; g < n_gpus; g++) { /* what the last prediction took from pinned memory has arrived */
        NBC_TRY(gpunb_cuda_use(&cuda->gpus[g], err));
        CUDA_TRY(err, &cuda->gpus[g], cudaEventSynchronize(cuda->gpus[g].sent));
    }
    gpunb_cuda_refuse_nobody(cuda);
    stage_changes(cuda);
    stage_numbers(cuda, order);
    if (order->n > 0) cuda->map = map_of(cuda, order, t);
    for (size_t g = 0; g < n_gpus; g++)
        NBC_TRY(predict_share(cuda, &cuda->gpus[g], order->n * g / n_gpus, order->n * (g + 1) / n_gpus, order, err));
    forget_changes(cuda);
    cuda->n_j = order->n;
    return NBC_OK;
}

/* ---- predictions that are refused */

void gpunb_cuda_refuse_nobody(struct cuda_state *cuda)
{
    for (int g = 0; g < cuda->n_gpus; g++) *(int *)cuda->gpus[g].refused.data = NOBODY;
}

int gpunb_cuda_check_predictions(const struct cuda_state *cuda, struct nbc_error *err)
{
    for (int g = 0; g < cuda->n_gpus; g++) {
        const int j = *(const volatile int *)cuda->gpus[g].refused.data;
        if (j != NOBODY) return gpunb_refuse_prediction(err, (size_t)j, &cuda->jp[j], cuda->t_predicted);
    }
    return NBC_OK;
}
