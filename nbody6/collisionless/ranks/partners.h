/** Messages between ranks that are close to each other (trees.h): trees from those that give them to those that get
 *  them, and before that boxes the other way. */
#ifndef NB6_RANK_PARTNERS_H
#define NB6_RANK_PARTNERS_H

#include "common/nbc.h"
#include "nbody6/world/world.h"

#include <stddef.h>
#include <stdint.h>

/** One of the other ranks. */
struct nb6_partner {
    int gives, gets;    /**< 1: this rank gives it a tree; gets one from it */
    const void *data;   /**< that goes there */
    int64_t bytes;      /**< of that */
    void *come;         /**< what has come from there last */
    int64_t bytes_come; /**< of that */
    size_t room;
    struct nb6_message out, in;
};

enum nb6_partners_way {
    NB6_BOXES, /**< to those that give trees */
    NB6_TREES  /**< to those that get them */
};

struct nb6_partners {
    struct nb6_world *world;
    int ranks;
    struct nb6_partner *with; /**< [ranks] */
    void *spare;              /**< [spare_bytes] for what there is no memory for */
};

/** @param[in] spare_bytes  of the longest message with boxes   @return NBC_OK; NBC_NO_MEMORY: to be closed all the same
 */
int nb6_partners_open(struct nb6_partners *partners, struct nb6_world *world, size_t spare_bytes,
                      struct nbc_error *err);
/** Accepts what was never opened, all 0. */
void nb6_partners_close(struct nb6_partners *partners);

/** Room for the messages that come one way, whose bytes are known.   @return of this rank: NBC_OK; NBC_NO_MEMORY */
int nb6_partners_provide(struct nb6_partners *partners, enum nb6_partners_way way, struct nbc_error *err);
/** All messages one way. All ranks call it together, with room for what comes. */
void nb6_partners_pass(struct nb6_partners *partners, enum nb6_partners_way way);
/** The same on a rank without room for boxes, which are lost: others do not wait for it. */
void nb6_partners_lose_boxes(struct nb6_partners *partners);
/** `bytes` of trees go to those that get them, as their `bytes_come`. */
void nb6_partners_tell_bytes(struct nb6_partners *partners);

#endif
