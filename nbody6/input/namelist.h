/** Namelist text taken apart into groups, assignments and values, with the line of each; input.h interprets the names
 *  and values. Groups `&NAME ... /` stand in any order (`$NAME`, `&END` and `$END` are understood too), `!` begins a
 *  comment, line ends may be CR LF. Private to libnbody6.
 *
 *  The values themselves are converted by the Fortran runtime (namelist_read.f90), so that repeat counts, sections and
 *  null values have the same meaning as in other programs that read the file. */
#ifndef NB6_NAMELIST_H
#define NB6_NAMELIST_H

#include "common/nbc.h"

enum { NB6_NAMELIST_NAME_MAX = 64, NB6_NAMELIST_LINE_MAX = 10000, NB6_NAMELIST_FILE_MAX = 1 << 20 };

/** One entry of a value list: `5`, `3*0`, `'C'`, or nothing between two commas. */
struct nb6_token {
    const char *text; /**< as written, without the repeat count, with its quotes; not terminated */
    int length;       /**< 0: null value */
    int repeat;       /**< r of r*c, else 1 */
    int line;
};

/** NAME = values or NAME(subscripts) = values. */
struct nb6_assignment {
    int group; /**< index of its group */
    char name[NB6_NAMELIST_NAME_MAX];
    int line;
    const char *subscripts; /**< text between the parentheses, not terminated; NULL: none */
    int subscripts_length;
    size_t first, count;     /**< its tokens */
    int position, positions; /**< of its first value among those of its record in positional input; 0: a namelist */
};

struct nb6_group {
    char name[NB6_NAMELIST_NAME_MAX];
    int line;
};

struct nb6_namelist {
    char *path; /**< for messages */
    char *text; /**< the text that the tokens point into */
    struct nb6_group *group;
    struct nb6_assignment *assignment;
    struct nb6_token *token;
    size_t groups, assignments, tokens;
};

/** Take a text apart.
 *  @param[in]  path  name of the text in messages
 *  @param[out] list  filled on success (release with nb6_namelist_free), empty on failure
 *  @return NBC_OK; NBC_BAD_INPUT (path, line, name, error and remedy in err); NBC_NO_MEMORY */
int nb6_namelist_scan(const char *path, const char *text, size_t size, struct nb6_namelist *list,
                      struct nbc_error *err);
void nb6_namelist_free(struct nb6_namelist *list);

/** A piece of the text that can be shown in a message: at most 40 characters, unprintable bytes as '?'. */
struct nb6_shown {
    char text[48];
};
struct nb6_shown nb6_namelist_show(const char *text, size_t length);

/** Refuse text that is no text, before it is taken apart (control characters, overlong lines, files of other kinds).
 *  @return NBC_OK; NBC_BAD_INPUT */
int nb6_namelist_check_text(const char *path, const char *text, size_t size, struct nbc_error *err);

#endif
