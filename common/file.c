#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

/* A second name for what is at `path`, put in the place of `keep_as`. */
static int keep(const char *path, const char *keep_as)
{
    char link_name[PATH_BYTES];
    if (nbc_file_name(link_name, sizeof link_name, keep_as, ".tmp")) return ENAMETOOLONG;
    unlink(link_name);
    if (link(path, link_name)) {
        if (errno == ENOENT) return 0;            /* nothing to keep */
        return rename(path, keep_as) ? errno : 0; /* a file system without hard links */
    }
    if (!rename(link_name, keep_as)) return 0;
    int reason = errno;
    unlink(link_name);
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
