#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/image_check.h"

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

/* All that forces, levels and lists depend on. The host sends the radii of systems that it moves with each step, and
 * has the times of their checks. */
static void assert_same_image(const struct nb6_dev *a, const struct nb6_dev *b)
{
    const size_t n = (size_t)a->n;
    assert_true(a->n == b->n && a->first_centre == b->first_centre);
    assert_memory_equal(a->body, b->body, n * sizeof *a->body);
    assert_memory_equal(a->star, b->star, n * sizeof *a->star);
    assert_memory_equal(a->predictor, b->predictor, n * sizeof *a->predictor);
    assert_memory_equal(a->level, b->level, n);
    assert_memory_equal(a->watch, b->watch, n);
    assert_int_equal(a->control->ti_now, b->control->ti_now);
    assert_int_equal(a->control->n_ask, b->control->n_ask);
    assert_memory_equal(a->ask, b->ask, (size_t)a->control->n_ask * sizeof *a->ask);
    assert_true(a->control->t_ask == b->control->t_ask);
    for (int64_t k = 0; k < a->n - a->first_centre; k++) {
        const struct nb6_dev_system *of_a = &a->system[k], *of_b = &b->system[k];
        if (!(a->watch[a->first_centre + k] & (NB6_DEV_QUIET | NB6_DEV_REMOTE))) continue;
        assert_true(of_a->radius == of_b->radius && of_a->t_check == of_b->t_check);
        assert_memory_equal(&of_a->perturber, &of_b->perturber, sizeof of_a->perturber);
        assert_memory_equal(&a->remote[k], &b->remote[k], sizeof a->remote[k]);
    }
    for (int32_t i = 0; i < a->n; i++)
        assert_memory_equal(nb6_dev_list(a, i), nb6_dev_list(b, i), (size_t)a->star[i].nnb * sizeof *a->row);
}

/* The emulated engine has its image first in what it keeps. */
void cluster_assert_image_is_an_import(nb6_t *sim)
{
    struct nbc_error err = {0};
    nb6_t *again = cluster_through_checkpoint(sim);
    if (nb6_emulated_engine.import(again, &err)) fail_msg("%s", err.text);
    assert_same_image(sim->engine_image.image, again->engine_image.image);
    again->engine_image.owner = &nb6_emulated_engine;
    nb6_free(again);
}

void cluster_assert_records_of_all_systems(nb6_t *sim)
{
    struct nb6_dev *image = sim->engine_image.image; /* it begins with it */
    const size_t systems = (size_t)(image->n - image->first_centre);
    struct nb6_dev_system *system = nbc_alloc(systems, sizeof *system);
    struct nb6_remote *remote = nbc_alloc(systems, sizeof *remote);
    assert_true(system && remote);
    memcpy(system, image->system, systems * sizeof *system);
    memcpy(remote, image->remote, systems * sizeof *remote);
    nb6_host_service_fill(sim, image);
    assert_memory_equal(system, image->system, systems * sizeof *system);
    assert_memory_equal(remote, image->remote, systems * sizeof *remote);
    nbc_free(system);
    nbc_free(remote);
}
