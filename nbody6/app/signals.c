#include "nbody6/app/signals.h"

#include "common/nbc.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t pending;

static void note(int number)
{
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
    struct sigaction action = {.sa_flags = SA_RESTART | (int)SA_RESETHAND, .sa_handler = note};
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
