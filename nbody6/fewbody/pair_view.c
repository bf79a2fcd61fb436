#include "nbody6/fewbody/pair_view.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

#include <math.h>

/* The mean counts alone from this many times its radius on, and in part from there to the radius. A step in the force
 * would be one in its derivatives, which follow from differences. */
static const double ALL_MEAN = 1.5;

void nb6_view_point(const struct nb6_sim *sim, int64_t i, struct nb6_view *view)
{
    view->slot = -1;
    view->mass = nb6_get_body(sim, i)->mass;
    view->mean.n = 0;
    nb6_parts_of_point(&view->now);
}

int nb6_view_slot(const struct nb6_sim *sim, const struct nb6_motion *motion, int64_t slot, double t,
                  struct nb6_view *view)
{
    view->slot = slot;
    view->mass = nb6_get_body(sim, nb6_centre(sim, slot))->mass;
    view->mean.n = 0;
    return nb6_parts_of_slot(&sim->pairs, motion, slot, t, &view->now);
}

static double mean_radius(const struct nb6_sim *sim, const struct nb6_view *view, double mass, double v)
{
    return view->slot < 0 ? 0 : nb6_slot_mean_radius(sim, view->slot, mass, v);
}

static const struct nb6_parts *mean_of(const struct nb6_sim *sim, struct nb6_view *view)
{
    if (view->slot < 0) return &view->now;
    if (view->mean.n == 0) nb6_mean_parts_of_slot(&sim->pairs, view->slot, &view->mean);
    return &view->mean;
}

/* From 1 at s = 0 to 0 at s = 1, with two derivatives that vanish at both ends; and its derivative. */
static double fall(double s, double *slope)
{
    *slope = -30 * s * s * (1 - s) * (1 - s);
    return 1 - s * s * s * (10 + s * (6 * s - 15));
}

/* Both forces, with weights that follow the distance. The radius grows with the speed, whose change while they pass
 * each other is left out of the derivative: it is small where speed decides. */
static void blend(double r_mean, const double x[3], const double v[3], const double now[2][3], const double mean[2][3],
                  double acc[3], double jerk[3])
{
    const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), width = (ALL_MEAN - 1) * r_mean;
    double slope;
    const double w = fall((r - r_mean) / width, &slope);
    const double w_dot = slope * (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / (r * width);
    for (int k = 0; k < 3; k++) {
        acc[k] += mean[0][k] + w * (now[0][k] - mean[0][k]);
        jerk[k] += mean[1][k] + w * (now[1][k] - mean[1][k]) + w_dot * (now[0][k] - mean[0][k]);
    }
}

void nb6_view_force(const struct nb6_sim *sim, const double x[3], const double v[3], struct nb6_view *own,
                    struct nb6_view *other, double acc[3], double jerk[3])
{
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double r_mean = fmax(mean_radius(sim, own, other->mass, speed), mean_radius(sim, other, own->mass, speed));
    double now[2][3] = {{0}}, mean[2][3] = {{0}};
    if (!(r2 > r_mean * r_mean)) {
        nb6_parts_force(other->mass, x, v, &own->now, &other->now, acc, jerk);
    } else if (r2 >= ALL_MEAN * ALL_MEAN * r_mean * r_mean) {
        nb6_parts_force(other->mass, x, v, mean_of(sim, own), mean_of(sim, other), acc, jerk);
    } else {
        nb6_parts_force(other->mass, x, v, &own->now, &other->now, now[0], now[1]);
        nb6_parts_force(other->mass, x, v, mean_of(sim, own), mean_of(sim, other), mean[0], mean[1]);
        blend(r_mean, x, v, (const double(*)[3])now, (const double(*)[3])mean, acc, jerk);
    }
}
