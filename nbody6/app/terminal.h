/** The terminal on stdout. */
#ifndef NB6_TERMINAL_H
#define NB6_TERMINAL_H

/** Characters in a line of it now, 80 if it does not say; 0: stdout is no terminal. */
int nb6_terminal_width(void);

#endif
