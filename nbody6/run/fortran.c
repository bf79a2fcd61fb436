#include "nbody6/run/fortran.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"

#include <pthread.h>
#include <string.h>

struct nb6_fortran {
    struct nb6_config config;
    nb6_t *sim; /* NULL: no stars yet */
    struct nbc_error err;
};

/* Fortran holds numbers, none of which is given twice: a copy of a cluster that was freed names nothing. */
static struct {
    pthread_mutex_t mutex;
    struct entry {
        int64_t id;
        struct nb6_fortran *cluster;
    } * entry; /* [n] in no order */
    int64_t n, room, last_id;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int64_t place_of(int64_t id)
{
    int64_t k = table.n - 1;
    while (k >= 0 && table.entry[k].id != id) k--;
    return k;
}

/* NULL: there is no such cluster */
static struct nb6_fortran *find(int64_t id)
{
    pthread_mutex_lock(&table.mutex);
    const int64_t k = place_of(id);
    struct nb6_fortran *cluster = k < 0 ? NULL : table.entry[k].cluster;
    pthread_mutex_unlock(&table.mutex);
    return cluster;
}

int64_t nb6_fortran_create(void)
{
    struct nb6_fortran *cluster = nbc_alloc(1, sizeof *cluster);
    int64_t id = 0;
    if (!cluster) return 0;
    nb6_config_init(&cluster->config);
    pthread_mutex_lock(&table.mutex);
    if (nbc_grow(&table.entry, &table.room, table.n + 1, sizeof *table.entry)) {
        id = ++table.last_id;
        table.entry[table.n++] = (struct entry){id, cluster};
    }
    pthread_mutex_unlock(&table.mutex);
    if (!id) nbc_free(cluster);
    return id;
}

static struct nb6_fortran *take_out(int64_t id)
{
    struct nb6_fortran *cluster = NULL;
    pthread_mutex_lock(&table.mutex);
    const int64_t k = place_of(id);
    if (k >= 0) {
        cluster = table.entry[k].cluster;
        table.entry[k] = table.entry[--table.n];
    }
    if (table.n == 0) {
        nbc_free(table.entry);
        table.entry = NULL;
        table.room = 0;
    }
    pthread_mutex_unlock(&table.mutex);
    return cluster;
}

void nb6_fortran_free(int64_t id)
{
    struct nb6_fortran *cluster = take_out(id);
    if (!cluster) return;
    nb6_free(cluster->sim);
    nbc_free(cluster);
}

const char *nb6_fortran_message(int64_t id)
{
    const struct nb6_fortran *cluster = find(id);
    if (cluster) return cluster->err.text;
    return id ? "the cluster was freed: call nb6_create again"
              : "call nb6_create first: the cluster does not exist, or there was no memory";
}

/* Every call passes here. */
static int check_cluster(struct nb6_fortran *cluster, const char *call, int needs_stars)
{
    if (!cluster) return NBC_BAD_STATE;
    if (needs_stars && !cluster->sim)
        return nbc_fail(&cluster->err, NBC_BAD_STATE,
                        "%s: the cluster has no stars yet, call nb6_set_bodies or nb6_restore", call);
    if (!needs_stars && cluster->sim)
        return nbc_fail(&cluster->err, NBC_BAD_STATE, "%s: the cluster has its stars already", call);
    return NBC_OK;
}

int nb6_fortran_bad_shape(int64_t id, int64_t n)
{
    struct nb6_fortran *cluster = find(id);
    if (!cluster) return NBC_BAD_STATE;
    return nbc_fail(&cluster->err, NBC_BAD_ARGUMENT,
                    "for %lld stars the shapes are mass(%lld), x(3,%lld), v(3,%lld), "
                    "name(%lld)",
                    (long long)n, (long long)n, (long long)n, (long long)n, (long long)n);
}

int nb6_fortran_set(int64_t id, const char *name, const char *value)
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_set", 0);
    return status ? status : nb6_input_set(&cluster->config, name, value, &cluster->err);
}

