#include "nbody6/collisionless/ranks/network.h"

#include "nbody6/world/spread.h"
#include "nbody6/world/threads.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bodies of a rank that there really are. */
enum { SHARE = 2 };

struct scene {
    const struct nb6_rank_model *model;
    double scale, room;
    double *seconds; /* [ranks] */
};

struct rank {
    const struct scene *scene;
    struct nb6_world *world;
};

/* A unit of work is a second. */
static void sum_set(void *context, const struct nb6_spread_set *set, const void *items)
{
    const struct rank *r = context;
    const struct nb6_rank_model *m = r->scene->model;
    const double scale = r->scene->scale, targets = SHARE * scale, sources = scale * (double)set->n;
    const double cost = m->gpu ? nb6_gpu_seconds(m->gpu, targets, sources) : m->call_s + m->pair_s * targets * sources;
    (void)items;
    nb6_world_spend(r->world, 0, cost / (scale * scale));
}

static void make_forces(struct nb6_world *world, void *context)
{
    const struct scene *scene = context;
    struct rank r = {scene, world};
    const int ranks = nb6_world_size(world), rank = nb6_world_rank(world);
    struct nb6_spread *spread = NULL;
    struct nbc_error err = {0};
    const int status = nb6_spread_open(&spread, world, (int64_t)SHARE * ranks, (size_t)scene->model->source_bytes,
                                       (size_t)scene->room, NULL, &err);
    if (nb6_world_agree(world, status, &err) == NBC_OK) {
        const double start = nb6_world_seconds(world);
        int64_t shortest = rank;
        memset(nb6_spread_own(spread), 0, SHARE * (size_t)scene->model->source_bytes);
        nb6_spread_run(spread, sum_set, &r);
        (void)nb6_world_agree(world, NBC_OK, &err);
        nb6_world_minimum(world, &shortest, 1);
        scene->seconds[rank] = nb6_world_seconds(world) - start;
    }
    nb6_spread_close(spread);
}

int nb6_rank_network_seconds(const struct nb6_rank_model *model, double n, int ranks, double room, double *seconds,
                             struct nbc_error *err)
{
    const double scale = n / ((double)SHARE * ranks);
    const struct nb6_network network = {
        .latency_s = model->latency_s, .bytes_per_s = model->bytes_per_s, .unit_s = 1, .scale = scale};
    const struct nb6_threads_options options = {.network = &network};
    double *each = nbc_alloc((size_t)ranks, sizeof *each);
    struct scene scene = {model, scale, room / scale, each};
    if (!each) return nbc_fail(err, NBC_NO_MEMORY, "no memory for %d ranks", ranks);
    const int status = nb6_world_threads_run(ranks, &options, make_forces, &scene, err);
    *seconds = 0;
    for (int k = 0; k < ranks; k++) *seconds = fmax(*seconds, each[k]);
    nbc_free(each);
    return status;
}
