#include "tests/support/reuse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "nbody6/collisionless/owners.h"
#include "tests/support/collisionless.h"

struct nb6_collisionless_options reuse_options(enum nb6_collisionless_steps steps, int reuse)
{
    return (struct nb6_collisionless_options){
        .softening = REUSE_SOFTENING,
        .dt = steps == NB6_COLLISIONLESS_BLOCK ? 0.125 : 1.0 / 64,
        .steps = steps,
        .eta = 0.2,
        .engine = NB6_COLLISIONLESS_HOST,
        .reuse = reuse,
        .force = {.force_error = 1e-3, .leaf = 8, .walk = GPUNB_WALK_HYBRID, .backend = "portable"}};
}

/* Engines, the backends of their forces, and parts. */
static const struct {
    enum nb6_collisionless_engine engine;
    const char *backend;
    int parts;
} engines[] = {{NB6_COLLISIONLESS_HOST, "portable", 0},     {NB6_COLLISIONLESS_HOST, "emulated", 0},
               {NB6_COLLISIONLESS_EMULATED, "portable", 1}, {NB6_COLLISIONLESS_EMULATED, "emulated", 1},
               {NB6_COLLISIONLESS_EMULATED, "portable", 3}, {NB6_COLLISIONLESS_EMULATED, "emulated", 3}};
_Static_assert(sizeof engines / sizeof engines[0] == REUSE_ENGINES, "as many as the header says");

struct nb6_collisionless_options reuse_on_engine(struct nb6_collisionless_options options, int k)
{
    options.engine = engines[k].engine;
    options.parts = engines[k].parts;
    options.force.backend = engines[k].backend;
    return options;
}

struct cluster reuse_cold(int64_t n, uint64_t seed)
{
    struct cluster c = cluster_plummer(n, seed);
    memset(c.v, 0, (size_t)n * sizeof *c.v);
    for (int64_t i = 0; i < n / 20; i++) memcpy(c.x[n - 1 - i], c.x[i], sizeof c.x[i]);
    return c;
}

void reuse_assert_same(struct nb6_collisionless *a, struct nb6_collisionless *b)
{
    collisionless_assert_same(a, b);
    assert_memory_equal(&a->rebuild, &b->rebuild, sizeof a->rebuild);
    assert_int_equal(a->build_block, b->build_block);
    if (a->owners) {
        assert_int_equal(a->owners->divided, b->owners->divided);
        assert_memory_equal(a->owners->first, b->owners->first, sizeof a->owners->first);
        assert_memory_equal(a->owners->body, b->owners->body, (size_t)a->n * sizeof *a->owners->body);
    }
    if (a->rebuild.state != NB6_TREE_STANDS) return;
    assert_int_equal(a->kept.layout_block, a->build_block);
    assert_int_equal(b->kept.layout_block, b->build_block);
    assert_memory_equal(a->kept.order, b->kept.order, (size_t)a->n * sizeof *a->kept.order);
    assert_memory_equal(a->kept.cut, b->kept.cut, (size_t)a->n);
}
