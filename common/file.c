#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 1280 };

int nbc_file_name(char *out, size_t size, const char *name, const char *suffix)
{
    int length = snprintf(out, size, "%s%s", name, suffix);
    return length >= 0 && (size_t)length < size ? NBC_OK : NBC_BAD_ARGUMENT;
}

int nbc_file_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

int nbc_file_refuse_special(const char *path, struct nbc_error *err)
{
    struct stat status;
    if (stat(path, &status) || S_ISREG(status.st_mode)) return NBC_OK;
    return nbc_fail(err, NBC_FILE, "%s: not a regular file but %s", path,
                    S_ISDIR(status.st_mode)    ? "a folder"
                    : S_ISFIFO(status.st_mode) ? "a pipe"
                    : S_ISSOCK(status.st_mode) ? "a socket"
                                               : "a device");
}

/* ---- temporary names ---- */

static const char MARK[] = ".tmp-";
static const char LETTERS[] = "0123456789abcdefghijklmnopqrstuvwxyz";

enum { RANDOM_LETTERS = 8, ATTEMPTS = 100 };

/* Names collide only after 10^12 of them, and then the call that makes the file reports it: they need not be secret. */
static int make_name(char *temporary, size_t size, const char *path)
{
    char ending[sizeof MARK + RANDOM_LETTERS];
    uint64_t bits;
    if (getentropy(&bits, sizeof bits)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        bits = (uint64_t)now.tv_nsec * 6364136223846793005u + (uint64_t)getpid();
    }
    memcpy(ending, MARK, sizeof MARK);
    for (size_t k = 0; k < RANDOM_LETTERS; k++, bits /= sizeof LETTERS - 1)
        ending[sizeof MARK - 1 + k] = LETTERS[bits % (sizeof LETTERS - 1)];
    ending[sizeof ending - 1] = 0;
    return nbc_file_name(temporary, size, path, ending);
}

size_t nbc_file_of_temporary(const char *name)
{
    const size_t ending = sizeof MARK - 1 + RANDOM_LETTERS, length = strlen(name);
    if (length <= ending || strncmp(name + length - ending, MARK, sizeof MARK - 1) != 0) return 0;
    return strspn(name + length - RANDOM_LETTERS, LETTERS) == RANDOM_LETTERS ? length - ending : 0;
}

int nbc_file_make_temporary(const char *path, char *temporary, size_t size, int *fd, struct nbc_error *err)
{
    temporary[0] = 0;
    *fd = -1;
    const int status = nbc_file_refuse_special(path, err);
    if (status) return status;
    for (int k = 0; k < ATTEMPTS; k++) {
        if (make_name(temporary, size, path)) {
            temporary[0] = 0;
            return nbc_fail(err, NBC_FILE, "%s: the file name is too long", path);
        }
        *fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (*fd >= 0) return NBC_OK;
        if (errno != EEXIST) break;
    }
    const int reason = errno;
    const int failed = nbc_fail(err, nbc_file_status(reason), "%s: cannot create the file: %s", path, strerror(reason));
    temporary[0] = 0; /* it is not ours to remove */
    return failed;
}

/* ---- into place ---- */

/* Give the file at `path` a second name, in the place of `keep_as`. */
static int keep(const char *path, const char *keep_as)
{
    char link_name[PATH_BYTES];
    for (int k = 0;; k++) {
        if (make_name(link_name, sizeof link_name, keep_as)) return ENAMETOOLONG;
        if (!link(path, link_name)) break;
        if (errno == ENOENT) return 0;                                                  /* nothing to keep */
        if (errno != EEXIST || k >= ATTEMPTS) return rename(path, keep_as) ? errno : 0; /* no hard links here */
    }
    const int reason = rename(link_name, keep_as) ? errno : 0;
    unlink(link_name); /* it is still there if `keep_as` was the same file already */
    return reason;
}

/* The folder of a path; -1 with a reason, which is 0 where a directory is writable and not readable. */
static int open_directory_of(const char *path, int *reason)
{
    char directory[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 0;
    *reason = ENAMETOOLONG;
    if (length >= sizeof directory) return -1;
    memcpy(directory, slash ? path : ".", slash ? length : 1);
    directory[slash ? length : 1] = 0;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *reason = fd >= 0 || errno == EACCES ? 0 : errno;
    return fd;
}

static int sync_directory_of(const char *path)
{
    int reason;
    const int fd = open_directory_of(path, &reason);
    if (fd < 0) return reason;
    reason = fsync(fd) && errno != EINVAL ? errno : 0;
    close(fd);
    return reason;
}

int nbc_file_replace(const char *temporary, const char *path, const char *keep_as, struct nbc_error *err)
{
    const int special = keep_as ? nbc_file_refuse_special(keep_as, err) : NBC_OK;
    if (special) return special;
    int reason = keep_as ? keep(path, keep_as) : 0;
    if (reason)
        return nbc_fail(err, nbc_file_status(reason), "%s: cannot keep it as %s: %s", path, keep_as, strerror(reason));
    if (rename(temporary, path)) reason = errno;
    if (!reason) reason = sync_directory_of(path);
    if (reason)
        return nbc_fail(err, nbc_file_status(reason), "%s: cannot put the file in place: %s", path, strerror(reason));
    return NBC_OK;
}

int nbc_file_place(const char *temporary, const char *path, struct nbc_error *err)
{
    if (!rename(temporary, path)) return NBC_OK;
    return nbc_fail(err, nbc_file_status(errno), "%s: cannot put the file in place: %s", path, strerror(errno));
}

int nbc_file_sync_all(const char *path, struct nbc_error *err)
{
    int reason;
    const int fd = open_directory_of(path, &reason);
    if (fd >= 0) {
        reason = syncfs(fd) ? errno : 0;
        close(fd);
    } else if (!reason) {
        sync();
    }
    return reason
               ? nbc_fail(err, nbc_file_status(reason), "%s: cannot bring it to the disk: %s", path, strerror(reason))
               : NBC_OK;
}
