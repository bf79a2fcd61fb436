#include "gpuirr/holders.h"

#include "common/ascending.h"
#include "common/nbc.h"
#include "common/select.h"
#include "common/team.h"

#include <stdlib.h>
#include <string.h>

/* An index costs about as much as so many searches through all lists: 100 and 3.2 ms for 200000 lists of 100 by two
 * threads. All threads make both. */
enum { WORTH_AN_INDEX = 32, LISTS_OF_A_PART = 256 };
/* Longest log: this part of the length of the rows, but at least so many entries. */
enum { PART_OF_ROWS = 2, SHORTEST_LOG = 4096 };
/* An index is dropped if there was no search while each list was replaced so often. */
enum { LONG = 4 };

static int holds(const struct gpuirr_list *list, int32_t j)
{
    const int64_t at = nbc_first_from(list->nb, list->nnb, j);
    return at < list->nnb && list->nb[at] == j;
}

/* Entries for the log, some at a time: all threads count them in one number. */
struct gains {
    struct gpuirr_gain gain[32];
    size_t n;
};

static void add_to_log(struct gpuirr_holders *h, struct gains *some)
{
    const size_t at = __atomic_fetch_add(&h->n_log, some->n, __ATOMIC_RELAXED);
    if (at + some->n <= h->room) memcpy(h->log + at, some->gain, some->n * sizeof *some->gain);
    some->n = 0;
}

void gpuirr_holders_note(struct gpuirr_holders *h, const struct gpuirr_list *old, int32_t i, uint32_t nnb,
                         const int32_t *nblist)
{
    if (__atomic_load_n(&h->searched, __ATOMIC_RELAXED)) __atomic_store_n(&h->searched, 0, __ATOMIC_RELAXED);
    if (!h->is_made || __atomic_load_n(&h->n_log, __ATOMIC_RELAXED) > h->room) return;
    struct gains some;
    uint32_t at = 0;
    some.n = 0;
    for (uint32_t k = 0; k < nnb; k++) {
        while (at < old->nnb && old->nb[at] < nblist[k]) at++;
        if (at < old->nnb && old->nb[at] == nblist[k]) continue;
        some.gain[some.n++] = (struct gpuirr_gain){.i = i, .j = nblist[k], .earlier = -1};
        if (some.n == sizeof some.gain / sizeof *some.gain) add_to_log(h, &some);
    }
    if (some.n > 0) add_to_log(h, &some);
}

void gpuirr_holders_drop(struct gpuirr_holders *h)
{
    h->is_made = 0;
    h->searches = h->searched = 0;
}

void gpuirr_holders_begin(struct gpuirr_holders *h)
{
    h->is_of_transaction = 0;
}

void gpuirr_holders_discard(struct gpuirr_holders *h, size_t n_lists)
{
    if (n_lists > 0) h->searched = 0;
    if (n_lists > 0 && h->is_of_transaction) gpuirr_holders_drop(h);
}

void gpuirr_holders_age(struct gpuirr_holders *h, size_t n_lists)
{
    h->replaced += n_lists;
    if (h->is_made && h->replaced > LONG * h->n) gpuirr_holders_drop(h);
}

void gpuirr_holders_expect(struct gpuirr_holders *h, size_t n_lists, size_t n)
{
    if (n_lists > n / 2) gpuirr_holders_drop(h);
}

static void free_index(struct gpuirr_holders *h)
{
    nbc_free(h->first);
    nbc_free(h->row);
    nbc_free(h->last_gain);
    nbc_free(h->log);
    h->first = NULL;
    h->row = h->last_gain = NULL;
    h->log = NULL;
    h->n_log = h->n_linked = h->room = 0;
    gpuirr_holders_drop(h);
}

void gpuirr_holders_free(struct gpuirr_holders *h)
{
    free_index(h);
    nbc_free(h->found);
    for (int k = 0; k < 2; k++) nbc_free(h->search[k].body);
    *h = (struct gpuirr_holders){.is_made = 0};
}

/* Memory for an index of n bodies whose lists have so many entries together; earlier contents are lost. */
static int provide(struct gpuirr_holders *h, size_t n, size_t entries)
{
    const size_t room = entries / PART_OF_ROWS + SHORTEST_LOG;
    free_index(h);
    h->first = nbc_alloc(n + 1, sizeof *h->first);
    h->row = nbc_alloc(entries, sizeof *h->row);
    h->last_gain = nbc_alloc(n, sizeof *h->last_gain);
    h->log = room <= INT32_MAX ? nbc_alloc(room, sizeof *h->log) : NULL;
    h->n = n;
    h->room = room;
    return h->first && h->row && h->last_gain && h->log;
}

/* An index on its way: each thread goes through the lists of some bodies, in their order. */
struct making {
    struct gpuirr_holders *h;
    const struct gpuirr_list *list;
    size_t n;
    int parts;
    uint32_t *at; /* [parts][n] entries for body j in a part of the lists, then the place of its next one in the row */
};

