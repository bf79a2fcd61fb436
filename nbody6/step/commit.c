#include "nbody6/step/commit.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpunb/gpunb.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/corrected.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/galaxy_work.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"
#include "nbody6/state/touched.h"
#include "nbody6/step/corrector.h"
#include "nbody6/step/levels.h"

static void commit_body(struct nb6_sim *sim, int64_t member)
{
    int32_t i = sim->active.irr[member];
    struct nb6_corrected *c = &sim->active.corrected[member];
    if (sim->run.external.active) c->work = nb6_galaxy_work(sim, i, nb6_time_to_double(sim->active.t), c->x, c->v);
    nb6_commit_corrected(c, sim->active.t, sim->active.is_reg[member], &sim->body[i], &sim->star[i]);
}

static void count(struct nb6_sim *sim)
{
    const struct nb6_active *active = &sim->active;
    sim->run.counters.pairs_irr += (uint64_t)active->pairs_irr;
    sim->run.counters.steps_irr += (uint64_t)active->n_irr;
    sim->run.counters.steps_reg += (uint64_t)active->n_reg;
    sim->run.counters.blocks++;
    sim->run.counters.blocks_reg += active->n_reg > 0;
}

static void count_for_whom(struct nb6_sim *sim)
{
    const struct nb6_active *active = &sim->active;
    int64_t name[2] = {0, 0};
    for (int64_t member = 0; member < active->n_irr && member < 2; member++)
        name[member] = sim->star[active->irr[member]].name;
    nb6_stuck_count(&sim->book.stuck, sim->subsystems.n_source, active->n_irr, name[0], name[1]);
    nb6_stuck_order(&sim->book.stuck);
}

/* The states were checked before they came here, so a library can only refuse a body by an error of ours. */
static int report_refused(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nbc_error why = {0};
    int status = NBC_OK;
    for (int64_t member = 0; member < sim->active.n_irr && !status; member++)
        status = nb6_send_body(sim, sim->active.irr[member], &why);
    return nbc_fail(err, NBC_INTERNAL, "a corrected star was refused: %s", why.text);
}

/* Corrected bodies that a device fetches at once, while the host goes on; fewer wait for the next prediction. */
enum { WORTH_A_PUSH = 256 };

static int push(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = sim->active.n_irr < WORTH_A_PUSH ? NBC_OK : gpunb_push_jp(sim->reg);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(sim->reg)) : NBC_OK;
}

struct commitment {
    struct nb6_sim *sim;
    int refused;
};

static void commit_part(void *context, int part, int parts)
{
    struct commitment *job = context;
    int64_t first, end;
    int refused = 0;
    nbc_range(job->sim->active.n_irr, part, parts, &first, &end);
    for (int64_t member = first; member < end; member++) {
        commit_body(job->sim, member);
        refused |= nb6_send_body(job->sim, job->sim->active.irr[member], NULL) != NBC_OK;
    }
    if (refused) __atomic_store_n(&job->refused, 1, __ATOMIC_RELAXED);
}

/* In the order of the members, independent of threads. */
static int book_work(struct nb6_sim *sim, struct nbc_error *err)
{
    double sum = 0, magnitude = 0;
    if (!sim->run.external.active) return NBC_OK;
    for (int64_t member = 0; member < sim->active.n_irr; member++) {
        sum += sim->active.corrected[member].work;
        magnitude += fabs(sim->active.corrected[member].work);
    }
    return nb6_ledger_book_work(&sim->run.book.ledger, sum, magnitude, err);
}

int nb6_step_commit(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    double start = nbc_wtime();
    struct commitment job = {.sim = sim};
    count(sim);
    count_for_whom(sim);
    nbc_team_run(nbc_parts(active->n_irr, NB6_BODIES_OF_A_PART), commit_part, &job);
    for (int64_t member = 0; member < active->n_irr; member++) {
        nb6_touch(&sim->engine_image.touched, &sim->edits, active->irr[member]);
        nb6_schedule_set(sim->schedule, active->irr[member], active->corrected[member].level_irr);
    }
    sim->ti_now = active->t;
    sim->book.undecided = 1;
    int status = job.refused ? report_refused(sim, err) : push(sim, err);
    if (!status) status = book_work(sim, err);
    nb6_profile_stage(sim, NB6_STAGE_COMMIT, nbc_wtime() - start);
    return status;
}
