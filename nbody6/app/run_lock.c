#include "nbody6/app/run_lock.h"

#include "common/file.h"
#include "common/nbc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The file may be removed, by the run that ends, between our opening and our locking it: then once more. */
enum { ATTEMPTS = 1000, LOOKERS = 5 };

/* 1: the file that we have open is the one that others find under the name. */
static int is_in_place(int fd, const char *path)
{
    struct stat ours, found;
    return fstat(fd, &ours) == 0 && lstat(path, &found) == 0 && ours.st_dev == found.st_dev &&
           ours.st_ino == found.st_ino;
}

static int has_no_locks(int reason)
{
    return reason == ENOLCK || reason == ENOSYS || reason == EOPNOTSUPP || reason == EINVAL;
}

/* The text of write_holder, or none yet: any other text belongs to a file of the user with this name. */
static int is_lock(int fd)
{
    static const char begin[] = "process ";
    struct stat status;
    char text[sizeof begin - 1];
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_nlink > 1) return 0;
    return status.st_size == 0 ||
           (pread(fd, text, sizeof text, 0) == (ssize_t)sizeof text && memcmp(text, begin, sizeof text) == 0);
}

/* Identify this process, for the message of a second run. The lock holds without it: a full disk is no reason to stop
 * here. */
static void write_holder(int fd)
{
    char host[256] = "", text[NB6_HOLDER_BYTES];
    if (gethostname(host, sizeof host - 1)) snprintf(host, sizeof host, "an unknown host");
    int length = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)length, 0) != length) errno = 0;
}

static void read_holder(int fd, char holder[NB6_HOLDER_BYTES])
{
    ssize_t got = pread(fd, holder, NB6_HOLDER_BYTES - 1, 0);
    holder[got > 0 ? got : 0] = 0;
    holder[strcspn(holder, "\n")] = 0;
}

static int refuse_lock(int fd, const char *path, struct nbc_error *err)
{
    char holder[NB6_HOLDER_BYTES];
    read_holder(fd, holder);
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: %s writes the files of this name now; wait for its end, or give this run a name of its own "
                    "with --out NAME",
                    path, holder[0] ? holder : "another process");
}

/* nb6_run_lock_look holds the lock for a moment: a process that still has it after that is a run.   @return 0: the lock
 * is ours; else errno */
static int lock_soon(int fd)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    for (int k = 0;; k++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK || k >= LOOKERS) return errno;
        nanosleep(&moment, NULL);
    }
}

static int refuse_file(const char *path, struct nbc_error *err)
{
    return nbc_fail(err, NBC_FILE,
                    "%s: is not the lock of a run, which would have this name: it is left alone; move it away, or give "
                    "this run a name of its own with --out NAME",
                    path);
}

/* @return NBC_OK: fd is held, or -1 without locks; NBC_UNAVAILABLE: the file has gone meanwhile; the status of take */
static int try_once(struct nb6_run_lock *lock, struct nbc_error *err)
{
    int fd = open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO)) return refuse_file(lock->path, err);
    if (fd < 0)
        return nbc_fail(err, nbc_file_status(errno),
                        "%s: cannot make the lock of this run: %s; --out PATH/NAME puts the files elsewhere",
                        lock->path, strerror(errno));
    if (!is_lock(fd)) {
        close(fd);
        return refuse_file(lock->path, err);
    }
    const int reason = lock_soon(fd);
    int status = NBC_OK;
    if (reason == EWOULDBLOCK)
        status = refuse_lock(fd, lock->path, err);
    else if (has_no_locks(reason))
        unlink(lock->path);
    else if (reason)
        status = nbc_fail(err, nbc_file_status(reason), "%s: cannot lock: %s; --out PATH/NAME puts the files elsewhere",
                          lock->path, strerror(reason));
    else if (is_in_place(fd, lock->path))
        lock->fd = fd;
    else
        status = NBC_UNAVAILABLE;
    if (lock->fd < 0) close(fd);
    return status;
}

int nb6_run_lock_take(struct nb6_run_lock *lock, const char *path, struct nbc_error *err)
{
    int status = NBC_UNAVAILABLE;
    lock->fd = -1;
    if (nbc_file_name(lock->path, sizeof lock->path, path, ""))
        return nbc_fail(err, NBC_BAD_INPUT, "--out: the name of the output files is too long");
    for (int k = 0; k < ATTEMPTS && status == NBC_UNAVAILABLE; k++) status = try_once(lock, err);
    if (status == NBC_UNAVAILABLE)
        return nbc_fail(err, NBC_FILE, "%s: cannot be locked: another process keeps removing it", path);
    if (lock->fd >= 0) write_holder(lock->fd);
    return status;
}

void nb6_run_lock_release(struct nb6_run_lock *lock)
{
    if (lock->fd < 0) return;
    if (is_in_place(lock->fd, lock->path)) unlink(lock->path);
    close(lock->fd);
    lock->fd = -1;
}

/* The lock is shared for a moment: two readers do not take each other for runs. */
enum nb6_lock_state nb6_run_lock_look(const char *path, char holder[NB6_HOLDER_BYTES])
{
    holder[0] = 0;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return NB6_LOCK_NONE;
    if (!is_lock(fd)) {
        close(fd);
        return NB6_LOCK_NONE;
    }
    read_holder(fd, holder);
    const int held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held ? NB6_LOCK_HELD : NB6_LOCK_LEFT;
}
