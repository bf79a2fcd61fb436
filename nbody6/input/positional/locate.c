#include "common/nbc.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/positional.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variable of a message: its letters, and (number) of an option or an array. */
struct named {
    int line;
    char name[NB6_NAMELIST_NAME_MAX];
    int element; /* 1 without subscript */
    const char *rest;
};

/* "path:3: KZ(22): what is wrong"; 0: no message of this form. */
static int take_apart(const char *path, const char *text, struct named *named)
{
    size_t length = strlen(path);
    char *end;
    if (strncmp(text, path, length) != 0 || text[length] != ':') return 0;
    named->line = (int)strtol(text + length + 1, &end, 10);
    if (end == text + length + 1 || strncmp(end, ": ", 2) != 0) return 0;
    const char *name = end + 2;
    size_t letters = 0;
    while (isalnum((unsigned char)name[letters]) || name[letters] == '_') letters++;
    if (letters == 0 || letters >= sizeof named->name) return 0;
    memcpy(named->name, name, letters);
    named->name[letters] = '\0';
    named->element = 1;
    named->rest = name + letters;
    if (*named->rest == '(') {
        named->element = (int)strtol(named->rest + 1, &end, 10);
        if (*end != ')') return 0;
        named->rest = end + 1;
    }
    return *named->rest == ':';
}

int nb6_positional_locate(const struct nb6_namelist *list, int status, struct nbc_error *err)
{
    struct named named;
    if (!err || status == NBC_OK || !list->path || !take_apart(list->path, err->text, &named)) return status;
    for (size_t k = 0; k < list->assignments; k++) {
        const struct nb6_assignment *a = &list->assignment[k];
        if (a->position == 0 || strcmp(a->name, named.name) != 0) continue;
        size_t element = (size_t)(named.element > 0 ? named.element : 1);
        if (element > a->count || list->token[a->first + element - 1].line != named.line) continue;
        char text[sizeof err->text];
        int before = (int)(named.rest - err->text);
        memcpy(text, err->text, sizeof text);
        return nbc_fail(err, status, "%.*s (value %d of %d)%s", before, text, a->position + (int)element - 1,
                        a->positions, text + before);
    }
    return status;
}
