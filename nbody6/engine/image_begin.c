#include "nbody6/engine/image_begin.h"

#include <string.h>

static void set(struct nb6_pull_source *to, int32_t place, double mass, const double x[3], const double v[3])
{
    *to = (struct nb6_pull_source){.body = place, .mass = mass};
    memcpy(to->x, x, sizeof to->x);
    memcpy(to->v, v, sizeof to->v);
}

int64_t nb6_dev_fill_pulls(const struct nb6_dev *dev, const struct nb6_edit *edit, struct nb6_pull_source *source)
{
    int64_t n = 0;
    for (int64_t k = 0; k < edit->n; k++) {
        const struct nb6_changed *changed = &edit->changed[k];
        const struct nb6_sudden *sudden = &edit->sudden[k];
        const int32_t place = dev->place_of[changed->body];
        set(&source[n++], place, sudden->begins ? sudden->was : changed->lost, changed->x, changed->v);
        if (sudden->begins) set(&source[n++], place, -changed->mass, sudden->x, sudden->v);
    }
    return n;
}

int nb6_dev_any_speed(const struct nb6_edit *edit)
{
    int any = 0;
    for (int64_t k = 0; k < edit->n; k++) any |= edit->sudden[k].speed > 0;
    return any;
}

void nb6_dev_note_begun(struct nb6_dev_control *control, const struct nb6_edit *edit, int64_t pairs, int by_tree,
                        uint64_t overflows)
{
    control->stores_all = 1;
    if (edit->disturbed.n == 0) return;
    control->ti_now = edit->t;
    control->pairs_reg += (uint64_t)pairs;
    control->calls_by_tree += (uint64_t)by_tree;
    control->overflows += overflows;
}
