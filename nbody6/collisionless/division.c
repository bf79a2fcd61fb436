#include "nbody6/collisionless/division.h"

#include "nbody6/collisionless/owners.h"

/* Return from the calling function if a call fails. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const int status_ = (call);                                                                                    \
        if (status_) return status_;                                                                                   \
    } while (0)

int nb6_division_is_possible(const struct nb6_resident_part *one, int parts, enum gpunb_kept_tree kept)
{
    for (int p = 0; p < parts; p++)
        if (!one[p].part.body || !nb6_domain_is_by_tree(one[p].domain, kept, one[p].part.n_own)) return 0;
    return 1;
}

static int wait_for_all(const struct nb6_resident_part *one, int parts, struct nbc_error *err)
{
    for (int p = 0; p < parts; p++) TRY(nb6_domain_wait(one[p].domain, err));
    return NBC_OK;
}

/* @param[out] first  [parts + 1] */
static int divide(const struct nb6_resident_part *one, int parts, int64_t *first, struct nbc_error *err)
{
    const struct nb6_part *part = &one[0].part;
    const int sums = nb6_owners_sums(part->n, parts);
    uint64_t *sum = nbc_alloc((size_t)sums, sizeof *sum);
    if (!sum) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a division among %d parts", parts);
    int status = NBC_OK;
    for (int p = 0; p < parts && !status; p++) status = nb6_domain_pull_work(one[0].domain, one[p].domain, err);
    if (!status) status = nb6_domain_weigh(one[0].domain, sums, sum, err);
    if (!status) nb6_owners_divide(sum, part->n, parts, part->room, first);
    nbc_free(sum);
    return status;
}

int nb6_division_make(struct nb6_resident_part *one, int parts, struct nbc_error *err)
{
    int64_t first[NB6_MOST_PARTS + 1];
    TRY(wait_for_all(one, parts, err));
    TRY(divide(one, parts, first, err));
    for (int p = 0; p < parts; p++) TRY(nb6_domain_pull_order(one[p].domain, one[0].domain, err));
    for (int k = 0; k < parts; k++) /* each part from the next one, so that no part is asked by all at once */
        for (int p = 0; p < parts; p++) TRY(nb6_domain_pull_bodies(one[p].domain, one[(p + k) % parts].domain, err));
    TRY(wait_for_all(one, parts, err));
    for (int p = 0; p < parts; p++) {
        one[p].part.first = (int32_t)first[p];
        one[p].part.n_own = (int32_t)(first[p + 1] - first[p]);
        TRY(nb6_domain_take(one[p].domain, one[p].part.first, one[p].part.n_own, err));
    }
    for (int p = 0; p < parts; p++) TRY(nb6_domain_read(one[p].domain, &one[p].word, err));
    return NBC_OK;
}
