#include "nbody6/state/profile.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"

#include <string.h>

int nb6_profile_size(uint64_t members)
{
    int size = 0;
    for (uint64_t most = 1; members > most && size < NB6_PROFILE_SIZES - 1; most *= 4) size++;
    return size;
}

void nb6_profile_range(int size, uint64_t *least, uint64_t *most)
{
    *least = size > 0 ? ((uint64_t)1 << (2 * size - 2)) + 1 : 1;
    *most = size < NB6_PROFILE_SIZES - 1 ? (uint64_t)1 << 2 * size : 0;
}

/* Present clock and counters, without the stages. */
static struct nb6_profile_row now(const struct nb6_sim *sim)
{
    const struct nb6_counters *c = &sim->run.counters;
    struct gpunb_stats reg;
    gpunb_get_stats(sim->reg, &reg);
    const struct nb6_profile *p = sim->profile;
    struct nb6_profile_row row = {.blocks = c->blocks + p->blocks_image,
                                  .steps_irr = c->steps_irr + p->steps_irr_image,
                                  .steps_reg = c->steps_reg + p->steps_reg_image,
                                  .wall_s = nbc_wtime(),
                                  .bytes_sent = reg.bytes_sent,
                                  .bytes_received = reg.bytes_received};
    sim->profile->counter->read(&row.calls);
    return row;
}

/* sum += sign row, sign = 1 or -1 */
static void add(struct nb6_profile_row *sum, const struct nb6_profile_row *row, int sign)
{
    const uint64_t s = (uint64_t)sign; /* modulo 2^64, as the sums are */
    sum->blocks += s * row->blocks;
    sum->steps_irr += s * row->steps_irr;
    sum->steps_reg += s * row->steps_reg;
    sum->calls.allocations += s * row->calls.allocations;
    sum->calls.bytes_cleared += s * row->calls.bytes_cleared;
    sum->calls.mallocs += s * row->calls.mallocs;
    sum->calls.bytes_malloc += s * row->calls.bytes_malloc;
    sum->calls.regions += s * row->calls.regions;
    sum->bytes_sent += s * row->bytes_sent;
    sum->bytes_received += s * row->bytes_received;
    sum->wall_s += sign * row->wall_s;
    for (int k = 0; k < NB6_STAGE_COUNT; k++) sum->stage_s[k] += sign * row->stage_s[k];
}

/* Work since the end of the last row. Counters identify the size of a block. */
static void close_row(struct nb6_sim *sim)
{
    struct nb6_profile *profile = sim->profile;
    const struct nb6_profile_row end = now(sim);
    struct nb6_profile_row done = end, *row = &profile->between;
    add(&done, &profile->before, -1);
    memcpy(done.stage_s, profile->stage_s, sizeof done.stage_s);
    memset(profile->stage_s, 0, sizeof profile->stage_s);
    if (done.blocks) row = &profile->block[done.steps_reg > 0][nb6_profile_size(done.steps_irr)];
    add(row, &done, 1);
    profile->before = end;
}

int nb6_profile_start(struct nb6_sim *sim, const struct nb6_call_counter *counter, struct nbc_error *err)
{
    if (!sim->profile) sim->profile = nbc_alloc(1, sizeof *sim->profile);
    if (!sim->profile) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a profile");
    *sim->profile = (struct nb6_profile){.counter = counter};
    sim->profile->before = now(sim);
    return NBC_OK;
}

const struct nb6_profile *nb6_profile_read(struct nb6_sim *sim)
{
    if (sim->profile) close_row(sim);
    return sim->profile;
}

struct nb6_profile_row nb6_profile_sum(const struct nb6_profile *profile)
{
    struct nb6_profile_row sum = {0};
    for (int regular = 0; regular < 2; regular++)
        for (int size = 0; size < NB6_PROFILE_SIZES; size++) add(&sum, &profile->block[regular][size], 1);
    return sum;
}

void nb6_profile_stage(struct nb6_sim *sim, enum nb6_stage stage, double seconds)
{
    sim->stage_s[stage] += seconds;
    if (sim->profile) sim->profile->stage_s[stage] += seconds;
}

void nb6_profile_count_move(struct nb6_sim *sim, int is_part)
{
    if (sim->profile && is_part) sim->profile->part_moves++;
    if (sim->profile && !is_part) sim->profile->moves++;
}

void nb6_profile_count_mass_change(struct nb6_sim *sim)
{
    if (sim->profile) sim->profile->mass_changes++;
}

void nb6_profile_step_begins(struct nb6_sim *sim)
{
    if (sim->profile && !sim->profile->paused) close_row(sim);
}

void nb6_profile_step_ends(struct nb6_sim *sim)
{
    if (!sim->profile) return;
    sim->profile->paused = sim->run.counters.blocks + sim->profile->blocks_image == sim->profile->before.blocks;
    if (!sim->profile->paused) close_row(sim);
}

void nb6_profile_image(struct nb6_sim *sim, int64_t blocks, int64_t steps_irr, int64_t steps_reg)
{
    if (!sim->profile) return;
    sim->profile->blocks_image += (uint64_t)blocks; /* modulo 2^64 */
    sim->profile->steps_irr_image += (uint64_t)steps_irr;
    sim->profile->steps_reg_image += (uint64_t)steps_reg;
}

void nb6_profile_recount(struct nb6_sim *sim)
{
    struct nb6_profile *profile = sim->profile;
    if (!profile) return;
    profile->blocks_image = profile->steps_irr_image = profile->steps_reg_image = 0;
    const struct nb6_profile_row row = now(sim);
    profile->before.blocks = row.blocks;
    profile->before.steps_irr = row.steps_irr;
    profile->before.steps_reg = row.steps_reg;
    profile->before.bytes_sent = row.bytes_sent;
    profile->before.bytes_received = row.bytes_received;
}
