/** Backends of ranks: each takes one device, by its place on its host. */
#ifndef NB6_RANK_BACKEND_H
#define NB6_RANK_BACKEND_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_world;

enum { NB6_RANK_BACKEND_TEXT = 64 };

/** A backend for all ranks, with its name spelled out: "cuda:0,2", "avx512".
 *  @param[in] asked  as in struct gpunb_options   @param[in] n  sources of a rank, for a backend that nobody asked for
 *  @param[out] is_choice  1: it was not asked for, and is of no use to ranks without a device of their own
 *  @return NBC_OK; NBC_UNAVAILABLE */
int nb6_rank_backend_asked(const char *asked, int64_t n, char text[NB6_RANK_BACKEND_TEXT], int *is_choice,
                           struct nbc_error *err);
/** Whether the host has a device of the kind for this rank alone. */
int nb6_rank_backend_has_device(const struct nb6_world *world, const char *asked);
/** The backend of this rank: of one that has devices, the k-th of those in the list, or of all of the host, where k is
 *  the rank's number among those on the host, modulo the number of devices.
 *  @param[in] asked  as nb6_rank_backend_asked made it   @return NBC_OK; NBC_UNAVAILABLE (there is no device) */
int nb6_rank_backend_own(const struct nb6_world *world, const char *asked, char text[NB6_RANK_BACKEND_TEXT],
                         struct nbc_error *err);
/** The number of the device in such a backend; -1: it has none. */
int nb6_rank_backend_device(const char *own);

#endif
