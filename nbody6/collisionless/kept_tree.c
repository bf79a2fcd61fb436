#include "nbody6/collisionless/kept_tree.h"

#include "gpunb/backend.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/rebuild.h"

#include <string.h>

int nb6_kept_tree_open(struct nb6_collisionless *s, int has_layout, struct nbc_error *err)
{
    struct nb6_kept_tree *k = &s->kept;
    s->rebuild = (struct nb6_rebuild){.state = NB6_TREE_IS_MISSING};
    s->build_block = k->tree_block = k->layout_block = NB6_NO_BUILD;
    if (s->reuse == 1 || !has_layout) return NBC_OK;
    k->order = nbc_alloc((size_t)s->n, sizeof *k->order);
    k->cut = nbc_alloc((size_t)s->n, sizeof *k->cut);
    if (k->order && k->cut) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the tree of %lld bodies", (long long)s->n);
}

void nb6_kept_tree_close(struct nb6_collisionless *s)
{
    gpunb_tree_free(s->kept.tree);
    nbc_free(s->kept.order);
    nbc_free(s->kept.cut);
    s->kept = (struct nb6_kept_tree){0};
}

void nb6_kept_tree_take(struct nb6_collisionless *s, const struct nb6_collisionless *then)
{
    struct gpunb_options used = {0};
    gpunb_tree_settings(s->force, &used);
    if (s->reuse == 1 || then->reuse <= 1) return;
    s->rebuild = then->rebuild;
    s->build_block = then->build_block;
    if (s->rebuild.state != NB6_TREE_STANDS) return;
    const int on_ranks = s->kept.order == NULL,
              is_there = on_ranks ? then->kept.has_places
                                  : then->kept.order != NULL && then->kept.layout_block == then->build_block;
    if (!is_there || s->rebuild.leaf != used.leaf) {
        s->rebuild.state = NB6_TREE_IS_MISSING;
        return;
    }
    if (on_ranks) return;
    memcpy(s->kept.order, then->kept.order, (size_t)s->n * sizeof *s->kept.order);
    memcpy(s->kept.cut, then->kept.cut, (size_t)s->n * sizeof *s->kept.cut);
    s->kept.layout_block = s->build_block;
}

/* ---- forces */

static int create(struct nb6_collisionless *s)
{
    return s->kept.tree ? NBC_OK : gpunb_tree_create(s->force, &s->kept.tree);
}

/* New cells, or those of the last build, which come from the layout if the tree has others. */
static int make_cells(struct nb6_collisionless *s, const struct nb6_rebuild_force *force)
{
    struct nb6_kept_tree *k = &s->kept;
    const uint64_t before = k->tree_block;
    const int is_new = force->kept == GPUNB_TREE_BUILT;
    int status = NBC_OK;
    k->tree_block = NB6_NO_BUILD;
    if (is_new)
        status = gpunb_tree_rebuild(s->force, s->n_blocks, k->tree);
    else if (before != s->build_block)
        status = gpunb_tree_restore(s->force, k->tree, (size_t)s->n, k->order, k->cut);
    if (!status && !(is_new && force->is_apart)) k->tree_block = is_new ? s->n_blocks : s->build_block;
    return status;
}

int nb6_kept_tree_force(struct nb6_collisionless *s, const struct nb6_rebuild_force *force,
                        const struct gpunb_softened_job *job, struct nbc_error *err)
{
    const int by_it = force->kept == GPUNB_TREE_BUILT || force->kept == GPUNB_TREE_RENEWED;
    int status = by_it ? create(s) : NBC_OK;
    if (!status && by_it) status = make_cells(s, force);
    if (!status && force->kept == GPUNB_TREE_RENEWED) status = gpunb_tree_renew(s->force, s->kept.tree);
    if (!status) status = by_it ? gpunb_tree_force(s->force, s->kept.tree, job) : gpunb_softened(s->force, job);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(s->force)) : NBC_OK;
}

struct nb6_rebuild_force nb6_kept_tree_apart(const struct nb6_collisionless *s, int parts)
{
    const int stands = s->rebuild.state == NB6_TREE_STANDS;
    const size_t n = (size_t)s->n, each = (n + (size_t)parts - 1) / (size_t)parts;
    struct nb6_rebuild_force force = {.kept = GPUNB_TREE_NOT_KEPT, .is_apart = 1};
    if (s->reuse > 1 && !s->trees && gpunb_tree_kept_is_worth(s->force, each, n, stands ? 0 : 1))
        force.kept = stands ? GPUNB_TREE_RENEWED : GPUNB_TREE_BUILT;
    return force;
}

int nb6_kept_tree_home(struct nb6_collisionless *s, struct nbc_error *err)
{
    struct nb6_kept_tree *k = &s->kept;
    if (s->reuse == 1 || s->rebuild.state != NB6_TREE_STANDS || k->layout_block == s->build_block) return NBC_OK;
    if (k->tree_block != s->build_block) {
        s->rebuild.state = NB6_TREE_IS_MISSING;
        return NBC_OK;
    }
    k->layout_block = NB6_NO_BUILD;
    const int status = gpunb_tree_get_layout(s->force, k->tree, k->order, k->cut);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(s->force));
    k->layout_block = s->build_block;
    return NBC_OK;
}
