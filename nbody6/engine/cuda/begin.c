/* Host side of bodies that begin anew (cuda/begin.h). All that may fail comes before the kernels that write. */
#include "nbody6/engine/cuda/begin.h"

#include "device/supply.h"
#include "gpunb/regf_device.h"
#include "nbody6/engine/cuda/edit.h"
#include "nbody6/engine/cuda/part.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/image_begin.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/rules.h"

#include <string.h>

static cudaStream_t stream_of(const struct nb6_device *d)
{
    return (cudaStream_t)d->stream;
}

/* ---- data that travel, in one buffer of each side, and scratch of the device behind them */

struct parcel {
    struct nb6_changed *changed;
    struct nb6_sudden *sudden;
    struct nb6_pull_source *source;
    struct nb6_dev_begin_count *count;
    double *velocity; /* [NB6_DEVICE_VELOCITY_SLICES][4] */
    struct nb6_gathered *watched;
    int32_t *watched_place;
    struct nb6_dev_begun *begun;
    struct gpunb_dev_asked *again[2]; /* of this round and the next one */
    int32_t *asked_by[2];
};

/* Changed bodies, watched ones, those that begin anew. */
struct load {
    int64_t changed, watched, begun;
};

static size_t lay_out(char *data, const struct load *load, struct parcel *to)
{
    struct nbd_supply s = {.next = data};
    to->changed = nbd_take(&s, (size_t)load->changed, sizeof *to->changed);
    to->sudden = nbd_take(&s, (size_t)load->changed, sizeof *to->sudden);
    to->source = nbd_take(&s, (size_t)nb6_dev_most_sources(load->changed), sizeof *to->source);
    to->count = nbd_take(&s, 1, sizeof *to->count);
    to->velocity = nbd_take(&s, 4 * NB6_DEVICE_VELOCITY_SLICES, sizeof *to->velocity);
    to->watched = nbd_take(&s, (size_t)load->watched, sizeof *to->watched);
    to->watched_place = nbd_take(&s, (size_t)load->watched, sizeof *to->watched_place);
    to->begun = nbd_take(&s, (size_t)load->begun, sizeof *to->begun);
    for (int k = 0; k < 2; k++) {
        to->again[k] = nbd_take(&s, (size_t)load->begun, sizeof *to->again[k]);
        to->asked_by[k] = nbd_take(&s, (size_t)load->begun, sizeof *to->asked_by[k]);
    }
    return s.bytes;
}

static int provide(struct nb6_device *d, const struct load *load, struct parcel *there, struct parcel *here,
                   struct nbc_error *err)
{
    const struct load of_host = {load->changed, load->watched, 0};
    const size_t bytes_there = lay_out(NULL, load, there), bytes_here = lay_out(NULL, &of_host, here);
    NBD_TRY(nb6_device_reserve_both(d, &d->edit_there, bytes_there, &d->edit_here, bytes_here, err));
    (void)lay_out(d->edit_there.data, load, there);
    (void)lay_out(d->edit_here.data, &of_host, here);
    return NBC_OK;
}

/* The changed bodies, and counts that are zero. */
static int send_changes(struct nb6_device *d, const struct nb6_edit *edit, const struct parcel *there,
                        const struct parcel *here, struct nbc_error *err)
{
    const size_t n = (size_t)edit->n;
    nb6_dev_fill_changed(&d->home, edit, here->changed, NULL);
    memcpy(here->sudden, edit->sudden, n * sizeof *here->sudden);
    NBD_TRY(nbd_copy(&d->device, d->stream, there->changed, here->changed, n * sizeof *here->changed, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, there->sudden, here->sudden, n * sizeof *here->sudden, err));
    return nbd_fill(&d->device, d->stream, there->count, 0, sizeof *there->count, err);
}

static struct nb6_dev_beginning beginning_of(const struct nb6_device *d, const struct nb6_edit *edit,
                                             const struct parcel *there)
{
    return (struct nb6_dev_beginning){.edit = {edit->t, (int32_t)edit->n, there->changed, 0, NULL},
                                      .sudden = there->sudden,
                                      .any_speed = nb6_dev_any_speed(edit),
                                      .n = edit->disturbed.n,
                                      .place = d->there.irr,
                                      .role = d->there.reg,
                                      .begun = there->begun,
                                      .asked = d->asked,
                                      .again = there->again[0],
                                      .asked_by = there->asked_by[0],
                                      .count = there->count};
}

