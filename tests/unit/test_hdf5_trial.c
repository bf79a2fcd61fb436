/* A child process reads first: its end is reported, and it leaves no trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_trial.h"

static int touched;

static void come_to_end(void *context)
{
    touched = 1;
    *(int *)context = 2;
}

static void crash(void *context)
{
    (void)context;
    raise(SIGSEGV);
}

static void leave(void *context)
{
    (void)context;
    _exit(0);
}

static void give_up(void *context)
{
    (void)context;
    abort();
}

static void never_end(void *context)
{
    const struct rlimit second = {1, 1}; /* in place of the 5 that a trial has */
    (void)context;
    setrlimit(RLIMIT_CPU, &second);
    for (volatile unsigned k = 0;; k++) continue;
}

static void test_ends(void **state)
{
    (void)state;
    int value = 1;
    struct nbc_error err = {0};
    assert_int_equal(nb6_hdf5_try("a.h5", 0, come_to_end, &value, &err), NBC_OK);
    assert_int_equal(value, 1);
    assert_int_equal(touched, 0);
    const struct {
        void (*read)(void *context);
        const char *text;
    } bad[] = {{crash, "a.h5: HDF5 crashed in a trial reading (Segmentation fault)"},
               {give_up, "a.h5: HDF5 crashed in a trial reading (Aborted)"},
               {leave, "a.h5: HDF5 crashed in a trial reading"},
               {never_end, "a.h5: HDF5 came to no end in a trial reading"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_int_equal(nb6_hdf5_try("a.h5", 0, bad[k].read, &value, &err), NBC_FILE);
        assert_string_equal(err.text, bad[k].text);
    }
}

/* A host program has handlers of its own, blocks signals, and does not wait for its children. */
static void run_never(int number)
{
    (void)number;
    _exit(99);
}

static void test_host_program(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    int value = 1;
    void (*segv)(int) = signal(SIGSEGV, run_never), (*child)(int) = signal(SIGCHLD, SIG_IGN);
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    assert_int_equal(nb6_hdf5_try("a.h5", 0, crash, NULL, &err), NBC_FILE);
    assert_int_equal(nb6_hdf5_try("a.h5", 0, come_to_end, &value, &err), NBC_OK);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGSEGV, segv);
    signal(SIGCHLD, child);
}

/* A host program of MPI makes no child. */
static int mpi;

int MPI_Initialized(int *flag);
int MPI_Initialized(int *flag)
{
    *flag = mpi;
    return 0;
}

static void test_mpi(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    mpi = 1;
    assert_int_equal(nb6_hdf5_try("a.h5", 0, crash, NULL, &err), NBC_OK);
    mpi = 0;
    assert_int_equal(nb6_hdf5_try("a.h5", 0, crash, NULL, &err), NBC_FILE);
}

/* A process of several threads makes no child. */
static void *wait_for_end(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

static void test_several_threads(void **state)
{
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t other;
    struct nbc_error err = {0};
    pthread_mutex_lock(&lock);
    assert_int_equal(pthread_create(&other, NULL, wait_for_end, &lock), 0);
    assert_int_equal(nb6_hdf5_try("a.h5", 0, crash, NULL, &err), NBC_OK);
    pthread_mutex_unlock(&lock);
    assert_int_equal(pthread_join(other, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_host_program),
        cmocka_unit_test(test_mpi),
        cmocka_unit_test(test_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
