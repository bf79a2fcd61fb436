/** Sources in tiles: sixteen cells that are near to each other in space, with positions relative to their centre. */
#ifndef GPUNB_CPU_TILES_H
#define GPUNB_CPU_TILES_H

#include "gpunb/cpu.h"

/** Tiles of the present sources, of which there is one at least.   @return 0 without memory */
int gpunb_cpu_make_tiles(struct gpunb_cpu_state *cpu);
void gpunb_cpu_free_tiles(struct gpunb_cpu_tiles *tiles);

#endif
