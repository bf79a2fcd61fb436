/* Calls whose targets are most of the sources, on an emulated device (device/whole.c). */
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"
#include "gpunb/device/sums.h"

struct records_job {
    const struct device_source *sources;
    struct gpunb_dev_source *to;
    int n, weighted;
};

static void make_records(const void *job)
{
    const struct records_job *a = job;
    for (int j = 0; j < a->n; j++) {
        const struct device_source *s = &a->sources[j];
        const double v[3] = {(double)s->v[0], (double)s->v[1], (double)s->v[2]};
        a->to[j] = gpunb_dev_source_at(s->x, v, s->m, a->weighted);
    }
}

int gpunb_emulated_regular_sources(const struct device_source *sources, int n, int weighted,
                                   struct gpunb_dev_source *to, struct nbd_stream *stream)
{
    const struct records_job job = {sources, to, n, weighted};
    return nbd_emulated_launch(stream, make_records, &job, sizeof job);
}

static void ask(const void *job)
{
    const struct device_asking *a = job;
    for (int i = 0; i < a->targets.n; i++) {
        const int32_t j = a->targets.self[i];
        a->asked[i] =
            (struct gpunb_dev_asked){.r_nb2 = a->targets.r_nb2[i], .dt_reg = a->targets.dt[i], .source = j, .row = i};
        if (a->size_last) a->asked[i].size_last = a->size_last[i];
        if (j < 0 || !gpunb_dev_is_at(&a->sources[j], a->targets.x[i], a->targets.v[i]) || a->marks[j] >= 0)
            *a->differ = 1;
        else
            a->marks[j] = i;
    }
}

int gpunb_emulated_regular_ask(const struct device_asking *asking, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, ask, asking, sizeof *asking);
}

static void send(const void *job)
{
    const struct device_sending *a = job;
    for (int row = 0; row < a->n; row++) {
        const int i = a->target[a->first + row];
        const struct gpunb_dev_asked *asked = &a->asked[i];
        const size_t at = (size_t)row * (size_t)a->cap;
        struct device_result r = {.found = asked->count, .target = i};
        if (asked->count <= a->cap &&
            gpunb_emulated_send_row(a->rows + (size_t)i * (size_t)a->cap, asked->count, a->lists + at))
            r.target = ~i;
        for (int k = 0; k < 3; k++) {
            r.sum[k] = asked->sum.acc[k];
            r.sum[3 + k] = asked->sum.jerk[k];
        }
        a->results[row] = r;
    }
}

int gpunb_emulated_regular_send(const struct device_sending *sending, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, send, sending, sizeof *sending);
}
