#include "common/nbc.h"
#include "common/sort.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"

#include <stdint.h>
#include <string.h>

/* Stars at one place. */
struct place {
    double x[3];
    int64_t star;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    for (int d = 0; d < 3; d++)
        if (p->x[d] != q->x[d]) return p->x[d] < q->x[d] ? -1 : 1;
    return (p->star > q->star) - (p->star < q->star);
}

static int refuse_coincidence(const char *path, const int64_t *line, const struct place *p, const struct place *q,
                              struct nbc_error *err)
{
    if (!line)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: star %lld is at the same place (%.17g, %.17g, %.17g) as star %lld: give them different "
                        "positions, or make them one star",
                        path, (long long)q->star + 1, q->x[0], q->x[1], q->x[2], (long long)p->star + 1);
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s:%lld: this star is at the same place (%.17g, %.17g, %.17g) as that of line %lld: "
                    "give them different positions, or make them one star",
                    path, (long long)line[q->star], q->x[0], q->x[1], q->x[2], (long long)line[p->star]);
}

int nb6_model_refuse_coincident(const char *path, const int64_t *line, const struct nb6_model *model,
                                struct nbc_error *err)
{
    if (model->n < 2) return NBC_OK;
    struct place *place = nbc_alloc((size_t)model->n, sizeof *place);
    if (!place) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to check %lld stars", path, (long long)model->n);
    for (int64_t i = 0; i < model->n; i++) {
        memcpy(place[i].x, model->x[i], sizeof place[i].x);
        place[i].star = i;
    }
    nbc_sort(place, (size_t)model->n, sizeof *place, compare_places);
    int status = NBC_OK;
    for (int64_t i = 1; i < model->n && !status; i++) {
        const double *p = place[i - 1].x, *q = place[i].x;
        if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2])
            status = refuse_coincidence(path, line, &place[i - 1], &place[i], err);
    }
    nbc_free(place);
    return status;
}
