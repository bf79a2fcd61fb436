/* Neighbour lists of all others when two stars become one body or one body becomes two stars. */
#include "nbody6/state/lists.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/attraction.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/survey.h"
#include "nbody6/state/transaction.h"

#include <string.h>

/* Which bodies that take part are wanted: all that hold one of two bodies, or those that hold one and not the other. */
enum which { EITHER, ONE_ALONE };

/* Ascending lists as one.   @return how many of the n entries are kept */
static int64_t merged(const struct nb6_sim *sim, enum which which, const int32_t other_than[3], int64_t n,
                      const int32_t *first, int64_t n_second, const int32_t *second, nb6_index *body)
{
    int64_t kept = 0;
    for (int64_t k = 0, m = 0; k < n || m < n_second;) {
        const int from_first = k < n && (m == n_second || first[k] <= second[m]);
        const int both = from_first && m < n_second && first[k] == second[m];
        const nb6_index i = from_first ? first[k] : second[m];
        k += from_first;
        m += !from_first || both;
        if ((both && which == ONE_ALONE) || !nb6_takes_part(sim, i)) continue;
        if (i != other_than[0] && i != other_than[1] && i != other_than[2]) body[kept++] = i;
    }
    return kept;
}

/* The table of holders, with room for two lists, of which it keeps the first, behind the room for the changed lists. */
static int keep_first(struct nb6_subsystems *p, int64_t n, const int32_t *first, int64_t most)
{
    if (2 * most > p->holder_capacity) {
        nbc_free(p->holder);
        p->holder_capacity = 0;
        p->holder = nbc_alloc((size_t)(3 * most), sizeof *p->holder);
        if (!p->holder) return 0;
        p->holder_capacity = 3 * most;
    }
    if (n > 0) memcpy(p->holder + most, first, (size_t)n * sizeof *first);
    return 1;
}

static int find_holders(struct nb6_sim *sim, enum which which, const int32_t of[2], const int32_t other_than[3],
                        int64_t *n, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const int64_t most = 2 * nb6_bodies(sim);
    int64_t n_first = 0, n_second = 0;
    const nb6_index *list;
    int status = nb6_survey_holders(sim, of, 0, &n_first, &list, err);
    if (!status && !keep_first(p, n_first, list, most))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory to change neighbour lists");
    if (!status && of[1] != of[0]) status = nb6_survey_holders(sim, of, 1, &n_second, &list, err);
    if (status) return status;
    *n = merged(sim, which, other_than, n_first, p->holder + most, n_second, list, p->holder);
    return NBC_OK;
}

int nb6_lists_one_sided(struct nb6_sim *sim, nb6_index i, nb6_index j, int64_t *n, const nb6_index **body,
                        struct nbc_error *err)
{
    const int32_t of[2] = {i, j}, other_than[3] = {i, j, -1};
    int status = find_holders(sim, ONE_ALONE, of, other_than, n, err);
    *body = sim->subsystems.holder;
    return status;
}

/* Ascending list without some bodies and with some others; remove and add ascend, absent ones are -1. */
static size_t edited(const int32_t *old, size_t nnb, const nb6_index remove[2], const nb6_index add[2], nb6_index *list)
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

static int edit(struct nb6_sim *sim, int64_t i, const nb6_index remove[2], const nb6_index add[2])
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

/* A list with one of two stars gets their centre of mass instead. */
static int join_one(struct nb6_sim *sim, int64_t i, const nb6_index star[2], nb6_index c)
{
    size_t nnb = 0;
    const nb6_index *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb), add[2] = {NB6_NOBODY, c};
    for (int m = 0; m < 2; m++)
        if (nb6_list_find(list, nnb, star[m]) < 0) nb6_attraction_to_irregular(sim, i, star[m]);
    return edit(sim, i, star, add);
}

static int split_one(struct nb6_sim *sim, int64_t i, const nb6_index star[2], nb6_index c)
{
    const nb6_index remove[2] = {c, c};
    return edit(sim, i, remove, star);
}

/* Prefetch a body that is changed soon: bodies and lists are scattered in memory. */
static void fetch(const struct nb6_sim *sim, int64_t i)
{
    enum { LINE = 64 };
    size_t nnb = 0;
    const char *list = (const char *)gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    const char *body = (const char *)&sim->body[i], *star = (const char *)&sim->star[i];
    for (size_t k = 0; k < sizeof *sim->body; k += LINE) __builtin_prefetch(body + k);
    for (size_t k = 0; k < sizeof *sim->star; k += LINE) __builtin_prefetch(star + k);
    for (size_t k = 0; k < nnb * sizeof(int32_t); k += LINE) __builtin_prefetch(list + k);
}

