/** The corrected state of a member of a block. */
#ifndef NB6_CORRECTED_H
#define NB6_CORRECTED_H

#include <stdint.h>

/** New state of a member of the block, kept apart until the whole block is known to be sound. */
struct nb6_corrected {
    double x[3], v[3];
    double acc_irr[3], jerk_irr[3], snap_irr[3], crackle_irr[3]; /**< with the external field */
    double acc_reg[3], jerk_reg[3], snap_reg[3], crackle_reg[3]; /**< set for regular members */
    double corr_acc[3], corr_jerk[3];                            /**< corrections by resolved pairs */
    double r_nb;
    double noise_irr, noise_reg; /**< rounding errors of the forces that both correctors are made of */
    double noise_total;          /**< that of the total force at the end of the irregular step */
    double work; /**< that the external field has done on it since the last step, where it depends on time */
    int32_t nnb;
    int8_t level_irr, level_reg;
};

#endif
