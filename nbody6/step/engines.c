#include "nbody6/step/engines.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/block.h"
#include "nbody6/step/decide.h"
#include "nbody6/step/engine.h"

const struct nb6_engine *nb6_engine_wanted(const struct nb6_config *config)
{
    if (config->run.engine == NB6_ENGINE_DEVICE && nb6_device_engine) return nb6_device_engine;
    return config->run.engine == NB6_ENGINE_EMULATED ? &nb6_emulated_engine : &nb6_host_engine;
}

int nb6_engines_check(const struct nb6_config *config, struct nbc_error *err)
{
    if (config->run.engine != NB6_ENGINE_DEVICE) return NBC_OK;
    if (nb6_device_engine) return nb6_device_engine->check(err);
    return nbc_fail(err, NBC_UNAVAILABLE,
                    "ENGINE: this program was built without CUDA and has no device engine; --engine host does the same "
                    "run");
}

/* Import or export, and its time. */
static int move(struct nb6_sim *sim, int (*how)(struct nb6_sim *, struct nbc_error *), struct nbc_error *err)
{
    const double start = nbc_wtime();
    const int status = how(sim, err);
    nb6_profile_stage(sim, NB6_STAGE_MOVE, nbc_wtime() - start);
    return status;
}

int nb6_engines_bring_home(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_elsewhere *elsewhere = &sim->elsewhere;
    if (!elsewhere->ahead) return NBC_OK;
    int status = move(sim, nb6_engine_wanted(&sim->config)->export, err);
    if (status) return status;
    if (elsewhere->undecided) sim->book.undecided = 1;
    elsewhere->ahead = elsewhere->undecided = 0;
    elsewhere->edits = sim->edits;
    return NBC_OK;
}

void nb6_engines_release(struct nb6_sim *sim)
{
    if (sim->elsewhere.image) nb6_engine_wanted(&sim->config)->release(sim);
    sim->elsewhere = (struct nb6_elsewhere){0};
}

/* After a failure the state before the block is wanted, and the message is that of the failure. */
static int come_home_from(struct nb6_sim *sim, int status, struct nbc_error *err)
{
    struct nbc_error other = {0};
    const int home = nb6_engines_bring_home(sim, status ? &other : err);
    return status ? status : home;
}

/* What the last block brought, as nb6_step does it. */
static int decide(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = nb6_engines_bring_home(sim, err);
    return status || !sim->book.undecided ? status : nb6_step_decide_again(sim, err);
}

static int advance_elsewhere(struct nb6_sim *sim, const struct nb6_engine *engine, nb6_time t_stop, int64_t max_blocks,
                             enum nb6_stop_reason *reason, struct nbc_error *err)
{
    struct nb6_elsewhere *elsewhere = &sim->elsewhere;
    int status = NBC_OK;
    if (!elsewhere->ahead && (!elsewhere->image || elsewhere->edits != sim->edits)) {
        status = move(sim, engine->import, err);
        elsewhere->edits = sim->edits;
    }
    if (!status) status = engine->advance(sim, t_stop, max_blocks, reason, err);
    elsewhere->undecided = !status && *reason == NB6_STOP_ENCOUNTER;
    if (elsewhere->undecided) return decide(sim, err);
    if (!status && *reason != NB6_STOP_OVERFLOW) return NBC_OK;
    status = come_home_from(sim, status, err);
    elsewhere->edits = sim->edits - 1; /* the next import makes room */
    return status;
}

/* An image that is ahead is of a state that its engine knows. */
static int goes_elsewhere(struct nb6_sim *sim, const struct nb6_engine *engine)
{
    struct nb6_bookkeeping *book = &sim->book;
    const int64_t blocks = (int64_t)sim->counters.blocks;
    if (engine == &nb6_host_engine) return 0;
    if (sim->elsewhere.ahead) return 1;
    if (blocks < book->host_until) return 0;
    if (engine->knows(sim)) return 1;
    book->host_until = (blocks / NB6_BLOCKS_OF_HOST + 1) * NB6_BLOCKS_OF_HOST;
    return 0;
}

/* It has failed before, or it is the start, at which more is said and written of t = 0 before. */
static int is_to_decide(const struct nb6_sim *sim, nb6_time t_stop)
{
    if (sim->elsewhere.undecided) return 1;
    return sim->book.undecided && (sim->ti_now > 0 || nb6_block_next(sim) <= t_stop);
}

int nb6_engines_advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                        struct nbc_error *err)
{
    const struct nb6_engine *engine = nb6_engine_wanted(&sim->config);
    if (engine != &nb6_host_engine && is_to_decide(sim, t_stop)) {
        int status = decide(sim, err);
        if (status) return status;
    }
    if (goes_elsewhere(sim, engine)) return advance_elsewhere(sim, engine, t_stop, max_blocks, reason, err);
    return nb6_host_engine.advance(sim, t_stop, 1, reason, err);
}
