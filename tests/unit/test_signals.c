/* Signals that end a run softly (nbody6/app/signals.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nbody6/app/signals.h"

/* What becomes of a process that gets the first signal, and, after so many seconds, the second one twice. */
static int fate(int first, int second, unsigned seconds)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        nb6_signals_catch();
        raise(first);
        const char *name = nb6_signals_pending();
        if (!name) _exit(3);
        sleep(seconds);
        raise(second);
        raise(second);
        _exit(nb6_signals_pending() ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void signals_together_are_one(void **state)
{
    (void)state;
    const int status = fate(SIGTERM, SIGTERM, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const int other = fate(SIGINT, SIGHUP, 0);
    assert_true(WIFEXITED(other) && WEXITSTATUS(other) == 0);
}

/* Three seconds: whole seconds are compared. */
static void a_later_one_insists(void **state)
{
    (void)state;
    const int status = fate(SIGTERM, SIGINT, 3);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(signals_together_are_one),
                                       cmocka_unit_test(a_later_one_insists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
