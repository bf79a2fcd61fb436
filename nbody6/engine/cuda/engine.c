/* The device engine: bodies are on a GPU, and block steps are advanced there (cuda/block.cuh). A second image in host
 * memory is the way in and out for the state, and holds the members that the host service reads (cuda/host.c). */
#include "nbody6/engine/engine.h"
#include "common/nbc.h"
#include "common/team.h"
#include "device/gate.h"
#include "gpunb/regf_device.h"
#include "nbody6/engine/cuda/begin.h"
#include "nbody6/engine/cuda/edit.h"
#include "nbody6/engine/cuda/field.h"
#include "nbody6/engine/cuda/host.h"
#include "nbody6/engine/cuda/leave.h"
#include "nbody6/engine/cuda/lists.h"
#include "nbody6/engine/cuda/memory.h"
#include "nbody6/engine/cuda/part.h"
#include "nbody6/engine/cuda/survey.h"
#include "nbody6/engine/cuda/synchronise.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/room.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"

#include <pthread.h>
#include <string.h>

/* ---- opening and closing */

/* The stream, for launches. */
static cudaStream_t stream_of(const struct nb6_device *d)
{
    return (cudaStream_t)d->stream;
}

/* Wait for the thread that allocates the image. */
static void wait_until_prepared(struct nb6_device *d)
{
    if (d->is_preparing) pthread_join(d->thread, NULL);
    d->is_preparing = 0;
}

static void release(struct nb6_sim *sim)
{
    struct nb6_device *d = sim->engine_image.image;
    if (!d) return;
    wait_until_prepared(d);
    nb6_device_free(d);
    if (d->owns_reg) gpunb_free(d->reg);
    nbd_free(&d->device, NBD_ON_DEVICE, d->control_block);
    nbd_free(&d->device, NBD_ON_DEVICE, d->sync);
    nbd_buffer_release(&d->device, &d->edit_there);
    nbd_buffer_release(&d->device, &d->edit_here);
    nbd_buffer_release(&d->device, &d->part_there);
    nbd_buffer_release(&d->device, &d->part_here);
    nbd_buffer_release(&d->device, &d->news_there);
    nbd_buffer_release(&d->device, &d->news_here);
    nbd_buffer_release(&d->device, &d->survey_there);
    nbd_buffer_release(&d->device, &d->survey_here);
    nbd_stream_close(&d->device, d->stream);
    nbc_free(d);
    sim->engine_image.image = NULL;
}

/* Also checks whether the kernels are compiled for this GPU. */
static int check_device(struct nbc_error *err)
{
    struct nb6_device_size size = {0};
    const char *why;
    if (nbd_count(nbd_cuda, &why) == 0) return nbc_fail(err, NBC_UNAVAILABLE, "there is no GPU to use here (%s)", why);
    const cudaError_t code = nb6_device_size_of(0, &size);
    cudaGetLastError(); /* clear the error, or a later call would report it */
    if (code == cudaSuccess && size.blocks > 0) return NBC_OK;
    return nbc_fail(err, NBC_UNAVAILABLE, "there is no GPU to use here (%s)",
                    code != cudaSuccess ? cudaGetErrorString(code) : "thread blocks cannot wait for each other on it");
}

/* The library that makes the forces of blocks that leave: that of the run, or, if this is on the processor, one of our
 * own on the first GPU. */
static int open_forces(struct nb6_device *d, gpunb_t *reg, double force_error, struct nbc_error *err)
{
    const int room = sizeof d->gpus / sizeof *d->gpus, found = gpunb_gpus(reg, room, d->gpus);
    const struct gpunb_options options = {.backend = "cuda:0", .force_error = force_error};
    d->reg = reg;
    d->n_gpus = found < room ? found : room;
    if (found > 0) return NBC_OK;
    const int status = gpunb_create(&d->reg, 1, &options, err);
    d->owns_reg = status == NBC_OK;
    d->n_gpus = 1;
    return status;
}

/* The GPU that holds bodies: the first of the GPUs of regular forces; without these, the first of all. */
static int open_gpu(struct nb6_device *d, gpunb_t *reg, double force_error, struct nbc_error *err)
{
    void *control_block, *sync;
    NBD_TRY(open_forces(d, reg, force_error, err));
    NBD_TRY(nbd_open(&d->device, nbd_cuda, d->gpus[0], "the device engine", err));
    NBD_LAUNCH(err, &d->device, nb6_device_size_of(d->device.number, &d->size));
    if (d->size.blocks == 0)
        return nbc_fail(err, NBC_UNAVAILABLE,
                        "the device engine needs a GPU whose thread blocks can wait for each other (cooperative "
                        "launch); use --engine host");
    NBD_TRY(nbd_stream_open(&d->device, NBD_MIDDLE, &d->stream, err));
    NBD_TRY(nbd_alloc(&d->device, NBD_ON_DEVICE, sizeof *d->control_block, &control_block, err));
    d->control_block = control_block;
    NBD_TRY(nbd_alloc(&d->device, NBD_ON_DEVICE, sizeof *d->sync, &sync, err));
    d->sync = sync;
    return NBC_OK;
}

