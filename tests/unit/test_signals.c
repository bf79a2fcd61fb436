/* Signals that end a run softly (nbody6/app/signals.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nbody6/app/signals.h"

static const struct {
    int number;
    const char *name;
} soft[] = {{SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"},
            {SIGXCPU, "SIGXCPU"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}};
enum { SOFT = sizeof soft / sizeof soft[0] };

/* A clock that is set an hour forward whenever it is read. */
time_t time(time_t *now)
{
    static time_t hours;
    hours += 3600;
    if (now) *now = hours;
    return hours;
}

/* A process that runs this. */
static pid_t start(void (*does)(const int *argument), const int *argument)
{
    const pid_t child = fork();
    if (child == 0) {
        does(argument);
        _exit(nb6_signals_pending() ? 0 : 4);
    }
    return child;
}

/* How it ends. */
static int end(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int fate(void (*does)(const int *argument), const int *argument)
{
    return end(start(does, argument));
}

/* The first signal, and, after so many seconds, the second one twice. */
static void send(const int *argument)
{
    nb6_signals_catch();
    raise(argument[0]);
    if (!nb6_signals_pending()) _exit(3);
    sleep((unsigned)argument[2]);
    raise(argument[1]);
    raise(argument[1]);
}

static int went_on(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void signals_together_are_one(void **state)
{
    (void)state;
    assert_true(went_on(fate(send, (int[]){SIGTERM, SIGTERM, 0})));
    assert_true(went_on(fate(send, (int[]){SIGINT, SIGHUP, 0})));
    for (int k = 0; k < SOFT; k++) assert_true(went_on(fate(send, (int[]){soft[k].number, SIGTERM, 0})));
}

/* The kernel signals an exceeded limit of processor time every second, and a warning comes before the signal that ends
 * the run: neither of them forces an end. */
static void a_later_one_insists(void **state)
{
    (void)state;
    static const int pairs[][3] = {{SIGTERM, SIGINT, 2},
                                   {SIGHUP, SIGTERM, 2},
                                   {SIGXCPU, SIGXCPU, 2},
                                   {SIGUSR1, SIGTERM, 2},
                                   {SIGTERM, SIGUSR2, 2}};
    enum { PAIRS = sizeof pairs / sizeof pairs[0], INSISTING = 2 };
    pid_t child[PAIRS];
    for (int k = 0; k < PAIRS; k++) child[k] = start(send, pairs[k]);
    for (int k = 0; k < PAIRS; k++) {
        const int status = end(child[k]);
        if (k >= INSISTING)
            assert_true(went_on(status));
        else
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == pairs[k][1]);
    }
}

static void tell_name(const int *argument)
{
    nb6_signals_catch();
    if (nb6_signals_pending()) _exit(3);
    raise(soft[*argument].number);
    raise(soft[(*argument + 1) % SOFT].number); /* the first one has the word */
    const char *name = nb6_signals_pending();
    _exit(name && strcmp(name, soft[*argument].name) == 0 ? 0 : 5);
}

static void each_has_its_name(void **state)
{
    (void)state;
    for (int k = 0; k < SOFT; k++) assert_int_equal(fate(tell_name, &k), 0);
}

static void ignore_it(const int *argument)
{
    signal(*argument, SIG_IGN);
    nb6_signals_catch();
    raise(*argument);
    _exit(nb6_signals_pending() ? 5 : 0);
}

/* nohup ignores SIGHUP, a shell SIGINT of what it puts in the background, a batch system any. */
static void ignored_ones_stay_ignored(void **state)
{
    (void)state;
    for (int k = 0; k < SOFT; k++) assert_int_equal(fate(ignore_it, &soft[k].number), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(signals_together_are_one),
                                       cmocka_unit_test(a_later_one_insists), cmocka_unit_test(each_has_its_name),
                                       cmocka_unit_test(ignored_ones_stay_ignored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
