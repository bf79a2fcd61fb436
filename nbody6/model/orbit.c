/* Orbits of two stars at random. */
#include "nbody6/model/model_parts.h"
#include "nbody6/model/random.h"

#include <math.h>

/* Point on an orbit at a random time: the eccentric anomaly is uniform with the weight 1 - e cos E. */
static void draw_phase(double e, nb6_random_t *random, double *cosine, double *sine)
{
    double a, c, s;
    do {
        do {
            a = 2.0 * nb6_random_uniform(random) - 1.0;
            c = 2.0 * nb6_random_uniform(random) - 1.0;
            s = a * a + c * c;
        } while (s >= 1.0);
        *cosine = (a * a - c * c) / s;
        *sine = 2.0 * a * c / s;
    } while (nb6_random_uniform(random) * (1.0 + e) >= 1.0 - e * *cosine);
}

void nb6_draw_orbit(double mass, double a, double e, nb6_random_t *random, double x[3], double v[3])
{
    double p[3], q[3], along, length, cosine, sine;
    nb6_random_direction(random, 1.0, p);
    do { /* perpendicular to p */
        nb6_random_direction(random, 1.0, q);
        along = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
        length = 1.0 - along * along;
    } while (length < 1e-4);
    draw_phase(e, random, &cosine, &sine);
    double minor = a * sqrt((1.0 - e) * (1.0 + e)), rate = sqrt(mass / a) / a / (1.0 - e * cosine);
    for (int k = 0; k < 3; k++) {
        q[k] = (q[k] - along * p[k]) / sqrt(length);
        x[k] = a * (cosine - e) * p[k] + minor * sine * q[k];
        v[k] = rate * (-a * sine * p[k] + minor * cosine * q[k]);
    }
}
