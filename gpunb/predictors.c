/* Sources that the library predicts itself: their predictors, and the sources that take part. */
#include "common/team.h"
#include "gpunb/handle.h"
#include "gpunb/predictor.h"
#include "gpunb/tree/method.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_OF_A_PART = 64 }; /* lists that a thread renames in some microseconds */

/* Concurrent calls of gpunb_set_jp may fail together. */
__attribute__((format(printf, 3, 4))) static int fail(struct gpunb *handle, int status, const char *format, ...)
{
    char text[sizeof handle->error.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
#pragma omp critical(gpunb_predictor_error)
    nbc_fail(&handle->error, status, "%s", text);
    return status;
}

int gpunb_refuse_prediction(struct nbc_error *err, size_t j, const struct gpunb_jp *jp, double t)
{
    double x[3], v[3];
    gpunb_jp_at(jp, t, x, v);
    return nbc_fail(err, NBC_NON_FINITE,
                    "gpunb_predict: source %zu: from its state at %.12g, position %g %g %g and velocity %g %g %g are "
                    "predicted for the time %.12g: not finite, or above %g",
                    j, jp->t0, x[0], x[1], x[2], v[0], v[1], v[2], t, GPUNB_LIMIT);
}

/* ---- memory */

int gpunb_make_ready(gpunb_t *handle, struct nbc_error *err)
{
    if (handle->n_j_ready >= handle->n_j_max) return NBC_OK;
    const int status = handle->backend->reserve(handle->state, handle->n_j_max, err);
    if (status == NBC_OK) handle->n_j_ready = handle->n_j_max;
    return status;
}

/* ---- tables */

/* An array of n_old elements with room for n; the old one stays if there is no memory. */
static int grow(void **array, size_t n_old, size_t n, size_t size)
{
    void *grown = nbc_realloc(*array, *array ? n_old : 0, n, size);
    if (grown) *array = grown;
    return grown != NULL;
}

/* Tables for n sources, in the handle and in the backend, with their contents. */
static int provide(struct gpunb *handle, size_t n, struct nbc_error *err)
{
    const size_t n_old = handle->has_predictors ? handle->n_j_max : 0;
    void *present = handle->present, *number = handle->number, *place = handle->place;
    const int enough = grow(&present, n_old, n, 1) && grow(&number, n_old, n, sizeof(int32_t)) &&
                       grow(&place, n_old, n, sizeof(int32_t));
    handle->present = present;
    handle->number = number;
    handle->place = place;
    if (handle->order.number) handle->order.number = handle->number;
    if (!enough) return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for the predictors of %zu sources", n);
    const int status = gpunb_make_ready(handle, err);
    return status ? status : handle->backend->predictors(handle->state, n, err);
}

static int has_predictors(const struct gpunb *handle)
{
    int ready;
#pragma omp atomic read acquire
    ready = handle->has_predictors;
    return ready;
}

/* The first call of gpunb_set_jp makes the tables: a handle without predictors has none. */
static int open_predictors(struct gpunb *handle)
{
    int status = NBC_OK;
#pragma omp critical(gpunb_open_predictors)
    if (!handle->has_predictors) {
        struct nbc_error err = {0};
        status = provide(handle, handle->n_j_max, &err);
        if (status != NBC_OK)
            fail(handle, status, "%s", err.text);
        else
#pragma omp atomic write release
            handle->has_predictors = 1;
    }
    return status;
}

int gpunb_reserve(gpunb_t *handle, size_t n_j_max)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    struct nbc_error *err = &handle->error;
    if (n_j_max > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_reserve: n_j_max = %zu, but indices are 32-bit", n_j_max);
    if (n_j_max <= handle->n_j_max) return NBC_OK;
    handle->started = 0;
    int status = handle->backend->reserve(handle->state, n_j_max, err);
    if (status == NBC_OK && handle->has_predictors) status = provide(handle, n_j_max, err);
    if (status == NBC_OK) handle->n_j_max = handle->n_j_ready = n_j_max;
    return status;
}

/* ---- predictors */

/* In the order of struct gpunb_jp. Forces and times have no limit but that of their predictions. */
enum { JP_NUMBERS = sizeof(struct gpunb_jp) / sizeof(double) };
static const double jp_limit[JP_NUMBERS] = {GPUNB_LIMIT, GPUNB_LIMIT, GPUNB_LIMIT, GPUNB_LIMIT, GPUNB_LIMIT,
                                            GPUNB_LIMIT, DBL_MAX,     DBL_MAX,     DBL_MAX,     DBL_MAX,
                                            DBL_MAX,     DBL_MAX,     GPUNB_LIMIT, DBL_MAX};

static inline int within(const double value[3], double limit)
{
    return (fabs(value[0]) <= limit) & (fabs(value[1]) <= limit) & (fabs(value[2]) <= limit);
}

/* Called for each body of each block. Numbers are read one by one: vector loads of numbers that were just written
 * one by one would stall. */
static int is_sound(const struct gpunb_jp *jp)
{
    return within(jp->x, GPUNB_LIMIT) & within(jp->v, GPUNB_LIMIT) & within(jp->acc, DBL_MAX) &
           within(jp->jerk, DBL_MAX) & (fabs(jp->mass) <= GPUNB_LIMIT) & (fabs(jp->t0) <= DBL_MAX);
}

static int refuse_predictor(struct gpunb *handle, size_t j, const struct gpunb_jp *jp)
{
    static const char *const names[JP_NUMBERS] = {"x[0]",   "x[1]",   "x[2]",    "v[0]",    "v[1]",    "v[2]", "acc[0]",
                                                  "acc[1]", "acc[2]", "jerk[0]", "jerk[1]", "jerk[2]", "mass", "t0"};
    const double *value = (const double *)jp;
    for (int k = 0; k < JP_NUMBERS; k++) {
        if (!isfinite(value[k]))
            return fail(handle, NBC_NON_FINITE, "gpunb_set_jp: %s of source %zu is %g: not a finite number", names[k],
                        j, value[k]);
        if (fabs(value[k]) > jp_limit[k])
            return fail(handle, NBC_BAD_ARGUMENT, "gpunb_set_jp: %s of source %zu is %g: above %g", names[k], j,
                        value[k], jp_limit[k]);
    }
    return NBC_OK;
}

/* Calls for other sources may write the same at this moment. */
static void set_present(struct gpunb *handle, size_t j, unsigned char present)
{
    if (handle->present[j] == present) return;
    handle->present[j] = present;
#pragma omp atomic write
    handle->members_changed = 1;
}

int gpunb_set_jp(gpunb_t *handle, size_t j, const double x[3], const double v[3], const double acc[3],
                 const double jerk[3], double mass, double t0)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (j >= handle->n_j_max)
        return fail(handle, NBC_BAD_ARGUMENT, "gpunb_set_jp: there is no source %zu, the library was opened for %zu", j,
                    handle->n_j_max);
    if (!x || !v || !acc || !jerk)
        return fail(handle, NBC_BAD_ARGUMENT, "gpunb_set_jp: x, v, acc or jerk of source %zu is NULL", j);
    struct gpunb_jp jp = {.mass = mass, .t0 = t0};
    memcpy(jp.x, x, sizeof jp.x);
    memcpy(jp.v, v, sizeof jp.v);
    memcpy(jp.acc, acc, sizeof jp.acc);
    memcpy(jp.jerk, jerk, sizeof jp.jerk);
    if (!is_sound(&jp)) return refuse_predictor(handle, j, &jp);
    int status = has_predictors(handle) ? NBC_OK : open_predictors(handle);
    if (status != NBC_OK) return status;
    handle->backend->set_jp(handle->state, j, &jp);
    set_present(handle, j, 1);
    return NBC_OK;
}