static void count_entries(void *context, int part, int parts)
{
    const struct making *m = context;
    uint32_t *at = m->at + (size_t)part * m->n;
    int64_t first, end;
    nbc_range((int64_t)m->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        for (uint32_t k = 0; k < m->list[i].nnb; k++) at[m->list[i].nb[k]]++;
}

/* Parts follow each other in each row; h->first has its length for now. */
static void lay_out_rows(void *context, int part, int parts)
{
    const struct making *m = context;
    int64_t first, end;
    nbc_range((int64_t)m->n, part, parts, &first, &end);
    for (int64_t j = first; j < end; j++) {
        uint32_t length = 0;
        for (int p = 0; p < m->parts; p++) {
            uint32_t *at = &m->at[(size_t)p * m->n + (size_t)j];
            const uint32_t entries = *at;
            *at = length;
            length += entries;
        }
        m->h->first[j + 1] = length;
        m->h->last_gain[j] = -1;
    }
}

static void fill_rows(void *context, int part, int parts)
{
    const struct making *m = context;
    uint32_t *at = m->at + (size_t)part * m->n;
    int64_t first, end;
    nbc_range((int64_t)m->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        for (uint32_t k = 0; k < m->list[i].nnb; k++) {
            const int32_t j = m->list[i].nb[k];
            m->h->row[m->h->first[j] + at[j]++] = (int32_t)i;
        }
}

/* Without memory there is no index, and searches go on through all lists. */
static void make_holders(struct gpuirr_holders *h, const struct gpuirr_list *list, size_t n)
{
    struct making m = {h, list, n, nbc_parts((int64_t)n, LISTS_OF_A_PART), NULL};
    size_t entries = 0;
    for (size_t i = 0; i < n; i++) entries += list[i].nnb;
    if (!provide(h, n, entries)) return;
    m.at = nbc_alloc((size_t)m.parts * n, sizeof *m.at);
    if (!m.at) return;
    nbc_team_run(m.parts, count_entries, &m);
    nbc_team_run(m.parts, lay_out_rows, &m);
    for (size_t j = 0; j < n; j++) h->first[j + 1] += h->first[j];
    nbc_team_run(m.parts, fill_rows, &m);
    nbc_free(m.at);
    h->is_made = h->is_of_transaction = 1;
}

static void link_gains(struct gpuirr_holders *h)
{
    for (; h->n_linked < h->n_log; h->n_linked++) {
        struct gpuirr_gain *gain = &h->log[h->n_linked];
        gain->earlier = h->last_gain[gain->j];
        h->last_gain[gain->j] = (int32_t)h->n_linked;
    }
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The log contains a body again when it has lost a neighbour and gained it once more. */
static size_t sorted_once(size_t n, int32_t *body)
{
    size_t kept = 0;
    qsort(body, n, sizeof *body, ascending);
    for (size_t k = 0; k < n; k++)
        if (kept == 0 || body[kept - 1] != body[k]) body[kept++] = body[k];
    return kept;
}

static size_t look_up(struct gpuirr_holders *h, const struct gpuirr_list *list, int32_t j)
{
    size_t n = 0;
    for (size_t k = h->first[j]; k < h->first[j + 1]; k++)
        if (holds(&list[h->row[k]], j)) h->found[n++] = h->row[k];
    const size_t of_rows = n;
    link_gains(h);
    for (int32_t k = h->last_gain[j]; k >= 0; k = h->log[k].earlier)
        if (holds(&list[h->log[k].i], j)) h->found[n++] = h->log[k].i;
    return n > of_rows ? sorted_once(n, h->found) : n;
}

/* A search through all lists. */
struct task {
    const struct gpuirr_list *list;
    int64_t n;
    int32_t j;
};

/* Lists are scattered in memory: one is prefetched while others are searched. */
static int holds_it(const void *context, int64_t i)
{
    enum { AHEAD = 8, LINE = 64 / sizeof(int32_t), MOST = 4 * LINE };
    const struct task *task = context;
    if (i + AHEAD < task->n) {
        const struct gpuirr_list *next = &task->list[i + AHEAD];
        for (uint32_t k = 0; k < next->nnb && k < MOST; k += LINE) __builtin_prefetch(next->nb + k);
    }
    return holds(&task->list[i], task->j);
}

/* Without memory the result is empty. */
static void remember(struct gpuirr_holders *h, int32_t j, size_t n)
{
    const struct gpuirr_search last = h->search[0];
    struct gpuirr_search *now = &h->search[0];
    *now = h->search[1];
    h->search[1] = last;
    if (h->searched < 2) h->searched++;
    if (now->room < n || !now->body) {
        nbc_free(now->body);
        now->room = 2 * n + 1;
        now->body = nbc_alloc(now->room, sizeof *now->body);
    }
    now->j = now->body ? j : -1;
    now->n = n;
    if (now->body) memcpy(now->body, h->found, n * sizeof *h->found);
}

/* Found by one of the last two searches, or by another one. */
static size_t search(struct gpuirr_holders *h, const struct gpuirr_list *list, size_t n, int32_t j)
{
    const struct task task = {list, (int64_t)n, j};
    for (int k = 0; k < h->searched; k++) {
        const struct gpuirr_search *s = &h->search[k];
        if (s->j != j) continue;
        memcpy(h->found, s->body, s->n * sizeof *h->found);
        return s->n;
    }
    h->searches++;
    const size_t found = (size_t)nbc_select((int64_t)n, LISTS_OF_A_PART, holds_it, &task, h->found);
    remember(h, j, found);
    return found;
}

/* From a row and the log, which contains a body as often as it has gained j. */
static int grow_found(struct gpuirr_holders *h, size_t n)
{
    const size_t most = n + (h->is_made ? h->n_log : 0);
    if (most <= h->found_room) return 1;
    nbc_free(h->found);
    h->found_room = 0;
    h->found = nbc_alloc(most + most / 2, sizeof *h->found);
    if (h->found) h->found_room = most + most / 2;
    return h->found != NULL;
}

int gpuirr_holders_find(struct gpuirr_holders *h, const struct gpuirr_list *list, size_t n, int32_t j, size_t *n_found)
{
    if (h->is_made && (h->n_log > h->room || h->n != n)) gpuirr_holders_drop(h);
    if (!h->is_made && h->searches >= WORTH_AN_INDEX) make_holders(h, list, n);
    if (!grow_found(h, n)) return -1;
    h->replaced = 0;
    *n_found = h->is_made ? look_up(h, list, j) : search(h, list, n, j);
    return 0;
}
