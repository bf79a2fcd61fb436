#include "nbody6/app/signals.h"

#include "common/nbc.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t pending;
static volatile time_t first_s;

/* Who wants an end at once asks again after this many seconds. Earlier signals are the same request: timeout(1) sends
 * one to the command and another to its group, a terminal and a batch system may both send theirs. */
enum { INSISTS_AFTER_S = 2 };

static void note(int number)
{
    const time_t now_s = time(NULL);
    if (pending && now_s - first_s >= INSISTS_AFTER_S) {
        signal(number, SIG_DFL);
        raise(number); /* acts when this returns */
        return;
    }
    if (!pending) first_s = now_s;
    pending = number;
}

void nb6_signals_ignore(void)
{
    static const int ignored[] = {SIGXFSZ, SIGPIPE};
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof ignored / sizeof ignored[0]; k++) sigaction(ignored[k], &action, NULL);
}

void nb6_signals_catch(void)
{
    static const int soft[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_flags = SA_RESTART, .sa_handler = note};
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof soft / sizeof soft[0]; k++) {
        struct sigaction before;
        if (soft[k] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue; /* nohup */
        sigaction(soft[k], &action, NULL);
    }
}

const char *nb6_signals_pending(void)
{
    switch (pending) {
    case 0:
        return NULL;
    case SIGINT:
        return "SIGINT";
    case SIGTERM:
        return "SIGTERM";
    default:
        return "SIGHUP";
    }
}