int gpunb_clear_jp(gpunb_t *handle, size_t j)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (j >= handle->n_j_max)
        return fail(handle, NBC_BAD_ARGUMENT, "gpunb_clear_jp: there is no source %zu, the library was opened for %zu",
                    j, handle->n_j_max);
    if (has_predictors(handle)) set_present(handle, j, 0);
    return NBC_OK;
}

int gpunb_push_jp(gpunb_t *handle)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!handle->backend->push_jp || !has_predictors(handle)) return NBC_OK;
    return handle->backend->push_jp(handle->state, &handle->error);
}

/* ---- sources that take part */

static void make_order(struct gpunb *handle, size_t n_numbers)
{
    size_t n = 0;
    for (size_t j = 0; j < n_numbers; j++) {
        handle->place[j] = handle->present[j] ? (int32_t)n : -1;
        handle->number[n] = (int32_t)j;
        n += handle->present[j];
    }
    handle->order.n = n;
    handle->order.number = n < n_numbers ? handle->number : NULL;
    handle->order.version++;
    handle->n_numbers = n_numbers;
    handle->members_changed = 0;
}

int gpunb_predict(gpunb_t *handle, size_t n_j, double t)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    double start = nbc_wtime();
    struct nbc_error *err = &handle->error;
    if (n_j > handle->n_j_max)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_predict: %zu sources, but the library was opened for %zu", n_j,
                        handle->n_j_max);
    if (!isfinite(t)) return nbc_fail(err, NBC_NON_FINITE, "gpunb_predict: the time is %g", t);
    int status = has_predictors(handle) ? NBC_OK : open_predictors(handle);
    if (status != NBC_OK) return status;
    if (handle->members_changed || !handle->predicted || handle->n_numbers != n_j) make_order(handle, n_j);
    handle->started = 0;
    status = handle->backend->predict(handle->state, &handle->order, t, err);
    gpunb_tree_forget(handle);
    handle->sent = handle->predicted = handle->has_velocities = status == NBC_OK;
    handle->n_sources = handle->sent ? handle->order.n : 0;
    handle->stats.seconds_send += nbc_wtime() - start;
    return status;
}

