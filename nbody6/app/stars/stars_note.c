#include "nbody6/app/stars/stars_note.h"

#include "common/nbc.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/stars/unit_advice.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/model/model.h"

#include <stdio.h>
#include <string.h>

int nb6_stars_find(const struct nb6_model *model, struct nb6_bulk *bulk, struct nbc_error *err)
{
    return nb6_bulk_find(model->n, model->mass, (const double(*)[3])model->x, (const double(*)[3])model->v, bulk, err);
}

void nb6_stars_tell_q(const struct nb6_bulk *bulk, int suspect, char text[NB6_Q_TEXT])
{
    const double q = bulk->virial_ratio;
    const char *cold = q >= NB6_COLD_START || suspect ? "" : q > 0 ? ", a cold start" : ", a cold start: all at rest";
    if (q < 0)
        snprintf(text, NB6_Q_TEXT, "not defined, as the stars have no potential energy");
    else if (bulk->virial_error > 0)
        snprintf(text, NB6_Q_TEXT, "%.4g +- %.1g, by a sample of %lld stars%s", q, bulk->virial_error,
                 (long long)bulk->n_summed, cold);
    else
        snprintf(text, NB6_Q_TEXT, "%.4g%s", q, cold);
}

static void add_time(const char *name, double t, const struct nb6_units *units, char text[NB6_STARS_TEXT])
{
    const size_t used = strlen(text);
    if (t > 0) snprintf(text + used, NB6_STARS_TEXT - used, ", %s %.4g (%.4g Myr)", name, t, t * units->time_myr);
}

void nb6_stars_describe(const struct nb6_bulk *bulk, const struct nb6_units *units, int suspect,
                        char text[NB6_STARS_TEXT])
{
    char q[NB6_Q_TEXT];
    nb6_stars_tell_q(bulk, suspect, q);
    snprintf(text, NB6_STARS_TEXT,
             "stars: N = %lld, total mass %.5g (%.5g Msun), half-mass radius %.4g (%.4g pc), virial ratio Q = %s",
             (long long)bulk->n, bulk->mass, bulk->mass * units->mass_msun, bulk->r_half,
             bulk->r_half * units->length_pc, q);
    add_time("crossing time", bulk->t_cross, units, text);
    add_time("half-mass relaxation time", bulk->t_relax, units, text);
}

static void warn(void *context, const char *text)
{
    nb6_progress_warn(context, "warning: %s", text);
}

void nb6_stars_announce(struct nb6_progress *progress, const struct nb6_config *config,
                        const struct nb6_data_facts *data, const struct nb6_bulk *bulk, const struct nb6_units *units)
{
    char text[NB6_STARS_TEXT];
    nb6_stars_describe(bulk, units, nb6_units_are_suspect(config, data, bulk, units), text);
    nb6_progress_note(progress, "%s", text);
    nb6_units_advise(config, data, bulk, units, warn, progress);
}

int nb6_stars_announce_frame(struct nb6_progress *progress, const struct nb6_frame *frame,
                             const struct nb6_units *units, struct nbc_error *err)
{
    struct nb6_bulk bulk;
    char text[NB6_STARS_TEXT];
    const double(*x)[3] = (const double(*)[3])frame->x, (*v)[3] = (const double(*)[3])frame->v;
    const int status = nb6_bulk_find(frame->n, frame->mass, x, v, &bulk, err);
    if (status) return status;
    nb6_stars_describe(&bulk, units, 0, text);
    nb6_progress_note(progress, "%s", text);
    return NBC_OK;
}
