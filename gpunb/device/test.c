/* Self-test of each new handle: forces and lists of a small cluster on its devices against the reference. */
#include "gpunb/device/device.h"

#include <math.h>
#include <string.h>

enum { TEST_SOURCES = 300, TEST_TARGETS = 40, TEST_CAP = TEST_SOURCES };

/* Sources, targets (the first of them), results of `ref` and of the devices. */
struct test_data {
    double mass[TEST_SOURCES], x[TEST_SOURCES][3], v[TEST_SOURCES][3];
    double r_nb2[TEST_TARGETS], dt[TEST_TARGETS];
    int32_t self[TEST_TARGETS];
    struct answer {
        double acc[TEST_TARGETS][3], jerk[TEST_TARGETS][3], pot[TEST_TARGETS];
        int32_t nnb[TEST_TARGETS], list[TEST_TARGETS][TEST_CAP];
    } expected, found;
};

/* A linear congruential sequence: the same cluster everywhere. */
static double next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) * 0x1p-24;
}

static void fill(struct test_data *t)
{
    uint32_t state = 20120001;
    for (int i = 0; i < TEST_SOURCES; i++) {
        t->mass[i] = (0.5 + next_random(&state)) / TEST_SOURCES;
        for (int k = 0; k < 3; k++) {
            t->x[i][k] = 2.0 * next_random(&state) - 1.0;
            t->v[i][k] = next_random(&state) - 0.5;
        }
    }
    for (int i = 0; i < TEST_TARGETS; i++) {
        t->r_nb2[i] = 0.04 + 0.002 * i;
        t->dt[i] = 0.0625;
        t->self[i] = i;
    }
}

static struct gpunb_block block_of(struct test_data *t, struct answer *a)
{
    return (struct gpunb_block){.n_i = TEST_TARGETS,
                                .self = t->self,
                                .r_nb2 = t->r_nb2,
                                .dt_reg = t->dt,
                                .x = (const double(*)[3])t->x,
                                .v = (const double(*)[3])t->v,
                                .acc = a->acc,
                                .jerk = a->jerk,
                                .pot = a->pot,
                                .nb_cap = TEST_CAP,
                                .list_stride = TEST_CAP,
                                .nnb = a->nnb,
                                .nblist = a->list[0]};
}

static int reference(struct test_data *t, struct nbc_error *err)
{
    const struct gpunb_backend *ref = &gpunb_backend_ref;
    const struct gpunb_setup setup = {
        .backend = ref, .precision = GPUNB_DOUBLE, .n_j_max = TEST_SOURCES, .devices = ""};
    const struct gpunb_block block = block_of(t, &t->expected);
    void *state;
    NBD_TRY(ref->create(&state, &setup, err));
    int status = ref->send(state, TEST_SOURCES, t->mass, (const double(*)[3])t->x, (const double(*)[3])t->v, err);
    if (status == NBC_OK) status = ref->regf(state, &block, err);
    ref->free(state);
    return status;
}

/* Distance of two vectors in units of the length of the first. */
static double distance(const double a[3], const double b[3])
{
    double d2 = 0.0, a2 = 0.0;
    for (int k = 0; k < 3; k++) {
        d2 += (a[k] - b[k]) * (a[k] - b[k]);
        a2 += a[k] * a[k];
    }
    return sqrt(d2 / a2);
}

/* Float arithmetic on 300 sources is accurate to some 1e-7, the cancelling sums of the jerk to some 1e-6; a faulty
 * device is wrong by far more. NaN is a failure as well. */
static int compare(const struct device_state *devices, const struct test_data *t, struct nbc_error *err)
{
    for (int i = 0; i < TEST_TARGETS; i++) {
        const char *what = NULL;
        size_t bytes = (size_t)t->expected.nnb[i] * sizeof(int32_t);
        if (!(distance(t->expected.acc[i], t->found.acc[i]) < 1e-5)) what = "acceleration";
        if (!(distance(t->expected.jerk[i], t->found.jerk[i]) < 1e-4)) what = "jerk";
        if (!(fabs(t->found.pot[i] / t->expected.pot[i] - 1.0) < 1e-5)) what = "potential";
        if (t->found.nnb[i] != t->expected.nnb[i] || memcmp(t->found.list[i], t->expected.list[i], bytes) != 0)
            what = "neighbour list";
        if (what)
            return nbc_fail(err, NBC_DEVICE,
                            "gpunb: self-test on %s%s: the %s of target %d differs from the reference; this device "
                            "cannot be trusted, use another one or another backend",
                            devices->gpus[0].device.name, devices->n_gpus > 1 ? " and others" : "", what, i);
    }
    return NBC_OK;
}

static int run_test(struct device_state *devices, struct test_data *t, struct nbc_error *err)
{
    const struct gpunb_block block = block_of(t, &t->found);
    fill(t);
    NBD_TRY(reference(t, err));
    NBD_TRY(gpunb_device_send(devices, TEST_SOURCES, t->mass, (const double(*)[3])t->x, (const double(*)[3])t->v, err));
    for (int curved = 0; curved < 2; curved++) {
        memset(&t->found, 0xff, sizeof t->found);
        devices->order = curved ? DEVICE_ORDER_CURVE : DEVICE_ORDER_INDEX;
        int status = gpunb_device_regf_start(devices, &block, err);
        if (status == NBC_OK) status = gpunb_device_regf(devices, &block, err);
        devices->order = DEVICE_ORDER_BY_SIZE;
        NBD_TRY(status);
        NBD_TRY(compare(devices, t, err));
    }
    return NBC_OK;
}

int gpunb_device_self_test(struct device_state *devices, struct nbc_error *err)
{
    struct test_data *t = nbc_alloc(1, sizeof *t);
    if (!t) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: no memory for the self-test of the devices");
    int status = run_test(devices, t, err);
    nbc_free(t);
    return status;
}
