#include "nbody6/app/run_lock.h"

#include "common/file.h"
#include "common/nbc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file may be removed, by the run that ends, between our opening and our locking it: then once more. */
enum { ATTEMPTS = 1000, HOLDER_BYTES = 400 };

/* 1: the file that we have open is the one that others find under the name. */
static int is_in_place(int fd, const char *path)
{
    struct stat ours, found;
    return fstat(fd, &ours) == 0 && stat(path, &found) == 0 && ours.st_dev == found.st_dev &&
           ours.st_ino == found.st_ino;
}

static int has_no_locks(int reason)
{
    return reason == ENOLCK || reason == ENOSYS || reason == EOPNOTSUPP || reason == EINVAL;
}

/* Who we are, for the message of a second run. The lock holds without it: a full disk is no reason to stop here. */
static void write_holder(int fd)
{
    char host[256] = "", text[HOLDER_BYTES];
    if (gethostname(host, sizeof host - 1)) snprintf(host, sizeof host, "an unknown host");
    int length = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)length, 0) != length) errno = 0;
}

static int refuse(int fd, const char *path, struct nbc_error *err)
{
    char holder[HOLDER_BYTES];
    ssize_t got = pread(fd, holder, sizeof holder - 1, 0);
    holder[got > 0 ? got : 0] = 0;
    holder[strcspn(holder, "\n")] = 0;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: %s writes the files of this name now; wait for its end, or give this run a name of its own "
                    "with --out NAME",
                    path, holder[0] ? holder : "another process");
}

/* @return NBC_OK: fd is held, or -1 without locks; NBC_UNAVAILABLE: the file has gone meanwhile; what take returns */
static int try_once(struct nb6_run_lock *lock, struct nbc_error *err)
{
    int fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), failed;
    if (fd < 0)
        return nbc_fail(err, NBC_FILE,
                        "%s: cannot make the lock of this run: %s; --out PATH/NAME puts the files elsewhere",
                        lock->path, strerror(errno));
    do failed = flock(fd, LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    const int reason = failed ? errno : 0;
    int status = NBC_OK;
    if (reason == EWOULDBLOCK)
        status = refuse(fd, lock->path, err);
    else if (has_no_locks(reason))
        unlink(lock->path);
    else if (reason)
        status = nbc_fail(err, NBC_FILE, "%s: cannot lock: %s; --out PATH/NAME puts the files elsewhere", lock->path,
                          strerror(reason));
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
        return nbc_fail(err, NBC_FILE, "%s: cannot be locked: somebody removes it again and again", path);
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