/* ---- numbers and places */

int gpunb_check_self(struct gpunb *handle, const char *call, const int32_t *self, size_t n_i)
{
    for (size_t i = 0; self && i < n_i; i++)
        if (self[i] < -1 || (self[i] >= 0 && (size_t)self[i] >= handle->n_numbers))
            return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: self of target %zu is %d, but there are %zu sources",
                            call, i, (int)self[i], handle->n_numbers);
    return NBC_OK;
}

/* The backend counts the sources that are there; the caller has numbers with gaps. */
const int32_t *gpunb_self_by_place(struct gpunb *handle, const int32_t *self, size_t n_i)
{
    if (!gpunb_has_gaps(handle)) return self;
    if (n_i > handle->self_room) {
        const size_t room = n_i + n_i / 2;
        nbc_free(handle->self_place);
        handle->self_room = 0;
        handle->self_place = nbc_alloc(room, sizeof *handle->self_place);
        if (!handle->self_place) return NULL;
        handle->self_room = room;
    }
    for (size_t i = 0; i < n_i; i++) handle->self_place[i] = self[i] < 0 ? -1 : handle->place[self[i]];
    return handle->self_place;
}

struct renaming {
    const struct gpunb *handle;
    const struct gpunb_block *block;
};

static void rename_rows(void *context, int part, int parts)
{
    const struct renaming *job = context;
    const struct gpunb_block *block = job->block;
    int64_t first, end;
    nbc_range((int64_t)block->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        int32_t *row = block->nblist + (size_t)i * block->list_stride;
        if ((size_t)block->nnb[i] > block->nb_cap) continue;
        for (int32_t k = 0; k < block->nnb[i]; k++) row[k] = job->handle->number[row[k]];
    }
}

void gpunb_lists_to_numbers(const struct gpunb *handle, const struct gpunb_block *block)
{
    struct renaming job = {handle, block};
    nbc_team_run(nbc_parts((int64_t)block->n_i, ROWS_OF_A_PART), rename_rows, &job);
}
