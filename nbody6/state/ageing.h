/** Stars that age: the state of each, by its number, beside the tables of bodies and stars. Transactions save it
 *  (nb6_save_aged), checkpoints hold it, and it is renumbered with the stars. Private to libnbody6. */
#ifndef NB6_AGEING_H
#define NB6_AGEING_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "stellar/stellar.h"

#include <stdint.h>

struct nb6_sim;

/** No change will come. */
#define NB6_NEVER_DUE INT64_MAX

/** A star that ages. */
struct nb6_aged {
    struct stellar_star star; /**< at the last point of its own grid; times in Myr, 0 at t = 0 of the run */
    double mass;              /**< Msun, as the body has it: the star may have lost some since */
    nb6_time due;             /**< when it changes next; NB6_NEVER_DUE */
    int64_t overflows;        /**< name of the star that it was said to give mass to; 0: none */
    int64_t touches;          /**< name of the star that it was said to touch; 0: none */
    int32_t ages;             /**< 0: too light for a star, or without mass: it stays as it is */
    int32_t model;            /**< number of the model of its metallicity, in this session */
    int32_t waits;            /**< stars that have collided with it, and are one with it when it is due */
    int32_t is_one;           /**< 1: it has collided, and is one with the other star */
};

enum { NB6_METALLICITIES = 256 };

struct nb6_ageing {
    int64_t room;
    struct nb6_aged *aged; /**< [sim->n] */
    int n_model;
    struct stellar_model *model[NB6_METALLICITIES]; /**< one for each metallicity; they follow from the configuration */
};

/** A table for the stars of a simulation.   @return NBC_OK; NBC_NO_MEMORY: there is none then */
int nb6_ageing_create(struct nb6_sim *sim, struct nbc_error *err);
void nb6_ageing_free(struct nb6_ageing *ageing);

/** Time in Myr. */
double nb6_time_to_myr(const struct nb6_sim *sim, nb6_time t);
/** When the next star is due; NB6_NEVER_DUE: none is, or none ages. */
nb6_time nb6_ageing_next(const struct nb6_sim *sim);
/** Two stars collided, and one of them goes on: it is due soon, so that both become one then.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_ageing_note_merger(struct nb6_sim *sim, nb6_index i, nb6_index gone, struct nbc_error *err);
/** Radius of a star in N-body units. */
double nb6_ageing_radius(const struct nb6_sim *sim, const struct stellar_view *view);
/** How a star is at a time, which its state does not come to.
 *  @param[in] time_myr  not before that of its state
 *  @return as stellar_evolve */
int nb6_ageing_view(const struct nb6_ageing *ageing, const struct nb6_aged *aged, double time_myr,
                    struct stellar_view *view, struct nbc_error *err);

#endif
