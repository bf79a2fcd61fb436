/** The terminal on stdout. */
#ifndef NB6_TERMINAL_H
#define NB6_TERMINAL_H

/** Present characters in a line, 80 if unknown; 0: stdout is no terminal. */
int nb6_terminal_width(void);

#endif
