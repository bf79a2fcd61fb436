/** Standard input, output and error of a command. For commands only: they belong to the whole process. */
#ifndef NB6_SCREEN_H
#define NB6_SCREEN_H

#include "common/nbc.h"

/** First of all: a standard stream that is closed becomes /dev/null, before a file of the run takes its number, and a
 * failed write is an error of the call and no signal.   @param[in] program for messages; it stays */
void nb6_screen_open(const char *program);

/** Flush standard output. The first failure is reported once, on standard error: the run goes on. */
void nb6_screen_flush(void);

/** The last message of a command: its error, or that standard output could not be written.
 *  @param[in] status     of the command
 *  @param[in] is_product 1: standard output is the product of the command, and must not be closed
 *  @return its exit code: that of NBC_FILE if only the output failed */
int nb6_screen_end(int status, int is_product, const struct nbc_error *err);

#endif
