#include "gpunb/tree/share.h"

#include "common/team.h"

#include <string.h>

/* Targets that share loads: as many as the longest vectors take at a time. */
enum { TARGETS_OF_A_PART = 4 * TREE_LANES };

struct sharing {
    const struct gpunb_tree_targets *targets;
    const struct tree_piece *piece;
};

/* Entries [first, end) of the list on some targets, from number `target` on. */
static void add_range(const struct tree_piece *piece, const struct gpunb_tree_targets *targets, size_t target,
                      size_t first, size_t end)
{
    struct gpunb_tree_bodies bodies = piece->bodies;
    if (first == end) return;
    if (piece->term) {
        piece->method->add_terms(targets, piece->order, piece->term + first, end - first);
        return;
    }
    bodies.n = end - first;
    bodies.first = (int32_t)first;
    for (int k = 0; k < 3; k++) bodies.x[k] += first;
    bodies.mass += first;
    if (bodies.own) bodies.own += target;
    piece->method->add_bodies(targets, &bodies);
}

static void share_targets(void *context, int part, int parts)
{
    const struct sharing *s = context;
    struct gpunb_tree_targets own = *s->targets;
    int64_t first, end;
    nbc_range((int64_t)((own.n + TARGETS_OF_A_PART - 1) / TARGETS_OF_A_PART), part, parts, &first, &end);
    const size_t at = (size_t)first * TARGETS_OF_A_PART, stop = (size_t)end * TARGETS_OF_A_PART;
    if (first == end) return;
    own.n = (stop < s->targets->n ? stop : s->targets->n) - at;
    for (int k = 0; k < 3; k++) own.x[k] += at;
    for (int k = 0; k < TREE_SUMS; k++) own.sum[k] += at;
    add_range(s->piece, &own, at, 0, s->piece->n);
}

static void share_list(void *context, int part, int parts)
{
    const struct sharing *s = context;
    for (int share = part; share < TREE_SHARES; share += parts) {
        struct gpunb_tree_targets own = *s->targets;
        int64_t first, end;
        nbc_range((int64_t)s->piece->n, share, TREE_SHARES, &first, &end);
        for (int k = 0; k < TREE_SUMS; k++) {
            own.sum[k] = s->piece->apart + (size_t)(share * TREE_SUMS + k) * own.room;
            memset(own.sum[k], 0, own.n * sizeof(double));
        }
        add_range(s->piece, &own, 0, (size_t)first, (size_t)end);
    }
}

static void add_shares(const struct gpunb_tree_targets *targets, const double *apart)
{
    for (int share = 0; share < TREE_SHARES; share++)
        for (int k = 0; k < TREE_SUMS; k++) {
            const double *from = apart + (size_t)(share * TREE_SUMS + k) * targets->room;
            for (size_t i = 0; i < targets->n; i++) targets->sum[k][i] += from[i];
        }
}

void tree_add_piece(const struct gpunb_tree_targets *targets, const struct tree_piece *piece)
{
    struct sharing sharing = {targets, piece};
    switch (piece->walk) {
    case GPUNB_WALK_ONE_BY_ONE_I:
        nbc_team_run(nbc_parts((int64_t)targets->n, TARGETS_OF_A_PART), share_targets, &sharing);
        break;
    case GPUNB_WALK_ONE_BY_ONE_J:
        nbc_team_run(nbc_parts(TREE_SHARES, 1), share_list, &sharing);
        add_shares(targets, piece->apart);
        break;
    default:
        add_range(piece, targets, 0, 0, piece->n);
        break;
    }
}
