/** The handle, and how its calls fail. Private to GPUIRR. */
#ifndef GPUIRR_HANDLE_H
#define GPUIRR_HANDLE_H

#include "gpuirr/backend.h"
#include "gpuirr/holders.h"
#include "gpuirr/lists.h"

#include <stddef.h>
#include <stdint.h>

struct gpuirr {
    size_t n_max;
    const struct gpuirr_backend *ops;
    const struct gpuirr_backend_info *info;
    void *store;
    struct gpuirr_list *list; /* [n_max] */
    struct gpuirr_kept kept;  /* lists before the open transaction */
    struct gpuirr_pool pool;
    struct gpuirr_list *fresh; /* [fresh_room] scratch of gpuirr_set_lists */
    size_t fresh_room;
    struct gpuirr_holders holders;
    int base;      /* number of the first body, in messages */
    int in_double; /* forces are summed in double throughout */
    int announced; /* a time was announced */
    double t;
    size_t pred_lo, pred_hi; /* bodies to be predicted once it is worth it: those of gpuirr_pred_all */
    int predicted;           /* the backend keeps these predicted to t */
    int64_t pairs_asked;     /* whose neighbours were predicted one by one, since t was announced or, if later, since
                                stored predictions went out of date */
    struct gpuirr_stats stats;
    struct nbc_error error;
};

/** Keep the failure, and return its status. Concurrent calls may fail together. */
__attribute__((format(printf, 3, 4))) int gpuirr_fail(struct gpuirr *handle, int status, const char *format, ...);
/** The number of a body in messages to the user. */
long long gpuirr_number(const struct gpuirr *handle, int64_t i);
/** The failure of a call with a body number out of range. */
int gpuirr_not_a_body(struct gpuirr *handle, const char *call, int64_t i);
/** Whether all of these are bodies.   @return NBC_OK; NBC_BAD_ARGUMENT, which is kept */
int gpuirr_check_active(struct gpuirr *handle, const char *call, size_t n_act, const int32_t *act);
/** Predict the announced range, if that costs less than predicting the neighbours of all pairs asked for so far one by
 *  one. The bits of forces are the same either way.
 *  @param[in] act  [n_act] bodies whose forces are asked for now */
void gpuirr_predict_if_worth(struct gpuirr *handle, size_t n_act, const int32_t *act);

#endif