/* ---- who begins anew */

static double spread_of(int64_t n, const double *slice)
{
    double sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4 * NB6_DEVICE_VELOCITY_SLICES; k++) sum[k % 4] += slice[k];
    return nb6_dispersion((double)n, sum);
}

int nb6_device_disturb(struct nb6_device *d, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                       struct nbc_error *err)
{
    const struct load load = {.changed = edit->n};
    struct parcel there, here;
    NBD_TRY(provide(d, &load, &there, &here, err));
    NBD_TRY(send_changes(d, edit, &there, &here, err));
    struct nb6_dev_beginning b = beginning_of(d, edit, &there);
    b.n = 0;
    NBD_LAUNCH(err, &d->device,
               nb6_device_find_begins(&d->there, &b, d->there.irr, d->there.reg, there.velocity, stream_of(d)));
    NBD_TRY(nbd_copy(&d->device, d->stream, here.count, there.count, sizeof *here.count, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, here.velocity, there.velocity,
                     4 * NB6_DEVICE_VELOCITY_SLICES * sizeof *here.velocity, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, d->home.control, d->there.control, sizeof *d->home.control, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    disturbed->n = here.count->n;
    disturbed->spread = spread_of(d->there.n, here.velocity);
    return NBC_OK;
}

/* ---- what may fail */

/* A round of forces on n bodies: those of the last round again, or all. */
struct round {
    int64_t n, pairs;
    int is_again, which; /* of the two arrays */
};

static int make_round(struct nb6_device *d, struct nb6_dev_beginning *b, const struct parcel *there,
                      const struct parcel *here, struct round *round, struct nbc_error *err)
{
    b->again = there->again[round->which];
    b->asked_by = there->asked_by[round->which];
    round->which = !round->which;
    const struct gpunb_regf_device job = {.n_j = (size_t)d->there.n,
                                          .source = d->there.sums.source,
                                          .n_i = (size_t)round->n,
                                          .asked = round->is_again ? b->again : b->asked,
                                          .weighted = d->there.rules.weighted,
                                          .lists = d->there.row,
                                          .row_room = (size_t)d->there.row_room,
                                          .has_last = 1,
                                          .build = nb6_tree_number(b->edit.t),
                                          .is_again = round->is_again,
                                          .scratch = d->scratch,
                                          .scratch_bytes = d->scratch_bytes};
    if (gpunb_regf_device(d->reg, &job, d->stream)) return nbc_fail(err, NBC_DEVICE, "%s", gpunb_last_error(d->reg));
    NBD_TRY(nbd_fill(&d->device, d->stream, &there->count->n_again, 0, sizeof there->count->n_again, err));
    NBD_LAUNCH(err, &d->device,
               nb6_device_find_first_forces(&d->there, b, round->n, round->is_again, there->again[round->which],
                                            there->asked_by[round->which], stream_of(d)));
    NBD_TRY(nbd_copy(&d->device, d->stream, here->count, there->count, sizeof *here->count, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    round->pairs += round->n;
    round->n = here->count->n_again;
    round->is_again = 1;
    return NBC_OK;
}

/* On both sides: an export comes before the next import. */
static int ask_for_room(struct nb6_device *d, int32_t longest, struct nbc_error *err)
{
    d->home.control->longest = longest;
    NBD_TRY(nbd_copy(&d->device, d->stream, d->there.control, d->home.control, sizeof *d->home.control, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    return nbc_fail(err, NBC_NB_OVERFLOW, "a list of %d neighbours does not fit its row", longest);
}

/* All forces, into scratch. */
static int find_forces(const struct nb6_sim *sim, struct nb6_device *d, struct nb6_dev_beginning *b,
                       const struct parcel *there, const struct parcel *here, struct round *round,
                       struct nbc_error *err)
{
    struct nb6_dev_begin_count *count = here->count;
    *count = (struct nb6_dev_begin_count){0};
    NBD_LAUNCH(err, &d->device, nb6_device_stand(&d->there, b, stream_of(d)));
    while (round->n > 0) NBD_TRY(make_round(d, b, there, here, round, err));
    if (count->longest > d->home.row_room) return ask_for_room(d, count->longest, err);
    return count->unsound ? nb6_dev_report_unsound(sim, &d->home, count->unsound - 1, err) : NBC_OK;
}

/* ---- what changes the image */

static int change_image(struct nb6_device *d, const struct nb6_edit *edit, const struct nb6_dev_beginning *b,
                        int64_t sources, const struct parcel *there, const struct parcel *here, struct nbc_error *err)
{
    const int64_t watched = d->home.control->n_ask;
    if (edit->with_systems)
        NBD_TRY(nb6_device_copy_systems(d, NB6_TO_DEVICE, err));
    else
        NBD_TRY(nbd_copy(&d->device, d->stream, d->there.control, d->home.control, sizeof *d->home.control, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, there->source, here->source, (size_t)sources * sizeof *here->source, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, there->watched_place, d->home.ask,
                     (size_t)watched * sizeof *here->watched_place, err));
    NBD_LAUNCH(err, &d->device, nb6_device_lose_pulls(&d->there, edit->t, sources, there->source, 1, stream_of(d)));
    NBD_LAUNCH(err, &d->device, nb6_device_take_begun(&d->there, b, stream_of(d)));
    if (watched > 0) {
        NBD_LAUNCH(err, &d->device,
                   nb6_device_fetch_bodies(&d->there, watched, there->watched_place, there->watched, stream_of(d)));
        NBD_TRY(nbd_copy(&d->device, d->stream, here->watched, there->watched, (size_t)watched * sizeof *here->watched,
                         err));
    }
    return nbd_stream_wait(&d->device, d->stream, err);
}

/* Watched bodies and systems before it.   @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
static int prepare_systems(struct nb6_sim *sim, struct nb6_device *d, const struct nb6_edit *edit,
                           struct nbc_error *err)
{
    int status = nb6_host_service_keep_watched(sim, &d->home, err);
    if (status || !edit->with_systems) return status;
    NBD_TRY(nb6_device_copy_systems(d, NB6_FROM_DEVICE, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    return nb6_host_service_edit_systems(sim, &d->home, err);
}

static void take_watched(struct nb6_sim *sim, struct nb6_device *d, const struct parcel *here)
{
    struct nb6_dev *h = &d->home;
    for (int64_t k = 0; k < h->control->n_ask; k++) {
        h->body[h->ask[k]] = here->watched[k].body;
        h->star[h->ask[k]] = here->watched[k].star;
    }
    nb6_host_service_take_watched(sim, h);
}

int nb6_device_begin(struct nb6_sim *sim, struct nb6_device *d, const struct nb6_edit *edit, struct nbc_error *err)
{
    const struct load load = {
        .changed = edit->n, .watched = d->home.control->n_ask + sim->transaction.n_saved, .begun = edit->disturbed.n};
    const int64_t by_tree = nb6_pairs_by_tree(d->reg, edit->disturbed.n, d->there.n);
    struct round round = {.n = edit->disturbed.n};
    struct parcel there, here;
    NBD_TRY(provide(d, &load, &there, &here, err));
    NBD_TRY(send_changes(d, edit, &there, &here, err));
    struct nb6_dev_beginning b = beginning_of(d, edit, &there);
    b.rules = nb6_first_rules_of(sim, edit->t, edit->disturbed.spread);
    const int64_t sources = nb6_dev_fill_pulls(&d->home, edit, here.source);
    NBD_TRY(find_forces(sim, d, &b, &there, &here, &round, err));
    NBD_TRY(prepare_systems(sim, d, edit, err));
    nb6_dev_note_begun(d->home.control, edit, round.pairs * (by_tree > 0 ? by_tree : d->there.n), by_tree > 0,
                       here.count->overflows);
    const int status = change_image(d, edit, &b, sources, &there, &here, err);
    if (status) d->is_lost = 1;
    if (!status) take_watched(sim, d, &here);
    return status;
}
