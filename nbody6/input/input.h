/** Input, as namelists or as the positional files of NBODY6 and older NBODY6++: one table of all groups, variables and
 * options serves the readers, the checks and the help. */
#ifndef NB6_INPUT_H
#define NB6_INPUT_H

#include "nbody6/input/config.h"

#include <stdio.h>

struct nb6_input_options {
    int dynamics_only; /**< turn options for missing physics off instead of refusing them */
    FILE *notes;       /**< what was turned off or ignored is said here, a line each; may be NULL */
};

/** Read an input file ("-": standard input) into a configuration.
 *  @param[out] config filled on success, untouched on failure
 *  @return NBC_OK; NBC_BAD_INPUT (file, line, name, what is wrong, what to do, in err; also for a file that cannot be
 *  read); NBC_NO_MEMORY */
int nb6_input_read(const char *path, const struct nb6_input_options *options, struct nb6_config *config,
                   struct nbc_error *err);

/** The same from a text in memory. @param[in] name of the text, for messages */
int nb6_input_read_text(const char *name, const char *text, size_t size, const struct nb6_input_options *options,
                        struct nb6_config *config, struct nbc_error *err);

/** Write the namelist that says what an input file ("-": standard input) says: variables that it sets, with what they
 *  mean. A run with it gives the same bits. It is written only if the file is good.
 *  @return as nb6_input_read */
int nb6_input_to_namelist(FILE *out, const char *path, const struct nb6_input_options *options, struct nbc_error *err);

/** Set one variable by its namelist name ("ETAI", "KZ(14)") and value as it would be written in a file. For libnbody6
 * users without a file.
 *  @return NBC_OK; NBC_BAD_INPUT */
int nb6_input_set(struct nb6_config *config, const char *name, const char *value, struct nbc_error *err);

/** Documentation of one variable, option or group, or of all (name NULL), from the table, as text or as Markdown.
 *  @return NBC_OK; NBC_BAD_INPUT (no such name; says which are near) */
int nb6_input_help(FILE *out, const char *name, int markdown, struct nbc_error *err);

#endif
