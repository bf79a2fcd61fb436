#include "nbody6/engine/emulated/begin.h"

#include "common/team.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/image_begin.h"
#include "nbody6/engine/stages/parcel.h"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/rules.h"

enum { PLACES_OF_A_PART = 256, BODIES_OF_A_PART = 4 };

/* The work that a kernel of a device does for each of some items. */
struct work {
    const struct nb6_dev *dev;
    const struct nb6_dev_beginning *b;
    void (*make)(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t item);
    int64_t items;
};

static void work_part(void *context, int part, int parts)
{
    const struct work *job = context;
    int64_t first, end;
    nbc_range(job->items, part, parts, &first, &end);
    for (int64_t item = first; item < end; item++) job->make(job->dev, job->b, item);
}

static void work_on(struct work job, int64_t items_of_a_part)
{
    nbc_team_run(nbc_parts(job.items, items_of_a_part), work_part, &job);
}

/* ---- which bodies */

static struct nb6_changed *changed_of(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nbc_error *err)
{
    struct nb6_changed *changed = nbc_alloc_unset((size_t)edit->n, sizeof *changed);
    if (changed)
        nb6_dev_fill_changed(dev, edit, changed, NULL);
    else
        (void)nbc_fail(err, NBC_NO_MEMORY, "no memory for a change of bodies in the emulated engine");
    return changed;
}

static void look_at(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t i)
{
    const int is_disturbed = nb6_dev_is_disturbed(dev, b, (int32_t)i);
    dev->reg[i] = !is_disturbed ? NB6_DEV_GOES_ON : nb6_dev_can_begin(dev, (int32_t)i) ? 0 : NB6_DEV_HURRIES;
}

static void number(const struct nb6_dev *dev, const struct nb6_dev_edit *edit, struct nb6_disturbed *disturbed)
{
    disturbed->n = 0;
    for (int32_t i = 0; i < dev->n; i++) {
        if (dev->reg[i] < 0) continue;
        dev->reg[i] = (int32_t)disturbed->n;
        dev->irr[disturbed->n++] = i;
    }
    for (int32_t k = 0; k < edit->n; k++)
        if (dev->reg[edit->changed[k].body] == NB6_DEV_GOES_ON)
            dev->reg[edit->changed[k].body] = NB6_DEV_GOES_ON - 1 - k;
}

static double spread_of(const struct nb6_dev *dev, nb6_time t)
{
    double sum[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < dev->n; i++) nb6_dev_add_velocity(dev, i, t, sum);
    return nb6_dispersion((double)dev->n, sum);
}

int nb6_emulated_disturb(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                         struct nbc_error *err)
{
    struct nb6_changed *changed = changed_of(dev, edit, err);
    if (!changed) return NBC_NO_MEMORY;
    const struct nb6_dev_beginning b = {.edit = {edit->t, (int32_t)edit->n, changed, 0, NULL},
                                        .sudden = edit->sudden,
                                        .any_speed = nb6_dev_any_speed(edit)};
    work_on((struct work){dev, &b, look_at, dev->n}, PLACES_OF_A_PART);
    number(dev, &b.edit, disturbed);
    disturbed->spread = spread_of(dev, edit->t);
    nbc_free(changed);
    return NBC_OK;
}

/* ---- what may fail */

static int allocate(const struct nb6_dev *dev, struct nb6_emulated_forces *forces, const struct nb6_edit *edit,
                    struct nb6_emulated_beginning *b, struct nbc_error *err)
{
    const size_t n = (size_t)edit->disturbed.n;
    b->changed = changed_of(dev, edit, err);
    if (!b->changed) return NBC_NO_MEMORY;
    b->source = nbc_alloc_unset((size_t)nb6_dev_most_sources(edit->n), sizeof *b->source);
    b->with = (struct nb6_dev_beginning){.edit = {edit->t, (int32_t)edit->n, b->changed, 0, NULL},
                                         .sudden = edit->sudden,
                                         .n = edit->disturbed.n,
                                         .place = dev->irr,
                                         .role = dev->reg,
                                         .begun = nbc_alloc_unset(n, sizeof *b->with.begun),
                                         .asked = forces->asked,
                                         .again = forces->again,
                                         .asked_by = forces->target,
                                         .count = &b->count};
    if (b->source && b->with.begun) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for bodies that begin anew in the emulated engine");
}

static void predict_source(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t j)
{
    (void)b;
    nb6_dev_predict_source(dev, j);
}

static void set_sources(const struct nb6_dev *dev, const struct nb6_dev_beginning *b)
{
    dev->control->t = b->edit.t;
    work_on((struct work){dev, b, predict_source, nb6_dev_chunks(dev) * NB6_DEV_LANES}, PLACES_OF_A_PART);
    for (int32_t k = 0; k < b->edit.n; k++) nb6_dev_change_source(dev, b, k);
    work_on((struct work){dev, b, nb6_dev_stand, b->n}, PLACES_OF_A_PART);
}

