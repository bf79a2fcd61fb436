/** Points of an orbit at times of blocks, so that each is computed once: on devices, where all members of a block ask
 *  for the points at the begins and the ends of their steps. Private to nbody6/galaxy and engines. */
#ifndef NB6_ORBIT_TABLE_H
#define NB6_ORBIT_TABLE_H

#include "common/hd.h"
#include "nbody6/galaxy/field_state.h"
#include "nbody6/galaxy/orbit_at.h"

#include <stdint.h>

enum { NB6_ORBIT_TABLE_ENTRIES = 64 };

/** An entry for each power of two that divides a time. Steps are powers of two and end at multiples of themselves: one
 *  of length h that ends at t begins at t - h, and no later time before t has the same entry. */
struct nb6_orbit_table {
    int64_t t[NB6_ORBIT_TABLE_ENTRIES]; /**< in units of which steps are multiples; -1: none */
    struct nb6_orbit_point point[NB6_ORBIT_TABLE_ENTRIES];
};

NBC_HD int nb6_orbit_entry(int64_t t)
{
    int bits = 0;
    for (int width = 32; width > 0; width /= 2)
        if (((uint64_t)t >> bits & (((uint64_t)1 << width) - 1)) == 0) bits += width;
    return bits;
}

/** Keep the point at a time. No other thread may read the entry of this time meanwhile. */
NBC_HD void nb6_orbit_keep(struct nb6_orbit_table *table, int64_t t, const struct nb6_orbit_point *point)
{
    const int at = nb6_orbit_entry(t);
    table->t[at] = t;
    table->point[at] = *point;
}

/** The point that is kept of a time; NULL: none. */
NBC_HD const struct nb6_orbit_point *nb6_orbit_kept(const struct nb6_orbit_table *table, int64_t t)
{
    const int at = nb6_orbit_entry(t);
    return table->t[at] == t ? &table->point[at] : NULL;
}

#endif
