#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/model/pieces.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int write_rows(const struct nb6_model *model, FILE *file)
{
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES | NB6_PLACES | NB6_VELOCITIES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            const double *x = p.x[i], *v = p.v[i];
            if (fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", p.mass[i], x[0], x[1], x[2], v[0], v[1],
                        v[2]) < 0)
                return -1;
        }
    return fflush(file) == 0 && fsync(fileno(file)) == 0 ? 0 : -1;
}

/* printf follows the locale of the program: a comma for a point in many. */
static int write_temporary(const struct nb6_model *model, const char *path, int fd, struct nbc_error *err)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    FILE *file = c_locale ? fdopen(fd, "wb") : NULL;
    if (!c_locale) {
        close(fd);
        return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to write it", path);
    }
    int failed = !file;
    if (file) {
        const locale_t before = uselocale(c_locale);
        failed = write_rows(model, file) != 0;
        uselocale(before);
    }
    int reason = errno;
    freelocale(c_locale);
    if (!file) close(fd);
    if (file && fclose(file) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    if (failed) return nbc_fail(err, nbc_file_status(reason), "table of the model %s: %s", path, strerror(reason));
    return NBC_OK;
}

int nb6_model_write_table(const struct nb6_model *model, const char *path, struct nbc_error *err)
{
    char temporary[NB6_PATH_MAX + 32];
    int fd;
    if (strlen(path) >= NB6_PATH_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "table of the model: path of more than %d bytes", (int)NB6_PATH_MAX);
    int status = nbc_file_make_temporary(path, temporary, sizeof temporary, &fd, err);
    if (status) return status;
    status = write_temporary(model, path, fd, err);
    if (!status) status = nbc_file_replace(temporary, path, NULL, err);
    if (status) unlink(temporary);
    return status;
}
