#include "nbody6/world/launch.h"

#include "nbody6/world/kind.h"
#include "nbody6/world/mpi/object.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Numbers that a launcher tells its processes; -1: none. */
struct told {
    int rank, size;
};

struct connection {
    struct nb6_world world;
    const struct nb6_mpi_object *mpi;
};

/* ---- messages */

static const struct nb6_mpi_object *mpi_of(const struct nb6_world *world)
{
    return ((const struct connection *)world->state)->mpi;
}

static void send(struct nb6_world *world, struct nb6_message *m)
{
    mpi_of(world)->send(m->peer, m->tag, m->from, m->bytes, &m->request);
}

static void receive(struct nb6_world *world, struct nb6_message *m)
{
    mpi_of(world)->receive(m->peer, m->tag, m->to, m->bytes, &m->request);
}

static int test(struct nb6_world *world, struct nb6_message *m)
{
    return m->is_done || (m->is_done = mpi_of(world)->test(&m->request));
}

/* A rank that waits for long leaves its processor to others: rank 0 may be writing a file. */
static void wait_for(struct nb6_world *world, struct nb6_message *m)
{
    enum { SPINS = 2000, YIELDS = 20000 };
    for (int turn = 0; !test(world, m); turn += turn < YIELDS) {
        if (turn >= YIELDS)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        else if (turn >= SPINS)
            sched_yield();
    }
}

static const struct nb6_world_kind mpi_kind = {
    .name = "MPI", .send = send, .receive = receive, .test = test, .wait = wait_for};

/* ---- the launcher */

static int number_in(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || !*text) return -1;
    const long number = strtol(text, &end, 10);
    return *end || number < 0 || number > INT_MAX ? -1 : (int)number;
}

/* PMIx has no variable for the size; Slurm has one for the processes that it starts itself. */
static const char *size_of_pmix(void)
{
    const char *space = getenv("PMIX_NAMESPACE");
    return space && strncmp(space, "slurm.", 6) == 0 ? "SLURM_STEP_NUM_TASKS" : "PMIX_SIZE";
}

static struct told ask_launcher(void)
{
    static const char *const variables[][2] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"PMIX_RANK", NULL}};
    for (size_t k = 0; k < sizeof variables / sizeof variables[0]; k++) {
        const int rank = number_in(variables[k][0]);
        if (rank >= 0) return (struct told){rank, number_in(variables[k][1] ? variables[k][1] : size_of_pmix())};
    }
    return (struct told){-1, -1};
}

/* Each of several tasks that srun has started without MPI would be the whole run. A batch script is one task, whatever
 * SLURM_NTASKS says. */
static int refuse_tasks(int *first, struct nbc_error *err)
{
    const int tasks = number_in("SLURM_STEP_NUM_TASKS"), task = number_in("SLURM_PROCID");
    if (tasks < 2 || task < 0) return NBC_OK;
    *first = task == 0;
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "srun has started %d processes that no MPI connects: give it --mpi=pmix, or what your MPI needs, or "
        "set NB6_MPI=0 where each process is a run of its own",
        tasks);
}

/* ---- the object */

static int find_object(char path[PATH_MAX])
{
    static const char *const places[] = {"%.*s/nbody6-mpi.so", "%.*s/../lib/nbody6/nbody6-mpi.so",
                                         "%.*s/../nbody6-mpi.so"};
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return 0;
    program[length] = '\0';
    const char *slash = strrchr(program, '/');
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++)
        if (snprintf(path, PATH_MAX, places[k], (int)(slash - program), program) < PATH_MAX && access(path, R_OK) == 0)
            return 1;
    return 0;
}

static int load(const struct nb6_mpi_object **mpi, struct nbc_error *err)
{
    static const char remedy[] = "build nbody6 where mpicc is, or set NB6_MPI=0 and start one process";
    const char *asked = getenv("NB6_MPI_OBJECT");
    char path[PATH_MAX];
    if (!(asked && *asked) && !find_object(path))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "MPI connects the processes of this run, but nbody6-mpi.so, which calls it, is not beside the "
                        "program: %s",
                        remedy);
    if (asked && *asked) snprintf(path, sizeof path, "%s", asked);
    void *object = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    *mpi = object ? dlsym(object, NB6_MPI_OBJECT_SYMBOL) : NULL;
    if (!*mpi) return nbc_fail(err, NBC_BAD_INPUT, "cannot load the calls of MPI: %s; %s", dlerror(), remedy);
    if ((*mpi)->version == NB6_MPI_OBJECT_VERSION) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s: is of another version of nbody6: install program and object together",
                    path);
}

static int connect_ranks(struct connection *c, const struct told *told, struct nbc_error *err)
{
    struct nb6_world *w = &c->world;
    w->kind = &mpi_kind;
    w->state = c;
    if (!c->mpi->open(&w->rank, &w->size, &w->host_rank))
        return nbc_fail(err, NBC_BAD_INPUT, "this MPI does not allow threads (MPI_THREAD_FUNNELED): use another one");
    const int differs = told->size >= 0 ? told->size != w->size : told->rank >= w->size;
    if (!differs) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "the launcher has started %d process%s, but MPI connects %d: the mpirun is of another MPI than "
                    "nbody6-mpi.so",
                    told->size >= 0 ? told->size : told->rank + 1, told->size >= 0 ? "es" : "es or more", w->size);
}

int nb6_world_open(struct nb6_world **world, int *first, struct nbc_error *err)
{
    const struct told told = ask_launcher();
    const char *asked = getenv("NB6_MPI");
    const int wanted = asked && *asked ? strcmp(asked, "0") != 0 : told.rank >= 0;
    *world = NULL;
    *first = told.rank <= 0;
    if (!wanted) return asked && *asked ? NBC_OK : refuse_tasks(first, err);
    struct connection *c = nbc_alloc(1, sizeof *c);
    if (!c) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the ranks");
    int status = load(&c->mpi, err);
    if (status) {
        nbc_free(c);
        return status;
    }
    status = connect_ranks(c, &told, err);
    if (!status) *first = c->world.rank == 0;
    if (status) {
        nb6_world_close(&c->world);
        return status;
    }
    *world = &c->world;
    return NBC_OK;
}

void nb6_world_close(struct nb6_world *world)
{
    if (!world) return;
    mpi_of(world)->close();
    nbc_free(world->state);
}
