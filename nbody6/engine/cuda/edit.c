/* Host side of changes of bodies (cuda/edit.h). All memory comes first. */
#include "nbody6/engine/cuda/edit.h"

#include "device/supply.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/image.h"

static cudaStream_t stream_of(const struct nb6_device *d)
{
    return (cudaStream_t)d->stream;
}

/* Data that travel, on both sides: the device's in one buffer, the host's in another. */
struct parcel {
    struct nb6_gathered *gathered;
    struct nb6_changed *changed;
    struct nb6_pulled *pulled;
    struct nb6_dev_mass *at;
    double *potential;
    int32_t *place;
};

/* Room for so many bodies that travel, changes, pulls, and places of all bodies of the device. */
struct load {
    int64_t n, changed, pulled, bodies;
};

static size_t lay_out(char *data, const struct load *load, struct parcel *to)
{
    const int64_t n = load->n, bodies = load->bodies;
    struct nbd_supply s = {.next = data};
    to->gathered = nbd_take(&s, (size_t)n, sizeof *to->gathered);
    to->changed = nbd_take(&s, (size_t)load->changed, sizeof *to->changed);
    to->pulled = nbd_take(&s, (size_t)load->pulled, sizeof *to->pulled);
    to->at = nbd_take(&s, (size_t)bodies, sizeof *to->at);
    to->potential = nbd_take(&s, bodies > 0 ? (size_t)n * NB6_DEV_POTENTIAL_SLICES : 0, sizeof *to->potential);
    to->place = nbd_take(&s, (size_t)n, sizeof *to->place);
    return s.bytes;
}

static int provide(struct nb6_device *d, const struct load *load, struct parcel *there, struct parcel *here,
                   struct nbc_error *err)
{
    const struct load of_host = {load->n, load->changed, load->pulled, load->bodies > 0 ? 1 : 0};
    const size_t bytes_there = lay_out(NULL, load, there), bytes_here = lay_out(NULL, &of_host, here);
    NBD_TRY(nb6_device_reserve_both(d, &d->edit_there, bytes_there, &d->edit_here, bytes_here, err));
    (void)lay_out(d->edit_there.data, load, there);
    (void)lay_out(d->edit_here.data, &of_host, here);
    return NBC_OK;
}

int nb6_device_gather(struct nb6_device *d, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                      struct nb6_gathered *gathered, struct nbc_error *err)
{
    const size_t slices = with_potentials ? (size_t)n * NB6_DEV_POTENTIAL_SLICES : 0;
    struct parcel there, here;
    NBD_TRY(provide(d, &(struct load){.n = n, .bodies = with_potentials ? d->there.n : 0}, &there, &here, err));
    for (int64_t k = 0; k < n; k++) here.place[k] = d->home.place_of[body[k]];
    NBD_TRY(nbd_copy(&d->device, d->stream, there.place, here.place, (size_t)n * sizeof *here.place, err));
    if (with_potentials)
        NBD_LAUNCH(err, &d->device,
                   nb6_device_find_potentials(&d->there, t, n, there.place, there.at, there.gathered, there.potential,
                                              stream_of(d)));
    else
        NBD_LAUNCH(err, &d->device, nb6_device_fetch_bodies(&d->there, n, there.place, there.gathered, stream_of(d)));
    NBD_TRY(nbd_copy(&d->device, d->stream, here.gathered, there.gathered, (size_t)n * sizeof *here.gathered, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, here.potential, there.potential, slices * sizeof *here.potential, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    for (int64_t k = 0; k < n; k++) {
        gathered[k] = here.gathered[k];
        gathered[k].potential = 0;
        for (int64_t s = 0; s < NB6_DEV_POTENTIAL_SLICES && with_potentials; s++)
            gathered[k].potential += here.potential[k * NB6_DEV_POTENTIAL_SLICES + s];
    }
    return NBC_OK;
}

/* Search times of quiet pairs, which the device has. */
static int fetch_systems(struct nb6_device *d, struct nbc_error *err)
{
    NBD_TRY(nb6_device_copy_systems(d, NB6_FROM_DEVICE, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

/* The edit, and the watched bodies as it leaves them. */
static int change(struct nb6_device *d, const struct nb6_edit *edit, const struct parcel *there,
                  const struct parcel *here, struct nbc_error *err)
{
    const int64_t n = edit->n, watched = d->home.control->n_ask;
    const struct nb6_dev_edit changes = {edit->t, (int32_t)n, there->changed, edit->n_pulled, there->pulled};
    if (edit->with_systems) NBD_TRY(nb6_device_copy_systems(d, NB6_TO_DEVICE, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, there->changed, here->changed, (size_t)n * sizeof *here->changed, err));
    NBD_TRY(nbd_copy(&d->device, d->stream, there->pulled, here->pulled, (size_t)edit->n_pulled * sizeof *here->pulled,
                     err));
    NBD_TRY(nbd_copy(&d->device, d->stream, there->place, d->home.ask, (size_t)watched * sizeof *here->place, err));
    NBD_LAUNCH(err, &d->device, nb6_device_change_bodies(&d->there, &changes, stream_of(d)));
    if (watched > 0) {
        NBD_LAUNCH(err, &d->device,
                   nb6_device_fetch_bodies(&d->there, watched, there->place, there->gathered, stream_of(d)));
        NBD_TRY(nbd_copy(&d->device, d->stream, here->gathered, there->gathered,
                         (size_t)watched * sizeof *here->gathered, err));
    }
    return nbd_stream_wait(&d->device, d->stream, err);
}

/* Pairs that change may be watched after it, each one more. */
int nb6_device_edit(struct nb6_sim *sim, struct nb6_device *d, const struct nb6_edit *edit, struct nbc_error *err)
{
    struct nb6_dev *h = &d->home;
    struct parcel there, here;
    int status = nb6_host_service_keep_watched(sim, h, err);
    const struct load load = {.n = h->control->n_ask + edit->n, .changed = edit->n, .pulled = edit->n_pulled};
    if (!status) status = provide(d, &load, &there, &here, err);
    if (!status && edit->with_systems) {
        status = fetch_systems(d, err);
        if (!status) status = nb6_host_service_edit_systems(sim, h, err);
    }
    if (status) return status;
    nb6_dev_fill_changed(h, edit, here.changed, here.pulled);
    status = change(d, edit, &there, &here, err);
    if (status) d->is_lost = 1;
    if (status) return status;
    for (int64_t k = 0; k < h->control->n_ask; k++) {
        h->body[h->ask[k]] = here.gathered[k].body;
        h->star[h->ask[k]] = here.gathered[k].star;
    }
    nb6_host_service_take_watched(sim, h);
    return NBC_OK;
}
