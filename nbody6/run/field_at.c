/* The field of a cluster at points in space. */
#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/live.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"

#include <math.h>
#include <string.h>

/* Sums of so many stars are added up: rounding grows with this and with the number of such sums, not with their
 * product. */
enum { STARS_OF_A_SUM = 1024 };

struct field {
    const struct nb6_frame *stars;
    const struct nb6_external *external;
    int64_t n;
    const double (*x)[3];
    double *potential, (*acc)[3], *galaxy_potential, (*galaxy_acc)[3]; /* or NULL */
};

/* Acceleration, and the potential as the fourth number. */
static void add_stars(const struct nb6_frame *f, int64_t first, int64_t end, const double x[3], double total[4])
{
    double sum[4] = {0, 0, 0, 0};
    for (int64_t j = first; j < end; j++) {
        const double dx = f->x[j][0] - x[0], dy = f->x[j][1] - x[1], dz = f->x[j][2] - x[2];
        const double r2 = dx * dx + dy * dy + dz * dz;
        if (!(r2 > 0)) continue;
        const double over_r = f->mass[j] / sqrt(r2), m = over_r / r2;
        sum[0] += m * dx;
        sum[1] += m * dy;
        sum[2] += m * dz;
        sum[3] -= over_r;
    }
    for (int k = 0; k < 4; k++) total[k] += sum[k];
}

static void of_stars(const struct field *field, int64_t i)
{
    const struct nb6_frame *f = field->stars;
    double total[4] = {0, 0, 0, 0};
    for (int64_t j = 0; j < f->n; j += STARS_OF_A_SUM)
        add_stars(f, j, j + STARS_OF_A_SUM < f->n ? j + STARS_OF_A_SUM : f->n, field->x[i], total);
    if (field->potential) field->potential[i] = total[3];
    if (field->acc) memcpy(field->acc[i], total, sizeof field->acc[i]);
}

static void of_galaxy(const struct field *field, int64_t i)
{
    static const double at_rest[3];
    double acc[3] = {0, 0, 0}, jerk[3], potential = 0;
    if (field->external->active) {
        potential = nb6_external_potential(field->external, field->stars->t, field->x[i]);
        nb6_external_force(field->external, field->stars->t, field->x[i], at_rest, at_rest, acc, jerk);
    }
    if (field->galaxy_potential) field->galaxy_potential[i] = potential;
    if (field->galaxy_acc) memcpy(field->galaxy_acc[i], acc, sizeof field->galaxy_acc[i]);
}

static void work(void *context, int part, int parts)
{
    const struct field *field = context;
    int64_t first, end;
    nbc_range(field->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        if (field->potential || field->acc) of_stars(field, i);
        if (field->galaxy_potential || field->galaxy_acc) of_galaxy(field, i);
    }
}

static int check(const struct nb6_sim *sim, int64_t n, const double (*x)[3], struct nbc_error *err)
{
    if (!sim->body) return nbc_fail(err, NBC_BAD_STATE, "nb6_get_field: the simulation has no stars yet");
    if (n < 0 || (n && !x))
        return nbc_fail(err, NBC_BAD_ARGUMENT, n < 0 ? "nb6_get_field: %lld points" : "nb6_get_field: x is NULL",
                        (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i][0] + x[i][1] + x[i][2]))
            return nbc_fail(err, NBC_NON_FINITE, "nb6_get_field: the place of point %lld is not finite",
                            (long long)i + 1);
    return NBC_OK;
}

int nb6_get_field(nb6_t *sim, int64_t n, const double (*x)[3], double *potential, double (*acc)[3],
                  double *galaxy_potential, double (*galaxy_acc)[3], struct nbc_error *err)
{
    struct nb6_frame frame;
    int status = nb6_live_check(sim, "nb6_get_field", err);
    if (!status) status = check(sim, n, x, err);
    if (!status) status = nb6_frame_make(sim, sim->ti_reached, 0, &frame, err);
    if (status) return status;
    struct field field = {&frame, &sim->run.external, n, x, potential, acc, galaxy_potential, galaxy_acc};
    nbc_team_run(nbc_parts(n, 1), work, &field);
    nb6_frame_free(&frame);
    return NBC_OK;
}
