#include "nbody6/state/touched.h"

#include "common/nbc.h"

#include <string.h>

static void clear(struct nb6_touched *touched)
{
    for (int64_t k = 0; k < touched->n; k++) touched->mark[touched->body[k]] = 0;
    touched->n = touched->n_pulls = touched->n_source = 0;
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

void nb6_touched_undo_pulls(struct nb6_touched *touched, int64_t n_pulls)
{
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
    *touched = (struct nb6_touched){0};
}
