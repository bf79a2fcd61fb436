/* Host side of moves of what has changed alone (cuda/part.h). */
#include "nbody6/engine/cuda/part.h"

#include "nbody6/engine/cuda/lists.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/image_part.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"

static cudaStream_t stream_of(const struct nb6_device *d)
{
    return (cudaStream_t)d->stream;
}

/* The same parcel in memory of both sides.   @param[out] bytes  of all, and up to `level`   @return 0: no memory */
static int provide(struct nb6_device *d, struct nb6_dev_parcel *here, struct nb6_dev_parcel *there, size_t *bytes,
                   size_t *head)
{
    *bytes = nb6_dev_lay_out_parcel(NULL, here, head);
    if (nb6_device_reserve_both(d, &d->part_there, *bytes, &d->part_here, *bytes, NULL)) return 0;
    *there = *here;
    (void)nb6_dev_lay_out_parcel(d->part_here.data, here, head);
    (void)nb6_dev_lay_out_parcel(d->part_there.data, there, head);
    return 1;
}

/* ---- to the device */

/* Pulls that have left all bodies, and lists in one row: with the places of before. */
static int begin(struct nb6_sim *sim, struct nb6_device *d, const struct nb6_dev_parcel *there, size_t head,
                 struct nbc_error *err)
{
    const struct nb6_touched *touched = &sim->engine_image.touched;
    if (head > 0) NBD_TRY(nbd_copy(&d->device, d->stream, d->part_there.data, d->part_here.data, head, err));
    for (int64_t k = 0; k < touched->n_pulls; k++) {
        const struct nb6_touch_by_pulls *pulls = &touched->pulls[k];
        NBD_LAUNCH(err, &d->device,
                   nb6_device_lose_pulls(&d->there, pulls->t, pulls->n, there->source + pulls->first, 0, stream_of(d)));
    }
    if (there->n_gone + there->n_come > 0)
        NBD_LAUNCH(err, &d->device, nb6_device_settle_lists(&d->there, d->there.settled, stream_of(d)));
    return NBC_OK;
}

/* Levels beyond the last body mark places without one. */
static int move_places(struct nb6_device *d, const struct nb6_dev_parcel *there, struct nbc_error *err)
{
    nb6_device_follow_home(d);
    if (there->n_gone + there->n_come == 0) return NBC_OK;
    NBD_LAUNCH(err, &d->device, nb6_device_move_places(&d->there, there, stream_of(d)));
    d->there.settled = !d->there.settled;
    if (d->there.n >= there->n_before) return NBC_OK;
    return nbd_fill(&d->device, d->stream, d->there.level + d->there.n, 0xff, (size_t)(there->n_before - d->there.n),
                    err);
}

/* Bodies and systems that travel. */
static int unpack(struct nb6_device *d, const struct nb6_dev_parcel *here, struct nb6_dev_parcel *there, size_t bytes,
                  size_t head, struct nbc_error *err)
{
    const char *from = d->part_here.data;
    char *to = d->part_there.data;
    there->n_watched = here->n_watched;
    there->n_ask = here->n_ask;
    if (bytes > head) NBD_TRY(nbd_copy(&d->device, d->stream, to + head, from + head, bytes - head, err));
    NBD_LAUNCH(err, &d->device, nb6_device_unpack_parcel(&d->there, there, d->home.control, stream_of(d)));
    return there->n_system < 0 ? nb6_device_copy_systems(d, NB6_TO_DEVICE, err) : NBC_OK;
}

