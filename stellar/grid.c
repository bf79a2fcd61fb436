#include "stellar/grid.h"

#include <math.h>

/* Largest estimated error of a step's mass, as a fraction of the mass. A hundredth of it changes the masses at the ends
 * of phases by less than 1e-4 (tests/conformance/test_stellar_grid.c). */
static const double TOLERANCE = 1e-5;
static const double MOST_LOSS = 0.05;        /* of the mass in a step */
static const double MOST_OF_PHASE = 1.0 / 4; /* a wind is looked at that often at least */

/* The state that is integrated: the mass, and how far the star is in its phase. That is the fraction of the phase if
 * the fits are asked for the mass that the star has now (HPT, section 7.1: its age is rescaled as that changes), else
 * the age. */
struct state {
    double mass, progress;
};

/* @return 1: the fits follow the mass. Not in the gap if helium ignites at its end. */
static int follows_mass(const struct stellar_model *model, const struct stellar_star *star)
{
    return star->type <= STELLAR_MS || star->type == STELLAR_HE_MS ||
           (star->type == STELLAR_HG && star->mass_track <= model->fits.m_fgb);
}

/* Age of a state, and how fast it progresses. The track is that of the state afterwards. */
static double age_of(const struct stellar_model *model, const struct stellar_star *star, int follows,
                     const struct state *y, struct stellar_track *track, double *rate)
{
    double begin, end;
    stellar_track_make(model, star->type, follows ? y->mass : star->mass_track, track);
    *rate = 1;
    if (!follows || !stellar_phase(track, star->type, &begin, &end)) return y->progress;
    *rate = 1 / (end - begin);
    return begin + fmin(1, y->progress) * (end - begin);
}

static struct state begin_of(const struct stellar_model *model, const struct stellar_star *star, int follows,
                             struct stellar_track *track)
{
    struct state y = {star->mass, star->age_myr};
    double begin, end;
    stellar_track_make(model, star->type, star->mass_track, track);
    if (follows && stellar_phase(track, star->type, &begin, &end)) y.progress = (star->age_myr - begin) / (end - begin);
    return y;
}

/* The star of a state */
static void star_of(const struct stellar_model *model, const struct stellar_star *star, int follows,
                    const struct state *y, struct stellar_track *track, struct stellar_star *later,
                    struct stellar_point *point, struct state *rate)
{
    *later = *star;
    later->mass = y->mass;
    later->age_myr = age_of(model, star, follows, y, track, &rate->progress);
    if (follows) later->mass_track = y->mass;
    stellar_point_make(model, track, star->type, y->mass, later->age_myr, point);
    rate->mass = -point->wind;
    later->type = point->type;
    later->core_mass = point->mc;
    later->co_core_mass = point->mco;
}

/* A step of third order. Bogacki & Shampine 1989, Appl. Math. Lett. 2, 321
 * @param[in] k1  rate at its begin   @param[out] error  difference of the masses of third and second order */
static void advance(const struct stellar_model *model, const struct stellar_star *star, int follows,
                    const struct state *y, const struct state *k1, double dt, struct stellar_track *track,
                    struct stellar_star *later, struct stellar_point *point, double *error)
{
    const double least = 0.5 * y->mass; /* steps that are far too long are seen by their error */
    struct state k2, k3, k4, at = {fmax(least, y->mass + 0.5 * dt * k1->mass), y->progress + 0.5 * dt * k1->progress};
    star_of(model, star, follows, &at, track, later, point, &k2);
    at = (struct state){fmax(least, y->mass + 0.75 * dt * k2.mass), y->progress + 0.75 * dt * k2.progress};
    star_of(model, star, follows, &at, track, later, point, &k3);
    at.mass = fmax(least, y->mass + dt / 9 * (2 * k1->mass + 3 * k2.mass + 4 * k3.mass));
    at.progress = y->progress + dt / 9 * (2 * k1->progress + 3 * k2.progress + 4 * k3.progress);
    star_of(model, star, follows, &at, track, later, point, &k4);
    *error = dt / 72 * fabs(5 * k1->mass - 6 * k2.mass - 8 * k3.mass + 9 * k4.mass);
}

/* @return 1: no wind can blow before the phase ends */
static int is_windless(const struct stellar_model *model, const struct stellar_track *track, int type)
{
    /* Solar luminosities: no wind of luminous stars below, which is 4000, or no star that is hot enough for a wind */
    const double quiet = model->options.mdflag <= 2 ? 2000 : 10;
    if (type >= STELLAR_HE_WD || model->options.mdflag == 0) return 1;
    return type <= STELLAR_MS && fmax(track->ms.l_tms, track->ms.l_zams) < quiet;
}

/* stellar_step_part for a star whose fits follow its mass or not */
static void part(const struct stellar_model *model, const struct stellar_star *star, int follows,
                 struct stellar_work *work, double dt, struct stellar_star *later, struct stellar_point *point,
                 double *error)
{
    struct state rate;
    struct state y = begin_of(model, star, follows, &work->track);
    if (is_windless(model, &work->track, star->type)) {
        y.progress = star->age_myr + dt;
        star_of(model, star, 0, &y, &work->track, later, point, &rate);
        *error = 0;
    } else {
        age_of(model, star, follows, &y, &work->track, &rate.progress);
        if (!work->has_point)
            stellar_point_make(model, &work->track, star->type, star->mass, star->age_myr, &work->point);
        work->has_point = 1;
        rate.mass = -work->point.wind;
        advance(model, star, follows, &y, &rate, dt, &work->track, later, point, error);
    }
    later->time_myr = star->time_myr + dt;
}

