#include "gpuirr/backend.h"
#include "gpuirr/handle.h"
#include "gpuirr/holders.h"
#include "gpuirr/lists.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Concurrent calls of gpuirr_set_jp may fail together. */
int gpuirr_fail(struct gpuirr *handle, int status, const char *format, ...)
{
    char text[sizeof handle->error.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
#pragma omp critical(gpuirr_error)
    nbc_fail(&handle->error, status, "%s", text);
    return status;
}

/* The wanted backend, or the first that is available if `wanted` is NULL; -1: none of that name. */
static int find_backend(const char *wanted)
{
    const char *name;
    for (int k = 0; (name = gpuirr_backend_name(k)); k++)
        if (wanted ? strcmp(wanted, name) == 0 : gpuirr_backend(k)->available) return k;
    return -1;
}

static int choose_backend(const struct gpuirr_options *options, int *chosen, struct nbc_error *err)
{
    const char *wanted = options ? options->backend : NULL, *origin = "options.backend";
    if (!wanted || strcmp(wanted, "auto") == 0) {
        wanted = getenv("GPUIRR_BACKEND");
        origin = "the environment variable GPUIRR_BACKEND";
        if (wanted && (!*wanted || strcmp(wanted, "auto") == 0)) wanted = NULL;
    }
    int k = find_backend(wanted);
    if (k >= 0 && gpuirr_backend(k)->available) {
        *chosen = k;
        return NBC_OK;
    }
    if (k >= 0)
        return nbc_fail(err, NBC_UNAVAILABLE, "gpuirr_create: backend '%s' (from %s) is not available: %s", wanted,
                        origin, gpuirr_backend(k)->reason);
    char names[256] = "";
    for (int b = 0; gpuirr_backend_name(b); b++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", b ? ", " : "", gpuirr_backend_name(b));
    }
    return nbc_fail(err, NBC_UNAVAILABLE, "gpuirr_create: no backend is called '%s' (from %s); choose one of: %s",
                    wanted ? wanted : "", origin, names);
}

int gpuirr_create(gpuirr_t **handle, size_t n_max, const struct gpuirr_options *options, struct nbc_error *err)
{
    int k = 0;
    if (!handle || n_max < 1 || n_max > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpuirr_create: n_max is %zu, it must be 1 to %d%s", n_max, INT32_MAX,
                        handle ? "" : "; handle is NULL");
    int status = nbc_isa_check(err);
    if (!status) status = choose_backend(options, &k, err);
    if (status) return status;
    nbc_let_threads_sleep();
    struct nbc_error why = {0};
    struct gpuirr *h = nbc_alloc(1, sizeof *h);
    if (h) {
        h->n_max = n_max;
        h->pool.most = GPUIRR_POOL_MOST(n_max);
        h->ops = gpuirr_backend_ops(k);
        h->info = gpuirr_backend(k);
        h->list = nbc_alloc(n_max, sizeof *h->list);
        h->store = h->ops->open(n_max, &why);
    }
    if (!h || !h->list || !h->store) {
        gpuirr_free(h);
        if (why.status) return nbc_fail(err, why.status, "gpuirr_create: %s", why.text);
        return nbc_fail(err, NBC_NO_MEMORY, "gpuirr_create: not enough memory for %zu bodies", n_max);
    }
    *handle = h;
    return NBC_OK;
}

/* The parts grow one after another. A part that exceeds n_max, after a failure to enlarge another one, does no harm. */
int gpuirr_reserve(gpuirr_t *handle, size_t n_max)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (n_max > INT32_MAX)
        return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "gpuirr_reserve: n_max is %zu, it must be %d at most", n_max,
                           INT32_MAX);
    size_t n_old = handle->n_max;
    if (n_max <= n_old) return NBC_OK;
    struct gpuirr_list *list = nbc_realloc(handle->list, n_old, n_max, sizeof *list);
    if (list) handle->list = list;
    if (!list || (handle->kept.open && gpuirr_kept_reserve(&handle->kept, n_max)) ||
        handle->ops->grow(&handle->store, n_old, n_max))
        return gpuirr_fail(handle, NBC_NO_MEMORY,
                           "gpuirr_reserve: not enough memory for %zu bodies, there are %zu as before", n_max, n_old);
    handle->n_max = n_max;
    handle->pool.most = GPUIRR_POOL_MOST(n_max);
    return NBC_OK;
}

void gpuirr_free(gpuirr_t *handle)
{
    if (!handle) return;
    if (handle->list)
        for (size_t i = 0; i < handle->n_max; i++) gpuirr_list_clear(&handle->list[i]);
    nbc_free(handle->list);
    gpuirr_kept_free(&handle->kept);
    gpuirr_pool_free(&handle->pool);
    nbc_free(handle->fresh);
    gpuirr_holders_free(&handle->holders);
    handle->ops->close(handle->store);
    nbc_free(handle);
}

