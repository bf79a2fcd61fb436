#include "nbody6/run/fortran.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"

#include <string.h>

struct nb6_fortran {
    struct nb6_config config;
    nb6_t *sim; /* NULL: no stars yet */
    struct nbc_error err;
};

struct nb6_fortran *nb6_fortran_create(void)
{
    struct nb6_fortran *cluster = nbc_alloc(1, sizeof *cluster);
    if (cluster) nb6_config_init(&cluster->config);
    return cluster;
}

void nb6_fortran_free(struct nb6_fortran *cluster)
{
    if (!cluster) return;
    nb6_free(cluster->sim);
    nbc_free(cluster);
}

const char *nb6_fortran_message(const struct nb6_fortran *cluster)
{
    return cluster ? cluster->err.text : "call nb6_create first: the cluster does not exist, or there was no memory";
}

/* Every call passes here. */
static int check(struct nb6_fortran *cluster, const char *call, int needs_stars)
{
    if (!cluster) return NBC_BAD_STATE;
    if (needs_stars && !cluster->sim)
        return nbc_fail(&cluster->err, NBC_BAD_STATE,
                        "%s: the cluster has no stars yet, call nb6_set_bodies or nb6_restore", call);
    if (!needs_stars && cluster->sim)
        return nbc_fail(&cluster->err, NBC_BAD_STATE, "%s: the cluster has its stars already", call);
    return NBC_OK;
}

int nb6_fortran_bad_shape(struct nb6_fortran *cluster, int64_t n)
{
    if (!cluster) return NBC_BAD_STATE;
    return nbc_fail(&cluster->err, NBC_BAD_ARGUMENT,
                    "for %lld stars the shapes are mass(%lld), x(3,%lld), v(3,%lld), "
                    "name(%lld)",
                    (long long)n, (long long)n, (long long)n, (long long)n, (long long)n);
}

int nb6_fortran_set(struct nb6_fortran *cluster, const char *name, const char *value)
{
    int status = check(cluster, "nb6_set", 0);
    return status ? status : nb6_input_set(&cluster->config, name, value, &cluster->err);
}

int nb6_fortran_set_bodies(struct nb6_fortran *cluster, int64_t n, const int64_t *name, const double *mass,
                           const double (*x)[3], const double (*v)[3])
{
    int status = check(cluster, "nb6_set_bodies", 0);
    if (status) return status;
    status = nb6_create(&cluster->sim, &cluster->config, &cluster->err);
    if (!status) status = nb6_set_bodies(cluster->sim, n, name, mass, x, v, &cluster->err);
    if (status) {
        nb6_free(cluster->sim);
        cluster->sim = NULL;
    }
    return status;
}

int nb6_fortran_evolve(struct nb6_fortran *cluster, double t)
{
    int status = check(cluster, "nb6_evolve", 1);
    return status ? status : nb6_evolve(cluster->sim, t, &cluster->err);
}

int nb6_fortran_get_bodies(struct nb6_fortran *cluster, int64_t n, int64_t *name, double *mass, double (*x)[3],
                           double (*v)[3])
{
    int status = check(cluster, "nb6_get_bodies", 1);
    return status ? status : nb6_get_bodies(cluster->sim, n, name, mass, x, v, &cluster->err);
}

int nb6_fortran_get_energy(struct nb6_fortran *cluster, double energy[NB6_FORTRAN_ENERGY])
{
    struct nb6_energy e;
    int status = check(cluster, "nb6_get_energy", 1);
    if (!status) status = nb6_get_energy(cluster->sim, &e, &cluster->err);
    if (status) return status;
    const double flat[NB6_FORTRAN_ENERGY] = {e.kinetic,
                                             e.potential,
                                             e.tidal,
                                             e.total,
                                             e.virial_ratio,
                                             e.angular_momentum[0],
                                             e.angular_momentum[1],
                                             e.angular_momentum[2],
                                             e.centre_x[0],
                                             e.centre_x[1],
                                             e.centre_x[2],
                                             e.centre_v[0],
                                             e.centre_v[1],
                                             e.centre_v[2],
                                             e.mass};
    memcpy(energy, flat, sizeof flat);
    return NBC_OK;
}

int nb6_fortran_checkpoint(struct nb6_fortran *cluster, const char *path)
{
    int status = check(cluster, "nb6_checkpoint", 1);
    return status ? status : nb6_checkpoint(cluster->sim, path, &cluster->err);
}

int nb6_fortran_restore(struct nb6_fortran *cluster, const char *path)
{
    int status = check(cluster, "nb6_restore", 0);
    return status ? status : nb6_restore(&cluster->sim, path, &cluster->err);
}

struct nb6_config *nb6_fortran_config(struct nb6_fortran *cluster)
{
    return check(cluster, "nb6_make_model", 0) ? NULL : &cluster->config;
}

struct nbc_error *nb6_fortran_error(struct nb6_fortran *cluster)
{
    return cluster ? &cluster->err : NULL;
}

int nb6_fortran_add_bodies(struct nb6_fortran *cluster, int64_t n, const int64_t *name, const double *mass,
                           const double (*x)[3], const double (*v)[3])
{
    int status = check(cluster, "nb6_add_bodies", 1);
    return status ? status : nb6_add_bodies(cluster->sim, n, name, mass, x, v, &cluster->err);
}

int nb6_fortran_remove_bodies(struct nb6_fortran *cluster, int64_t n, const int64_t *name)
{
    int status = check(cluster, "nb6_remove_bodies", 1);
    return status ? status : nb6_remove_bodies(cluster->sim, n, name, &cluster->err);
}

double nb6_fortran_time(const struct nb6_fortran *cluster)
{
    return cluster && cluster->sim ? nb6_time_now(cluster->sim) : 0;
}

int64_t nb6_fortran_count(const struct nb6_fortran *cluster)
{
    return cluster && cluster->sim ? nb6_count(cluster->sim) : 0;
}

int nb6_fortran_stopped(const struct nb6_fortran *cluster)
{
    return cluster && cluster->sim && nb6_stopped(cluster->sim);
}
