#include "nbody6/collisionless/ranks/places.h"

int nb6_rank_places_open(struct nb6_rank_places *p, int64_t n, struct nbc_error *err)
{
    p->rank = nbc_alloc_unset((size_t)n, sizeof *p->rank);
    p->x = nbc_alloc_unset((size_t)n, sizeof *p->x);
    p->acc = nbc_alloc_unset((size_t)n, sizeof *p->acc);
    p->drift = nbc_alloc_unset((size_t)n, sizeof *p->drift);
    if (p->rank && p->x && p->acc && p->drift) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the trees of %lld bodies", (long long)n);
}

void nb6_rank_places_free(struct nb6_rank_places *p)
{
    nbc_free(p->rank);
    nbc_free(p->x);
    nbc_free(p->acc);
    nbc_free(p->drift);
    *p = (struct nb6_rank_places){0};
}

void *nb6_rank_places_column(const struct nb6_rank_places *p, enum nb6_body_column column)
{
    switch (column) {
    case NB6_ROWS_PLACE_RANK:
        return p->rank;
    case NB6_ROWS_PLACE_X:
        return p->x;
    case NB6_ROWS_PLACE_ACC:
        return p->acc;
    case NB6_ROWS_PLACE_DRIFT:
        return p->drift;
    default:
        return NULL;
    }
}