/* The host fills what it sends next while the device works. */
static int send(struct nb6_sim *sim, struct nb6_device *d, const struct nb6_dev_part *part, struct nb6_dev_parcel *here,
                struct nb6_dev_parcel *there, size_t bytes, size_t head, struct nbc_error *err)
{
    nb6_dev_fill_head(sim, &d->home, part, here);
    NBD_TRY(begin(sim, d, there, head, err));
    nb6_dev_set_numbers(sim, &d->home);
    NBD_TRY(move_places(d, there, err));
    nb6_dev_place_part(sim, &d->home, part, here, d->home.row); /* lists that were shown are not read any more */
    nb6_dev_begin_again(sim, &d->home, here);
    NBD_TRY(unpack(d, here, there, bytes, head, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

int nb6_device_import_part(struct nb6_sim *sim, struct nb6_device *d, int *is_done, struct nbc_error *err)
{
    struct nb6_dev_part part;
    *is_done = 0;
    if (!nb6_dev_find_part(sim, &d->home, &part)) return NBC_OK;
    struct nb6_dev_parcel there, here = nb6_dev_parcel_for(sim, &d->home, &part);
    size_t bytes, head;
    int status = NBC_OK;
    *is_done = provide(d, &here, &there, &bytes, &head);
    if (*is_done) status = send(sim, d, &part, &here, &there, bytes, head, err);
    nb6_dev_free_part(&part);
    return status;
}

/* ---- from the device */

/* Room for counts of news.   @param[out] of_block  behind the report there   @return the report there; NULL: no memory
 */
static struct nb6_device_report *provide_report(struct nb6_device *d, struct nb6_device_news **of_block)
{
    const size_t blocks = (size_t)nb6_device_news_blocks(d->home.n_max);
    struct nb6_device_report *there;
    const size_t bytes = sizeof *there + blocks * sizeof **of_block;
    if (nb6_device_reserve_both(d, &d->news_there, bytes, &d->news_here, sizeof *there, NULL)) return NULL;
    there = d->news_there.data;
    *of_block = (struct nb6_device_news *)(there + 1);
    return there;
}

/* Bodies with news are named there; how many they are, and control, are here then. */
static int find_news(struct nb6_device *d, struct nb6_device_report *there, struct nb6_device_news *of_block,
                     struct nbc_error *err)
{
    struct nb6_device_report *report = d->news_here.data;
    NBD_LAUNCH(err, &d->device, nb6_device_name_news(&d->there, d->home.t_home, there, of_block, stream_of(d)));
    NBD_TRY(nbd_copy(&d->device, d->stream, report, there, sizeof *report, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    *d->home.control = report->control;
    return NBC_OK;
}

static int fetch_parcel(struct nb6_device *d, const struct nb6_dev_parcel *there, size_t bytes, struct nbc_error *err)
{
    NBD_LAUNCH(err, &d->device, nb6_device_pack_parcel(&d->there, there, stream_of(d)));
    NBD_TRY(nbd_copy(&d->device, d->stream, d->part_here.data, d->part_there.data, bytes, err));
    return nbd_stream_wait(&d->device, d->stream, err);
}

static int record(struct nb6_device *d, struct nbc_error *err)
{
    NBD_LAUNCH(err, &d->device, nb6_device_set_control(&d->there, d->home.control, stream_of(d)));
    return NBC_OK;
}

/* A store that succeeds, or fails after it has begun to write, is recorded on the device too. Nobody waits: a failure
 * of the device is that of the next call. */
static int store(struct nb6_sim *sim, struct nb6_device *d, const struct nb6_dev_parcel *parcel, struct nbc_error *err)
{
    const int status = nb6_dev_store_parcel(&d->home, parcel, sim, err);
    const int recorded = record(d, status ? NULL : err);
    return status ? status : recorded;
}

int nb6_device_export_part(struct nb6_sim *sim, struct nb6_device *d, int *is_done, struct nbc_error *err)
{
    struct nb6_dev_parcel there, here = {0};
    struct nb6_device_news *of_block;
    size_t bytes = 0, head = 0;
    *is_done = 0;
    struct nb6_device_report *report = provide_report(d, &of_block);
    if (!report) return NBC_OK;
    NBD_TRY(find_news(d, report, of_block, err));
    const struct nb6_device_news *news = &((const struct nb6_device_report *)d->news_here.data)->news;
    if (d->home.control->stores_all || !nb6_dev_is_part(&d->home, news->n)) return NBC_OK;
    here.n = news->n;
    here.numbers = news->numbers;
    if (!provide(d, &here, &there, &bytes, &head)) return NBC_OK;
    *is_done = 1;
    if (here.n > 0) NBD_TRY(fetch_parcel(d, &there, bytes, err));
    return store(sim, d, &here, err);
}
