#include "nbody6/app/shell_word.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Bytes of UTF-8 beyond ASCII mean nothing to a shell. */
static int is_plain(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("_./+-=:@%,", c));
}

const char *nb6_shell_word(const char *path, char word[NB6_SHELL_WORD])
{
    const char *minus = path[0] == '-' ? "./" : "";
    size_t n, plain = 0;
    while (is_plain(path[plain])) plain++;
    if (path[0] && !path[plain]) {
        snprintf(word, NB6_SHELL_WORD, "%s%s", minus, path);
        return word;
    }
    n = (size_t)snprintf(word, NB6_SHELL_WORD, "'%s", minus);
    for (; *path && n + 6 < NB6_SHELL_WORD; path++) {
        if (*path == '\'') { /* ends the quotes, and begins them again */
            memcpy(word + n, "'\\''", 4);
            n += 4;
        } else {
            word[n++] = *path;
        }
    }
    word[n++] = '\'';
    word[n] = '\0';
    return word;
}
