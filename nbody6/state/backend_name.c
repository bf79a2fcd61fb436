#include "nbody6/state/backend_name.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"

#include <string.h>

/* "cpu": the best backend that is no device. */
const char *nb6_backend_name(const char *wanted)
{
    if (strcmp(wanted, "") == 0 || strcmp(wanted, "auto") == 0) return NULL;
    if (strcmp(wanted, "cpu") != 0) return wanted;
    const char *name;
    for (int k = 0; (name = gpunb_backend_name(k)); k++)
        if (strcmp(name, "cuda") != 0 && gpunb_backend(k)->available) return name;
    return wanted;
}
