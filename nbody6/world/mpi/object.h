/** Functions of the shared object nbody6-mpi.so, which alone is compiled against MPI. Functions of MPI that fail end
 * all ranks (MPI_ERRORS_ARE_FATAL). */
#ifndef NB6_MPI_OBJECT_H
#define NB6_MPI_OBJECT_H

#include <stddef.h>
#include <stdint.h>

enum { NB6_MPI_OBJECT_VERSION = 1 };

struct nb6_mpi_object {
    int version;
    /** MPI_Init_thread for calls of the main thread alone.   @return 1; 0: this MPI does not allow threads at all */
    int (*open)(int *rank, int *size, int *host_rank);
    void (*send)(int to, int tag, const void *data, size_t bytes, uint64_t *request);
    void (*receive)(int from, int tag, void *data, size_t bytes, uint64_t *request);
    int (*test)(uint64_t *request); /**< 1: it is complete */
    void (*close)(void);
};

/** The one symbol. */
#define NB6_MPI_OBJECT_SYMBOL "nb6_mpi_object"

#endif
