#include <math.h>

#include "regularization/kepler.h"

/* Both ways to get at all orders from two of them: c_n = 1/n! - z c_(n+2). Downwards errors are multiplied by z,
 * upwards divided by it; between the limits the former is the better one, outside of them the latter. */
#define SERIES_LOW -60.0
#define SERIES_HIGH 16.0

static const double inverse_factorial[KEPLER_STUMPFF_MAX + 1] = {1.0,       1.0,       1.0 / 2,    1.0 / 6,    1.0 / 24,
                                                                 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320};

enum { TOP = KEPLER_STUMPFF_MAX, TERMS = 36 };

/* 1/(i (i + 1)) from i = TOP on */
static const double ratio[2 * TERMS] = {
    1.0 / (8 * 9),   1.0 / (9 * 10),  1.0 / (10 * 11), 1.0 / (11 * 12), 1.0 / (12 * 13), 1.0 / (13 * 14),
    1.0 / (14 * 15), 1.0 / (15 * 16), 1.0 / (16 * 17), 1.0 / (17 * 18), 1.0 / (18 * 19), 1.0 / (19 * 20),
    1.0 / (20 * 21), 1.0 / (21 * 22), 1.0 / (22 * 23), 1.0 / (23 * 24), 1.0 / (24 * 25), 1.0 / (25 * 26),
    1.0 / (26 * 27), 1.0 / (27 * 28), 1.0 / (28 * 29), 1.0 / (29 * 30), 1.0 / (30 * 31), 1.0 / (31 * 32),
    1.0 / (32 * 33), 1.0 / (33 * 34), 1.0 / (34 * 35), 1.0 / (35 * 36), 1.0 / (36 * 37), 1.0 / (37 * 38),
    1.0 / (38 * 39), 1.0 / (39 * 40), 1.0 / (40 * 41), 1.0 / (41 * 42), 1.0 / (42 * 43), 1.0 / (43 * 44),
    1.0 / (44 * 45), 1.0 / (45 * 46), 1.0 / (46 * 47), 1.0 / (47 * 48), 1.0 / (48 * 49), 1.0 / (49 * 50),
    1.0 / (50 * 51), 1.0 / (51 * 52), 1.0 / (52 * 53), 1.0 / (53 * 54), 1.0 / (54 * 55), 1.0 / (55 * 56),
    1.0 / (56 * 57), 1.0 / (57 * 58), 1.0 / (58 * 59), 1.0 / (59 * 60), 1.0 / (60 * 61), 1.0 / (61 * 62),
    1.0 / (62 * 63), 1.0 / (63 * 64), 1.0 / (64 * 65), 1.0 / (65 * 66), 1.0 / (66 * 67), 1.0 / (67 * 68),
    1.0 / (68 * 69), 1.0 / (69 * 70), 1.0 / (70 * 71), 1.0 / (71 * 72), 1.0 / (72 * 73), 1.0 / (73 * 74),
    1.0 / (74 * 75), 1.0 / (75 * 76), 1.0 / (76 * 77), 1.0 / (77 * 78), 1.0 / (78 * 79), 1.0 / (79 * 80)};

/* (TOP-1)!/(TOP-1+2k)! and TOP!/(TOP+2k)! from k = 1 on, and up to which z five of them are enough */
static const double of_below[] = {1.0 / 72, 1.0 / 7920, 1.0 / 1235520, 1.0 / 259459200, 1.0 / 70572902400};
static const double of_top[] = {1.0 / 90, 1.0 / 11880, 1.0 / 2162160, 1.0 / 518918400, 1.0 / 158789030400};
#define SHORT 0.25

/* c_(TOP-1) and c_TOP, sums of (-z)^k/(n + 2k)!: the terms fall at once where z > 0, and have one sign where z < 0.
 * Side by side they take the time of one. */
static void series(double z, double *below, double *top)
{
    double sum[2] = {1.0, 1.0}, term[2] = {1.0, 1.0};
    for (int k = 0; k < 2 * TERMS; k += 2) {
        term[0] *= -z * ratio[k];
        term[1] *= -z * ratio[k + 1];
        double next[2] = {sum[0] + term[0], sum[1] + term[1]};
        if (next[0] == sum[0] && next[1] == sum[1]) break;
        sum[0] = next[0];
        sum[1] = next[1];
    }
    *below = sum[0] * inverse_factorial[TOP - 1];
    *top = sum[1] * inverse_factorial[TOP];
}

/* The same without a test after each term, for steps of an integrator: the first one left out is 10^-17. */
static void short_series(double z, double *below, double *top)
{
    double sum[2], z2 = z * z;
    for (int m = 0; m < 2; m++) {
        const double *q = m == 0 ? of_below : of_top;
        sum[m] = (1.0 - z * q[0]) + z2 * ((q[1] - z * q[2]) + z2 * (q[3] - z * q[4]));
    }
    *below = sum[0] * inverse_factorial[TOP - 1];
    *top = sum[1] * inverse_factorial[TOP];
}

/* All orders from the two highest. */
static inline void go_down(double z, double c[KEPLER_STUMPFF_MAX + 1])
{
    for (int n = TOP - 2; n >= 0; n--) c[n] = inverse_factorial[n] - z * c[n + 2];
}

/* Small arguments have a loop of their own; a common end for both series is slower. */
void kepler_stumpff(double z, double c[KEPLER_STUMPFF_MAX + 1])
{
    if (fabs(z) <= SHORT) {
        short_series(z, &c[TOP - 1], &c[TOP]);
        go_down(z, c);
        return;
    }
    if (z >= SERIES_LOW && z <= SERIES_HIGH) {
        series(z, &c[TOP - 1], &c[TOP]);
        go_down(z, c);
        return;
    }
    double x = sqrt(fabs(z));
    c[0] = z > 0 ? cos(x) : cosh(x);
    c[1] = (z > 0 ? sin(x) : sinh(x)) / x;
    for (int n = 2; n <= TOP; n++) c[n] = (inverse_factorial[n - 2] - c[n - 2]) / z;
}