/* sim->engine_image.image, with nothing allocated yet. */
static int open_device(struct nb6_sim *sim, struct nbc_error *err)
{
    if (sim->engine_image.image) return NBC_OK;
    struct nb6_device *d = nbc_alloc(1, sizeof *d);
    if (!d) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the device engine");
    sim->engine_image.image = d;
    const int status = open_gpu(d, sim->reg, sim->run.config.integration.force_error, err);
    if (status) release(sim);
    return status;
}

static int provide(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = open_device(sim, err);
    if (status) return status;
    struct nb6_device *d = sim->engine_image.image;
    wait_until_prepared(d);
    NBD_TRY(nbd_use(&d->device, err));
    const struct nb6_dev_room room = nb6_dev_room_for(sim, d->home.control ? d->home.control->longest : 0);
    if (!nb6_dev_has_room(&d->home, &room)) {
        status = nb6_device_make_ready(d, room.wanted.n, err);
        if (!status) status = nb6_device_allocate(d, &room.wanted, err);
    }
    if (status) release(sim);
    return status;
}

static void *make_room(void *device)
{
    struct nb6_device *d = device;
    nbc_team_leave(); /* other threads make forces with the device */
    if (!nbd_use(&d->device, NULL)) (void)nb6_device_allocate(d, &d->wanted, NULL);
    return NULL;
}

/* ---- functions of the contract */

/* Memory that the device maps has to be pinned, page by page. */
static void prepare(struct nb6_sim *sim, int64_t row)
{
    if (open_device(sim, NULL)) return;
    struct nb6_device *d = sim->engine_image.image;
    if (d->is_preparing || d->home.control) return;
    d->wanted = nb6_dev_room_for(sim, row).wanted;
    if (nb6_device_make_ready(d, d->wanted.n, NULL)) return;
    d->is_preparing = pthread_create(&d->thread, NULL, make_room, d) == 0;
}

static int import_all(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = provide(sim, err);
    if (status) return status;
    struct nb6_device *d = sim->engine_image.image;
    nb6_dev_fill_bodies(sim, &d->home);
    nb6_device_follow_home(d);
    d->there.settled = 0;
    status = nb6_device_copy_records(d, NB6_TO_DEVICE, err);
    if (!status) status = nb6_device_hide_bodies(d, err);
    if (status) return status;
    const int64_t numbers = nb6_dev_fill_lists(sim, &d->home); /* while the records are copied */
    return nb6_device_copy_lists(d, numbers, NB6_TO_DEVICE, err);
}

static int import(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    if (d && !d->is_preparing) {
        NBD_TRY(nbd_use(&d->device, err));
        NBD_TRY(nb6_device_import_part(sim, d, &sim->engine_image.is_part, err));
    }
    return sim->engine_image.is_part ? NBC_OK : import_all(sim, err);
}

