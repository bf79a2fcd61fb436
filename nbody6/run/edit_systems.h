/** Systems in a change of masses where an engine has an image: the pairs that change, and those that resolve a body
 * that does. Their motions are in host memory, and begin anew with the masses after it. No body does: what a system
 * does to its centre of mass and to those that it resolves, beyond points of mass, changes by as small a part as its
 * mass, and the difference leaves their polynomials. Private to libnbody6. */
#ifndef NB6_EDIT_SYSTEMS_H
#define NB6_EDIT_SYSTEMS_H

#include "common/nbc.h"
#include "nbody6/engine/edit.h"
#include "nbody6/run/mass_books.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_new_masses;
struct nb6_sim;

/** The systems of a change. Zero-initialise. */
struct nb6_edit_systems {
    nb6_time ti;
    int64_t n_slot, n_body, n_seen;
    nb6_index *centre;         /**< [n_slot] ascending, of their slots */
    nb6_index *body;           /**< [n_body] ascending: bodies for which what they do beyond points of mass changes */
    nb6_index *seen;           /**< [n_seen] ascending: those, the bodies that change, all that these systems resolve */
    struct nb6_pulled *pulled; /**< [n_body] what leaves their polynomials */
    double energy;             /**< of these systems, and of what they resolve: after less before */
    struct nb6_star_sums stars; /**< of pairs that change, the same */
};

/** Whether the systems of a change of a body are pairs of two stars, and no chain acts on those that feel them. */
int nb6_edit_systems_serve(const struct nb6_sim *sim, nb6_index body);
/** Find the systems of a change.   @param[in] body [n] that change, ascending
 *  @param[in,out] systems  with its time   @return NBC_OK; NBC_NO_MEMORY */
int nb6_edit_systems_find(const struct nb6_sim *sim, int64_t n, const nb6_index *body, struct nb6_edit_systems *systems,
                          struct nbc_error *err);
/** All motions come to the present time, these to exactly that.
 *  @param[out] ends  1: a system has to end now, or stars in one have become one: this cannot be done in an image
 *  @return NBC_OK; NBC_NO_MEMORY; as nb6_step_pairs */
int nb6_edit_systems_come(struct nb6_sim *sim, const struct nb6_edit_systems *systems, int *ends,
                          struct nbc_error *err);
/** The stars of the bodies that change get other masses, and these motions begin anew. Bodies in host memory are those
 * of the image, and all is saved.
 *  @param[in] body [n] that change, ascending   @param[in] x, v  [n_seen] of systems->seen, as a frame has them
 *  @return NBC_OK; NBC_NO_MEMORY; as nb6_body_set_masses, nb6_subsystems_correct, nb6_pair_start */
int nb6_edit_systems_change(struct nb6_sim *sim, const struct nb6_new_masses *masses, int64_t n, const nb6_index *body,
                            const double (*x)[3], const double (*v)[3], struct nb6_edit_systems *systems,
                            struct nbc_error *err);
void nb6_edit_systems_free(struct nb6_edit_systems *systems);

#endif
