#include "nbody6/input/words/columns.h"

#include "common/nbc.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MAX = 1000 };

const char *const nb6_quantity_names[NB6_QUANTITIES] = {"mass", "x", "y", "z", "vx", "vy", "vz", "id"};

static const char BLANKS[] = " \t";

/* The next name at *text, which moves behind it and its separator.   @return its length; 0: there is none */
static size_t next_name(const char **text, const char *separators, const char **name)
{
    *text += strspn(*text, BLANKS);
    *name = *text;
    size_t length = strcspn(*text, separators);
    *text += length;
    if (**text) ++*text;
    while (length > 0 && strchr(BLANKS, (*name)[length - 1])) length--;
    return length;
}

static int is_number(const char *name)
{
    return name[0] != '\0' && strspn(name, "0123456789") == strlen(name);
}

/* All numbers, or all names; none of them twice. */
static int check_names(struct nb6_columns *columns, struct nbc_error *err)
{
    int numbers = 0;
    for (int k = 0; k < columns->count; k++) {
        if (is_number(columns->name[k])) {
            const long number = strtol(columns->name[k], NULL, 10);
            if (number < 1 || number > COLUMNS_MAX)
                return nbc_fail(err, NBC_BAD_INPUT, "COLUMNS: %s is no number of a column; they count from 1 to %d",
                                columns->name[k], COLUMNS_MAX);
            columns->number[k] = (int)number;
            numbers++;
        }
        for (int m = 0; m < k; m++)
            if (strcasecmp(columns->name[m], columns->name[k]) == 0)
                return nbc_fail(err, NBC_BAD_INPUT, "COLUMNS: %s occurs twice; each column holds one quantity",
                                columns->name[k]);
    }
    if (numbers == 0 || numbers == columns->count) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "COLUMNS: names and numbers are mixed; give one or the other for all columns");
}

static int parse_keep(const char *text, struct nb6_keep *keep, struct nbc_error *err)
{
    const char *separators = strchr(text, ',') ? "," : BLANKS, *name;
    for (size_t length; text += strspn(text, BLANKS), *text; keep->count++) {
        length = next_name(&text, separators, &name);
        if (keep->count == NB6_PROPERTIES_MAX || length == 0 || length >= NB6_COLUMN_NAME_MAX)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "KEEP: %s; give names of columns as the data file has them, 'all', or 'none'",
                            length == 0                     ? "nothing before a comma"
                            : length >= NB6_COLUMN_NAME_MAX ? "a name is too long"
                                                            : "more than 64 names");
        memcpy(keep->name[keep->count], name, length);
    }
    keep->unasked = keep->count == 0;
    keep->all = keep->count == 1 && strcasecmp(keep->name[0], "all") == 0;
    if (keep->all || (keep->count == 1 && strcasecmp(keep->name[0], "none") == 0)) keep->count = 0;
    return NBC_OK;
}

static int parse_columns(const char *text, struct nb6_columns *columns, struct nbc_error *err)
{
    const char *separators = strchr(text, ',') ? "," : BLANKS, *name;
    for (size_t length; text += strspn(text, BLANKS), *text; columns->count++) {
        length = next_name(&text, separators, &name);
        if (columns->count == NB6_QUANTITIES || length == 0 || length >= NB6_COLUMN_NAME_MAX)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "COLUMNS: %s; give seven names or numbers of columns, for mass x y z "
                            "vx vy vz in this order, and perhaps an eighth for the id",
                            length == 0                     ? "nothing before a comma"
                            : length >= NB6_COLUMN_NAME_MAX ? "a name is too long"
                                                            : "more than eight names");
        memcpy(columns->name[columns->count], name, length);
    }
    const int count = columns->count;
    if (count > 1 && count < NB6_ID)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "COLUMNS: %d names; give seven, for mass x y z vx vy vz in this order, and perhaps an eighth "
                        "for the id",
                        count);
    return check_names(columns, err);
}

int nb6_columns_parse(const char *text, const char *keep, struct nb6_columns *columns, struct nbc_error *err)
{
    *columns = (struct nb6_columns){.count = 0};
    const int status = parse_columns(text, columns, err);
    return status ? status : parse_keep(keep, &columns->keep, err);
}
