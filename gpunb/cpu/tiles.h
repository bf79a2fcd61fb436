/** Sources in tiles: sixteen cells that are near to each other in space, with positions relative to their centre. */
#ifndef GPUNB_CPU_TILES_H
#define GPUNB_CPU_TILES_H

#include "gpunb/cpu/cpu.h"

/** Tiles of the present sources, of which there is one at least.
 *  @param[in] row  [n_j], not negative for those that have tiles of their own, which come first; NULL: there are none
 *  @return 0 without memory */
int gpunb_cpu_make_tiles(struct gpunb_cpu_state *cpu, const int32_t *row);

/** Cells [cell, cell + n_cells) of one chunk, from the first of a tile on; targets and sums are still to be set. Where
 *  it is not the first tile of the chunk there is one tile, that of all targets. */
struct gpunb_tile_job gpunb_cpu_tile_job(const struct gpunb_cpu_state *cpu, const struct gpunb_block *block,
                                         size_t cell, size_t n_cells);
void gpunb_cpu_free_tiles(struct gpunb_cpu_tiles *tiles);

#endif
