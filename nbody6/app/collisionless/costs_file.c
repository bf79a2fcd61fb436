#include "nbody6/app/collisionless/costs_file.h"

#include "common/file.h"
#include "gpunb/tree/costs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Comments included; longer files are something else. */
enum { MOST_BYTES = 4 * GPUNB_TREE_COSTS_TEXT };

static int read_text(const char *path, char *text, size_t size, struct nbc_error *err)
{
    const int special = nbc_file_refuse_special(path, err);
    if (special) return special;
    FILE *file = fopen(path, "rb");
    if (!file)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: COSTS: cannot read: %s; give the name of a file of costs, or leave COSTS out", path,
                        strerror(errno));
    const size_t got = fread(text, 1, size, file);
    const int failed = ferror(file);
    fclose(file);
    if (failed) return nbc_fail(err, nbc_file_status(errno), "%s: cannot read: %s", path, strerror(errno));
    if (got == size || memchr(text, '\0', got))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s, line 1: COSTS: it is no file of costs; bench/tune_tree --write FILE makes one", path);
    text[got] = '\0';
    return NBC_OK;
}

int nb6_costs_file_read(const char *path, char *text, size_t size, struct nbc_error *err)
{
    struct gpunb_tree_costs costs;
    char read[MOST_BYTES], plain[GPUNB_TREE_COSTS_TEXT];
    text[0] = '\0';
    int status = read_text(path, read, sizeof read, err);
    if (!status && gpunb_tree_costs_read(read, path, &costs, err)) status = NBC_BAD_INPUT;
    if (status) return status;
    gpunb_tree_costs_print(&costs, plain); /* without comments */
    snprintf(text, size, "%s", plain);
    return NBC_OK;
}

/* The line that begins with a name. */
static int line_of(const char *text, const char *name)
{
    int line = 1;
    for (; *text; text = strchr(text, '\n') + 1, line++) {
        text += strspn(text, " \t");
        if (!strncmp(text, name, strlen(name)) || !strchr(text, '\n')) break;
    }
    return line;
}

int nb6_costs_check_backend(const char *path, const char *backend, struct nbc_error *err)
{
    struct gpunb_tree_costs costs;
    char text[MOST_BYTES];
    int status = read_text(path, text, sizeof text, err);
    if (!status && gpunb_tree_costs_read(text, path, &costs, err)) status = NBC_BAD_INPUT;
    if (status || !strcmp(costs.backend, backend)) return status;
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s, line %d: backend: the costs are those of %s, and the run has %s; give a file by bench/tune_tree "
        "backend=%s --write FILE, or leave COSTS out",
        path, line_of(text, "backend"), costs.backend, backend, backend);
}
