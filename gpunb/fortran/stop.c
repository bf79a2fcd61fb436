#include "gpunb/fortran/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gpunb_fortran_stop(const char *call, int status, const char *message)
{
    /* Messages of the library begin with the name of its own call. */
    const char *words = !strncmp(message, "gpunb", strlen("gpunb")) ? strstr(message, ": ") : NULL;
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", call, words ? words + 2 : message);
    exit(nbc_status_exit_code(status));
}
