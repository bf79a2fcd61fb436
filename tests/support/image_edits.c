#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/image_edits.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/changed_bodies.h"
#include "nbody6/run/edit_systems.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

enum nb6_engine_choice image_edit_engine = NB6_ENGINE_EMULATED;
int64_t image_edit_quiet, image_edit_perturbed, image_edit_resolved;

nb6_t *image_edit_start(int binaries, struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config_with_binaries(&config, IMAGE_EDIT_SYSTEMS, binaries ? IMAGE_EDIT_BINARIES : 0);
    config.run.engine = image_edit_engine;
    config.run.dt_adjust = config.run.dt_output = IMAGE_EDIT_ADJUST;
    if (!binaries) config.pair.systems = 0;
    nb6_t *sim = cluster_start_model(&config, record);
    cluster_evolve(sim, 0.1);
    return sim;
}

int image_edit_evolve(nb6_t *sim, double t)
{
    struct nbc_error err = {0};
    return nb6_evolve(sim, t, &err);
}

static void count_changed(const nb6_t *sim, nb6_index i)
{
    const nb6_index body = nb6_body_with(sim, i);
    if (body == i)
        image_edit_resolved += nb6_is_resolved(&sim->subsystems, i);
    else if (nb6_subsystems_is_perturbed(&sim->subsystems, nb6_slot_of(sim, body)))
        image_edit_perturbed++;
    else
        image_edit_quiet++;
}

static int is_alone(const nb6_t *sim, nb6_index i)
{
    return nb6_body_with(sim, i) == i && !nb6_is_resolved(&sim->subsystems, i);
}

/* Stars of a change. */
struct request {
    int64_t n, name[IMAGE_EDIT_SYSTEMS];
    double mass[IMAGE_EDIT_SYSTEMS], v[IMAGE_EDIT_SYSTEMS][3];
};

/* Up to `most` of those that images take, a sudden change from the `from`-th star on. */
static struct request find_stars(nb6_t *sim, enum image_edit kind, int64_t most, int64_t from)
{
    static const double share[IMAGE_EDITS] = {0.01, 0.5, 0.1}, kick[3] = {0.3, -0.2, 0.4};
    struct request r = {.n = 0};
    image_edit_quiet = image_edit_perturbed = image_edit_resolved = 0;
    for (nb6_index i = kind == WIND ? 0 : (nb6_index)from; i < sim->n && r.n < most; i++) {
        if (kind == WIND ? !nb6_edit_systems_serve(sim, nb6_body_with(sim, i)) : !is_alone(sim, i)) continue;
        count_changed(sim, i);
        r.name[r.n] = sim->star[i].name;
        for (int d = 0; d < 3; d++) r.v[r.n][d] = kick[(i + d) % 3];
        r.mass[r.n++] = (1 - share[kind]) * sim->body[i].mass;
    }
    return r;
}

int image_edit_change_from(nb6_t *sim, enum image_edit kind, int64_t most, int64_t from, struct nbc_error *err)
{
    const struct request r = find_stars(sim, kind, most, from);
    return nb6_set_masses(sim, r.n, r.name, r.mass, kind == KICK ? r.v : NULL,
                          kind == WIND ? NB6_MASS_SLOW : NB6_MASS_SUDDEN, err);
}

int image_edit_change(nb6_t *sim, enum image_edit kind, int64_t most, struct nbc_error *err)
{
    return image_edit_change_from(sim, kind, most, 0, err);
}

void image_edit_make(nb6_t *sim, enum image_edit kind, int64_t most)
{
    struct nbc_error err = {0};
    if (image_edit_change(sim, kind, most, &err)) fail_msg("%s", err.text);
    assert_true(sim->engine_image.ahead);
}
