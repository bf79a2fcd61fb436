/* The calls of MPI, for nbody6-mpi.so: no other file includes mpi.h. */
#include "nbody6/world/mpi/object.h"

#include <limits.h>
#include <mpi.h>
#include <string.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "a request fits into a message");

static int open_mpi(int *rank, int *size, int *host_rank)
{
    int provided;
    MPI_Comm host;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, host_rank);
    MPI_Comm_free(&host);
    return provided >= MPI_THREAD_FUNNELED;
}

/* Counts are of type int: long messages count in eights of bytes, which arrays of numbers consist of. */
static int count_of(size_t bytes, MPI_Datatype *type)
{
    *type = bytes > INT_MAX ? MPI_UINT64_T : MPI_BYTE;
    if (bytes <= INT_MAX) return (int)bytes;
    if (bytes % 8 != 0 || bytes / 8 > INT_MAX) MPI_Abort(MPI_COMM_WORLD, 1);
    return (int)(bytes / 8);
}

static void send(int to, int tag, const void *data, size_t bytes, uint64_t *request)
{
    MPI_Datatype type;
    MPI_Request made;
    const int count = count_of(bytes, &type);
    MPI_Isend(data, count, type, to, tag, MPI_COMM_WORLD, &made);
    memcpy(request, &made, sizeof made);
}

static void receive(int from, int tag, void *data, size_t bytes, uint64_t *request)
{
    MPI_Datatype type;
    MPI_Request made;
    const int count = count_of(bytes, &type);
    MPI_Irecv(data, count, type, from, tag, MPI_COMM_WORLD, &made);
    memcpy(request, &made, sizeof made);
}

static int test(uint64_t *request)
{
    int is_done;
    MPI_Request made;
    memcpy(&made, request, sizeof made);
    MPI_Test(&made, &is_done, MPI_STATUS_IGNORE);
    memcpy(request, &made, sizeof made);
    return is_done;
}

static void close_mpi(void)
{
    MPI_Finalize();
}

extern const struct nb6_mpi_object nb6_mpi_object;
const struct nb6_mpi_object nb6_mpi_object = {.version = NB6_MPI_OBJECT_VERSION,
                                              .open = open_mpi,
                                              .send = send,
                                              .receive = receive,
                                              .test = test,
                                              .close = close_mpi};
