#include "common/nbc.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/model/model_layouts.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/table_lines.h"
#include "nbody6/model/table_row.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A file cannot have more stars than bytes: memory grows as masses are read, independent of the number in the first
 * line. */
enum { AT_FIRST = 1024 };

/* The next line that holds something, as n numbers. */
static int next_numbers(struct nb6_table_lines *lines, int first, int n, double value[], struct nbc_error *err)
{
    int more = 1;
    do {
        const int status = nb6_table_next(lines, &more, err);
        if (status) return status;
        if (!more)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: the file ends after line %lld, before the %s of all stars that its first line "
                            "promises; complete it",
                            lines->path, (long long)lines->number - 1,
                            first == NB6_MASS ? "masses"
                            : first == NB6_X  ? "positions"
                                              : "velocities");
    } while (nb6_table_is_comment(nb6_table_content(lines->text)));
    return nb6_table_numbers(lines->path, lines->number, lines->text, first, n, value, err);
}

static int read_head(struct nb6_table_lines *lines, int64_t *n, struct nbc_error *err)
{
    double head[3];
    int status = NBC_OK;
    for (int k = 0; k < 3 && !status; k++) status = next_numbers(lines, NB6_MASS, 1, &head[k], err);
    if (status) return status;
    if (head[0] != floor(head[0]) || head[0] < 1 || head[0] > INT32_MAX - 1)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the first line of a TREE file is the number of stars; %g is none",
                        lines->path, head[0]);
    if (head[1] != 3)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: the second line of a TREE file is the number of dimensions; it is %g, and 3 is what can "
                        "be read",
                        lines->path, head[1]);
    *n = (int64_t)head[0];
    return NBC_OK;
}

static int read_masses(struct nb6_table_lines *lines, int64_t n, double **masses, struct nbc_error *err)
{
    int64_t capacity = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i == capacity) {
            const int64_t wanted = capacity ? 2 * capacity : AT_FIRST;
            double *grown = nbc_realloc(*masses, (size_t)capacity, (size_t)wanted, sizeof *grown);
            if (!grown) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for %lld stars", lines->path, (long long)n);
            *masses = grown;
            capacity = wanted;
        }
        const int status = next_numbers(lines, NB6_MASS, 1, &(*masses)[i], err);
        if (status) return status;
        if ((*masses)[i] < 0)
            return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: the mass %g is negative; a mass must be >= 0", lines->path,
                            (long long)lines->number, (*masses)[i]);
    }
    return NBC_OK;
}

int nb6_layout_read_tree(struct nb6_table_lines *lines, struct nb6_model *model, struct nbc_error *err)
{
    double *masses = NULL;
    int64_t n = 0;
    struct nb6_model made = {.n = 0};
    int status = read_head(lines, &n, err);
    if (!status) status = read_masses(lines, n, &masses, err);
    if (!status) status = nb6_model_alloc(n, &made, err);
    if (!status) memcpy(made.mass, masses, (size_t)n * sizeof *masses);
    for (int64_t i = 0; i < n && !status; i++) status = next_numbers(lines, NB6_X, 3, made.x[i], err);
    for (int64_t i = 0; i < n && !status; i++) status = next_numbers(lines, NB6_VX, 3, made.v[i], err);
    nbc_free(masses);
    if (status) {
        nb6_model_free(&made);
        return status;
    }
    snprintf(made.data.format, sizeof made.data.format, "TREE file");
    *model = made;
    return NBC_OK;
}
