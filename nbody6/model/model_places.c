#include "common/nbc.h"
#include "common/sort.h"
#include "common/twins.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"

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

/* ---- of stars that are not in memory as a whole */

/* Places as numbers, which are the same for equal ones, 0 and -0 too, and differ for others but by chance. */
struct hashed {
    const struct nb6_model *model;
    uint64_t seed;
};

static int64_t number_of(const double x[3], uint64_t seed)
{
    uint64_t h = seed;
    for (int d = 0; d < 3; d++) {
        const double value = x[d] == 0.0 ? 0.0 : x[d];
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        h = (h ^ bits) * 0xbf58476d1ce4e5b9u; /* of SplitMix64, as in common/twins.c */
        h ^= h >> 29;
    }
    return (int64_t)h;
}

static int give_places(void *context, struct nbc_twins *to, struct nbc_error *err)
{
    enum { AT_ONCE = 1024 };
    const struct hashed *hashed = context;
    int64_t number[AT_ONCE];
    (void)err;
    for (struct nb6_piece p = nb6_pieces(hashed->model, NB6_PLACES, 0); nb6_piece_next(&p);)
        for (int64_t first = 0; first < p.count; first += AT_ONCE) {
            const int64_t left = p.count - first, count = left < AT_ONCE ? left : AT_ONCE;
            for (int64_t k = 0; k < count; k++) number[k] = number_of(p.x[first + k], hashed->seed);
            nbc_twins_take(to, count, number);
        }
    return NBC_OK;
}

/* The first of the stars whose places have a number, and another one at the same place.   @return 0: there is none */
static int find_pair(const struct hashed *hashed, int64_t number, struct place *one, struct place *other)
{
    one->star = -1;
    for (struct nb6_piece p = nb6_pieces(hashed->model, NB6_PLACES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            if (number_of(p.x[i], hashed->seed) != number) continue;
            struct place *place = one->star < 0 ? one : other;
            memcpy(place->x, p.x[i], sizeof place->x);
            place->star = p.first + i;
            if (place == other && one->x[0] == other->x[0] && one->x[1] == other->x[1] && one->x[2] == other->x[2])
                return 1;
        }
    return 0;
}

/* Different places with the same number: others are tried, once in 1e4 times with 1e8 stars. */
static int refuse_in_pieces(const char *path, const struct nb6_model *model, struct nbc_error *err)
{
    struct hashed hashed = {model, 0};
    struct place one, other;
    int64_t number;
    for (int found = 1; found; hashed.seed++) {
        const int status = nbc_twins_find(model->n, give_places, &hashed, &number, &found, err);
        if (status) return status;
        if (found && find_pair(&hashed, number, &one, &other)) return refuse_coincidence(path, NULL, &one, &other, err);
    }
    return NBC_OK;
}

int nb6_model_refuse_coincident(const char *path, const int64_t *line, const struct nb6_model *model,
                                struct nbc_error *err)
{
    if (model->n < 2) return NBC_OK;
    if (model->store) return refuse_in_pieces(path, model, err);
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
