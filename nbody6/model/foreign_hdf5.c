#include "nbody6/model/foreign_hdf5.h"

#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/model/model.h"

#include <stdio.h>
#include <string.h>

struct strided {
    double *to;
    int stride;
};

static int take_column(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct strided *s = context;
    const double *from = buffer;
    for (int64_t i = 0; i < count; i++) s->to[(first + i) * s->stride] = from[i];
    return NBC_OK;
}

void nb6_foreign_column(struct nb6_hdf5 *file, hid_t group, const char *name, int64_t n, int stride, double *to)
{
    struct strided target = {to, stride};
    if (!file->status && n > 0) nb6_hdf5_read_dataset(file, group, name, H5T_NATIVE_DOUBLE, n, 1, take_column, &target);
}

int nb6_foreign_name(struct nb6_hdf5 *file, hid_t group, int64_t k, char name[NB6_FOREIGN_NAME])
{
    H5G_info_t info = {0};
    if (file->status || H5Gget_info(group, &info) < 0 || (hsize_t)k >= info.nlinks) return 0;
    const ssize_t length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)k, name, NB6_FOREIGN_NAME, H5P_DEFAULT);
    if (length > 0 && length < NB6_FOREIGN_NAME) return 1;
    nb6_hdf5_fail(file, NBC_FILE, "a name in it cannot be read, or is too long");
    return 0;
}

void nb6_foreign_unread(struct nb6_data_facts *facts, const char *name)
{
    static const char more[] = ", ...";
    const size_t used = strlen(facts->unread), room = sizeof facts->unread - sizeof more;
    if (used >= sizeof more && strcmp(facts->unread + used - strlen(more), more) == 0) return;
    if (used + strlen(name) + 2 < room)
        snprintf(facts->unread + used, sizeof facts->unread - used, "%s%s", used ? ", " : "", name);
    else
        snprintf(facts->unread + used, sizeof facts->unread - used, "%s", more);
}
