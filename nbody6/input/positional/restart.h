/** Changes that an input of NBODY6 or older NBODY6++ makes in a continued run. Private to libnbody6. */
#ifndef NB6_POSITIONAL_RESTART_H
#define NB6_POSITIONAL_RESTART_H

#include "common/nbc.h"
#include "nbody6/input/list_directed.h"
#include "nbody6/input/positional/positional.h"
#include "nbody6/input/positional/table.h"

/** Take the values of a record of nb6_restart_records. Values that are not above 0 are left out.
 *  @param[in] values  of the record, all of them or closed by a slash
 *  @return NBC_OK; NBC_BAD_INPUT (path, line, variable and position in err) */
int nb6_positional_take_restart(struct nb6_positional *input, const struct nb6_record *record,
                                const struct nb6_list_record *values, struct nbc_error *err);

#endif