int nb6_fortran_set_bodies(int64_t id, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                           const double (*v)[3])
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_set_bodies", 0);
    if (status) return status;
    status = nb6_create(&cluster->sim, &cluster->config, &cluster->err);
    if (!status) status = nb6_set_bodies(cluster->sim, n, name, mass, x, v, &cluster->err);
    if (status) {
        nb6_free(cluster->sim);
        cluster->sim = NULL;
    }
    return status;
}

int nb6_fortran_evolve(int64_t id, double t)
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_evolve", 1);
    return status ? status : nb6_evolve(cluster->sim, t, &cluster->err);
}

int nb6_fortran_get_bodies(int64_t id, int64_t n, int64_t *name, double *mass, double (*x)[3], double (*v)[3])
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_get_bodies", 1);
    return status ? status : nb6_get_bodies(cluster->sim, n, name, mass, x, v, &cluster->err);
}

int nb6_fortran_get_energy(int64_t id, double energy[NB6_FORTRAN_ENERGY])
{
    struct nb6_fortran *cluster = find(id);
    struct nb6_energy e;
    int status = check_cluster(cluster, "nb6_get_energy", 1);
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

int nb6_fortran_checkpoint(int64_t id, const char *path)
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_checkpoint", 1);
    return status ? status : nb6_checkpoint(cluster->sim, path, &cluster->err);
}

int nb6_fortran_restore(int64_t id, const char *path)
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_restore", 0);
    return status ? status : nb6_restore(&cluster->sim, path, &cluster->err);
}

struct nb6_config *nb6_fortran_config(int64_t id)
{
    struct nb6_fortran *cluster = find(id);
    return check_cluster(cluster, "nb6_make_model", 0) ? NULL : &cluster->config;
}

struct nbc_error *nb6_fortran_error(int64_t id)
{
    struct nb6_fortran *cluster = find(id);
    return cluster ? &cluster->err : NULL;
}

int nb6_fortran_add_bodies(int64_t id, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                           const double (*v)[3])
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_add_bodies", 1);
    return status ? status : nb6_add_bodies(cluster->sim, n, name, mass, x, v, &cluster->err);
}

int nb6_fortran_remove_bodies(int64_t id, int64_t n, const int64_t *name)
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_remove_bodies", 1);
    return status ? status : nb6_remove_bodies(cluster->sim, n, name, &cluster->err);
}

int nb6_fortran_set_masses(int64_t id, int64_t n, const int64_t *name, const double *mass, const double (*v)[3],
                           int sudden)
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_set_masses", 1);
    return status ? status
                  : nb6_set_masses(cluster->sim, n, name, mass, v, sudden ? NB6_MASS_SUDDEN : NB6_MASS_SLOW,
                                   &cluster->err);
}

int nb6_fortran_get_field(int64_t id, int64_t n, const double (*x)[3], double *potential, double (*acc)[3],
                          double *galaxy_potential, double (*galaxy_acc)[3])
{
    struct nb6_fortran *cluster = find(id);
    int status = check_cluster(cluster, "nb6_get_field", 1);
    return status ? status
                  : nb6_get_field(cluster->sim, n, x, potential, acc, galaxy_potential, galaxy_acc, &cluster->err);
}

double nb6_fortran_time(int64_t id)
{
    struct nb6_fortran *cluster = find(id);
    return cluster && cluster->sim ? nb6_time_now(cluster->sim) : 0;
}

int64_t nb6_fortran_count(int64_t id)
{
    struct nb6_fortran *cluster = find(id);
    return cluster && cluster->sim ? nb6_count(cluster->sim) : 0;
}

int nb6_fortran_stopped(int64_t id)
{
    struct nb6_fortran *cluster = find(id);
    return cluster && cluster->sim && nb6_stopped(cluster->sim);
}
