/** The irregular step of several members of a block side by side, in double, for each instruction set: one source,
 *  compiled with the flags of each. All have the bits of the scalar functions (step/hermite.h, step/rules.h): each lane
 *  makes the same operations in the same order. Private to libnbody6. */
#ifndef NB6_CORRECTOR_LANES_H
#define NB6_CORRECTOR_LANES_H

#include "common/nbc.h"
#include "nbody6/step/rules.h"

/** Members side by side. */
enum { NB6_CORRECTOR_LANES = 8 };

typedef double nb6_lane_row[NB6_CORRECTOR_LANES];

/** A member in each lane. */
struct nb6_corrector_lanes {
    /** Set by the caller: the step, the state and the total force at its start. */
    _Alignas(64) nb6_lane_row h;
    nb6_lane_row x0[3], v0[3], acc0[3], jerk0[3];
    nb6_lane_row acc_start[3], jerk_start[3]; /**< irregular force at the start */
    nb6_lane_row acc[3], jerk[3];             /**< at the end, for `correct` and `choose` */
    nb6_lane_row acc_reg[3];                  /**< regular force at the end of the last regular step, for `choose` */
    nb6_lane_row noise;                       /**< rounding error of acc, likewise */
    nb6_lane_row xp[3], vp[3];                /**< by `predict` */
    nb6_lane_row x[3], v[3];                  /**< by `correct`, as are derivatives (struct nb6_higher) */
    nb6_lane_row snap_start[3], snap[3], crackle[3];
    nb6_lane_row dv[3];  /**< what the corrector added to vp */
    nb6_lane_row finite; /**< 0: a corrected number or a force is NaN or infinite */
    nb6_lane_row dt;     /**< by `choose` */
    nb6_lane_row odd;    /**< not 0: the new step needs nb6_next_irregular_level, and dt is undefined */
};

struct nb6_corrector_lane_set {
    void (*predict)(struct nb6_corrector_lanes *lanes);
    /** State and derivatives at the end from the forces at both ends (nb6_correct_irregular). */
    void (*correct)(struct nb6_corrector_lanes *lanes);
    /** The step that nb6_next_irregular_level makes a level of, where no derivative may be noise and no term vanishes,
     *  and the velocity correction does not decide. */
    void (*choose)(const struct nb6_step_rules *rules, struct nb6_corrector_lanes *lanes);
};

/** The set of an instruction set; NULL: it is not compiled in, this processor lacks it, or NBC_ISA hides it. */
const struct nb6_corrector_lane_set *nb6_corrector_lanes_of(enum nbc_isa level);
/** That of the best one. */
const struct nb6_corrector_lane_set *nb6_corrector_lanes_best(void);

#endif
