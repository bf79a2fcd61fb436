#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "tests/support/collisionless.h"

static int create(const struct cluster *c, const struct nb6_collisionless_options *options,
                  struct nb6_collisionless **s, struct nbc_error *err)
{
    return nb6_collisionless_create(s, c->n, NULL, c->mass, (const double(*)[3])c->x, (const double(*)[3])c->v, options,
                                    err);
}

struct nb6_collisionless *collisionless_start(const struct cluster *c, const struct nb6_collisionless_options *options)
{
    struct nbc_error err = {0};
    struct nb6_collisionless *s = NULL;
    if (create(c, options, &s, &err)) fail_msg("%s", err.text);
    return s;
}

void collisionless_evolve(struct nb6_collisionless *s, double t)
{
    struct nbc_error err = {0};
    if (nb6_collisionless_evolve(s, t, &err)) fail_msg("%s", err.text);
    assert_true(nb6_collisionless_time(s) == t);
}

void collisionless_home(struct nb6_collisionless *s)
{
    struct nbc_error err = {0};
    if (nb6_collisionless_home(s, &err)) fail_msg("%s", err.text);
}

void collisionless_assert_same(struct nb6_collisionless *a, struct nb6_collisionless *b)
{
    const size_t n = (size_t)a->n;
    collisionless_home(a);
    collisionless_home(b);
    assert_int_equal(a->ti_now, b->ti_now);
    assert_int_equal(a->n_blocks, b->n_blocks);
    assert_int_equal(a->n_steps, b->n_steps);
    assert_memory_equal(a->x0, b->x0, n * sizeof *a->x0);
    assert_memory_equal(a->v, b->v, n * sizeof *a->v);
    assert_memory_equal(a->acc, b->acc, n * sizeof *a->acc);
    assert_memory_equal(a->level, b->level, n * sizeof *a->level);
}

void collisionless_end_alike(struct nb6_collisionless *a, struct nb6_collisionless *b, double t)
{
    collisionless_evolve(a, t);
    collisionless_evolve(b, t);
    collisionless_assert_same(a, b);
    nb6_collisionless_free(a);
    nb6_collisionless_free(b);
}

void collisionless_refuse(const struct cluster *c, const struct nb6_collisionless_options *options, int status,
                          const char *words)
{
    struct nbc_error err = {0};
    struct nb6_collisionless *s = NULL;
    assert_int_equal(create(c, options, &s, &err), status);
    assert_null(s);
    if (!strstr(err.text, words)) fail_msg("'%s' does not say '%s'", err.text, words);
}

long collisionless_allocations(const struct cluster *c, const struct nb6_collisionless_options *options, double t,
                               void (*let_fail)(long k))
{
    for (long k = 0;; k++) {
        struct nbc_error err = {0};
        struct nb6_collisionless *s = NULL;
        let_fail(k);
        const int status = nb6_collisionless_create(&s, c->n, NULL, c->mass, (const double(*)[3])c->x,
                                                    (const double(*)[3])c->v, options, &err);
        let_fail(-1);
        if (!status) {
            collisionless_evolve(s, t);
            nb6_collisionless_free(s);
            return k;
        }
        /* An emulated device needs memory to take a kernel, too. */
        if (options->engine != NB6_COLLISIONLESS_EMULATED || status != NBC_DEVICE)
            assert_int_equal(status, NBC_NO_MEMORY);
        assert_null(s);
        assert_non_null(strstr(err.text, "memory"));
    }
}
