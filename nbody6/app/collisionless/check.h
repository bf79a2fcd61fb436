/** Check of a configuration by nbody6-collisionless: refusals, and the run that it describes. */
#ifndef NB6_COLLISIONLESS_CHECK_H
#define NB6_COLLISIONLESS_CHECK_H

#include "common/nbc.h"
#include "nbody6/collisionless/collisionless.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct nb6_config;
struct nb6_model;

enum { NB6_COLLISIONLESS_ADVICE = 256 };

/** @return NBC_OK; NBC_BAD_INPUT (no softening, or an end that is too late). The cases of
 *  nbody6/input/config_softened.h are refused where the input is read */
int nb6_collisionless_check(const struct nb6_config *config, struct nbc_error *err);
/** An end in Myr is reached, and passed by less than a step: bodies stand at one time at multiples of DT.
 *  @return NBC_OK; what nb6_config_number returns */
int nb6_collisionless_round_end(struct nb6_config *config, struct nbc_error *err);
/** Refuse a FORCE_ERROR that is less than the tree of the run's backend can have, and costs of another backend.
 *  @param[in] n  bodies, by which the backend is chosen
 *  @return NBC_OK, also where there is no such backend; NBC_BAD_INPUT; what nb6_collisionless_options_of returns */
int nb6_collisionless_check_tree(const struct nb6_config *config, int64_t n, struct nbc_error *err);
/** Options of a system, with the costs of the file that COSTS names.
 *  @return NBC_OK; what nb6_config_number and nb6_costs_file_read return */
int nb6_collisionless_options_of(const struct nb6_config *config, struct nb6_collisionless_options *options,
                                 struct nbc_error *err);
/** One line of warning if steps are too long for two bodies that pass each other, with what to give instead; it counts
 *  on N-body units.
 *  @param[in]  m     the masses of the two heaviest ones
 *  @param[out] text  [size] NB6_COLLISIONLESS_ADVICE is enough
 *  @return 1: there is a warning */
int nb6_collisionless_advise(const struct nb6_collisionless_options *options, const double m[2], char *text,
                             size_t size);
/** The two largest masses, the largest first.   @param[in,out] heaviest  of those before; 0, 0: there are none */
void nb6_heaviest_take(int64_t n, const double *mass, double heaviest[2]);
/** The steps of a run, its times of output, its engine, how forces are made and what they cost, the bodies as they were
 * understood, and warnings, in words: for
 *  --check.
 *  @param[in] config  settled, with the units of the model
 *  @return NBC_OK; what nb6_config_number and nb6_bulk_find return */
int nb6_collisionless_print(const struct nb6_config *config, const struct nb6_model *model, FILE *out,
                            struct nbc_error *err);

#endif
