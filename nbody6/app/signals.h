/** Signals that end a run softly. For the command only: the handlers belong to the whole process. */
#ifndef NB6_SIGNALS_H
#define NB6_SIGNALS_H

/** From now on a file that grows too long and a reader of stdout that goes away are errors of the call, not signals. */
void nb6_signals_ignore(void);
/** From now on the first SIGINT, SIGTERM or SIGHUP is only noted; another one two seconds later or more ends the
 * program.
 */
void nb6_signals_catch(void);
/** Name of the signal that came, such as "SIGTERM"; NULL if none did. */
const char *nb6_signals_pending(void);

#endif
