/** Signals that end a run softly. For the command only: the handlers belong to the whole process. */
#ifndef NB6_SIGNALS_H
#define NB6_SIGNALS_H

/** From now on a file that grows too long and a reader of stdout that goes away are errors of the call, not signals. */
void nb6_signals_ignore(void);
/** From now on a signal that asks for an end, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 or SIGUSR2, is only noted, and
 *  one that the program inherited as ignored stays ignored. After one of the first three, another of them two seconds
 *  later or more ends the program.
 */
void nb6_signals_catch(void);
/** Name of the first signal that came, such as "SIGTERM"; NULL if none did. */
const char *nb6_signals_pending(void);

#endif
