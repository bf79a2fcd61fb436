/** The ranks that make one run together: one process alone, threads of one process (world/threads.h), or processes
 *  that MPI connects (world/launch.h).
 *
 *  Messages do not block: a call starts one, nb6_message_wait ends it, and until then sums can be made. Messages from
 *  one rank to another with the same tag arrive in the order in which they were sent. Every rank calls the functions
 *  for all ranks (from nb6_world_broadcast on) in the same order. All calls of a rank come from one thread. A rank that
 *  is lost ends all others: the launcher of MPI sees to that, so that no call here fails. */
#ifndef NB6_WORLD_H
#define NB6_WORLD_H

#include "common/nbc.h"

#include <stddef.h>
#include <stdint.h>

struct nb6_world;

/** A message under way. It belongs to the caller, and stays where it is until nb6_message_wait returns. */
struct nb6_message {
    int peer, tag;
    int is_send, is_done;
    const void *from;         /**< of a send; not to be changed */
    void *to;                 /**< of a receive; not to be read */
    size_t bytes;             /**< of both ends */
    double time;              /**< virtual network: when it has left, or arrives */
    uint64_t request;         /**< of MPI; of threads: the rank that receives it */
    int is_copy;              /**< of threads: the receiver frees it */
    struct nb6_message *next; /**< of threads */
};

int nb6_world_rank(const struct nb6_world *world);
/** Ranks; 1 for NULL, which is one process alone. */
int nb6_world_size(const struct nb6_world *world);
/** Number of this rank among those on its host: the device that it takes. */
int nb6_world_host_rank(const struct nb6_world *world);
/** "alone", "threads", "MPI". */
const char *nb6_world_name(const struct nb6_world *world);
/** Consecutive items of n that belong to a rank, as even as possible: [*first, *end). */
void nb6_world_share(const struct nb6_world *world, int64_t n, int rank, int64_t *first, int64_t *end);

/** A tag that all ranks have in common, for messages of one purpose. */
int nb6_world_tag(struct nb6_world *world);
void nb6_world_send(struct nb6_world *world, struct nb6_message *message, int to, int tag, const void *data,
                    size_t bytes);
void nb6_world_receive(struct nb6_world *world, struct nb6_message *message, int from, int tag, void *data,
                       size_t bytes);
void nb6_message_wait(struct nb6_world *world, struct nb6_message *message);
/** Let a message move on while sums are made.   @return whether it has been seen to be complete */
int nb6_message_test(struct nb6_world *world, struct nb6_message *message);

/** Nominal cost of work, which moves the clock of a virtual network on; nothing elsewhere. */
void nb6_world_spend(struct nb6_world *world, uint64_t calls, double units);
/** Seconds: of the virtual network, else of the wall clock. */
double nb6_world_seconds(const struct nb6_world *world);

/** All ranks get the data of rank 0. */
void nb6_world_broadcast(struct nb6_world *world, void *data, size_t bytes);
/** The items of all shares of n, on rank 0.   @param[in] mine  the own share   @param[out] all  [n], of rank 0 */
void nb6_world_gather(struct nb6_world *world, int64_t n, size_t size, const void *mine, void *all);
/** The other way.   @param[in] all  [n], of rank 0   @param[out] mine  the own share */
void nb6_world_scatter(struct nb6_world *world, int64_t n, size_t size, const void *all, void *mine);
/** Sums and minima of integers over all ranks, exact and the same on all of them, by as many messages one after another
 *  as doubling one rank to all takes.   @param[in] count  1199 at most */
void nb6_world_sum(struct nb6_world *world, int64_t *values, int count);
void nb6_world_minimum(struct nb6_world *world, int64_t *values, int count);
/** Agreement on a step that some ranks may have failed at: all learn of the failure of the first of them.
 *  @param[in]     status  of this rank   @param[in,out] err  its text; that of the first failure
 *  @return NBC_OK: no rank has failed; else the status of the first that has */
int nb6_world_agree(struct nb6_world *world, int status, struct nbc_error *err);
/** The same with sums, by the same messages.   @param[in,out] values  [count] as they are after a failure */
int nb6_world_agree_sum(struct nb6_world *world, int status, int64_t *values, int count, struct nbc_error *err);
/** Text and status of a failure, where all know which rank has had it.
 *  @param[in] status, err  of that rank   @param[out] err  on all   @return its status */
int nb6_world_tell(struct nb6_world *world, int failed, int status, struct nbc_error *err);

#endif
