#include "nbody6/app/waiting.h"

#include <stdlib.h>
#include <unistd.h>

/* A block step has short parallel parts. A thread that waits for the next one by spinning takes the processor from
 * whoever shares the machine, the other threads of this run included: on busy cores a run took up to twenty times as
 * long. To wake one that sleeps costs tens of microseconds, a quarter of a run with 16384 stars. So threads spin for
 * about that long (libgomp; a loop of 1000 takes 10 to 50 microseconds) before they sleep. The OpenMP runtime reads
 * what to do when it is loaded, before main, so the program starts itself once more with that said, unless the user has
 * said it. */
void nb6_let_waiting_threads_sleep(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME")) return;
    if (setenv("OMP_WAIT_POLICY", "passive", 0) || setenv("GOMP_SPINCOUNT", "1000", 0)) return;
    execv("/proc/self/exe", argv); /* returns only if it fails: then threads wait as the runtime likes */
}
