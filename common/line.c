#include "common/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nbc_line_add(struct nbc_line *line, const char *format, ...)
{
    const size_t room = sizeof line->text - line->used;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line->text + line->used, room, format, args);
    va_end(args);
    if (n > 0) line->used += (size_t)n < room ? (size_t)n : room - 1;
}

const char *nbc_variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

int nbc_is_quiet(void)
{
    const char *quiet = nbc_variable("NBC_QUIET");
    return *quiet && strcmp(quiet, "0") != 0;
}
