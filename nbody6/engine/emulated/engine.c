/* The emulated engine: the stages of a device engine in plain C. Its image is in host memory, apart from the state. */
#include "nbody6/engine/engine.h"
#include "common/nbc.h"
#include "device/device.h"
#include "gpunb/regf_device.h"
#include "nbody6/engine/emulated/begin.h"
#include "nbody6/engine/emulated/block.h"
#include "nbody6/engine/emulated/edit.h"
#include "nbody6/engine/emulated/field.h"
#include "nbody6/engine/emulated/part.h"
#include "nbody6/engine/emulated/survey.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/lists.h"
#include "nbody6/engine/stages/parcel.h"
#include "nbody6/engine/stages/room.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stages/synchronise.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"

#include <string.h>

struct emulated {
    struct nb6_dev dev;
    struct nbd_device device;
    struct nb6_emulated_forces forces; /* of blocks with many regular steps */
};

/* A device may fail at any time, as tests ask for (device/faults.h). */
static int check_device(const struct emulated *image, struct nbc_error *err)
{
    const int code = nbd_launch_fault();
    return code ? nbd_failed(&image->device, "a call", code, err) : NBC_OK;
}

static int fail_without_memory(const struct nb6_sim *sim, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the image of %lld stars in the emulated engine",
                    (long long)sim->n);
}

/* sim->engine_image.image, with nothing allocated yet. */
static int open_image(struct nb6_sim *sim, struct nbc_error *err)
{
    if (sim->engine_image.image) return NBC_OK;
    struct emulated *image = nbc_alloc(1, sizeof *image);
    if (!image) return fail_without_memory(sim, err);
    const int status = nbd_open(&image->device, nbd_emulated, 0, "the emulated engine", err);
    if (status)
        nbc_free(image);
    else
        sim->engine_image.image = image;
    return status;
}

static void release(struct nb6_sim *sim)
{
    struct emulated *image = sim->engine_image.image;
    if (image) nb6_emulated_forces_close(&image->forces); /* what is enqueued works on the image */
    if (image) nb6_emulated_free(&image->dev);
    nbc_free(image);
    sim->engine_image.image = NULL;
}

/* Reuse the image of an earlier import if it has room, also for rows of so many neighbours. */
static int provide(struct nb6_sim *sim, int64_t row, struct nbc_error *err)
{
    NBD_TRY(open_image(sim, err));
    struct emulated *image = sim->engine_image.image;
    struct nb6_dev *dev = &image->dev;
    const int64_t longest = dev->control ? dev->control->longest : 0;
    const struct nb6_dev_room room = nb6_dev_room_for(sim, longest > row ? longest : row);
    if (nb6_dev_has_room(dev, &room)) return NBC_OK;
    nb6_emulated_forces_close(&image->forces);
    nb6_emulated_free(dev);
    if (!nb6_emulated_allocate(dev, &room.wanted)) return fail_without_memory(sim, err);
    return nb6_emulated_forces_open(&image->forces, sim->reg, sim->run.config.integration.force_error, room.wanted.n,
                                    err);
}

static void prepare(struct nb6_sim *sim, int64_t row)
{
    if (provide(sim, row, NULL)) release(sim);
}

static int import_all(struct nb6_sim *sim, struct nbc_error *err)
{
    const int status = provide(sim, 0, err);
    if (status) release(sim);
    if (status) return status;
    struct emulated *image = sim->engine_image.image;
    struct nb6_dev *dev = &image->dev;
    nb6_dev_fill_bodies(sim, dev);
    (void)nb6_dev_fill_lists(sim, dev);
    for (int32_t i = 0; i < dev->n; i++) {
        nb6_dev_unpack_list(dev, i, 0, 1);
        nb6_dev_renew_predictor(dev, i);
    }
    return NBC_OK;
}

static int import(struct nb6_sim *sim, struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    sim->engine_image.is_part = image && nb6_emulated_import_part(sim, &image->dev);
    const int status = sim->engine_image.is_part ? NBC_OK : import_all(sim, err);
    if (status) return status;
    image = sim->engine_image.image;
    image->dev.leaving = nb6_dev_leaving(image->forces.reg, image->dev.n, image->device.multiprocessors);
    return check_device(image, err);
}

