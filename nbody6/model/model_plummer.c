#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"
#include "nbody6/model/random.h"

#include <math.h>

/* In units of the scale length. */
static const double R_CUT = 10.0;

/* M(r) = (1 + r^-2)^(-3/2), Aarseth, Henon & Wielen 1974, A&A 37, 183, appendix, inverted. */
static double draw_radius(nb6_random_t *random)
{
    double r;
    do {
        const double root = nb6_cbrt(nb6_random_uniform(random));
        r = root / sqrt(1.0 - root * root);
    } while (!(r <= R_CUT));
    return r;
}

/* q = v/v_escape has the density q^2 (1 - q^2)^(7/2), whose maximum is 0.0921: the same appendix. */
static double draw_speed(nb6_random_t *random, double r)
{
    double q, density;
    do {
        q = nb6_random_uniform(random);
        const double s = 1.0 - q * q;
        density = q * q * s * s * s * sqrt(s);
    } while (density < 0.1 * nb6_random_uniform(random));
    return q * sqrt(2.0 / sqrt(1.0 + r * r));
}

/* Of the part within r, for its mass as the unit: -1/M(r)^2 int_0^r 3 s^4/(1 + s^2)^4 ds, by s = tan(theta). */
static double potential_within(double r, double theta)
{
    const double s2 = 1.0 + r * r, sin2 = 2.0 * r / s2, cos2 = (1.0 - r * r) / s2, sin4 = 2.0 * sin2 * cos2;
    const double integral = theta / 16.0 - sin4 / 64.0 - sin2 * sin2 * sin2 / 48.0;
    const double mass = r * r * r / (s2 * sqrt(s2));
    return -3.0 * integral / (mass * mass);
}

int nb6_model_plummer(const struct nb6_model_config *config, nb6_random_t *position, nb6_random_t *velocity,
                      struct nb6_model *model, double *potential, struct nbc_error *err)
{
    (void)config;
    (void)err;
    for (struct nb6_piece p = nb6_pieces(model, 0, NB6_PLACES | NB6_VELOCITIES); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            const double r = draw_radius(position);
            nb6_random_direction(position, r, p.x[i]);
            nb6_random_direction(velocity, draw_speed(velocity, r), p.v[i]);
        }
    *potential = potential_within(R_CUT, 1.47112767430373459185); /* arctan 10 */
    return NBC_OK;
}
