/** Softened forces by a tree of bodies that are divided among several parts, as the processes of a run are: each part
 * has a tree of its own bodies, and gives each other part what that one's targets need of it, its *essential tree*
 * (Salmon 1991; Makino 2004, PASJ 56, 521; Iwasawa et al. 2020, PASJ 72, 13, Sec. 6.3). Of own and essential trees a
 * part makes one, and walks it with the walks of one process.
 *
 *  A cell is in an essential tree as a whole if it may act as a whole on all groups of the other part: those are within
 *  boxes, which that part has told with the least scale of their forces. So no receiver has to open it. Scales follow
 *  from the last accelerations, from the own tree, and from the top cells of all other parts, which are all that is
 *  known before trees have come: a factor of two is left for what they do not tell, which makes trees larger, not
 *  errors.
 *
 *  A force is a sequence of calls, between which the caller sends what they make:
 *      begin                own tree, groups of targets
 *      top                  the top cell, to all parts; take_tops
 *      reach                where the own targets are, to all parts; take_reaches
 *      boxes                to those whose top cell does not do (is_sent); export; take
 *      force
 *
 *  Lists of what goes where can serve many forces (Iwasawa et al., Sec. 4.2). A plan makes them, for boxes that are
 *  larger by a margin, within which targets may move; forces renew what was sent, and open cells that have grown:
 *      plan                 in place of begin; top, reach and boxes as above; then keep, in place of export
 *      renew                in place of begin, with the same sources where they are now; top; export_kept; take; force
 *  The plan and where bodies are decide what a force sends; forces between them do not.
 *
 *  A device that has the own tree makes what is sent, of groups that are runs of its walks, not cells; for lists that
 *  are kept the host does, which reads that tree. What has come goes to the device, which has the tree of all and makes
 *  the force. Nothing of a part is changed by a call that fails; begin or plan come
 *  next, and after a failure of renew, or of what follows it, renew. */
#ifndef GPUNB_TREE_ESSENTIAL_H
#define GPUNB_TREE_ESSENTIAL_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree/essential_test.h"

#include <stddef.h>
#include <stdint.h>

struct gpunb_essential;

/** Most boxes of a part. */
enum { GPUNB_ESSENTIAL_BOXES = 128 };
/** All targets of a part, in so many boxes; 0: it has none. */
struct gpunb_essential_reach {
    struct gpunb_essential_box box;
    int64_t boxes;
};

/** Counts of all forces. */
struct gpunb_essential_counts {
    uint64_t forces;
    uint64_t close;                /**< parts that have sent more than their top cell */
    uint64_t cells, whole, bodies; /**< received: cells in all, those that act as a whole, and bodies */
    uint64_t sent_bytes, tested;   /**< of own essential trees; tests of a cell with boxes for them */
};

/** @param[in] handle  with a tree; it gets the own bodies by gpunb_send_positions
 *  @param[in] parts   in all; the own one is number `own`
 *  @return NBC_OK; NBC_BAD_STATE (the handle makes direct sums); NBC_NO_MEMORY */
int gpunb_essential_open(struct gpunb_essential **essential, gpunb_t *handle, int parts, int own);
/** Before the handle. Accepts NULL. */
void gpunb_essential_free(struct gpunb_essential *essential);

/** The tree of the sources that were sent, and the groups of the job's targets, which are sources (`self`), all
 *  different. Without acc_last, and with an aim, the force is the one by angle that comes first.
 *  @param[in] job  stays as it is until the force is made; n_i = 0: none of the own bodies is a target
 *  @return as gpunb_tree_rebuild */
int gpunb_essential_begin(struct gpunb_essential *essential, const struct gpunb_softened_job *job);

/** The same for lists that are kept.
 *  @param[in] job    all sources are targets, in their order; with acc_last, if forces have an aim
 *  @param[in] drift  [n] how far each will have moved, about, when the lists are made anew. Both are read until the
 *                    boxes are there   @return as gpunb_essential_begin */
int gpunb_essential_plan(struct gpunb_essential *essential, const struct gpunb_softened_job *job, const double *drift);
/** A force by the lists of the plan. Its cells stay, and have the moments of the sources that were sent last.
 *  @param[in] job  as of gpunb_essential_begin, without `pot`   @return as gpunb_tree_renew */
int gpunb_essential_renew(struct gpunb_essential *essential, const struct gpunb_softened_job *job);
/** Targets that have left what the plan knows of them: its boxes, or the least force in one. A list has no promise for
 *  them.
 *  @param[in] target [n] numbers of own bodies; x, acc_last of all own bodies */
int64_t gpunb_essential_count_left(const struct gpunb_essential *essential, int64_t n, const int32_t *target,
                                   const double (*x)[3], const double (*acc_last)[3]);

/** Bytes of a top cell, a multiple of 8. */
size_t gpunb_essential_top_bytes(const struct gpunb_essential *essential);
void gpunb_essential_top(const struct gpunb_essential *essential, void *top);
/** @param[in] tops  [parts] by number */
void gpunb_essential_take_tops(struct gpunb_essential *essential, const void *tops);

void gpunb_essential_reach(const struct gpunb_essential *essential, struct gpunb_essential_reach *reach);
/** @param[in] reaches  [parts] by number */
void gpunb_essential_take_reaches(struct gpunb_essential *essential, const struct gpunb_essential_reach *reaches);
/** Whether one part sends an essential tree to another one; both know. */
int gpunb_essential_is_sent(const struct gpunb_essential *essential, int from, int to);

/** Those of the own targets, as many as their reach says. */
const struct gpunb_essential_box *gpunb_essential_boxes(const struct gpunb_essential *essential);
/** The essential tree for a part.
 *  @param[in]  boxes  of that part, as many as its reach says
 *  @param[out] data   stays until the next call for this part   @return NBC_OK; NBC_NO_MEMORY */
int gpunb_essential_export(struct gpunb_essential *essential, int to, const struct gpunb_essential_box *boxes,
                           const void **data, size_t *bytes);
/** The list for a part, after its boxes have come.   @param[in] boxes  of that part   @return NBC_OK; NBC_NO_MEMORY */
int gpunb_essential_keep(struct gpunb_essential *essential, int to, const struct gpunb_essential_box *boxes);
/** The essential tree for a part by its list; data and bytes as gpunb_essential_export. */
int gpunb_essential_export_kept(struct gpunb_essential *essential, int to, const void **data, size_t *bytes);
/** One that has come.   @param[in] data  stays as it is until the force is made   @return NBC_OK; NBC_NO_MEMORY */
int gpunb_essential_take(struct gpunb_essential *essential, int from, const void *data);
/** The job's results.
 *  @param[out] cost  [n_i] work of each target's list, in pairs by nominal costs; NULL: not wanted
 *  @return NBC_OK; NBC_NO_MEMORY */
int gpunb_essential_force(struct gpunb_essential *essential, uint32_t *cost);

/** Whether forces have an aim, so that one by angle comes first where there are no last accelerations. */
int gpunb_essential_has_aim(const struct gpunb_essential *essential);
/** Own sources along the curve of the tree; NULL: there are none. */
const int32_t *gpunb_essential_order(const struct gpunb_essential *essential);
void gpunb_essential_get_counts(const struct gpunb_essential *essential, struct gpunb_essential_counts *counts);

#endif
