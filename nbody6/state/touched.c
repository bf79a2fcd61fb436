#include "nbody6/state/touched.h"

#include "common/nbc.h"

#include <string.h>

static void clear(struct nb6_touched *touched)
{
    for (int64_t k = 0; k < touched->n; k++) touched->mark[touched->body[k]] = 0;
    touched->n = touched->n_pulls = touched->n_source = 0;
    nbc_free(touched->moved);
    nbc_free(touched->was);
    touched->moved = touched->was = NULL;
    touched->n_before = touched->n_now = 0;
}

void nb6_touched_begin(struct nb6_touched *touched, uint64_t edits)
{
    clear(touched);
    touched->edits = edits;
    touched->known = 1;
}

void nb6_touched_any(struct nb6_touched *touched)
{
    clear(touched);
    touched->known = 0;
}

int nb6_touched_are_known(const struct nb6_touched *touched, uint64_t edits)
{
    return touched->known && touched->edits == edits;
}

static void note(struct nb6_touched *touched, int64_t i)
{
    if (!nbc_grow(&touched->mark, &touched->marks, i + 1, sizeof *touched->mark) ||
        !nbc_grow(&touched->body, &touched->room, touched->n + 1, sizeof *touched->body)) {
        nb6_touched_any(touched);
        return;
    }
    if (touched->mark[i]) return;
    touched->mark[i] = 1;
    touched->body[touched->n++] = (nb6_index)i;
}

void nb6_touch(struct nb6_touched *touched, uint64_t *edits, int64_t i)
{
    const int is_known = nb6_touched_are_known(touched, *edits);
    ++*edits;
    if (!is_known) return;
    touched->edits = *edits;
    note(touched, i);
}

void nb6_touch_by_pulls(struct nb6_touched *touched, uint64_t *edits, nb6_time t, int64_t n,
                        const struct nb6_pull_source *source)
{
    const int is_known = nb6_touched_are_known(touched, *edits);
    ++*edits;
    if (!is_known) return;
    touched->edits = *edits;
    if (touched->n_source + n > NB6_MOST_PULLS ||
        !nbc_grow(&touched->pulls, &touched->pulls_room, touched->n_pulls + 1, sizeof *touched->pulls) ||
        !nbc_grow(&touched->source, &touched->source_room, touched->n_source + n, sizeof *touched->source)) {
        nb6_touched_any(touched);
        return;
    }
    touched->pulls[touched->n_pulls++] = (struct nb6_touch_by_pulls){t, n, touched->n_source};
    memcpy(touched->source + touched->n_source, source, (size_t)n * sizeof *source);
    touched->n_source += n;
}

/* ---- numbers */

nb6_index nb6_touched_was(const struct nb6_touched *touched, int64_t i)
{
    if (touched->n_now == 0) return (nb6_index)i;
    return i < touched->n_now ? touched->was[i] : NB6_NOBODY;
}

/* Numbers of then to numbers of now, after those of before to those of now.   @return 0: no memory */
static int follow(struct nb6_touched *touched, int64_t n_before, const nb6_index *moved, int64_t n_now)
{
    const int64_t n_then = touched->n_now ? touched->n_before : n_before;
    nb6_index *to = nbc_alloc((size_t)n_then, sizeof *to), *was = nbc_alloc((size_t)n_now, sizeof *was);
    if (!to || !was) {
        nbc_free(to);
        nbc_free(was);
        return 0;
    }
    for (int64_t i = 0; i < n_now; i++) was[i] = NB6_NOBODY;
    for (int64_t i = 0; i < n_then; i++) {
        const nb6_index between = touched->n_now ? touched->moved[i] : (nb6_index)i;
        to[i] = between >= 0 && between < n_before ? moved[between] : NB6_NOBODY;
        if (to[i] >= 0) was[to[i]] = (nb6_index)i;
    }
    nbc_free(touched->moved);
    nbc_free(touched->was);
    touched->moved = to;
    touched->was = was;
    touched->n_before = n_then;
    touched->n_now = n_now;
    return 1;
}

static void rename_bodies(struct nb6_touched *touched, int64_t n_before, const nb6_index *moved)
{
    int64_t n = 0;
    for (int64_t k = 0; k < touched->n; k++) touched->mark[touched->body[k]] = 0;
    for (int64_t k = 0; k < touched->n; k++) {
        const nb6_index i = touched->body[k], to = i < n_before ? moved[i] : NB6_NOBODY;
        if (to >= 0) touched->body[n++] = to;
    }
    touched->n = n;
    for (int64_t k = 0; k < n; k++) touched->mark[touched->body[k]] = 1;
    for (int64_t k = 0; k < touched->n_source; k++) {
        nb6_index *body = &touched->source[k].body;
        *body = *body >= 0 && *body < n_before ? moved[*body] : NB6_NOBODY;
    }
}

void nb6_touch_numbers(struct nb6_touched *touched, uint64_t *edits, int64_t n_before, const nb6_index *moved,
                       int64_t n_now)
{
    const int is_known = nb6_touched_are_known(touched, *edits);
    ++*edits;
    touched->n_renumbered++;
    if (!is_known) return;
    touched->edits = *edits;
    if (nbc_grow(&touched->mark, &touched->marks, n_now, sizeof *touched->mark) &&
        follow(touched, n_before, moved, n_now))
        rename_bodies(touched, n_before, moved);
    else
        nb6_touched_any(touched);
}

void nb6_touched_roll_back(struct nb6_touched *touched, int64_t n_pulls, int64_t n_renumbered)
{
    if (touched->n_renumbered != n_renumbered) nb6_touched_any(touched);
    if (touched->n_pulls <= n_pulls) return;
    touched->n_pulls = n_pulls;
    touched->n_source = touched->pulls[n_pulls].first;
}

void nb6_touched_free(struct nb6_touched *touched)
{
    nbc_free(touched->body);
    nbc_free(touched->mark);
    nbc_free(touched->pulls);
    nbc_free(touched->source);
    nbc_free(touched->moved);
    nbc_free(touched->was);
    *touched = (struct nb6_touched){0};
}
