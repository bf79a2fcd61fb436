/** Positional input: files of NBODY6, and of NBODY6++ before 2023, which hold bare numbers identified by their
 *  position. They become the groups and assignments of an equivalent namelist, so that all later steps, checks and
 *  messages included, are those of a namelist. Private to libnbody6. */
#ifndef NB6_POSITIONAL_POSITIONAL_H
#define NB6_POSITIONAL_POSITIONAL_H

#include "common/nbc.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/table.h"

#include <stdio.h>

/** Result of the translation of a file. */
struct nb6_positional {
    struct nb6_namelist *list;
    enum nb6_code code;
    int kz[NB6_KZ_COUNT]; /**< as the file has them; null values are 0, as in the codes */
    /** of options that mean something else in NBODY6 and are refused; NULL: that of the table of the input */
    const struct nb6_input_choice *choice[NB6_KZ_COUNT];
    int icirc;   /**< ICIRC of NBODY6's binaries, which has no variable here */
    FILE *notes; /**< notes on translations; may be NULL */
    char *spare; /**< room for values that are written anew */
    size_t spare_bytes;
};

/** Is the first word of a text, after blanks and comments, a number? */
int nb6_positional_is(const char *text, size_t size);

/** Take a text apart.
 *  @param[in]  notes may be NULL
 *  @param[out] list  filled on success (release with nb6_namelist_free), empty on failure
 *  @param[out] input result of the translation; its `list` is the one above
 *  @return NBC_OK; NBC_BAD_INPUT (path, line, variable and position in err); NBC_NO_MEMORY */
int nb6_positional_scan(const char *path, const char *text, size_t size, FILE *notes, struct nb6_namelist *list,
                        struct nb6_positional *input, struct nbc_error *err);

/** Put the position in its record behind the name of the variable in a message "path:line: NAME: ...", if the list was
 *  made from positional input.   @return status */
int nb6_positional_locate(const struct nb6_namelist *list, int status, struct nbc_error *err);

#endif
