/** The world of a program: that of MPI, if a launcher has started it or the user asks for it, else the process alone.
 *
 *  A launcher is known by its variables: OMPI_COMM_WORLD_RANK, PMI_RANK or PMIX_RANK. (SLURM_NTASKS says nothing: batch
 *  scripts have it, too. Several tasks of one step of srun without those variables are refused: each would be the whole
 *  run.) NB6_MPI=1 asks for MPI, NB6_MPI=0 for the process alone. Programs need no MPI: its calls are in nbody6-mpi.so:
 *  beside the program, in ../lib/nbody6, or, for programs of bench/, in the folder above; or where NB6_MPI_OBJECT says.
 */
#ifndef NB6_WORLD_LAUNCH_H
#define NB6_WORLD_LAUNCH_H

#include "nbody6/world/world.h"

/** From the main thread, before any other one and before a file is opened.
 *  @param[out] world  NULL: the process alone. Otherwise to be closed with nb6_world_close
 *  @param[out] first  whether this process is the first of the launcher, which alone should speak; set after a failure
 *                     too
 *  @return NBC_OK; NBC_BAD_INPUT: nbody6-mpi.so is missing or cannot be loaded; MPI knows of other ranks than the
 *          launcher does, or srun has started several processes without it */
int nb6_world_open(struct nb6_world **world, int *first, struct nbc_error *err);
/** Waits for all ranks. Accepts NULL. */
void nb6_world_close(struct nb6_world *world);

#endif