/* A copy that has ended when the function returns. */
static int copy_now(struct nb6_device *d, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    NBD_TRY(nbd_copy(&d->device, d->stream, to, from, bytes, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

/* A store that succeeds, or fails after it has begun to write, is recorded on the device too: counters are added
 * once. */
static int export_all(struct nb6_sim *sim, struct nb6_device *d, struct nbc_error *err)
{
    NBD_LAUNCH(err, &d->device, nb6_device_settle_lists(&d->there, 0, stream_of(d)));
    d->there.settled = 0;
    int status = nb6_device_copy_records(d, NB6_FROM_DEVICE, err);
    if (status) return status;
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    status = nb6_device_copy_lists(d, nb6_dev_lay_out_lists(&d->home), NB6_FROM_DEVICE, err);
    if (status) return status;
    status = nb6_dev_store(&d->home, sim, err);
    const int sent = copy_now(d, d->there.control, d->home.control, sizeof *d->home.control, status ? NULL : err);
    return status ? status : sent;
}

static int export(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    if (d->is_lost) return nbc_fail(err, NBC_DEVICE, "the device engine: the blocks of a kernel that failed are lost");
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(nb6_device_export_part(sim, d, &sim->engine_image.is_part, err));
    return sim->engine_image.is_part ? NBC_OK : export_all(sim, d, err);
}

/* @param[in] unsound  2^32 body + number of the member to report */
static int report_non_finite(struct nb6_device *d, int64_t unsound, struct nbc_error *err)
{
    struct nb6_dev *h = &d->home;
    const struct nb6_dev *t = &d->there;
    const int32_t i = (int32_t)(unsound >> 32), member = (int32_t)(unsound & 0xffffffff);
    struct nb6_corrected corrected;
    int8_t flag;
    NBD_TRY(copy_now(d, &flag, &t->flag[member], sizeof flag, err));
    NBD_TRY(copy_now(d, &corrected, &t->corrected[member], sizeof corrected, err));
    NBD_TRY(copy_now(d, &h->star[i], &t->star[i], sizeof *h->star, err));
    return nb6_dev_report_non_finite(h, i, (flag & NB6_DEV_UNSOUND_IRR) != 0, &corrected, err);
}

/* GPUs of a run: the one that advances blocks, and those that help with forces. Of two runs of a process, one at a
 * time has a GPU: the work of its kernels is in constant memory, which is there once (cuda/constant.cuh). */
static uint64_t gpus_of(const struct nb6_device *d)
{
    uint64_t gpus = 0;
    for (int k = 0; k < d->n_gpus; k++)
        gpus |= nbd_gate_bit(&(struct nbd_device){.kind = nbd_cuda, .number = d->gpus[k]});
    return gpus;
}

/* Report of the kernel: reason, unsound member, counts. */
static int fetch_control_block(struct nb6_device *d, struct nb6_device_control_block *control_block,
                               struct nbc_error *err)
{
    NBD_TRY(nbd_copy(&d->device, d->stream, control_block, d->control_block, sizeof *control_block, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, d->home.control, d->there.control, sizeof *d->home.control, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    return NBC_OK;
}

/* Run the kernel, and answer its questions meanwhile; run it again after each block that leaves it. A failure of the
 * host is the status of all these kernels. */
static int run(struct nb6_sim *sim, struct nb6_device *d, nb6_time t_stop, int64_t max_blocks,
               struct nb6_device_control_block *control_block, double *seconds, struct nbc_error *err)
{
    const double begun = nbc_wtime();
    if (d->mailbox) {
        d->mailbox->asked = d->mailbox->answered = 0;
        d->mailbox->noted = d->mailbox->noted_by_notifier = d->mailbox->taken = 0;
        d->mailbox->has_failed = 0;
        d->mailbox->reached = d->home.control->ti_now;
    }
    NBD_TRY(nbd_copy(&d->device, d->stream, d->control_block, control_block, sizeof *control_block, err));
    NBD_LAUNCH(err, &d->device,
               nb6_device_run(&d->there, d->control_block, t_stop, max_blocks, d->size.blocks, stream_of(d)));
    int status = NBC_OK;
    while (status != NBC_DEVICE) {
        if (d->seen_at.mailbox) status = nb6_device_answer(sim, &d->home, d, begun, status, seconds, err);
        if (status == NBC_DEVICE) break;
        const int fetched = fetch_control_block(d, control_block, err);
        if (fetched) return fetched;
        if (control_block->verdict != NB6_DEVICE_LEAVES) break;
        NBD_TRY(nb6_device_leave(d, control_block, err));
        NBD_LAUNCH(err, &d->device,
                   nb6_device_run(&d->there, d->control_block, t_stop, max_blocks, d->size.blocks, stream_of(d)));
    }
    return status;
}

static int advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    struct nb6_device_control_block control_block = {.verdict = NB6_DEVICE_GO_ON,
                                                     .unsound = INT64_MAX,
                                                     .unsound_reg = INT64_MAX,
                                                     .home = d->seen_at,
                                                     .run = d->there.control};
    const uint64_t before = d->home.control->blocks;
    const double start = nbc_wtime();
    double of_host = 0;
    *reason = NB6_STOP_DEVICE;
    d->there.rules = nb6_dev_rules_of(sim);
    max_blocks = nb6_stuck_most_blocks(&d->home.control->stuck, max_blocks);
    NBD_TRY(nbd_use(&d->device, err));
    nbd_gate_take(gpus_of(d));
    int status = run(sim, d, t_stop, max_blocks, &control_block, &of_host, err);
    if (!status && control_block.verdict == NB6_STOP_DEVICE)
        status = nbc_fail(err, NBC_DEVICE, "the device engine: the constants of the kernels are those of another run");
    if (status == NBC_DEVICE && d->mailbox) /* release kernels that wait for another one */
        __atomic_store_n(&d->mailbox->has_failed, 1, __ATOMIC_RELEASE);
    nbd_gate_give_back(gpus_of(d));
    if (status == NBC_DEVICE) d->is_lost = 1;
    if (status == NBC_DEVICE) return status;
    nb6_profile_stage(sim, NB6_STAGE_DEVICE, nbc_wtime() - start - of_host);
    *reason = (enum nb6_stop_reason)control_block.verdict;
    if (d->home.control->blocks > before) sim->engine_image.ahead = 1;
    sim->engine_image.stuck_blocks = d->home.control->stuck.blocks;
    if (sim->ti_reached < d->home.control->ti_now) sim->ti_reached = d->home.control->ti_now;
    nb6_host_service_cancel(sim); /* of a block that was discarded */
    const int settled = status ? status : nb6_host_service_settle(sim, d->home.control->ti_now, err);
    if (settled) return settled;
    if (*reason != NB6_STOP_NON_FINITE) return NBC_OK;
    return report_non_finite(d, control_block.unsound != INT64_MAX ? control_block.unsound : control_block.unsound_reg,
                             err);
}

/* Synchronised bodies differ from the host copy. */
static void note_synchronised(struct nb6_dev *home, int32_t place)
{
    if (home->shown[place] == NB6_DEV_HIDDEN) home->shown[place] = NB6_DEV_ALONE;
}

static int synchronise(struct nb6_sim *sim, const int32_t body[2], int *are_ready, struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    struct nb6_dev *h = &d->home;
    struct nb6_dev_synchronisation c = {.place = {h->place_of[body[0]], h->place_of[body[1]]}};
    NBD_TRY(nbd_use(&d->device, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, d->sync, &c, sizeof c, err));
    NBD_LAUNCH(err, &d->device, nb6_device_synchronise(&d->there, d->sync, stream_of(d)));
    NBD_TRY(nbd_copy(&d->device, d->stream, &c, d->sync, sizeof c, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    *are_ready = c.behind == 0;
    if (*are_ready) return NBC_OK;
    if (!d->mailbox)
        return nbc_fail(err, NBC_DEVICE, "the device engine: it has no memory of the host for who is called");
    int32_t *bodies = d->mailbox->member; /* free: there is no question now */
    NBD_TRY(copy_now(d, bodies, d->there.irr, (size_t)c.n * sizeof *bodies, err));
    for (int m = 0; m < 2; m++) note_synchronised(h, c.place[m]);
    for (int32_t m = 0; m < c.n; m++) note_synchronised(h, bodies[m]);
    return NBC_OK;
}

static int gather(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                  struct nb6_gathered *gathered, struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    NBD_TRY(nbd_use(&d->device, err));
    return nb6_device_gather(d, t, n, body, with_potentials, gathered, err);
}

static int field(struct nb6_sim *sim, nb6_time t, const struct nb6_field_points *points, struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    NBD_TRY(nbd_use(&d->device, err));
    return nb6_device_field(d, t, points, err);
}

static int disturb(struct nb6_sim *sim, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                   struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    NBD_TRY(nbd_use(&d->device, err));
    return nb6_device_disturb(d, edit, disturbed, err);
}

static int edit(struct nb6_sim *sim, const struct nb6_edit *edit, struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    NBD_TRY(nbd_use(&d->device, err));
    if (!edit->sudden) return nb6_device_edit(sim, d, edit, err);
    d->there.rules = nb6_dev_rules_of(sim);
    nbd_gate_take(gpus_of(d));
    const int status = nb6_device_begin(sim, d, edit, err);
    nbd_gate_give_back(gpus_of(d));
    return status;
}

static int find_holders(const struct nb6_sim *sim, const nb6_index of[2], struct nb6_held held[2],
                        struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    NBD_TRY(nbd_use(&d->device, err));
    return nb6_device_find_holders(d, of, held, err);
}

static int renew(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    NBD_TRY(nbd_use(&d->device, err));
    nb6_dev_fill_systems(sim, &d->home);
    NBD_TRY(nb6_device_hide_bodies(d, err));
    NBD_TRY(nb6_device_copy_systems(d, NB6_TO_DEVICE, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

static int answer(const struct nb6_sim *sim, struct nb6_dev_question *question, const struct nb6_dev_apart *apart,
                  double sum[NB6_DEV_SURVEY_SUMS], struct nbc_error *err)
{
    struct nb6_device *d = sim->engine_image.image;
    NBD_TRY(nbd_use(&d->device, err));
    return nb6_device_survey(sim, d, question, apart, sum, err);
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

static const struct nb6_engine device_engine = {.name = "device",
                                                .cost = NB6_DEVICE_COST,
                                                .check = check_device,
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
const struct nb6_engine *const nb6_device_engine = &device_engine;
