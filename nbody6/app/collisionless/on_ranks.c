#include "nbody6/app/collisionless/on_ranks.h"

#include "gpunb/tree.h"
#include "nbody6/app/collisionless/check.h"
#include "nbody6/app/signals.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/input/config.h"
#include "nbody6/world/launch.h"
#include "nbody6/world/world.h"

#include <time.h>

static int refuse(const struct nb6_config *config, const char *name, const char *what, const char *remedy, int ranks,
                  struct nbc_error *err)
{
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: %s: %s on one rank alone so far, and there are %d; %s, or start one process",
                    config->run.input_path, name, what, ranks, remedy);
}

int nb6_collisionless_options_on(const struct nb6_config *config, struct nb6_world *world,
                                 struct nb6_collisionless_options *options, struct nbc_error *err)
{
    const int ranks = nb6_world_size(world);
    const int status = nb6_collisionless_options_of(config, options, err);
    options->world = world;
    if (status || ranks == 1) return status;
    if (!gpunb_tree_is_asked(&options->force)) return NBC_OK;
    if (options->engine != NB6_COLLISIONLESS_AUTO && options->engine != NB6_COLLISIONLESS_HOST)
        return refuse(config, "ENGINE", "devices keep bodies of a tree", "give --engine host", ranks, err);
    return NBC_OK;
}

void nb6_on_ranks_print(const struct nb6_world *world, int64_t n, FILE *out)
{
    const int ranks = nb6_world_size(world);
    if (ranks == 1) return;
    fprintf(out, "  times are those of one rank; each of %d has %lld bodies, and makes the sums on them\n", ranks,
            (long long)(n + ranks - 1) / ranks);
}

static int signal_is_pending(void)
{
    return nb6_signals_pending() != NULL;
}

int nb6_on_ranks_serve(struct nb6_world *world)
{
    nb6_signals_catch();
    const int status = nb6_ranks_serve(world, signal_is_pending);
    nb6_world_close(world);
    return nbc_status_exit_code(status);
}

void nb6_on_ranks_keep_silent(void)
{
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
}
