#include "nbody6/app/collisionless/note.h"

#include "common/nbc.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/collisionless/check.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/stars/stars_note.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/input/config.h"

static int warn_of_steps(struct nb6_progress *progress, const struct nb6_config *config,
                         const struct nb6_collisionless *bodies, struct nbc_error *err)
{
    char advice[NB6_COLLISIONLESS_ADVICE];
    struct nb6_collisionless_options options;
    const int status = nb6_collisionless_options_of(config, &options, err);
    if (!status && nb6_collisionless_advise(&options, bodies->n, bodies->mass, advice, sizeof advice))
        nb6_progress_warn(progress, "%s", advice);
    return status;
}

int nb6_collisionless_announce(struct nb6_progress *progress, const struct nb6_config *config,
                               const struct nb6_data_facts *data, const struct nb6_collisionless *bodies,
                               const struct nb6_units *units, struct nbc_error *err)
{
    struct nb6_bulk bulk;
    const double(*x)[3] = (const double(*)[3])bodies->x0, (*v)[3] = (const double(*)[3])bodies->v;
    const int status = nb6_bulk_find(bodies->n, bodies->mass, x, v, &bulk, err);
    if (status) return status;
    nb6_stars_announce(progress, config, data, &bulk, units);
    return warn_of_steps(progress, config, bodies, err);
}

int nb6_collisionless_announce_resumed(struct nb6_progress *progress, struct nb6_collisionless *system,
                                       const struct nb6_units *units, struct nbc_error *err)
{
    struct nb6_frame frame;
    if (progress->quiet || !system->x0) return NBC_OK; /* nobody has all bodies of several ranks */
    int status = nb6_collisionless_frame(system, 0, &frame, err);
    if (status) return status;
    status = nb6_stars_announce_frame(progress, &frame, units, err);
    nb6_frame_free(&frame);
    return status;
}
