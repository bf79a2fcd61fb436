/** The predictor of a body, the third-order Taylor series of its position from a state with acceleration and jerk:
 *
 *      x = x0 + s (v0 + s (a/2 + s (j/6))),   v = v0 + s (a + s (j/2)),
 *
 *  in double, in this order of operations wherever a body is predicted. On processors each operation is rounded, so
 *  that the scalar form and the vector form have the same bits, and so has a GPU with NBC_ROUND_EACH.
 *
 *  Predictors with other bits stay where they are: the compact one of engines, partly in float
 *  (nbody6/engine/stages/predictor.h), that of the float kernels of GPUIRR (gpuirr/cpu/kernel_bodies.h), the powers
 *  of s in the reference of GPUIRR (gpuirr/store.c), and the fifth order of frames (nbody6/run/frame_make.c). */
#ifndef NBC_PREDICTOR_H
#define NBC_PREDICTOR_H

#include "common/hd.h"

/** Rounding of a b + c on a GPU: twice; once, as a fused multiply-add; or as nvcc contracts it, which is once as well,
 *  but of the two products that are added in x it fuses a/2, where NBC_ROUND_FUSED fuses s (j/6). Bits of runs depend
 *  on it: GPUNB rounds each, so that all backends have the same sources, GPUIRR fuses, and engines take the third. */
enum nbc_rounding { NBC_ROUND_EACH, NBC_ROUND_FUSED, NBC_ROUND_AS_COMPILED };

NBC_HD double nbc_times_plus(double a, double b, double c, enum nbc_rounding rounding)
{
#ifdef __CUDA_ARCH__
    if (rounding == NBC_ROUND_EACH) return __dadd_rn(__dmul_rn(a, b), c);
    if (rounding == NBC_ROUND_FUSED) return __fma_rn(a, b, c);
#else
    (void)rounding;
#endif
    return c + a * b;
}

/** One component of the position after s. */
NBC_HD double nbc_predict_place(double s, double x0, double v0, double acc, double jerk, enum nbc_rounding rounding)
{
    const double half = 0.5 * acc, sixth = jerk * (1.0 / 6.0);
    return nbc_times_plus(s, nbc_times_plus(s, nbc_times_plus(s, sixth, half, rounding), v0, rounding), x0, rounding);
}

/** One component of the velocity after s. */
NBC_HD double nbc_predict_velocity(double s, double v0, double acc, double jerk, enum nbc_rounding rounding)
{
    return nbc_times_plus(s, nbc_times_plus(s, 0.5 * jerk, acc, rounding), v0, rounding);
}

/** Position and velocity after s. */
NBC_HD void nbc_predict(double s, const double x0[3], const double v0[3], const double acc[3], const double jerk[3],
                        enum nbc_rounding rounding, double x[3], double v[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = nbc_predict_place(s, x0[k], v0[k], acc[k], jerk[k], rounding);
        v[k] = nbc_predict_velocity(s, v0[k], acc[k], jerk[k], rounding);
    }
}

/** The vector form: arguments are vectors of doubles of gcc and clang, of any length, one body or component a lane; s
 * may be a number. Macros, because C has no functions of vectors of any length. */
#define NBC_PREDICT_PLACES(s, x0, v0, acc, jerk)                                                                       \
    ((x0) + (s) * ((v0) + (s) * (0.5 * (acc) + (s) * ((jerk) * (1.0 / 6.0)))))
#define NBC_PREDICT_VELOCITIES(s, v0, acc, jerk) ((v0) + (s) * ((acc) + (s) * (0.5 * (jerk))))

#endif
