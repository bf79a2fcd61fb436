#include "nbody6/output/checkpoint_advice.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_seal.h"

#include <stdio.h>
#include <string.h>

/* "NAME.ckpt.h5" <-> "NAME.ckpt.prev.h5": the other of the two that a run keeps.
 * @return 1: it is there; 0: it is not; -1: there is none to a name of another kind */
static int other_checkpoint(const char *path, char *other, size_t size)
{
    static const char *const endings[2] = {".ckpt.h5", ".ckpt.prev.h5"};
    for (int k = 0; k < 2; k++) {
        size_t length = strlen(path), ending = strlen(endings[k]);
        if (length < ending || length >= size || strcmp(path + length - ending, endings[k]) != 0) continue;
        int written = snprintf(other, size, "%.*s%s", (int)(length - ending), path, endings[1 - k]);
        return written > 0 && (size_t)written < size && nbc_file_exists(other);
    }
    return -1;
}

/* Append the remedy: try the other checkpoint, only if it is sound itself. */
int nb6_checkpoint_advise(const char *path, int status, struct nbc_error *err)
{
    char other[NB6_HDF5_PATH];
    if ((status != NBC_FILE && status != NBC_BAD_INPUT) || !err) return status;
    size_t used = strlen(err->text);
    const int is_there = other_checkpoint(path, other, sizeof other);
    if (is_there < 0) return status;
    if (!is_there)
        snprintf(err->text + used, sizeof err->text - used, "; there is no other checkpoint beside it");
    else if (nb6_seal_check(other, NB6_CHECKPOINT_SCHEMA, NULL))
        snprintf(err->text + used, sizeof err->text - used, "; the other one, %s, cannot be used either", other);
    else
        snprintf(err->text + used, sizeof err->text - used, "; resume from %s instead", other);
    return status;
}
