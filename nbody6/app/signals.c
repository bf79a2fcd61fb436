#include "nbody6/app/signals.h"

#include "common/nbc.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Signals that end a run softly. `insists`: a user or a batch system may repeat the signal to end the run at once. The
 * others are warnings, which come once before those or, for a limit of processor time, every second. */
static const struct {
    int number, insists;
    const char *name;
} soft[] = {{SIGINT, 1, "SIGINT"},   {SIGTERM, 1, "SIGTERM"}, {SIGHUP, 1, "SIGHUP"},
            {SIGXCPU, 0, "SIGXCPU"}, {SIGUSR1, 0, "SIGUSR1"}, {SIGUSR2, 0, "SIGUSR2"}};

enum { SOFT = sizeof soft / sizeof soft[0] };

/* A second request after this time ends the program at once. Earlier signals are the same request: timeout(1) sends one
 * to the command and another to its group, a terminal and a batch system may both send theirs. */
static const int64_t INSISTS_AFTER_NS = 2000000000;

static volatile sig_atomic_t pending;
static _Atomic int64_t asked_ns; /* time of the first signal that may insist; 0: none came */

/* From a clock that cannot be set. */
static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void note(int number)
{
    if (!pending) pending = number;
}

static void note_or_insist(int number)
{
    const int64_t now = now_ns(), asked = atomic_load(&asked_ns);
    if (asked && now - asked >= INSISTS_AFTER_NS) {
        signal(number, SIG_DFL);
        raise(number); /* acts when this returns */
        return;
    }
    if (!asked) atomic_store(&asked_ns, now);
    note(number);
}

void nb6_signals_ignore(void)
{
    static const int ignored[] = {SIGXFSZ, SIGPIPE};
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof ignored / sizeof ignored[0]; k++) sigaction(ignored[k], &action, NULL);
}

/* The parent process may have wanted the program to hear nothing of a signal: nohup, a shell that puts it in the
 * background.
 */
void nb6_signals_catch(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int k = 0; k < SOFT; k++) {
        struct sigaction before;
        if (sigaction(soft[k].number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        action.sa_handler = soft[k].insists ? note_or_insist : note;
        sigaction(soft[k].number, &action, NULL);
    }
}

const char *nb6_signals_pending(void)
{
    const int number = pending;
    for (int k = 0; k < SOFT; k++)
        if (soft[k].number == number) return soft[k].name;
    return NULL;
}
