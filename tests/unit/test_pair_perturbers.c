/* Perturbers that are kept until a neighbour may have moved (fewbody/pairs/perturbers.h): they are nearly those that
 * would be chosen now, wherever the blocks are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/perturbers.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/view.h"
#include "tests/support/cluster.h"

struct seen {
    int64_t kept, chosen; /* lists that were and were not kept */
    double nearest;       /* of bodies in none of the kept lists: distance over the limit for perturbers */
};

static int is_perturber(const struct nb6_perturbers *pert, int32_t j)
{
    int64_t k = 0;
    while (k < pert->n && pert->body[k] != j) k++;
    return k < pert->n;
}

static double distance2(const nb6_t *sim, int32_t i, int32_t j)
{
    double x[3], y[3], v[3], r2 = 0;
    nb6_get_predicted(sim, i, sim->ti_now, x, v);
    nb6_get_predicted(sim, j, sim->ti_now, y, v);
    for (int d = 0; d < 3; d++) r2 += (y[d] - x[d]) * (y[d] - x[d]);
    return r2;
}

static void look_around(const nb6_t *sim, int64_t slot, struct seen *seen)
{
    const struct nb6_perturber_rule rule = nb6_pair_perturber_rule(sim, slot);
    size_t nnb = 0;
    const int32_t i = nb6_centre(sim, slot), *list = nb6_get_list(sim, i, &nnb);
    for (size_t k = 0; k < nnb; k++) {
        const double limit2 = nb6_perturber_limit2(&rule, sim->body[list[k]].mass);
        if (is_perturber(&sim->subsystems.pert[slot], list[k])) continue;
        seen->nearest = fmin(seen->nearest, sqrt(distance2(sim, i, list[k]) / limit2));
    }
}

static void look_at_all(const nb6_t *sim, struct seen *seen)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        if (!nb6_slot_is_used(p, slot) || nb6_goes_on_demand(p, slot) || p->pert[slot].n == 0 || p->system[slot].remote)
            continue;
        if (p->system[slot].t_check > nb6_time_to_double(sim->ti_now)) {
            seen->kept++;
            look_around(sim, slot, seen);
        } else {
            seen->chosen++;
        }
    }
}

/* Lists are chosen with the motion of a step ahead, and stay until a body may have moved by a twentieth of the
 * distance: a body left out may have come to 0.95 of the limit. Most of them are kept, or the test would prove
 * nothing. */
static void are_nearly_those_of_now(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        struct nb6_config config;
        struct nbc_error err = {0};
        struct seen seen = {.nearest = INFINITY};
        enum nb6_stop_reason reason = NB6_STOP_BLOCKS;
        cluster_config_with_binaries(&config, 200, 50);
        config.run.engine = e ? NB6_ENGINE_EMULATED : NB6_ENGINE_HOST;
        config.model.imf = NB6_IMF_KROUPA2001;
        nb6_t *sim = cluster_start_model(&config, NULL);
        cluster_evolve(sim, 0.001);
        while (reason != NB6_STOP_REACHED) {
            if (nb6_engines_advance(sim, sim->run.book.ti_next_adjust, 3, &reason, &err)) fail_msg("%s", err.text);
            if (nb6_bring_home(sim, &err)) fail_msg("%s", err.text);
            look_at_all(sim, &seen);
        }
        print_message("%d lists kept, %d not; the nearest of those left out at %.3f of the limit\n", (int)seen.kept,
                      (int)seen.chosen, seen.nearest);
        assert_true(seen.kept > 1000 && seen.kept > seen.chosen && seen.nearest > 0.95);
        nb6_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_nearly_those_of_now)};
    return cmocka_run_group_tests_name("pair_perturbers", tests, NULL, NULL);
}
