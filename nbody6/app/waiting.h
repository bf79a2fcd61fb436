/** How threads wait for the next parallel region. */
#ifndef NB6_WAITING_H
#define NB6_WAITING_H

/** To be called at the beginning of main: threads that wait spin for some tens of microseconds and then sleep, unless
 * the environment says otherwise. Starts the program once more, if that has to be said first. */
void nb6_let_waiting_threads_sleep(char **argv);

#endif
