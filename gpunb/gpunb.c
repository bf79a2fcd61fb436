/* The handle: argument checks, refusal of numbers that are not finite, statistics. The arithmetic is in backend_*.c. */
#include "gpunb/handle.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *precision_name(enum gpunb_precision precision)
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
    int row = gpunb_backend_select(options->backend, handle->n_j_max, &devices, err);
    if (row < 0) return NBC_UNAVAILABLE;
    const struct gpunb_backend *backend = gpunb_backend_row(row);
    enum gpunb_precision precision =
        options->precision == GPUNB_PRECISION_DEFAULT ? backend->precision : options->precision;
    if (!(backend->precisions >> precision & 1u))
        return nbc_fail(err, NBC_UNAVAILABLE, "gpunb_create: backend '%s' has no precision '%s'", backend->name,
                        precision_name(precision));
    handle->backend = backend;
    handle->info = gpunb_backend(row);
    handle->mass_weighted = options->mass_weighted;
    const struct gpunb_setup setup = {
        .backend = backend, .precision = precision, .n_j_max = handle->n_j_max, .devices = devices};
    return backend->create(&handle->state, &setup, err);
}

int gpunb_create(gpunb_t **handle, size_t n_j_max, const struct gpunb_options *options, struct nbc_error *err)
{
    static const struct gpunb_options defaults = {0};
    if (!options) options = &defaults;
    if (!handle) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: handle is NULL");
    if (n_j_max > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: n_j_max = %zu, but indices are 32-bit", n_j_max);
    if ((int)options->precision < GPUNB_PRECISION_DEFAULT || options->precision > GPUNB_DOUBLE)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: precision = %d is none of enum gpunb_precision",
                        (int)options->precision);
    int status = nbc_isa_check(err);
    if (status != NBC_OK) return status;
    nbc_let_threads_sleep();
    gpunb_t *made = nbc_alloc(1, sizeof *made);
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: no memory for a handle");
    made->n_j_max = n_j_max;
    status = create_checked(made, options, err);
    if (status != NBC_OK) {
        nbc_free(made);
        return status;
    }
    *handle = made;
    return NBC_OK;
}

void gpunb_free(gpunb_t *handle)
{
    if (!handle) return;
    handle->backend->free(handle->state);
    nbc_free(handle->present);
    nbc_free(handle->number);
    nbc_free(handle->place);
    nbc_free(handle);
}

const struct gpunb_backend_info *gpunb_info(const gpunb_t *handle)
{
    return handle ? handle->info : NULL;
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

/* A quantity of a call: `rows` rows of `width` numbers, each of which must be within [low, high]. */
struct quantity {
    const char *what, *name;
    const double *values;
    size_t rows;
    int width;
    double low, high;
};

/* Every value is looked at, in vectors, and the culprit is sought only if there is one: this runs at each block. */
static int all_within(const double *values, size_t n, double low, double high)
{
    typedef double vector __attribute__((vector_size(16)));
    typedef int32_t mask __attribute__((vector_size(16))); /* of 64-bit ones gcc 12 makes scalars without SSE4 */
    const vector lows = {low, low}, highs = {high, high};
    mask good = {-1, -1, -1, -1};
    int tail = 1;
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        vector v, w;
        memcpy(&v, values + k, sizeof v);
        memcpy(&w, values + k + 2, sizeof w);
        good &= (mask)(v >= lows) & (mask)(v <= highs) & (mask)(w >= lows) & (mask)(w <= highs);
    }
    for (; k < n; k++) tail &= values[k] >= low && values[k] <= high;
    return tail && (good[0] & good[1] & good[2] & good[3]);
}

enum { CHECK_PIECE = 1 << 15 }; /* numbers that a thread looks at in one go */

static int is_sound(const struct quantity *q)
{
    size_t n = q->rows * (size_t)q->width;
    if (n <= CHECK_PIECE) return all_within(q->values, n, q->low, q->high);
    size_t bad = 0;
#pragma omp parallel for schedule(static) reduction(+ : bad)
    for (size_t k = 0; k < n; k += CHECK_PIECE)
        bad += (size_t)!all_within(q->values + k, n - k < CHECK_PIECE ? n - k : CHECK_PIECE, q->low, q->high);
    return bad == 0;
}

