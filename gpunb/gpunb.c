/* The handle, and the calls that send sources or want potentials. The arithmetic is in backend_*.c. */
#include "gpunb/handle.h"
#include "gpunb/quantity.h"
#include "gpunb/softened_device.h"
#include "gpunb/tree/method.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *gpunb_precision_name(enum gpunb_precision precision)
{
    switch (precision) {
    case GPUNB_FLOAT:
        return "float";
    case GPUNB_TWOFLOAT:
        return "twofloat";
    case GPUNB_DOUBLE:
        return "double";
    default:
        return "default";
    }
}

static int create_checked(gpunb_t *handle, const struct gpunb_options *options, struct nbc_error *err)
{
    const char *devices;
    const int by_tree = gpunb_tree_is_asked(options);
    int row = gpunb_backend_select(options->backend, handle->n_j_max, &devices, err);
    if (row < 0) return NBC_UNAVAILABLE;
    const struct gpunb_backend *backend = gpunb_backend_row(row);
    enum gpunb_precision precision =
        options->precision == GPUNB_PRECISION_DEFAULT ? backend->precision : options->precision;
    if (!(backend->precisions >> precision & 1u))
        return nbc_fail(err, NBC_UNAVAILABLE, "gpunb_create: backend '%s' has no precision '%s'", backend->name,
                        gpunb_precision_name(precision));
    handle->backend = backend;
    handle->precision = precision;
    handle->info = gpunb_backend(row);
    handle->mass_weighted = options->mass_weighted;
    if (by_tree) {
        int status = gpunb_tree_open(handle, options, err);
        if (status != NBC_OK) return status;
    }
    const struct gpunb_setup setup = {.backend = backend,
                                      .precision = precision,
                                      .n_j_max = handle->n_j_ready,
                                      .devices = devices,
                                      .by_tree = by_tree};
    return backend->create(&handle->state, &setup, err);
}

/* With memory for n_j_ready sources. */
static int create(gpunb_t **handle, size_t n_j_max, size_t n_j_ready, const struct gpunb_options *options,
                  struct nbc_error *err)
{
    static const struct gpunb_options defaults = {0};
    if (!options) options = &defaults;
    if (!handle) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: handle is NULL");
    if (n_j_max > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: n_j_max = %zu, but indices are 32-bit", n_j_max);
    if ((int)options->precision < GPUNB_PRECISION_DEFAULT || options->precision > GPUNB_DOUBLE)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: precision = %d is none of enum gpunb_precision",
                        (int)options->precision);
    int status = gpunb_tree_check_options(options, err);
    if (status == NBC_OK) status = nbc_isa_check(err);
    if (status != NBC_OK) return status;
    nbc_let_threads_sleep();
    gpunb_t *made = nbc_alloc(1, sizeof *made);
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: no memory for a handle");
    made->n_j_max = n_j_max;
    made->n_j_ready = n_j_ready;
    status = create_checked(made, options, err);
    if (status != NBC_OK) {
        gpunb_tree_close(made);
        nbc_free(made);
        return status;
    }
    *handle = made;
    return NBC_OK;
}

int gpunb_create(gpunb_t **handle, size_t n_j_max, const struct gpunb_options *options, struct nbc_error *err)
{
    return create(handle, n_j_max, n_j_max, options, err);
}

int gpunb_create_empty(gpunb_t **handle, size_t n_j_max, const struct gpunb_options *options, struct nbc_error *err)
{
    return create(handle, n_j_max, 0, options, err);
}

void gpunb_free(gpunb_t *handle)
{
    if (!handle) return;
    gpunb_tree_close(handle); /* first: its tree may be in memory of the state's devices */
    handle->backend->free(handle->state);
    nbc_free(handle->present);
    nbc_free(handle->number);
    nbc_free(handle->place);
    nbc_free(handle->self_place);
    nbc_free(handle);
}

int gpunb_gpus(const gpunb_t *handle, int room, int *device)
{
    if (!handle || !handle->backend->gpus) return 0;
    return handle->backend->gpus(handle->state, room, device);
}

const struct gpunb_backend_info *gpunb_info(const gpunb_t *handle)
{
    return handle ? handle->info : NULL;
}

/* Floats are good to 3e-6 where near pairs are excluded; two-float differences to 3e-7, with sums of a tile in float; a
 * jerk, with velocities rounded to float, to 1e-5; double to a few thousand roundings. */
static const struct {
    double acc, jerk;
} errors[] = {[GPUNB_FLOAT] = {3e-6, 1e-5}, [GPUNB_TWOFLOAT] = {3e-7, 1e-5}, [GPUNB_DOUBLE] = {1e-13, 1e-13}};

