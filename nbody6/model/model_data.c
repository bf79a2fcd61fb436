#include "common/nbc.h"
#include "common/twins.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"

#include <string.h>

/* Names 1 to n. */
void nb6_model_number(const struct nb6_model *model)
{
    for (struct nb6_piece p = nb6_pieces(model, 0, NB6_NAMES); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) p.name[i] = p.first + i + 1;
}

int nb6_model_alloc(int64_t n, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_model made = {.n = n, .store = model->store};
    const size_t room = (size_t)(made.store && n > made.store->piece ? made.store->piece : n);
    made.name = nbc_alloc(room, sizeof *made.name);
    made.mass = nbc_alloc(room, sizeof *made.mass);
    made.x = nbc_alloc(room, sizeof *made.x);
    made.v = nbc_alloc(room, sizeof *made.v);
    if (!made.name || !made.mass || !made.x || !made.v) {
        nb6_model_free(&made);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the initial model of N = %lld stars", (long long)n);
    }
    nb6_model_number(&made);
    *model = made;
    return NBC_OK;
}

void nb6_model_free(struct nb6_model *model)
{
    if (!model) return;
    nbc_free(model->name);
    nbc_free(model->mass);
    nbc_free(model->x);
    nbc_free(model->v);
    nb6_properties_free(model->properties);
    *model = (struct nb6_model){.n = 0};
}

/* Names to look at: of an array, or of the model. */
struct names {
    const struct nb6_model *model;
    const int64_t *name;
};

static const int64_t *names_of(const struct names *names, const struct nb6_piece *p)
{
    return names->name ? names->name + p->first : p->name;
}

static int give_names(void *context, struct nbc_twins *to, struct nbc_error *err)
{
    (void)err;
    const struct names *names = context;
    for (struct nb6_piece p = nb6_pieces(names->model, NB6_NAMES, 0); nb6_piece_next(&p);)
        nbc_twins_take(to, p.count, names_of(names, &p));
    return NBC_OK;
}

/* @param[out] twice  one that two stars have; 0: there is none. Names that ascend are not compared. */
static int look_at_names(const struct names *names, int64_t *least, int64_t *largest, int64_t *twice,
                         struct nbc_error *err)
{
    int64_t last = 0, number;
    int ascend = 1, found;
    *least = INT64_MAX;
    *largest = INT64_MIN;
    *twice = 0;
    for (struct nb6_piece p = nb6_pieces(names->model, NB6_NAMES, 0); nb6_piece_next(&p);) {
        const int64_t *name = names_of(names, &p);
        for (int64_t i = 0; i < p.count; i++) {
            if (name[i] < *least) *least = name[i];
            if (name[i] > *largest) *largest = name[i];
            ascend &= name[i] > last;
            last = name[i];
        }
    }
    if (ascend || *least < 1) return NBC_OK;
    struct names given = *names;
    const int status = nbc_twins_find(names->model->n, give_names, &given, &number, &found, err);
    if (found) *twice = number;
    return status;
}

int nb6_model_set_names(const int64_t *name, int wanted, const char *path, struct nb6_model *model,
                        struct nbc_error *err)
{
    int64_t least, largest, twice;
    const int status = look_at_names(&(struct names){model, name}, &least, &largest, &twice, err);
    if (status) return status;
    if (least >= 1 && largest <= NB6_NAME_LARGEST && !twice) {
        if (name) memcpy(model->name, name, (size_t)model->n * sizeof *name);
        return NBC_OK;
    }
    if (!name) nb6_model_number(model);
    model->data.ids_unused = 1;
    if (!wanted) return NBC_OK;
    if (least < 1)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: not all ids are positive integers; give others, or leave the eighth "
                        "name of COLUMNS away: stars are then called 1, 2, 3, ...",
                        path);
    if (largest > NB6_NAME_LARGEST)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: the id %lld is above %lld, the largest there is; give others, or leave the eighth name of "
                        "COLUMNS away: stars are then called 1, 2, 3, ...",
                        path, (long long)largest, (long long)NB6_NAME_LARGEST);
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: two stars have the id %lld; give others, or leave the eighth name of COLUMNS "
                    "away: stars are then called 1, 2, 3, ...",
                    path, (long long)twice);
}
