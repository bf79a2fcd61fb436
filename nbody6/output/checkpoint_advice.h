/** Advice about a checkpoint that cannot be used. Private to checkpoint*.c and collisionless_checkpoint.c. */
#ifndef NB6_CHECKPOINT_ADVICE_H
#define NB6_CHECKPOINT_ADVICE_H

struct nbc_error;

/** After a failure to read `path`: add to the message whether the other checkpoint of the run can take its place.
 *  @return status */
int nb6_checkpoint_advise(const char *path, int status, struct nbc_error *err);

#endif