void stellar_step_part(const struct stellar_model *model, const struct stellar_star *star, struct stellar_work *work,
                       double dt, struct stellar_star *later, struct stellar_point *point, double *error)
{
    double estimate;
    part(model, star, follows_mass(model, star), work, dt, later, point, &estimate);
    if (star->type == STELLAR_HG && point->mc < star->core_mass) { /* a core does not shrink */
        part(model, star, 0, work, dt, later, point, &estimate);
        later->core_mass = fmax(star->core_mass, point->mc);
    }
    if (error) *error = estimate;
}

void stellar_reweigh(const struct stellar_model *model, double mass, struct stellar_work *work,
                     struct stellar_star *star, struct stellar_point *point)
{
    const int follows = follows_mass(model, star);
    struct state rate, y = begin_of(model, star, follows, &work->track);
    struct stellar_star later;
    y.mass = mass;
    star_of(model, star, follows, &y, &work->track, &later, point, &rate);
    if (star->type == STELLAR_HG && follows && point->mc < star->core_mass) {
        y.progress = star->age_myr;
        star_of(model, star, 0, &y, &work->track, &later, point, &rate);
    }
    if (later.type <= STELLAR_MS) later.type = mass < STELLAR_MASS_LOW ? STELLAR_MS_LOW : STELLAR_MS;
    later.step_myr = 0;
    *star = later;
    work->has_point = 0;
}

/* First length to try: what accuracy permitted last, within limits */
static double first_length(const struct stellar_star *star, const struct stellar_work *work, double length, double left)
{
    double dt = fmin(left, MOST_OF_PHASE * length);
    if (star->step_myr > 0) dt = fmin(dt, star->step_myr);
    if (work->has_point && work->point.wind > 0) dt = fmin(dt, MOST_LOSS * star->mass / work->point.wind);
    return dt;
}

/* A star within dt at which its envelope has just gone: false position, with bisection where that is slow
 * @param[in] before,after  envelopes at both ends */
static void find_stripped(const struct stellar_model *model, const struct stellar_star *star, struct stellar_work *work,
                          double before, double dt, double after, struct stellar_star *later)
{
    struct stellar_point p;
    double low = 0, high = dt;
    for (int k = 0; k < 100 && high - low > 1e-11 * dt; k++) {
        const double at = k % 3 == 2 ? 0.5 * (low + high) : low + (high - low) * before / (before - after);
        stellar_step_part(model, star, work, at, later, &p, NULL);
        if (p.envelope > 0) {
            low = at;
            before = p.envelope;
        } else {
            high = at;
            after = p.envelope;
        }
    }
    stellar_step_part(model, star, work, high, later, &p, NULL);
}

/* The longest step up to `dt` that is accurate.   @return the length that the next one may have */
static double accurate_step(const struct stellar_model *model, const struct stellar_star *star,
                            struct stellar_work *work, double dt, struct stellar_step *step, double *taken)
{
    const int tries_most = 60;
    for (int tries = 1;; tries++) {
        double error;
        stellar_step_part(model, star, work, dt, &step->next, &step->point, &error);
        const double wanted = dt * fmin(2, 0.85 * cbrt(TOLERANCE * star->mass / fmax(error, 1e-300)));
        *taken = dt;
        if (error <= TOLERANCE * star->mass || tries == tries_most) return wanted;
        dt = fmax(0.1 * dt, fmin(0.9 * dt, wanted));
    }
}

/* @return 1: the star has reached the end of its phase. A star that grows lighter lives longer, so that its end comes
 * nearer by ever shorter steps. */
static int is_burnt(const struct stellar_model *model, const struct stellar_star *star, struct stellar_track *track)
{
    double begin, end;
    stellar_track_make(model, star->type, star->mass_track, track);
    return stellar_phase(track, star->type, &begin, &end) && end - star->age_myr <= 1e-9 * (end - begin);
}

void stellar_step_plan(const struct stellar_model *model, const struct stellar_star *star, struct stellar_work *work,
                       struct stellar_step *step)
{
    double begin = 0, end = 0, taken;
    stellar_track_make(model, star->type, star->mass_track, &work->track);
    stellar_phase(&work->track, star->type, &begin, &end);
    if (!work->has_point) stellar_point_make(model, &work->track, star->type, star->mass, star->age_myr, &work->point);
    work->has_point = 1;
    const double left = fmax(0, end - star->age_myr), envelope = fmax(0, work->point.envelope);
    const int windless = is_windless(model, &work->track, star->type);
    const double dt = windless ? left : first_length(star, work, fmax(left, end - begin), left);
    const double wanted = accurate_step(model, star, work, dt, step, &taken);
    step->end = STELLAR_GOES_ON;
    step->next.step_myr = wanted;
    if (step->point.envelope <= 0) {
        step->end = STELLAR_STRIPPED;
        find_stripped(model, star, work, envelope, taken, step->point.envelope, &step->next);
    } else if (is_burnt(model, &step->next, &work->track)) {
        step->end = STELLAR_BURNT;
    }
    if (step->end != STELLAR_GOES_ON) step->next.step_myr = 0;
}