void gpunb_nominal_error(const gpunb_t *handle, double *acc, double *jerk)
{
    const struct gpunb_backend *backend = handle->backend;
    if (acc) *acc = backend->acc_error > 0 ? backend->acc_error : errors[handle->precision].acc;
    if (jerk) *jerk = backend->jerk_error > 0 ? backend->jerk_error : errors[handle->precision].jerk;
}

enum gpunb_precision gpunb_precision_in_use(const gpunb_t *handle)
{
    return handle->precision;
}

void gpunb_device_names(const gpunb_t *handle, char *text, size_t size)
{
    if (handle->backend->device_names)
        handle->backend->device_names(handle->state, text, size);
    else
        snprintf(text, size, "the processor");
}

const char *gpunb_last_error(const gpunb_t *handle)
{
    return handle ? handle->error.text : "";
}

void gpunb_get_stats(const gpunb_t *handle, struct gpunb_stats *stats)
{
    if (!handle || !stats) return;
    *stats = handle->stats;
    if (handle->backend->traffic) handle->backend->traffic(handle->state, &stats->bytes_sent, &stats->bytes_received);
}

/* v: NULL for none */
static int send(gpunb_t *handle, const char *call, size_t n_j, const double *mass, const double (*x)[3],
                const double (*v)[3])
{
    double start = nbc_wtime();
    struct nbc_error *err = &handle->error;
    if (n_j > handle->n_j_max)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %zu sources, but the library was opened for %zu", call, n_j,
                        handle->n_j_max);
    const struct gpunb_quantity list[] = {
        {"source", "mass", mass, n_j, 1, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"source", "x", (const double *)x, n_j, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"source", "v", (const double *)v, v ? n_j : 0, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
    };
    int status = gpunb_check(err, call, list, 3);
    if (status == NBC_OK) status = gpunb_make_ready(handle, err);
    if (status != NBC_OK) return status;
    handle->started = 0;
    status = handle->backend->send(handle->state, n_j, mass, x, v, err);
    handle->sent = status == NBC_OK;
    gpunb_tree_forget(handle);
    handle->has_velocities = v != NULL;
    handle->n_sources = handle->n_numbers = handle->sent ? n_j : 0;
    handle->predicted = 0;
    handle->stats.seconds_send += nbc_wtime() - start;
    return status;
}

int gpunb_send(gpunb_t *handle, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3])
{
    static const double nobody[1][3];
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!v && n_j > 0) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "gpunb_send: v is NULL");
    return send(handle, "gpunb_send", n_j, mass, x, v ? v : nobody);
}

int gpunb_send_positions(gpunb_t *handle, size_t n_j, const double *mass, const double (*x)[3])
{
    return handle ? send(handle, "gpunb_send_positions", n_j, mass, x, NULL) : NBC_BAD_ARGUMENT;
}

int gpunb_potential_start(gpunb_t *handle, size_t i_first, size_t n_i, size_t n, const double *mass,
                          const double (*x)[3], double *pot)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    const double start = nbc_wtime();
    struct nbc_error *err = &handle->error;
    handle->pot_started = 0;
    if (i_first > n || n_i > n - i_first)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_potential: bodies %zu to %zu wanted, but there are %zu", i_first,
                        i_first + n_i, n);
    if (n_i > 0 && !pot) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_potential: pot is NULL");
    const struct gpunb_quantity list[] = {
        {"body", "mass", mass, n, 1, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"body", "x", (const double *)x, n, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
    };
    int status = gpunb_check(err, "gpunb_potential", list, 2);
    if (status != NBC_OK) return status;
    handle->pot = (struct gpunb_pot_job){.i_first = i_first, .n_i = n_i, .n = n, .mass = mass, .x = x, .pot = pot};
    if (n_i > 0 && handle->backend->potential_start)
        status = handle->backend->potential_start(handle->state, &handle->pot, err);
    handle->pot_started = status == NBC_OK;
    handle->stats.seconds_potential += nbc_wtime() - start;
    return status;
}

int gpunb_potential_wait(gpunb_t *handle)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    const double start = nbc_wtime();
    if (!handle->pot_started)
        return nbc_fail(&handle->error, NBC_BAD_STATE,
                        "gpunb_potential_wait: none was started: call gpunb_potential_start first");
    handle->pot_started = 0;
    if (handle->pot.n_i == 0) return NBC_OK;
    const int status = handle->backend->potential(handle->state, &handle->pot, &handle->error);
    handle->stats.seconds_potential += nbc_wtime() - start;
    return status;
}

int gpunb_potential(gpunb_t *handle, size_t i_first, size_t n_i, size_t n, const double *mass, const double (*x)[3],
                    double *pot)
{
    const int status = gpunb_potential_start(handle, i_first, n_i, n, mass, x, pot);
    return status != NBC_OK ? status : gpunb_potential_wait(handle);
}