const struct gpuirr_backend_info *gpuirr_info(const gpuirr_t *handle)
{
    return handle ? handle->info : NULL;
}

const char *gpuirr_place(const gpuirr_t *handle)
{
    return handle->ops->place ? handle->ops->place(handle->store) : "the processor";
}

const char *gpuirr_last_error(const gpuirr_t *handle)
{
    return handle ? handle->error.text : "the handle is NULL";
}

void gpuirr_number_from(gpuirr_t *handle, int base)
{
    handle->base = base;
}

long long gpuirr_number(const struct gpuirr *handle, int64_t i)
{
    return (long long)i + handle->base;
}

int gpuirr_not_a_body(struct gpuirr *handle, const char *call, int64_t i)
{
    return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "%s: there is no body %lld, bodies are %lld to %lld", call,
                       gpuirr_number(handle, i), gpuirr_number(handle, 0),
                       gpuirr_number(handle, (int64_t)handle->n_max - 1));
}

static int check_finite(struct gpuirr *handle, size_t i, const char *name, int count, const double *value)
{
    for (int d = 0; d < count; d++) {
        if (isfinite(value[d])) continue;
        char element[16] = "";
        if (count > 1) snprintf(element, sizeof element, "[%d]", d);
        return gpuirr_fail(handle, NBC_NON_FINITE, "gpuirr_set_jp: body %lld: %s%s is %g; find out what made it so",
                           gpuirr_number(handle, (int64_t)i), name, element, value[d]);
    }
    return NBC_OK;
}

static int store_jp(struct gpuirr *handle, size_t i, const double x[3], const double v[3], const double acc[3],
                    const double jerk[3], double mass, double t0)
{
    struct gpuirr_state state = {.mass = mass, .t0 = t0};
    memcpy(state.x, x, sizeof state.x);
    memcpy(state.v, v, sizeof state.v);
    memcpy(state.acc, acc, sizeof state.acc);
    memcpy(state.jerk, jerk, sizeof state.jerk);
    handle->ops->set_jp(handle->store, i, &state);
    /* The stored prediction of this body is out of date: from now on all are predicted on the fly, to the same bits. */
    if (__atomic_load_n(&handle->predicted, __ATOMIC_RELAXED))
        __atomic_store_n(&handle->predicted, 0, __ATOMIC_RELAXED);
    return NBC_OK;
}

int gpuirr_set_jp(gpuirr_t *handle, size_t i, const double x[3], const double v[3], const double acc[3],
                  const double jerk[3], double mass, double t0)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (i >= handle->n_max) return gpuirr_not_a_body(handle, "gpuirr_set_jp", (int64_t)i);
    if (!x || !v || !acc || !jerk)
        return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "gpuirr_set_jp: body %lld: x, v, acc or jerk is NULL",
                           gpuirr_number(handle, (int64_t)i));
    double zero = 0 * mass + 0 * t0; /* otherwise the result is a NaN */
    for (int d = 0; d < 3; d++) zero += 0 * x[d] + 0 * v[d] + 0 * acc[d] + 0 * jerk[d];
    if (zero == 0) return store_jp(handle, i, x, v, acc, jerk, mass, t0);
    int status = check_finite(handle, i, "x", 3, x);
    if (!status) status = check_finite(handle, i, "v", 3, v);
    if (!status) status = check_finite(handle, i, "acc", 3, acc);
    if (!status) status = check_finite(handle, i, "jerk", 3, jerk);
    if (!status) status = check_finite(handle, i, "mass", 1, &mass);
    if (!status) status = check_finite(handle, i, "t0", 1, &t0);
    return status;
}

int gpuirr_check_active(struct gpuirr *handle, const char *call, size_t n_act, const int32_t *act)
{
    if (n_act && !act) return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "%s: act is NULL", call);
    uint32_t last = 0; /* negative numbers are large ones */
    for (size_t k = 0; k < n_act; k++) last = (uint32_t)act[k] > last ? (uint32_t)act[k] : last;
    if (last < handle->n_max) return NBC_OK;
    while (act[0] >= 0 && (size_t)act[0] < handle->n_max) act++;
    return gpuirr_not_a_body(handle, call, act[0]);
}

void gpuirr_get_stats(const gpuirr_t *handle, struct gpuirr_stats *stats)
{
    *stats = handle ? handle->stats : (struct gpuirr_stats){.calls = 0};
}

int gpuirr_set_in_double(gpuirr_t *handle, int in_double)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (in_double != 0 && in_double != 1)
        return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "gpuirr_set_in_double: in_double is %d, it must be 0 or 1",
                           in_double);
    handle->in_double = in_double;
    return NBC_OK;
}