/* Results of a round.   @return those that are asked for again */
static int64_t take_forces(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t n, int is_again)
{
    int64_t more = 0;
    for (int64_t m = 0; m < n; m++) {
        const int32_t k = is_again ? b->asked_by[m] : (int32_t)m;
        if (is_again) b->asked[k] = b->again[m];
        if (nb6_dev_accepts_first(dev, b, k, &b->asked[k])) {
            if (b->asked[k].count > b->count->longest) b->count->longest = b->asked[k].count;
            continue;
        }
        nb6_dev_ask_first(dev, b, k, &b->again[more]);
        b->asked_by[more++] = k;
    }
    b->count->overflows += (uint64_t)more;
    return more;
}

static int find_regular(const struct nb6_dev *dev, struct nb6_emulated_forces *forces, struct nb6_emulated_beginning *b,
                        struct nbc_error *err)
{
    struct nb6_dev own = *dev;
    own.pairs_by_tree = nb6_pairs_by_tree(forces->reg, b->with.n, dev->n);
    b->by_tree = own.pairs_by_tree > 0;
    dev->control->pairs_reg_block = 0;
    for (int64_t n = b->with.n, is_again = 0; n > 0; is_again = 1) {
        NBD_TRY(
            nb6_emulated_make_forces(forces, &own, is_again ? b->with.again : b->with.asked, n, (int)is_again, err));
        n = take_forces(dev, &b->with, n, (int)is_again);
    }
    b->pairs = (int64_t)dev->control->pairs_reg_block;
    if (b->count.longest <= dev->row_room) return NBC_OK;
    if (b->count.longest > dev->control->longest) dev->control->longest = b->count.longest;
    return nbc_fail(err, NBC_NB_OVERFLOW, "a list of %d neighbours does not fit its row", (int)b->count.longest);
}

static void find_irregular(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k)
{
    struct gpunb_dev_sum lanes[NB6_DEV_LANES];
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) nb6_dev_first_force_lane(dev, b, k, lane, &lanes[lane]);
    for (int half = NB6_DEV_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) gpunb_dev_add(&lanes[lane], &lanes[lane + half]);
    if (!nb6_dev_set_first_force(dev, b, k, &lanes[0]))
        __atomic_store_n(&b->count->unsound, 1 + b->place[k], __ATOMIC_RELAXED);
}

int nb6_emulated_prepare_begin(const struct nb6_sim *sim, const struct nb6_dev *dev, struct nb6_emulated_forces *forces,
                               const struct nb6_edit *edit, struct nb6_emulated_beginning *b, struct nbc_error *err)
{
    int status = allocate(dev, forces, edit, b, err);
    if (status) return status;
    b->with.rules = nb6_first_rules_of(sim, edit->t, edit->disturbed.spread);
    b->n_source = nb6_dev_fill_pulls(dev, edit, b->source);
    set_sources(dev, &b->with);
    status = find_regular(dev, forces, b, err);
    if (status) return status;
    work_on((struct work){dev, &b->with, find_irregular, b->with.n}, BODIES_OF_A_PART);
    return b->count.unsound ? nb6_dev_report_unsound(sim, dev, b->count.unsound - 1, err) : NBC_OK;
}

/* ---- what cannot */

struct losing {
    const struct nb6_dev *dev;
    const struct nb6_emulated_beginning *b;
};

static void lose_part(void *context, int part, int parts)
{
    const struct losing *job = context;
    int64_t first, end;
    nbc_range(job->dev->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        nb6_dev_lose_pulls(job->dev, job->b->with.edit.t, job->b->n_source, job->b->source, (int32_t)i);
        nb6_dev_renew_predictor(job->dev, i);
    }
}

static void find_derivatives(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t k)
{
    struct nb6_dev_derivatives lanes[NB6_DEV_LANES];
    for (int lane = 0; lane < NB6_DEV_LANES; lane++) nb6_dev_first_derivatives_lane(dev, b, k, lane, &lanes[lane]);
    for (int half = NB6_DEV_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) nb6_dev_add_derivatives(&lanes[lane], &lanes[lane + half]);
    nb6_dev_set_first_steps(dev, b, k, &lanes[0]);
}

static void hurry(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t i)
{
    nb6_dev_hurry(dev, b, (int32_t)i);
}

void nb6_emulated_begin(struct nb6_dev *dev, const struct nb6_edit *edit, const struct nb6_emulated_beginning *b)
{
    struct losing losing = {dev, b};
    nb6_dev_note_begun(dev->control, edit, b->pairs, b->by_tree, b->count.overflows);
    nbc_team_run(nbc_parts(dev->n, PLACES_OF_A_PART), lose_part, &losing);
    work_on((struct work){dev, &b->with, hurry, dev->n}, PLACES_OF_A_PART);
    for (int64_t k = 0; k < b->with.n; k++) nb6_dev_take_begun(dev, &b->with, k);
    for (int32_t k = 0; k < edit->n; k++) nb6_dev_take_mass(dev, &b->with, k);
    work_on((struct work){dev, &b->with, find_derivatives, b->with.n}, BODIES_OF_A_PART);
}

void nb6_emulated_free_beginning(struct nb6_emulated_beginning *b)
{
    nbc_free(b->changed);
    nbc_free(b->source);
    nbc_free(b->with.begun);
}
