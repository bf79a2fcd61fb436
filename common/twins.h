/** Whether two of many numbers are the same, in memory for some of them: the numbers come several times, and each time
 *  those are compared that a hash selects. */
#ifndef NBC_TWINS_H
#define NBC_TWINS_H

#include "common/nbc.h"

#include <stdint.h>

struct nbc_twins;

/** Gives all numbers to nbc_twins_take, in pieces: the same ones at each call.   @return a status */
typedef int nbc_give_numbers(void *context, struct nbc_twins *to, struct nbc_error *err);

void nbc_twins_take(struct nbc_twins *to, int64_t count, const int64_t *number);

/** Memory is 8 MiB at most, for any n.
 *  @param[in]  n      how many numbers there are: they are given once for each half million of them
 *  @param[out] twice  the least number that occurs more than once   @param[out] found  1; 0: all differ
 *  @return NBC_OK; NBC_NO_MEMORY; the status of `give` */
int nbc_twins_find(int64_t n, nbc_give_numbers *give, void *context, int64_t *twice, int *found, struct nbc_error *err);

#endif
