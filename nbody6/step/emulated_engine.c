/* The stages of a device engine in plain C. Its image is in memory too, apart from the state. */
#include "common/nbc.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/dev_image.h"
#include "nbody6/step/dev_state.h"
#include "nbody6/step/emulated_block.h"
#include "nbody6/step/engine.h"

static void release(struct nb6_sim *sim)
{
    if (sim->elsewhere.image) nb6_emulated_free(sim->elsewhere.image);
    nbc_free(sim->elsewhere.image);
    sim->elsewhere.image = NULL;
}

/* The image of an earlier import serves again if it has room. */
static struct nb6_dev *provide(struct nb6_sim *sim)
{
    struct nb6_dev *dev = sim->elsewhere.image;
    const struct nb6_dev_room room = nb6_dev_room_for(sim, dev ? dev->control->longest : 0);
    if (dev && nb6_dev_has_room(dev, &room)) return dev;
    release(sim);
    dev = nbc_alloc(1, sizeof *dev);
    if (dev && nb6_emulated_allocate(dev, room.stars, room.row)) return sim->elsewhere.image = dev;
    nbc_free(dev);
    return NULL;
}

static int import(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_dev *dev = provide(sim);
    if (!dev)
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the image of %lld stars in the emulated engine",
                        (long long)sim->n);
    nb6_dev_fill(sim, dev);
    return NBC_OK;
}

static int export(struct nb6_sim *sim, struct nbc_error *err)
{
    return nb6_dev_store(sim->elsewhere.image, sim, err);
}

static int refuse(const struct nb6_dev *dev, int64_t slot, struct nbc_error *err)
{
    const int irregular = (dev->flag[slot] & NB6_DEV_UNSOUND_IRR) != 0;
    return nb6_dev_refuse(dev, dev->irr[slot], irregular, &dev->corrected[slot], err);
}

static int advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err)
{
    struct nb6_dev *dev = sim->elsewhere.image;
    int64_t unsound = -1;
    dev->rules = nb6_dev_rules_of(sim);
    *reason = NB6_STOP_BLOCKS;
    for (int64_t done = 0; done < max_blocks && *reason == NB6_STOP_BLOCKS; done++) {
        nb6_profile_step_begins(sim);
        *reason = nb6_emulated_block(sim, dev, t_stop, &unsound);
        if (*reason != NB6_STOP_BLOCKS && *reason != NB6_STOP_ENCOUNTER) break;
        nb6_profile_elsewhere(sim, 1, dev->control->n_irr, dev->control->n_reg);
        nb6_profile_step_ends(sim);
        sim->elsewhere.ahead = 1;
    }
    if (sim->ti_reached < dev->control->ti_now) sim->ti_reached = dev->control->ti_now;
    return *reason == NB6_STOP_NON_FINITE ? refuse(dev, unsound, err) : NBC_OK;
}

const struct nb6_engine nb6_emulated_engine = {.name = "emulated",
                                               .knows = nb6_dev_knows,
                                               .import = import,
                                               .export = export,
                                               .advance = advance,
                                               .release = release};