static void pack_lists(struct nb6_dev *dev)
{
    (void)nb6_dev_lay_out_lists(dev);
    for (int32_t i = 0; i < dev->n; i++) nb6_dev_settle_list(dev, i, 0, 0, 1);
    memset(dev->row_now, 0, (size_t)dev->n);
    dev->settled = 0;
    for (int32_t i = 0; i < dev->n; i++) nb6_dev_pack_list(dev, i, 0, 1);
}

static int export(struct nb6_sim *sim, struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    int status = check_device(image, err);
    if (status) return status;
    sim->engine_image.is_part = nb6_emulated_export_part(sim, &image->dev, &status, err);
    if (sim->engine_image.is_part) return status;
    pack_lists(&image->dev);
    return nb6_dev_store(&image->dev, sim, err);
}

static int report_non_finite(const struct nb6_dev *dev, int64_t member, struct nbc_error *err)
{
    const int irregular = (dev->flag[member] & NB6_DEV_UNSOUND_IRR) != 0;
    return nb6_dev_report_non_finite(dev, dev->irr[member], irregular, &dev->corrected[member], err);
}

static int advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    struct nb6_dev *dev = &image->dev;
    int64_t unsound = -1;
    *reason = NB6_STOP_DEVICE;
    int status = check_device(image, err);
    if (status) return status;
    dev->rules = nb6_dev_rules_of(sim);
    *reason = NB6_STOP_BLOCKS;
    max_blocks = nb6_stuck_most_blocks(&dev->control->stuck, max_blocks);
    for (int64_t done = 0; done < max_blocks && *reason == NB6_STOP_BLOCKS && !status; done++) {
        nb6_profile_step_begins(sim);
        *reason = nb6_emulated_block(sim, dev, &image->forces, t_stop, &unsound, &status, err);
        if (*reason != NB6_STOP_BLOCKS && *reason != NB6_STOP_ENCOUNTER) break;
        nb6_profile_image(sim, 1, dev->control->n_irr, dev->control->n_reg);
        nb6_profile_step_ends(sim);
        sim->engine_image.ahead = 1;
    }
    sim->engine_image.stuck_blocks = dev->control->stuck.blocks;
    if (sim->ti_reached < dev->control->ti_now) sim->ti_reached = dev->control->ti_now;
    if (!status) status = nb6_host_service_settle(sim, dev->control->ti_now, err);
    return *reason == NB6_STOP_NON_FINITE ? report_non_finite(dev, unsound, err) : status;
}

static int synchronise(struct nb6_sim *sim, const int32_t body[2], int *are_ready, struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    struct nb6_dev *dev = &image->dev;
    struct nb6_dev_synchronisation c = {.place = {dev->place_of[body[0]], dev->place_of[body[1]]}};
    int status = check_device(image, err);
    if (status) return status;
    c.level = nb6_dev_synchronise_level(dev, c.place);
    for (int m = 0; m < 2; m++) c.behind += !nb6_dev_is_synchronised(dev, c.place[m]);
    for (int32_t k = 0; k < dev->n; k++) {
        if (!nb6_dev_synchronise_includes(&c, k, nb6_dev_synchronise_sees(dev, &c, k, 0, 1))) continue;
        dev->irr[c.n++] = k;
        c.behind += !nb6_dev_is_synchronised(dev, k);
    }
    *are_ready = c.behind == 0;
    for (int m = 0; m < 2 && c.behind; m++) nb6_dev_synchronise_body(dev, c.place[m], c.level);
    for (int32_t m = 0; m < c.n && c.behind; m++) nb6_dev_synchronise_body(dev, dev->irr[m], c.level);
    return NBC_OK;
}

static int gather(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                  struct nb6_gathered *gathered, struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    const int status = check_device(image, err);
    return status ? status : nb6_emulated_gather(&image->dev, t, n, body, with_potentials, gathered, err);
}

static int field(struct nb6_sim *sim, nb6_time t, const struct nb6_field_points *points, struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    const int status = check_device(image, err);
    return status ? status : nb6_emulated_field(&image->dev, t, points, err);
}

static int disturb(struct nb6_sim *sim, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                   struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    const int status = check_device(image, err);
    return status ? status : nb6_emulated_disturb(&image->dev, edit, disturbed, err);
}

