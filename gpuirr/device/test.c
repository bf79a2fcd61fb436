/* Self-test of each new handle on a device: forces on a few bodies against those in double. */
#include "gpuirr/device/store.h"
#include "gpuirr/lists.h"
#include "gpuirr/store.h"

#include <math.h>
#include <string.h>

enum { BODIES = 150, ACTIVE = 12, LONGEST = BODIES - 1 };

static const double TIME = 0.25;

struct scene {
    struct gpuirr_record body[BODIES];
    struct gpuirr_list list[BODIES]; /* of the active ones */
    int32_t act[ACTIVE], nb[ACTIVE][LONGEST];
};

/* A linear congruential sequence in [-1, 1): the same bodies everywhere. */
static double next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) * 0x1p-23 - 1;
}

/* The last two bodies are a close pair, so that strong neighbours are tested as well. */
static void fill(struct scene *t)
{
    uint32_t state = 20120001;
    for (int i = 0; i < BODIES; i++) {
        struct gpuirr_state *s = &t->body[i].s;
        for (int k = 0; k < 3; k++) {
            s->x[k] = next_random(&state);
            s->v[k] = next_random(&state);
            s->acc[k] = next_random(&state);
            s->jerk[k] = next_random(&state);
        }
        s->mass = (1.5 + next_random(&state)) / BODIES;
        s->t0 = i % 16 / 64.0;
    }
    t->body[BODIES - 1] = t->body[BODIES - 2];
    t->body[BODIES - 1].s.x[0] += 1e-3;
    for (int32_t a = 0; a < ACTIVE; a++) {
        const int32_t i = BODIES - 1 - a;
        struct gpuirr_list *list = &t->list[i];
        t->act[a] = i;
        list->nb = t->nb[a];
        for (int32_t j = 0; j < BODIES; j++)
            if (j != i && (j + a) % (1 + a) == 0) list->nb[list->nnb++] = j;
    }
}

/* The largest component of a difference, over the largest one of the expected vector. */
static double error_of(const double value[3], const double exact[3])
{
    double worst = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        const double error = fabs(value[k] - exact[k]);
        if (!(error <= worst)) worst = error; /* a NaN stays */
        size = fmax(size, fabs(exact[k]));
    }
    return worst / size;
}

/* Float arithmetic on up to 149 neighbours is accurate to some 1e-6 of the largest component; a faulty device is
 * wrong by far more. */
static int compare(const struct scene *t, const char *place, const struct gpuirr_force *force, struct nbc_error *err)
{
    for (int a = 0; a < ACTIVE; a++) {
        const struct gpuirr_list *list = &t->list[t->act[a]];
        struct gpuirr_exact exact;
        const char *what = NULL;
        gpuirr_exact_begin(&t->body[t->act[a]], TIME, &exact);
        for (uint32_t k = 0; k < list->nnb; k++) gpuirr_exact_add(&t->body[list->nb[k]], list->nb[k], TIME, &exact);
        if (!(error_of(force[a].acc, exact.acc) < 1e-4)) what = "acceleration";
        if (!(error_of(force[a].jerk, exact.jerk) < 1e-3)) what = "jerk";
        if (force[a].nearest != exact.nearest) what = "nearest neighbour";
        if (what)
            return nbc_fail(err, NBC_DEVICE,
                            "self-test on %s: the %s of a body differs from the reference; this device cannot be "
                            "trusted, use another one or another backend",
                            place, what);
    }
    return NBC_OK;
}

/* NBC_DEVICE: the device is faulty. */
static int test(const struct gpuirr_device *kernels, struct nbc_error *err)
{
    struct scene *t = nbc_alloc(1, sizeof *t);
    void *store = t ? gpuirr_device_open_untested(kernels, BODIES, err) : NULL;
    int status = store ? NBC_OK : err->status ? err->status : NBC_NO_MEMORY;
    if (store) {
        const struct gpuirr_force *force;
        const double *noise;
        fill(t);
        for (size_t i = 0; i < BODIES; i++) gpuirr_device_set_jp(store, i, &t->body[i].s);
        const struct gpuirr_block block = {.t = TIME, .n = ACTIVE, .act = t->act, .list = t->list};
        status = gpuirr_device_block(store, &block, &force, &noise, err);
        if (!status) status = compare(t, gpuirr_device_place(store), force, err);
    }
    gpuirr_device_close(store);
    nbc_free(t);
    return status;
}

void *gpuirr_device_open(const struct gpuirr_device *kernels, size_t n_max, struct nbc_error *err)
{
    return test(kernels, err) ? NULL : gpuirr_device_open_untested(kernels, n_max, err);
}
