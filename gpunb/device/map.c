/* The map of space that the curve is drawn in, from a sample of the sources. */
#include "gpunb/device/device.h"

#include <math.h>

static double middle_of(double *values, int n)
{
    for (int i = 1; i < n; i++) {
        double value = values[i];
        int k = i;
        for (; k > 0 && values[k - 1] > value; k--) values[k] = values[k - 1];
        values[k] = value;
    }
    return values[n / 2];
}

/* Centre and scale from the medians of a sample, which a few stars far away do not move. Any map gives right forces;
 * this one puts the cells of the curve where the stars are. */
struct gpunb_map gpunb_device_make_map(size_t count, const double (*x)[3])
{
    struct gpunb_map map = {{0.0, 0.0, 0.0}, 1.0};
    if (count == 0) return map;
    double sample[DEVICE_SAMPLE], distance[DEVICE_SAMPLE] = {0};
    for (int k = 0; k < 3; k++) {
        for (size_t s = 0; s < count; s++) sample[s] = x[s][k];
        map.centre[k] = middle_of(sample, (int)count);
        for (size_t s = 0; s < count; s++) distance[s] = fmax(distance[s], fabs(x[s][k] - map.centre[k]));
    }
    double scale = middle_of(distance, (int)count);
    if (scale > 0.0) map.per_scale = 1.0 / scale;
    return map;
}

size_t gpunb_device_sample(size_t n)
{
    return n < DEVICE_SAMPLE ? n : DEVICE_SAMPLE;
}
