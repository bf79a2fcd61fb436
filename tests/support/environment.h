/** Environment variables that a test changes for a while: the user may have set them before the tests. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdlib.h>
#include <string.h>

/** A copy of the value, NULL if it is not set. */
static inline char *keep_variable(const char *name)
{
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

/** NULL: not set. */
static inline void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/** Restore the old value; frees the copy. */
static inline void restore_variable(const char *name, char *kept)
{
    set_variable(name, kept);
    free(kept);
}

#endif
