/* Host side of the field at points (cuda/field.h). */
#include "nbody6/engine/cuda/field.h"

#include "device/supply.h"

#include <string.h>

/* So many at a time: their slices take 8 MiB. */
enum { POINTS_TOGETHER = 4096 };

static cudaStream_t stream_of(const struct nb6_device *d)
{
    return (cudaStream_t)d->stream;
}

/* Data of one side: what travels first, then scratch of the device. */
struct parcel {
    double (*x)[3], (*sum)[NB6_DEV_FIELD_SUMS], (*centre)[3];
    double *slices;
    struct nb6_dev_mass *at;
};

static size_t lay_out(char *data, const struct nb6_dev *dev, int64_t points, int on_device, struct parcel *to)
{
    struct nbd_supply s = {.next = data};
    to->x = nbd_take(&s, (size_t)points, sizeof *to->x);
    to->sum = nbd_take(&s, (size_t)points, sizeof *to->sum);
    to->centre = nbd_take(&s, (size_t)(dev->n - dev->first_centre), sizeof *to->centre);
    to->slices = nbd_take(&s, (size_t)(on_device ? points * NB6_DEV_FIELD_SLICES : 0), sizeof *to->sum);
    to->at = nbd_take(&s, (size_t)(on_device ? dev->n : 0), sizeof *to->at);
    return s.bytes;
}

static int provide(struct nb6_device *d, int64_t points, struct parcel *there, struct parcel *here,
                   struct nbc_error *err)
{
    const size_t bytes_there = lay_out(NULL, &d->home, points, 1, there);
    const size_t bytes_here = lay_out(NULL, &d->home, points, 0, here);
    NBD_TRY(nb6_device_reserve_both(d, &d->edit_there, bytes_there, &d->edit_here, bytes_here, err));
    (void)lay_out(d->edit_there.data, &d->home, points, 1, there);
    (void)lay_out(d->edit_here.data, &d->home, points, 0, here);
    return NBC_OK;
}

static int sum_some(struct nb6_device *d, const struct nb6_field_points *points, int64_t first, int64_t n,
                    const struct parcel *there, const struct parcel *here, struct nbc_error *err)
{
    const size_t of_sums = (size_t)n * sizeof *here->sum;
    memcpy(here->x, points->x[first], (size_t)n * sizeof *here->x);
    NBD_TRY(nbd_copy(&d->device, d->stream, there->x, here->x, (size_t)n * sizeof *here->x, err));
    NBD_LAUNCH(err, &d->device,
               nb6_device_sum_field(&d->there, there->at, n, (const double(*)[3])there->x, there->slices, there->sum,
                                    stream_of(d)));
    NBD_TRY(nbd_copy(&d->device, d->stream, here->sum, there->sum, of_sums, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    memcpy(points->sum[first], here->sum, of_sums);
    return NBC_OK;
}

int nb6_device_field(struct nb6_device *d, nb6_time t, const struct nb6_field_points *points, struct nbc_error *err)
{
    const int64_t most = points->n < POINTS_TOGETHER ? points->n : POINTS_TOGETHER;
    const size_t of_centres = (size_t)(d->home.n - d->home.first_centre) * sizeof *points->centre;
    struct parcel there, here;
    NBD_TRY(provide(d, most, &there, &here, err));
    NBD_LAUNCH(err, &d->device, nb6_device_find_masses(&d->there, t, there.at, there.centre, stream_of(d)));
    NBD_TRY(nbd_copy(&d->device, d->stream, here.centre, there.centre, of_centres, err));
    NBD_TRY(nbd_stream_wait(&d->device, d->stream, err));
    if (of_centres > 0) memcpy(points->centre, here.centre, of_centres);
    for (int64_t first = 0; first < points->n; first += most)
        NBD_TRY(sum_some(d, points, first, points->n - first < most ? points->n - first : most, &there, &here, err));
    return NBC_OK;
}
