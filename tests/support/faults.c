#include "tests/support/faults.h"

#include "tests/support/failing_alloc.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <math.h>

static enum fault fault_kind;
static long calls_left; /* until the one that fails */

/* Whether this call fails. A fault happens once. */
static int is_due(enum fault kind)
{
    if (fault_kind != kind || calls_left-- > 0) return 0;
    fault_kind = NO_FAULT;
    return 1;
}

#define FAULTY(name, declared, passed)                                                                                 \
    int __real_##name declared;                                                                                        \
    int __wrap_##name declared;                                                                                        \
    int __wrap_##name declared                                                                                         \
    {                                                                                                                  \
        if (is_due(REFUSED)) return NBC_DEVICE;                                                                        \
        int status = __real_##name passed;                                                                             \
        return !status && is_due(FAILED_AFTERWARDS) ? NBC_NON_FINITE : status;                                         \
    }

int __real_gpuirr_begin(gpuirr_t *irr);
int __wrap_gpuirr_begin(gpuirr_t *irr);
int __wrap_gpuirr_begin(gpuirr_t *irr)
{
    return is_due(REFUSED) ? NBC_NO_MEMORY : __real_gpuirr_begin(irr); /* one that fails has not begun */
}

int __real_gpuirr_set_jp(gpuirr_t *irr, size_t i, const double x[3], const double v[3], const double acc[3],
                         const double jerk[3], double mass, double t0);
int __wrap_gpuirr_set_jp(gpuirr_t *irr, size_t i, const double x[3], const double v[3], const double acc[3],
                         const double jerk[3], double mass, double t0);
int __wrap_gpuirr_set_jp(gpuirr_t *irr, size_t i, const double x[3], const double v[3], const double acc[3],
                         const double jerk[3], double mass, double t0)
{
    return is_due(NOT_SENT) ? NBC_NON_FINITE : __real_gpuirr_set_jp(irr, i, x, v, acc, jerk, mass, t0);
}

FAULTY(gpuirr_set_list, (gpuirr_t * irr, size_t i, size_t nnb, const int32_t *list), (irr, i, nnb, list))
FAULTY(gpuirr_set_lists,
       (gpuirr_t * irr, size_t n, const int32_t *body, const int32_t *nnb, const int32_t *const *list),
       (irr, n, body, nnb, list))
FAULTY(gpuirr_get_holders, (gpuirr_t * irr, size_t j, size_t *n, const int32_t **body), (irr, j, n, body))
FAULTY(gpuirr_pred_act, (gpuirr_t * irr, size_t n, const int32_t *act, double t), (irr, n, act, t))
FAULTY(gpuirr_pred_all, (gpuirr_t * irr, size_t lo, size_t hi, double t), (irr, lo, hi, t))
FAULTY(gpunb_push_jp, (gpunb_t * nb), (nb))
FAULTY(gpunb_predict, (gpunb_t * nb, size_t n, double t), (nb, n, t))
FAULTY(gpunb_potential,
       (gpunb_t * nb, size_t i0, size_t i1, size_t n, const double *m, const double (*x)[3], double *pot),
       (nb, i0, i1, n, m, x, pot))
FAULTY(ks_init,
       (struct ks_pair * pair, const struct ks_options *options, const double mass[2], const double x[2][3],
        const double v[2][3], double t, struct nbc_error *err),
       (pair, options, mass, x, v, t, err))
FAULTY(ks_start, (struct ks_pair * pair, ks_perturb_fn perturb, void *context, struct nbc_error *err),
       (pair, perturb, context, err))
FAULTY(ks_advance_some,
       (struct ks_pair * pair, double t, int64_t steps, ks_perturb_fn perturb, void *context, int *done,
        struct nbc_error *err),
       (pair, t, steps, perturb, context, done, err))
FAULTY(ks_finish, (struct ks_pair * pair, double t, ks_perturb_fn perturb, void *context, struct nbc_error *err),
       (pair, t, perturb, context, err))
