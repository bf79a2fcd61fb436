#include "nbody6/hdf5/hdf5_trial.h"

#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_stored.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 5, BYTES_IN_A_SECOND = 20000000, READ_TWICE = 16 << 20 };

/* ---- the child ---- */

/* Of the host program, if it is one of MPI. */
extern int MPI_Initialized(int *flag) __attribute__((weak));

/* A child of a process with several threads would find locks taken that no thread releases; the network of MPI may
 * write into memory that a fork has shared. */
static int may_fork(void)
{
    int tasks = 0, mpi = 0;
    if (MPI_Initialized && (MPI_Initialized(&mpi) != 0 || mpi)) return 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return 0;
    for (const struct dirent *entry; (entry = readdir(folder));) tasks += entry->d_name[0] != '.';
    closedir(folder);
    return tasks == 1;
}

/* A failure of the child is handled here alone: no core file, no output, no handlers of the host program. A signal to
 * the whole group of processes is for the parent. */
static void become_child(rlim_t seconds)
{
    static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    const struct rlimit no_core = {0, 0}, time = {seconds, seconds};
    sigset_t all;
    sigfillset(&all);
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        signal(ends[k], SIG_DFL);
        sigdelset(&all, ends[k]);
    }
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &time);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 1; fd <= 2 && nowhere >= 0; fd++) dup2(nowhere, fd);
}

static _Noreturn void be_child(int report, rlim_t seconds, void (*read)(void *context), void *context)
{
    become_child(seconds);
    read(context);
    _exit(write(report, "k", 1) == 1 ? 0 : 1); /* no handler of the host program runs */
}

/* ---- the parent ---- */

/* Did the child finish? The pipe shows it, since a host program may wait for all children itself. */
static int wait_for(pid_t child, int report, int *how)
{
    char word = 0;
    ssize_t got;
    do got = read(report, &word, 1);
    while (got < 0 && errno == EINTR);
    *how = 0;
    while (waitpid(child, how, 0) < 0 && errno == EINTR) continue;
    return got == 1;
}

static int tell(const char *path, int how, struct nbc_error *err)
{
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        return nbc_fail(err, NBC_FILE, "%s: HDF5 came to no end in a trial reading", path);
    if (WIFSIGNALED(how))
        return nbc_fail(err, NBC_FILE, "%s: HDF5 crashed in a trial reading (%s)", path, strsignal(WTERMSIG(how)));
    return nbc_fail(err, NBC_FILE, "%s: HDF5 crashed in a trial reading", path);
}

int nb6_hdf5_try(const char *path, int64_t bytes, void (*read)(void *context), void *context, struct nbc_error *err)
{
    int report[2], how;
    if (!may_fork() || pipe2(report, O_CLOEXEC)) return NBC_OK;
    const pid_t child = fork();
    if (child == 0) be_child(report[1], SECONDS + (rlim_t)(bytes / BYTES_IN_A_SECOND), read, context);
    close(report[1]);
    const int came_to_end = child < 0 || wait_for(child, report[0], &how);
    close(report[0]);
    return came_to_end ? NBC_OK : tell(path, how, err);
}

/* ---- descriptions of objects in a file ---- */

static herr_t look_at_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)info, (void)context;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return 0;
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    H5Aclose(attribute);
    return 0;
}

static herr_t look_at_object(hid_t root, const char *name, const H5O_info_t *info, void *context)
{
    struct nb6_hdf5 *file = context;
    const hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    if (object < 0) return 0;
    if (info->type == H5O_TYPE_DATASET) nb6_hdf5_check_stored(file, object, name);
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at_attribute, NULL);
    H5Oclose(object);
    return 0;
}

static void walk(void *path)
{
    struct nb6_hdf5 file;
    if (nb6_hdf5_open(&file, path, NULL) == NBC_OK) {
#if H5_VERSION_GE(1, 12, 0)
        H5Ovisit3(file.file, H5_INDEX_NAME, H5_ITER_INC, look_at_object, &file, H5O_INFO_BASIC);
#else
        H5Ovisit(file.file, H5_INDEX_NAME, H5_ITER_INC, look_at_object, &file);
#endif
    }
    nb6_hdf5_close(&file);
}

int nb6_hdf5_try_briefly(const char *path, void (*read)(void *context), void *context, struct nbc_error *err)
{
    struct stat status;
    const int64_t bytes = stat(path, &status) == 0 ? status.st_size : 0;
    if (bytes <= READ_TWICE) return nb6_hdf5_try(path, bytes, read, context, err);
    return nb6_hdf5_try(path, bytes, walk, (void *)(uintptr_t)path, err);
}