/* A change of the lists with one of two bodies. The lists of the two stars and of c stay: new bodies have none yet, and
 * a body that is one of two stays the same. */
static int change_lists(struct nb6_sim *sim, const int32_t of[2], const nb6_index star[2], nb6_index c,
                        int (*change_one)(struct nb6_sim *sim, int64_t i, const nb6_index star[2], nb6_index c),
                        struct nbc_error *err)
{
    enum { AHEAD = 4 };
    const int32_t other_than[3] = {star[0], star[1], c};
    int64_t n = 0;
    int status = find_holders(sim, EITHER, of, other_than, &n, err), failed = 0;
    const nb6_index *body = sim->subsystems.holder;
    for (int64_t k = 0; k < n && !status; k++) {
        if (k + AHEAD < n) fetch(sim, body[k + AHEAD]);
        status = nb6_save_body(sim, body[k], err);
    }
    for (int64_t k = 0; k < (status ? 0 : n); k++) failed |= change_one(sim, body[k], star, c) != NBC_OK;
    return failed ? nbc_fail(err, NBC_NO_MEMORY, "a neighbour list could not be changed for a new pair") : status;
}

/* One of two bodies goes on as their centre of mass: its members are no neighbours of it, and another body may get that
 * number before it has a new list. */
static int drop_partner(struct nb6_sim *sim, nb6_index c, const nb6_index star[2], struct nbc_error *err)
{
    static const int32_t nobody[2] = {NB6_NOBODY, NB6_NOBODY};
    int status = nb6_save_body(sim, c, err);
    if (!status && edit(sim, c, star, nobody))
        status = nbc_fail(err, NBC_NO_MEMORY, "a neighbour list could not be changed for a new chain");
    return status;
}

int nb6_lists_join(struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_index c, struct nbc_error *err)
{
    const nb6_index star[2] = {i, j};
    int status = change_lists(sim, star, star, c, join_one, err);
    return status || (c != i && c != j) ? status : drop_partner(sim, c, star, err);
}

int nb6_lists_split(struct nb6_sim *sim, nb6_index c, const nb6_index add[2], struct nbc_error *err)
{
    const int32_t one[2] = {c, c};
    return change_lists(sim, one, add, c, split_one, err);
}

static int replace_in(struct nb6_sim *sim, nb6_slot slot, const nb6_index remove[2], const nb6_index add[2],
                      struct nbc_error *err)
{
    struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    int status = nb6_save_slot(sim, slot, err);
    if (status) return status;
    nb6_index *list = nbc_alloc((size_t)pert->n + 2, sizeof *list);
    if (!list) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of a pair");
    size_t n = edited(pert->body, (size_t)pert->n, remove, add, list);
    status = nb6_subsystems_set_perturbers(&sim->subsystems, slot, (int64_t)n, list, err);
    nbc_free(list);
    return status;
}

/* The first system that resolves one of two bodies, behind those that are done.
 * @param[in,out] next  of each: the next that resolves it; NB6_NO_SLOT: none
 */
static nb6_slot take_resolver(const struct nb6_subsystems *p, const nb6_index body[2], nb6_slot next[2])
{
    const int first = next[0] < 0 || (next[1] >= 0 && next[1] < next[0]);
    const nb6_slot slot = next[first];
    for (int m = 0; m < 2; m++)
        if (slot >= 0 && next[m] == slot) next[m] = nb6_resolver_next(p, slot, body[m]);
    return slot;
}

/* The systems that come next are found before a list changes: it may get one of the two bodies for the other. */
int nb6_perturbers_replace(struct nb6_sim *sim, const nb6_index remove[2], const nb6_index add[2],
                           struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    nb6_slot slot, next[2];
    int status = NBC_OK;
    for (int m = 0; m < 2; m++) next[m] = remove[m] >= 0 ? nb6_resolver_first(p, remove[m]) : NB6_NO_SLOT;
    while (!status && (slot = take_resolver(p, remove, next)) >= 0) status = replace_in(sim, slot, remove, add, err);
    return status;
}
