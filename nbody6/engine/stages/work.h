/** Work of an external field that depends on time, on a device: the sum over all steps since the import, which the
 * ledger books at the export. It is counted in whole units, in two words, so that any order of additions has the same
 * sum. */
#ifndef NB6_STAGES_WORK_H
#define NB6_STAGES_WORK_H

#include "common/hd.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/galaxy/device_field.h"
#include "nbody6/state/body.h"

#include <math.h>
#include <stdint.h>

/** So many units have the energy of the cluster. A step's work rounds to one: over 10^9 steps that is 1e-12 of the
 *  energy. A star may get 256 times that energy in a step. */
#define NB6_DEV_UNITS_OF_ENERGY 0x1p54

NBC_HD uint64_t nb6_dev_fetch_add(uint64_t *word, uint64_t number)
{
#ifdef __CUDA_ARCH__
    return atomicAdd((unsigned long long *)word, (unsigned long long)number);
#else
    return __atomic_fetch_add(word, number, __ATOMIC_RELAXED);
#endif
}

/** Add to a number of two words, the lower one first. */
NBC_HD void nb6_dev_add_units(uint64_t word[2], int64_t units)
{
    const uint64_t low = (uint64_t)units, before = nb6_dev_fetch_add(&word[0], low);
    const uint64_t high = (units < 0 ? UINT64_MAX : 0) + (before + low < before ? 1 : 0);
    if (high) nb6_dev_fetch_add(&word[1], high);
}

NBC_HD double nb6_dev_units_to_double(const uint64_t word[2])
{
    const int is_negative = word[1] >> 63 != 0;
    const uint64_t low = is_negative ? ~word[0] + 1 : word[0];
    const uint64_t high = is_negative ? ~word[1] + (low == 0 ? 1 : 0) : word[1];
    const double size = (double)high * 0x1p64 + (double)low;
    return is_negative ? -size : size;
}

/** Work on body i, before its motion up to x, v at the block time is committed. */
NBC_HD double nb6_dev_work(const struct nb6_dev *dev, int32_t i, const double x[3], const double v[3])
{
    const struct nb6_body *body = &dev->body[i];
    const struct nb6_moment from = {nb6_time_to_double(body->t0), body->x0, body->v0};
    const struct nb6_moment to = {nb6_time_to_double(dev->control->t), x, v};
    return body->mass * nb6_moving_field_work(&dev->rules.field, &from, &to);
}

/** Count the work on a body. */
NBC_HD void nb6_dev_count_work(const struct nb6_dev *dev, double work)
{
    const double MOST = 0x1p62, units = rint(work / dev->control->unit_of_work);
    const int64_t whole = (int64_t)(units > MOST ? MOST : units > -MOST ? units : -MOST);
    nb6_dev_add_units(dev->control->work, whole);
    nb6_dev_add_units(dev->control->work_magnitude, whole < 0 ? -whole : whole);
}

#endif
