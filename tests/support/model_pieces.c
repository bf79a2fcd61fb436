#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "nbody6/model/model.h"
#include "nbody6/model/pieces.h"
#include "tests/support/model_pieces.h"

/* Bodies that are elsewhere: in a model in memory. */
static void *row_of(const struct nb6_model *m, enum nb6_model_column column, int64_t first, size_t *bytes)
{
    switch (column) {
    case NB6_MODEL_NAME:
        *bytes = sizeof *m->name;
        return m->name + first;
    case NB6_MODEL_MASS:
        *bytes = sizeof *m->mass;
        return m->mass + first;
    case NB6_MODEL_X:
        *bytes = sizeof *m->x;
        return m->x + first;
    default:
        *bytes = sizeof *m->v;
        return m->v + first;
    }
}

static void get(void *context, enum nb6_model_column column, int64_t first, int64_t count, void *rows)
{
    size_t bytes;
    const struct nb6_model *m = context;
    assert_true(first >= 0 && count > 0 && first + count <= m->n);
    const void *from = row_of(m, column, first, &bytes);
    memcpy(rows, from, (size_t)count * bytes);
}

static void put(void *context, enum nb6_model_column column, int64_t first, int64_t count, const void *rows)
{
    size_t bytes;
    const struct nb6_model *m = context;
    assert_true(first >= 0 && count > 0 && first + count <= m->n);
    void *to = row_of(m, column, first, &bytes);
    memcpy(to, rows, (size_t)count * bytes);
}

static struct nb6_model bodies_of(int64_t n)
{
    const size_t rows = (size_t)n;
    struct nb6_model m = {.n = n};
    m.name = nbc_alloc(rows, sizeof *m.name);
    m.mass = nbc_alloc(rows, sizeof *m.mass);
    m.x = nbc_alloc(rows, sizeof *m.x);
    m.v = nbc_alloc(rows, sizeof *m.v);
    assert_true(m.name && m.mass && m.x && m.v);
    return m;
}

/* bodies: of the model, which has none */
static int make(const struct nb6_config *config, int64_t n, int64_t piece, struct nb6_model *bodies,
                struct nb6_model *model, struct nbc_error *err)
{
    *bodies = bodies_of(n);
    const struct nb6_model_store store = {get, put, bodies, n, piece};
    const int status = nb6_model_make_in(config, &store, model, err);
    if (!status) {
        assert_ptr_equal(model->store, &store);
        model->store = NULL;
    }
    return status;
}

static void assert_same(const struct nb6_model *a, const struct nb6_model *bodies, const struct nb6_model *b)
{
    const size_t n = (size_t)a->n;
    assert_int_equal(b->n, a->n);
    assert_memory_equal(bodies->name, a->name, n * sizeof *a->name);
    assert_memory_equal(bodies->mass, a->mass, n * sizeof *a->mass);
    assert_memory_equal(bodies->x, a->x, n * sizeof *a->x);
    assert_memory_equal(bodies->v, a->v, n * sizeof *a->v);
    assert_true(a->rbar_pc == b->rbar_pc && a->zmbar_msun == b->zmbar_msun);
    assert_int_equal(a->data.units, b->data.units);
    assert_int_equal(a->data.ids_unused, b->data.ids_unused);
    assert_int_equal(a->data.columns_unused, b->data.columns_unused);
    assert_string_equal(a->data.format, b->data.format);
    assert_string_equal(a->data.units_text, b->data.units_text);
}

void model_pieces_assert_same(const struct nb6_config *config)
{
    struct nb6_model whole, bodies, model;
    struct nbc_error err = {0};
    int64_t n;
    if (nb6_model_make(config, &whole, &err)) fail_msg("%s", err.text);
    assert_int_equal(nb6_model_size(config, &n, &err), NBC_OK);
    assert_int_equal(n, whole.n);
    for (int64_t piece = 8; piece <= 1024; piece += 7 * piece) {
        if (make(config, n, piece, &bodies, &model, &err)) fail_msg("pieces of %d: %s", (int)piece, err.text);
        assert_same(&whole, &bodies, &model);
        nb6_model_free(&model);
        nb6_model_free(&bodies);
    }
    nb6_model_free(&whole);
}

void model_pieces_assert_refused(const struct nb6_config *config, const char *words)
{
    struct nb6_model whole, bodies = {0}, model;
    struct nbc_error err = {0}, other = {0};
    int64_t n;
    const int status = nb6_model_make(config, &whole, &err);
    int again = nb6_model_size(config, &n, &other);
    if (!again) again = make(config, n, 64, &bodies, &model, &other);
    nb6_model_free(&bodies);
    assert_int_not_equal(status, NBC_OK);
    assert_int_equal(again, status);
    if (!strstr(err.text, words) || !strstr(other.text, words))
        fail_msg("'%s' or '%s' does not say '%s'", err.text, other.text, words);
}

long model_pieces_fail_allocations(const struct nb6_config *config, void (*fail_at)(long k), const _Atomic long *left)
{
    struct nb6_model bodies, model;
    int64_t n;
    long failures = 0, is_over = 0;
    assert_int_equal(nb6_model_size(config, &n, NULL), NBC_OK);
    bodies = bodies_of(n);
    const struct nb6_model_store store = {get, put, &bodies, n, 64};
    for (long k = 0; !is_over; k++) {
        struct nbc_error err = {0};
        fail_at(k);
        int status = nb6_model_size(config, &n, &err);
        if (!status) status = nb6_model_make_in(config, &store, &model, &err);
        is_over = *left >= 0; /* it has not come so far */
        fail_at(-1);
        failures += status != NBC_OK;
        if (!status) nb6_model_free(&model);
        if (status) assert_int_equal(status, NBC_NO_MEMORY);
        if (status) assert_non_null(strstr(err.text, "memory"));
    }
    nb6_model_free(&bodies);
    return failures;
}

void model_pieces_assert_whole(const struct nb6_config *config)
{
    struct nbc_error err = {0};
    int64_t n = 1;
    if (nb6_model_size(config, &n, &err)) fail_msg("%s", err.text);
    assert_int_equal(n, 0);
}