/* Watched bodies and systems before an edit.   @return NBC_OK; NBC_NO_MEMORY */
static int prepare_edit(struct nb6_sim *sim, struct emulated *image, const struct nb6_edit *edit, struct nbc_error *err)
{
    const int status = nb6_host_service_keep_watched(sim, &image->dev, err);
    return status || !edit->with_systems ? status : nb6_host_service_edit_systems(sim, &image->dev, err);
}

/* All memory comes first. */
static int change_masses(struct nb6_sim *sim, struct emulated *image, const struct nb6_edit *edit,
                         struct nbc_error *err)
{
    struct nb6_changed *changed = nbc_alloc_unset((size_t)edit->n, sizeof *changed);
    struct nb6_pulled *pulled = nbc_alloc_unset((size_t)edit->n_pulled, sizeof *pulled);
    int status = NBC_OK;
    if (!changed || !pulled)
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for a change of bodies in the emulated engine");
    if (!status) status = prepare_edit(sim, image, edit, err);
    if (!status) nb6_emulated_edit(&image->dev, edit, changed, pulled);
    nbc_free(changed);
    nbc_free(pulled);
    return status;
}

static int begin_anew(struct nb6_sim *sim, struct emulated *image, const struct nb6_edit *edit, struct nbc_error *err)
{
    struct nb6_emulated_beginning b = {.pairs = 0};
    int status = nb6_emulated_prepare_begin(sim, &image->dev, &image->forces, edit, &b, err);
    if (!status) status = prepare_edit(sim, image, edit, err);
    if (!status) nb6_emulated_begin(&image->dev, edit, &b);
    nb6_emulated_free_beginning(&b);
    return status;
}

static int edit(struct nb6_sim *sim, const struct nb6_edit *edit, struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    int status = check_device(image, err);
    image->dev.rules = nb6_dev_rules_of(sim);
    if (!status) status = edit->sudden ? begin_anew(sim, image, edit, err) : change_masses(sim, image, edit, err);
    if (!status) nb6_host_service_take_watched(sim, &image->dev);
    return status;
}

static int find_holders(const struct nb6_sim *sim, const nb6_index of[2], struct nb6_held held[2],
                        struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    const int status = check_device(image, err);
    return status ? status : nb6_emulated_find_holders(&image->dev, of, held, err);
}

static int renew(struct nb6_sim *sim, struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    nb6_dev_fill_systems(sim, &image->dev);
    return check_device(image, err);
}

static int answer(const struct nb6_sim *sim, struct nb6_dev_question *question, const struct nb6_dev_apart *apart,
                  double sum[NB6_DEV_SURVEY_SUMS], struct nbc_error *err)
{
    struct emulated *image = sim->engine_image.image;
    const int status = check_device(image, err);
    return status ? status : nb6_emulated_survey(sim, &image->dev, question, apart, sum, err);
}

static int sum_velocities(const struct nb6_sim *sim, nb6_time t, double sum[4], struct nbc_error *err)
{
    return nb6_dev_sum_velocities(sim, t, answer, sum, err);
}

static int sum_apart(const struct nb6_sim *sim, nb6_time t, int64_t n_out, const nb6_index *left_out, const double x[3],
                     const struct nb6_parts *parts, double *sum, struct nbc_error *err)
{
    return nb6_dev_sum_apart(sim, t, n_out, left_out, x, parts, answer, sum, err);
}

static int make_forces(const struct nb6_sim *sim, nb6_time t, const struct gpunb_regf_job *job, struct nbc_error *err)
{
    return nb6_dev_survey_forces(sim, t, job, answer, err);
}

static const struct nb6_survey survey = {
    .find_holders = find_holders, .sum_velocities = sum_velocities, .sum_apart = sum_apart, .make_forces = make_forces};

const struct nb6_engine nb6_emulated_engine = {.name = "emulated",
                                               .cost = NB6_DEVICE_COST,
                                               .supports = nb6_dev_supports,
                                               .prepare = prepare,
                                               .import = import,
                                               .export = export,
                                               .advance = advance,
                                               .synchronise = synchronise,
                                               .gather = gather,
                                               .field = field,
                                               .disturb = disturb,
                                               .edit = edit,
                                               .renew = renew,
                                               .survey = &survey,
                                               .release = release};
