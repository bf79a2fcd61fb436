#include "nbody6/hdf5/hdf5_driver.h"

#include "common/nbc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* State of an open file; HDF5's own part comes first. */
struct sink_file {
    H5FD_t head;
    struct nb6_hdf5_sink *sink;
    haddr_t eoa, eof; /* ends of the allocated and of the written part */
};

enum { LARGEST_TRANSFER = 1 << 30 }; /* Linux moves less than 2 GiB in one call */

static const haddr_t largest_address = ((haddr_t)1 << 62) - 1;

static H5FD_t *sink_open(const char *name, unsigned flags, hid_t access, haddr_t max_address)
{
    (void)name, (void)max_address;
    struct nb6_hdf5_sink *const *info = H5Pget_driver_info(access);
    struct stat status;
    if (!info || (*info)->opened || fstat((*info)->fd, &status)) return NULL;
    struct sink_file *file = nbc_alloc(1, sizeof *file);
    if (!file) {
        (*info)->first_errno = ENOMEM;
        return NULL;
    }
    file->sink = *info;
    file->sink->opened = 1;
    file->eof = flags & H5F_ACC_TRUNC ? 0 : (haddr_t)status.st_size;
    return &file->head;
}

static herr_t sink_close(H5FD_t *head)
{
    ((struct sink_file *)(void *)head)->sink->opened = 0;
    nbc_free(head);
    return 0;
}

static int sink_compare(const H5FD_t *a, const H5FD_t *b)
{
    const struct sink_file *one = (const struct sink_file *)(const void *)a;
    const struct sink_file *other = (const struct sink_file *)(const void *)b;
    return (one->sink > other->sink) - (one->sink < other->sink);
}

static herr_t sink_query(const H5FD_t *head, unsigned long *flags)
{
    (void)head;
    if (flags)
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                 H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t sink_get_eoa(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const struct sink_file *)(const void *)head)->eoa;
}

static herr_t sink_set_eoa(H5FD_t *head, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((struct sink_file *)(void *)head)->eoa = address;
    return 0;
}

static haddr_t sink_get_eof(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const struct sink_file *)(const void *)head)->eof;
}

/* Bytes past the end of the file read as zero, as HDF5 expects. */
static herr_t sink_read(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void *buffer)
{
    (void)type, (void)transfer;
    const struct sink_file *file = (struct sink_file *)(void *)head;
    char *to = buffer;
    while (size) {
        ssize_t got = pread(file->sink->fd, to, size < LARGEST_TRANSFER ? size : LARGEST_TRANSFER, (off_t)address);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) {
            memset(to, 0, size);
            return 0;
        }
        to += got;
        address += (haddr_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static herr_t sink_write(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                         const void *buffer)
{
    (void)type, (void)transfer;
    struct sink_file *file = (struct sink_file *)(void *)head;
    const char *from = buffer;
    haddr_t end = address + size;
    while (size && !file->sink->first_errno) {
        ssize_t put = pwrite(file->sink->fd, from, size < LARGEST_TRANSFER ? size : LARGEST_TRANSFER, (off_t)address);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            file->sink->first_errno = put < 0 ? errno : ENOSPC;
            break;
        }
        from += put;
        address += (haddr_t)put;
        size -= (size_t)put;
    }
    if (end > file->eof) file->eof = end;
    return 0;
}

static herr_t sink_truncate(H5FD_t *head, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    struct sink_file *file = (struct sink_file *)(void *)head;
    if (file->eof == file->eoa) return 0;
    if (!file->sink->first_errno && ftruncate(file->sink->fd, (off_t)file->eoa)) file->sink->first_errno = errno;
    file->eof = file->eoa;
    return 0;
}

/* ---- one thread at a time ---- */

/* HDF5 may be built without locks of its own, and how it reports errors is one setting for all threads then. A thread
 * that forks waits for the file that another one has open, so that the child finds the lock free. */
static pthread_mutex_t library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void make_lock(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&library, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void before_fork(void)
{
    pthread_mutex_lock(&library);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&library);
}

static void prepare_lock(void)
{
    make_lock();
    pthread_atfork(before_fork, after_fork, make_lock);
}

void nb6_hdf5_enter(void)
{
    pthread_once(&library_once, prepare_lock);
    pthread_mutex_lock(&library);
}

void nb6_hdf5_exit(void)
{
    pthread_mutex_unlock(&library);
}

/* ---- one driver for the life of the process ---- */

/* HDF5 1.10 uses the class of a driver after the last reference to it is gone, when a file is closed. So the driver
 * stays registered. A host program that calls H5close takes it away, and HDF5 may give its number to something else
 * later; HDF5 reports when it does. */
static _Atomic(hid_t) driver = H5I_INVALID_HID;

static herr_t sink_terminate(void)
{
    driver = H5I_INVALID_HID;
    return 0;
}

static hid_t register_driver(void)
{
    const H5FD_class_t class = {
#ifdef H5FD_CLASS_VERSION /* HDF5 1.14 and later */
        .version = H5FD_CLASS_VERSION,
        .value = 600, /* any number that HDF5 does not use itself */
#endif
        .name = "nb6_sink",
        .maxaddr = largest_address,
        .fc_degree = H5F_CLOSE_STRONG,
        .terminate = sink_terminate,
        .fapl_size = sizeof(struct nb6_hdf5_sink *),
        .open = sink_open,
        .close = sink_close,
        .cmp = sink_compare,
        .query = sink_query,
        .get_eoa = sink_get_eoa,
        .set_eoa = sink_set_eoa,
        .get_eof = sink_get_eof,
        .read = sink_read,
        .write = sink_write,
        .truncate = sink_truncate,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    return H5FDregister(&class);
}

hid_t nb6_hdf5_sink_access(struct nb6_hdf5_sink *sink)
{
    if (driver < 0 || H5Iget_type(driver) != H5I_VFL) driver = register_driver();
    if (driver < 0) return -1;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_driver(access, driver, &sink) < 0) {
        H5Pclose(access);
        access = -1;
    }
    return access;
}
