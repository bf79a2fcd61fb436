/** Input, as namelists or as the positional files of NBODY6 and older NBODY6++: one table of all groups, variables and
 * options serves the readers, the checks and the help. */
#ifndef NB6_INPUT_H
#define NB6_INPUT_H

#include "nbody6/input/config.h"

#include <stdio.h>

struct nb6_input_text;

struct nb6_input_options {
    int dynamics_only; /**< turn options for missing physics off instead of refusing them */
    FILE *notes;       /**< receives one line for each thing that was turned off or ignored; may be NULL */
};

/** Read an input file ("-": standard input) into a configuration.
 *  @param[out] config filled on success, untouched on failure
 *  @return NBC_OK; NBC_BAD_INPUT (file, line, name, error and remedy in err; also for a file that cannot be read);
 *  NBC_NO_MEMORY */
int nb6_input_read(const char *path, const struct nb6_input_options *options, struct nb6_config *config,
                   struct nbc_error *err);

/** The same from a file that was loaded before (input_text.h). */
int nb6_input_read_loaded(const struct nb6_input_text *text, const struct nb6_input_options *options,
                          struct nb6_config *config, struct nbc_error *err);

/** The start (KSTART) in an input.
 *  @param[out] kstart  1: a new run (also if the text is wrong: its reader reports the error); 2 to 5: a run is
 *  continued
 *  @return NBC_OK; NBC_NO_MEMORY: kstart is not set */
int nb6_input_kstart(const struct nb6_input_text *text, int *kstart, struct nbc_error *err);

/** Changes of the parameters of a run that goes on, for people. */
enum { NB6_CHANGES_MAX = 40, NB6_CHANGE_BYTES = 72 };
struct nb6_changes {
    int count;
    struct nb6_change {
        char name[16]; /**< "ETAI", "KZ(23)" */
        char before[NB6_CHANGE_BYTES], after[NB6_CHANGE_BYTES];
    } change[NB6_CHANGES_MAX];
};

/** Change the parameters of a continued run: the variables that the input sets to other values than the run has. A
 *  variable that cannot change in a run is refused, with the reason; N, RBAR and ZMBAR of an input with KSTART > 1,
 *  which NBODY6++GPU does not take over either, are noted.
 *  @param[in]     t time that the run has reached: TCRIT of an input with KSTART = 2 counts from it, as in NBODY6++GPU
 *  @param[in,out] config  of the run; untouched on failure
 *  @param[out]    changes list of the changes
 *  @return as nb6_input_read */
int nb6_input_change(const struct nb6_input_text *text, const struct nb6_input_options *options, double t,
                     struct nb6_config *config, struct nb6_changes *changes, struct nbc_error *err);

/** The same from a text in memory.   @param[in] name of the text, for messages */
int nb6_input_read_text(const char *name, const char *text, size_t size, const struct nb6_input_options *options,
                        struct nb6_config *config, struct nbc_error *err);

/** Write an input file ("-": standard input) as an equivalent namelist: the variables that it sets, with their
 *  meanings. A run with it gives the same bits. It is written only if the file is good.
 *  @return as nb6_input_read */
int nb6_input_to_namelist(FILE *out, const char *path, const struct nb6_input_options *options, struct nbc_error *err);

/** Set one variable by its namelist name ("ETAI", "KZ(14)") and value as it would be written in a file. For libnbody6
 * users without a file.
 *  @return NBC_OK; NBC_BAD_INPUT */
int nb6_input_set(struct nb6_config *config, const char *name, const char *value, struct nbc_error *err);

/** Documentation of one variable, option or group, or of all (name NULL), from the table, as text or as Markdown.
 *  @return NBC_OK; NBC_BAD_INPUT (no such name; the message has similar ones) */
int nb6_input_help(FILE *out, const char *name, int markdown, struct nbc_error *err);

#endif