static int refuse(struct nbc_error *err, const char *call, const struct quantity *q)
{
    size_t k = 0;
    while (q->values[k] >= q->low && q->values[k] <= q->high) k++;
    static const char *const components[] = {"[0]", "[1]", "[2]"};
    const char *component = q->width > 1 ? components[k % (size_t)q->width] : "";
    double value = q->values[k];
    size_t row = k / (size_t)q->width;
    if (!isfinite(value))
        return nbc_fail(err, NBC_NON_FINITE, "%s: %s%s of %s %zu (of %zu, counted from 0) is %g: not a finite number",
                        call, q->name, component, q->what, row, q->rows, value);
    return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s%s of %s %zu (of %zu, counted from 0) is %g: outside %g .. %g", call,
                    q->name, component, q->what, row, q->rows, value, q->low, q->high);
}

static int check_quantities(struct nbc_error *err, const char *call, const struct quantity *list, int count)
{
    for (int k = 0; k < count; k++) {
        if (list[k].rows > 0 && !list[k].values)
            return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s is NULL", call, list[k].name);
        if (!is_sound(&list[k])) return refuse(err, call, &list[k]);
    }
    return NBC_OK;
}

int gpunb_send(gpunb_t *handle, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3])
{
    if (!handle) return NBC_BAD_ARGUMENT;
    double start = nbc_wtime();
    struct nbc_error *err = &handle->error;
    if (n_j > handle->n_j_max)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_send: %zu sources, but the library was opened for %zu", n_j,
                        handle->n_j_max);
    const struct quantity list[] = {
        {"source", "mass", mass, n_j, 1, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"source", "x", (const double *)x, n_j, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"source", "v", (const double *)v, n_j, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
    };
    int status = check_quantities(err, "gpunb_send", list, 3);
    if (status != NBC_OK) return status;
    status = handle->backend->send(handle->state, n_j, mass, x, v, err);
    handle->sent = status == NBC_OK;
    handle->n_sources = handle->n_numbers = handle->sent ? n_j : 0;
    handle->predicted = 0;
    handle->stats.seconds_send += nbc_wtime() - start;
    return status;
}

static int check_block(gpunb_t *handle, const struct gpunb_block *block)
{
    struct nbc_error *err = &handle->error;
    if (!handle->sent)
        return nbc_fail(err, NBC_BAD_STATE, "gpunb_regf: no sources yet: call gpunb_send first, or gpunb_predict");
    if (block->nb_cap < 1) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_regf: nb_cap is 0: it must be at least 1");
    if (block->n_i > 0 && (!block->acc || !block->jerk || !block->nnb || !block->nblist))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_regf: %s is NULL",
                        !block->acc    ? "acc"
                        : !block->jerk ? "jerk"
                        : !block->nnb  ? "nnb"
                                       : "nblist");
    for (size_t i = 0; block->self && i < block->n_i; i++) {
        if (block->self[i] < -1 || (block->self[i] >= 0 && (size_t)block->self[i] >= handle->n_numbers))
            return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_regf: self of target %zu is %d, but there are %zu sources", i,
                            (int)block->self[i], handle->n_numbers);
    }
    const struct quantity list[] = {
        {"target", "r_nb2", block->r_nb2, block->n_i, 1, 0.0, DBL_MAX},
        {"target", "dt_reg", block->dt_reg, block->n_i, 1, 0.0, DBL_MAX},
        {"target", "x_i", (const double *)block->x, block->n_i, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"target", "v_i", (const double *)block->v, block->n_i, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
    };
    return check_quantities(err, "gpunb_regf", list, 4);
}

static int report_overflow(gpunb_t *handle, const struct gpunb_block *block)
{
    size_t rows = 0, first = 0;
    for (size_t i = 0; i < block->n_i; i++) {
        if ((size_t)block->nnb[i] <= block->nb_cap) continue;
        if (rows++ == 0) first = i;
    }
    if (rows == 0) return NBC_OK;
    return nbc_fail(&handle->error, NBC_NB_OVERFLOW,
                    "gpunb_regf: %zu of %zu targets have more neighbours than nb_cap = %zu; the first is target %zu "
                    "with %d",
                    rows, block->n_i, block->nb_cap, first, (int)block->nnb[first]);
}

