#include "nbody6/app/collisionless/stop.h"

#include "common/nbc.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/signals.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/ranks.h"

#include <stdio.h>
#include <unistd.h>

static int stop_file_found(const char *path, struct nb6_progress *progress, char reason[NB6_STOP_TEXT])
{
    if (access(path, F_OK)) return 0;
    snprintf(reason, NB6_STOP_TEXT, "a file %s was found", path);
    if (unlink(path)) nb6_progress_warn(progress, "note: cannot remove %s: the next run will stop as well", path);
    return 1;
}

int nb6_stop_is_wanted(const struct nb6_stop_rules *rules, const struct nb6_collisionless *system,
                       struct nb6_progress *progress, char reason[NB6_STOP_TEXT])
{
    const char *name = nb6_signals_pending();
    if (name) {
        snprintf(reason, NB6_STOP_TEXT, "%s came", name);
        return 1;
    }
    if (system->ranks && nb6_ranks_wanting_stop(system->ranks) > 0) {
        snprintf(reason, NB6_STOP_TEXT, "a signal came to another rank");
        return 1;
    }
    if (rules->limit_s > 0 && nbc_wtime() - rules->wall_start > rules->limit_s) {
        snprintf(reason, NB6_STOP_TEXT, "the wall-clock limit TCOMP = %g s is reached", rules->limit_s);
        return 1;
    }
    return stop_file_found("STOP", progress, reason) || stop_file_found(rules->stop_file, progress, reason);
}
