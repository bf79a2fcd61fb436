/** A part of a collisionless system in the memory of a device, and the stages of its blocks there. Calls of a domain
 * are executed in order; they may return earlier, but for those that wait. The second sum waits where it is by a tree:
 * until its device has done all that was asked of this domain before, and has built it. `exchange` comes after all
 * earlier calls of both domains. Functions return NBC_OK, NBC_DEVICE, or NBC_NO_MEMORY. */
#ifndef NB6_DOMAIN_H
#define NB6_DOMAIN_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree.h"
#include "nbody6/collisionless/residence.h"

struct nb6_device_domain;

/** Allocate all arrays of a part whose n, n_own, room, first and rules are set. Waits.
 *  @param[in] device  its number   @param[in] options, force  of the forces of the system
 *  @param[in,out] part  gets the addresses of the arrays; its room becomes n_own if bodies do not change their owners
 */
int nb6_domain_open(struct nb6_device_domain **domain, const struct nb6_residence *residence, struct nb6_part *part,
                    int device, const struct gpunb_options *options, gpunb_t *force, struct nbc_error *err);
/** Bytes that the arrays of such a part take, before any of them is there.   @param[in] part  n, n_own and room */
int nb6_domain_bytes(const struct nb6_residence *residence, const struct nb6_part *part, int device,
                     const struct gpunb_options *options, gpunb_t *force, double *bytes, struct nbc_error *err);
/** Accepts NULL. */
void nb6_domain_close(struct nb6_device_domain *domain);
/** Copy between memory of the domain and ordinary memory, either way. Waits. */
int nb6_domain_copy(struct nb6_device_domain *domain, void *to, const void *from, size_t bytes, struct nbc_error *err);

/** First kicks and drift of the own bodies. */
int nb6_domain_drift(struct nb6_device_domain *domain, const struct nb6_part_block *block, struct nbc_error *err);
/** Positions of the own bodies of another domain, while sums over own bodies can be under way. */
int nb6_domain_exchange(struct nb6_device_domain *domain, void *to, const struct nb6_device_domain *other,
                        const void *from, size_t bytes, struct nbc_error *err);
/** Accelerations on due bodies by n sources in memory of the device, for the part of a rank (ranks/part.h), on a stream
 *  of the device.   @param[in] work, bytes  scratch of this stream   @param[out] acc  [n_due], left alone without
 * targets
 */
int nb6_domain_sum_set(struct nb6_device_domain *domain, const struct nb6_part_block *block, int64_t n,
                       const double *mass, const double (*x)[3], double (*acc)[3], void *work, size_t bytes,
                       struct nbd_stream *stream, struct nbc_error *err);
/** Selects the bodies that are due, where those are not all. */
int nb6_domain_select(struct nb6_device_domain *domain, const struct nb6_part_block *block, struct nbc_error *err);
/** Scratch of nb6_domain_sum_set for up to so many sources. */
int nb6_domain_set_bytes(struct nb6_device_domain *domain, int64_t n, size_t *bytes, struct nbc_error *err);
/** Its device, the stream of its sums, and that of its copies. */
const struct nbd_device *nb6_domain_device(const struct nb6_device_domain *domain);
struct nbd_stream *nb6_domain_stream(const struct nb6_device_domain *domain);
struct nbd_stream *nb6_domain_copies(const struct nb6_device_domain *domain);
/** The layout of the tree that it keeps (gpunb/tree_kept.h), in ordinary memory. Waits.
 *  @param[out] order, cut  [n] */
int nb6_domain_get_tree(const struct nb6_device_domain *domain, int32_t *order, uint8_t *cut, struct nbc_error *err);
int nb6_domain_set_tree(const struct nb6_device_domain *domain, const int32_t *order, const uint8_t *cut,
                        struct nbc_error *err);
/** Selects the bodies that are due, and computes their accelerations from the own bodies, after nb6_domain_exchange; or
 *  begins the tree of all bodies. */
int nb6_domain_sum_own(struct nb6_device_domain *domain, const struct nb6_part_block *block, struct nbc_error *err);
/** Those from all other bodies, or by the tree of all; checks that all together are finite. */
int nb6_domain_sum_others(struct nb6_device_domain *domain, const struct nb6_part_block *block, struct nbc_error *err);
/** Potentials of the own bodies, after a force that had them. Waits.
 *  @param[out] pot  [n_own]   @param[out] others  [n_own] scratch, of direct sums */
int nb6_domain_fetch_pot(struct nb6_device_domain *domain, double *pot, double *others, struct nbc_error *err);
/** Waits.   @param[out] word  of the part */
int nb6_domain_read(struct nb6_device_domain *domain, struct nb6_part_word *word, struct nbc_error *err);
/** Adds the counts of its own trees, which are not those of the forces of the system, to `sum`. Waits. */
int nb6_domain_add_tree_counts(const struct nb6_device_domain *domain, struct gpunb_tree_counts *sum,
                               struct nbc_error *err);
/** Second kicks and next steps. */
int nb6_domain_commit(struct nb6_device_domain *domain, const struct nb6_part_block *block, struct nbc_error *err);
/** Whether the force of a block on so many of its bodies is by tree.   @param[in] kept  of the block */
int nb6_domain_is_by_tree(const struct nb6_device_domain *domain, enum gpunb_kept_tree kept, int32_t n_due);

/* Other owners (owners.h), where part.body is not NULL, between two blocks: the host waits for all domains before the
 * first call, and between those of different names. Scratch of forces holds what is pulled. */

/** Own bodies are those from this place on. */
void nb6_domain_own(struct nb6_device_domain *domain, int32_t first, int32_t n_own);
/** The work of the bodies of one domain. */
int nb6_domain_pull_work(struct nb6_device_domain *domain, const struct nb6_device_domain *from, struct nbc_error *err);
/** Sums of the work of all, along the curve of the last block that has `orders`. Waits.   @param[out] sum  [sums] */
int nb6_domain_weigh(struct nb6_device_domain *domain, int sums, uint64_t *sum, struct nbc_error *err);
/** That order, which one domain knows. */
int nb6_domain_pull_order(struct nb6_device_domain *domain, const struct nb6_device_domain *from,
                          struct nbc_error *err);
/** Bodies of one domain. */
int nb6_domain_pull_bodies(struct nb6_device_domain *domain, const struct nb6_device_domain *from,
                           struct nbc_error *err);
int nb6_domain_wait(struct nb6_device_domain *domain, struct nbc_error *err);
/** The sources in the new order, by which a tree that is kept has them, too, and own bodies. */
int nb6_domain_take(struct nb6_device_domain *domain, int32_t first, int32_t n_own, struct nbc_error *err);

#endif