/* The backend counts the sources that are there; the caller has numbers with gaps. */
static int compute(gpunb_t *handle, const struct gpunb_block *block)
{
    struct nbc_error *err = &handle->error;
    if (!gpunb_has_gaps(handle)) return handle->backend->regf(handle->state, block, err);
    struct gpunb_block by_place = *block;
    int32_t *self = NULL;
    if (block->self) {
        self = nbc_alloc(block->n_i, sizeof *self);
        if (!self) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_regf: no memory for a block of %zu targets", block->n_i);
        gpunb_self_to_places(handle, block, self);
        by_place.self = self;
    }
    int status = handle->backend->regf(handle->state, &by_place, err);
    if (status == NBC_OK) gpunb_lists_to_numbers(handle, block);
    nbc_free(self);
    return status;
}

int gpunb_regf_block(gpunb_t *handle, const struct gpunb_block *block)
{
    double start = nbc_wtime();
    int status = check_block(handle, block);
    if (status != NBC_OK) return status;
    if (block->n_i > 0) status = compute(handle, block);
    handle->stats.calls++;
    handle->stats.targets += block->n_i;
    handle->stats.interactions += (uint64_t)block->n_i * handle->n_sources;
    handle->stats.seconds_regf += nbc_wtime() - start;
    return status == NBC_OK ? report_overflow(handle, block) : status;
}

int gpunb_regf(gpunb_t *handle, size_t n_i, const int32_t *self, const double *r_nb2, const double *dt_reg,
               const double (*x_i)[3], const double (*v_i)[3], double (*acc)[3], double (*jerk)[3], double *pot,
               size_t nb_cap, int32_t *nnb, int32_t *nblist)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    const struct gpunb_block block = {
        .n_i = n_i,
        .self = self,
        .r_nb2 = r_nb2,
        .dt_reg = dt_reg,
        .x = x_i,
        .v = v_i,
        .acc = acc,
        .jerk = jerk,
        .pot = pot,
        .nb_cap = nb_cap,
        .list_stride = nb_cap,
        .nnb = nnb,
        .nblist = nblist,
        .mass_weighted = handle->mass_weighted,
    };
    return gpunb_regf_block(handle, &block);
}

int gpunb_potential(gpunb_t *handle, size_t i_first, size_t n_i, size_t n, const double *mass, const double (*x)[3],
                    double *pot)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    double start = nbc_wtime();
    struct nbc_error *err = &handle->error;
    if (i_first > n || n_i > n - i_first)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_potential: bodies %zu to %zu wanted, but there are %zu", i_first,
                        i_first + n_i, n);
    if (n_i > 0 && !pot) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_potential: pot is NULL");
    const struct quantity list[] = {
        {"body", "mass", mass, n, 1, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"body", "x", (const double *)x, n, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
    };
    int status = check_quantities(err, "gpunb_potential", list, 2);
    if (status != NBC_OK || n_i == 0) return status;
    const struct gpunb_pot_job job = {.i_first = i_first, .n_i = n_i, .n = n, .mass = mass, .x = x, .pot = pot};
    status = handle->backend->potential(handle->state, &job, err);
    handle->stats.seconds_potential += nbc_wtime() - start;
    return status;
}

int gpunb_softened(gpunb_t *handle, const struct gpunb_softened_job *job)
{
    struct nbc_error *err = &handle->error;
    if (!handle->backend->softened)
        return nbc_fail(err, NBC_UNAVAILABLE, "gpunb_softened: backend '%s' does not offer it", handle->backend->name);
    if (!handle->sent)
        return nbc_fail(err, NBC_BAD_STATE, "gpunb_softened: no sources yet: call gpunb_send first, or gpunb_predict");
    const struct quantity list[] = {
        {"target", "x_i", (const double *)job->x, job->n_i, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"call", "softening", &job->softening, 1, 1, 1e-15, GPUNB_LIMIT},
    };
    int status = check_quantities(err, "gpunb_softened", list, 2);
    return status != NBC_OK || job->n_i == 0 ? status : handle->backend->softened(handle->state, job, err);
}