FAULTY(ks_unperturbed, (struct ks_pair * pair, double t, struct nbc_error *err), (pair, t, err))
FAULTY(chain_init,
       (struct chain * c, const struct chain_options *options, int n, const struct chain_body body[], double t,
        struct nbc_error *err),
       (c, options, n, body, t, err))
FAULTY(chain_advance,
       (struct chain * c, double t, const struct chain_field *field, struct chain_event *event, struct nbc_error *err),
       (c, t, field, event, err))

int __real_gpuirr_firr_vec(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                           int32_t *nearest);
int __wrap_gpuirr_firr_vec(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                           int32_t *nearest);
int __wrap_gpuirr_firr_vec(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                           int32_t *nearest)
{
    if (is_due(REFUSED)) return NBC_DEVICE;
    int status = __real_gpuirr_firr_vec(irr, n, act, acc, jerk, nearest);
    if (n > 0 && is_due(NOT_A_NUMBER)) acc[n - 1][1] = NAN;
    return status;
}

int __real_gpuirr_firr_noise(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                             int32_t *nearest, double *noise);
int __wrap_gpuirr_firr_noise(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                             int32_t *nearest, double *noise);
int __wrap_gpuirr_firr_noise(gpuirr_t *irr, size_t n, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                             int32_t *nearest, double *noise)
{
    if (is_due(REFUSED)) return NBC_DEVICE;
    int status = __real_gpuirr_firr_noise(irr, n, act, acc, jerk, nearest, noise);
    if (n > 0 && is_due(NOT_A_NUMBER)) acc[n - 1][1] = NAN;
    return status;
}

static double (*jerk_of_block)[3]; /* of the block that was started */

int __real_gpunb_regf_start(gpunb_t *nb, size_t n, const int32_t *self, const double *r_nb2, const double *dt_reg,
                            const double (*x)[3], const double (*v)[3], double (*acc)[3], double (*jerk)[3],
                            double *pot, size_t nb_cap, int32_t *nnb, int32_t *nblist);
int __wrap_gpunb_regf_start(gpunb_t *nb, size_t n, const int32_t *self, const double *r_nb2, const double *dt_reg,
                            const double (*x)[3], const double (*v)[3], double (*acc)[3], double (*jerk)[3],
                            double *pot, size_t nb_cap, int32_t *nnb, int32_t *nblist);
int __wrap_gpunb_regf_start(gpunb_t *nb, size_t n, const int32_t *self, const double *r_nb2, const double *dt_reg,
                            const double (*x)[3], const double (*v)[3], double (*acc)[3], double (*jerk)[3],
                            double *pot, size_t nb_cap, int32_t *nnb, int32_t *nblist)
{
    if (is_due(REFUSED)) return NBC_DEVICE;
    jerk_of_block = n > 0 ? jerk : NULL;
    return __real_gpunb_regf_start(nb, n, self, r_nb2, dt_reg, x, v, acc, jerk, pot, nb_cap, nnb, nblist);
}

int __real_gpunb_regf_wait(gpunb_t *nb);
int __wrap_gpunb_regf_wait(gpunb_t *nb);
int __wrap_gpunb_regf_wait(gpunb_t *nb)
{
    if (is_due(REFUSED)) return NBC_DEVICE;
    int status = __real_gpunb_regf_wait(nb);
    if (jerk_of_block && is_due(NOT_A_NUMBER)) jerk_of_block[0][2] = NAN;
    return status;
}

int fault_can_happen(enum fault kind)
{
    static int said;
    if (kind != NO_ALLOCATION || CAN_FAIL_ALLOC) return 1;
    if (!said++) (void)can_fail_alloc();
    return 0;
}

void fault_set(enum fault kind, long k)
{
    fault_kind = kind;
    calls_left = k;
    fail_alloc(kind == NO_ALLOCATION ? k : -1);
}

int fault_clear(void)
{
    const int happened = fault_kind == NO_ALLOCATION ? alloc_left < 0 : fault_kind == NO_FAULT;
    fault_set(NO_FAULT, 0);
    return happened;
}
