/* Neighbour lists of all others when two stars become one body or one body becomes two stars. */
#include "nbody6/state/lists.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/attraction.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"

enum { PARALLEL_LISTS = 2000 };

/* A list without the entries that are -1.   @return its length */
static int64_t compressed(int64_t n, int32_t *body)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < n; k++)
        if (body[k] >= 0) body[kept++] = body[k];
    return kept;
}

int64_t nb6_lists_one_sided(const struct nb6_sim *sim, int32_t i, int32_t j, int32_t *body)
{
    const struct nb6_pairs *p = &sim->pairs;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_LISTS)
    for (int64_t m = 0; m < p->n_source; m++) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)p->source[m], &nnb);
        int one = (nb6_list_find(list, nnb, i) >= 0) != (nb6_list_find(list, nnb, j) >= 0);
        body[m] = one && p->source[m] != i && p->source[m] != j ? p->source[m] : -1;
    }
    return compressed(p->n_source, body);
}

/* Ascending list without some bodies and with some others; remove and add ascend, absent ones are -1. */
static size_t edited(const int32_t *old, size_t nnb, const int32_t remove[2], const int32_t add[2], int32_t *list)
{
    size_t n = 0;
    int next = 0;
    for (size_t k = 0; k < nnb; k++) {
        while (next < 2 && (add[next] < 0 || add[next] < old[k])) {
            if (add[next] >= 0) list[n++] = add[next];
            next++;
        }
        if (old[k] != remove[0] && old[k] != remove[1]) list[n++] = old[k];
    }
    for (; next < 2; next++)
        if (add[next] >= 0) list[n++] = add[next];
    return n;
}

static int edit(struct nb6_sim *sim, int64_t i, const int32_t remove[2], const int32_t add[2])
{
    int32_t small[512], *list = small;
    size_t nnb = 0;
    const int32_t *old = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    if (nnb + 2 > sizeof small / sizeof small[0]) list = nbc_alloc(nnb + 2, sizeof *list);
    if (!list) return NBC_NO_MEMORY;
    size_t n = edited(old, nnb, remove, add, list);
    int status = gpuirr_set_list(sim->irr, (size_t)i, n, list);
    if (!status) sim->star[i].nnb = (int32_t)n;
    if (list != small) nbc_free(list);
    return status;
}

/* Bodies that take part, other than three, and have one of two bodies in their lists.
 * @param[out] body [n_source]   @return their number */
static int64_t holders(const struct nb6_sim *sim, const int32_t of[2], const int32_t other_than[3], int32_t *body)
{
    const struct nb6_pairs *p = &sim->pairs;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_LISTS)
    for (int64_t m = 0; m < p->n_source; m++) {
        const int32_t i = p->source[m];
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        const int holds = nb6_list_find(list, nnb, of[0]) >= 0 || nb6_list_find(list, nnb, of[1]) >= 0;
        body[m] = holds && i != other_than[0] && i != other_than[1] && i != other_than[2] ? i : -1;
    }
    return compressed(p->n_source, body);
}

/* Who has one of two stars in the list has their centre of mass in it. */
static int join_one(struct nb6_sim *sim, int64_t i, const int32_t star[2], int32_t c)
{
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb), add[2] = {-1, c};
    for (int m = 0; m < 2; m++)
        if (nb6_list_find(list, nnb, star[m]) < 0) nb6_attraction_to_irregular(sim, i, star[m]);
    return edit(sim, i, star, add);
}

static int split_one(struct nb6_sim *sim, int64_t i, const int32_t star[2], int32_t c)
{
    const int32_t remove[2] = {c, c};
    return edit(sim, i, remove, star);
}

/* A change of the lists of those who hold one of two bodies. The two stars and c keep theirs: those that come have none
 * yet, and a body that is one of two stays itself. */
static int change_lists(struct nb6_sim *sim, const int32_t of[2], const int32_t star[2], int32_t c,
                        int (*change_one)(struct nb6_sim *sim, int64_t i, const int32_t star[2], int32_t c),
                        struct nbc_error *err)
{
    const int32_t other_than[3] = {star[0], star[1], c};
    int32_t *body = nbc_alloc((size_t)sim->pairs.n_source, sizeof *body);
    if (!body) return nbc_fail(err, NBC_NO_MEMORY, "no memory to change neighbour lists");
    const int64_t n = holders(sim, of, other_than, body);
    int status = NBC_OK, failed = 0;
    for (int64_t k = 0; k < n && !status; k++) status = nb6_save_body(sim, body[k], err);
#pragma omp parallel for schedule(static) reduction(| : failed) if (n > PARALLEL_LISTS)
    for (int64_t k = 0; k < (status ? 0 : n); k++) failed |= change_one(sim, body[k], star, c) != NBC_OK;
    nbc_free(body);
    return failed ? nbc_fail(err, NBC_NO_MEMORY, "a neighbour list could not be changed for a new pair") : status;
}

int nb6_lists_join(struct nb6_sim *sim, int32_t i, int32_t j, int32_t c, struct nbc_error *err)
{
    const int32_t star[2] = {i, j};
    return change_lists(sim, star, star, c, join_one, err);
}

int nb6_lists_split(struct nb6_sim *sim, int32_t c, const int32_t add[2], struct nbc_error *err)
{
    const int32_t one[2] = {c, c};
    return change_lists(sim, one, add, c, split_one, err);
}

static int replace_in(struct nb6_sim *sim, int64_t slot, const int32_t remove[2], const int32_t add[2],
                      struct nbc_error *err)
{
    struct nb6_perturbers *pert = &sim->pairs.pert[slot];
    int status = nb6_save_slot(sim, slot, err);
    if (status) return status;
    int32_t *list = nbc_alloc((size_t)pert->n + 2, sizeof *list);
    if (!list) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of a pair");
    size_t n = edited(pert->body, (size_t)pert->n, remove, add, list);
    status = nb6_pairs_set_perturbers(&sim->pairs, slot, (int64_t)n, list, err);
    nbc_free(list);
    return status;
}

int nb6_perturbers_replace(struct nb6_sim *sim, const int32_t remove[2], const int32_t add[2], struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    int status = NBC_OK;
    for (int64_t slot = 0; slot < p->n_slot && !status; slot++) {
        if (p->pert[slot].n == 0) continue;
        if (!nb6_pairs_resolves(p, slot, remove[0]) && !nb6_pairs_resolves(p, slot, remove[1])) continue;
        status = replace_in(sim, slot, remove, add, err);
    }
    return status;
}
