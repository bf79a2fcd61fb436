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

static int sync_directory_of(const char *path)
{
    char directory[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 0;
    if (length >= sizeof directory) return ENAMETOOLONG;
    memcpy(directory, slash ? path : ".", slash ? length : 1);
    directory[slash ? length : 1] = 0;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? 0 : errno; /* a directory may be writable and not readable */
    int reason = fsync(fd) && errno != EINVAL ? errno : 0;
    close(fd);
    return reason;
}

int nbc_file_replace(const char *temporary, const char *path, const char *keep_as, struct nbc_error *err)
{
    int reason = keep_as ? keep(path, keep_as) : 0;
    if (reason) return nbc_fail(err, NBC_FILE, "%s: cannot keep it as %s: %s", path, keep_as, strerror(reason));
    if (rename(temporary, path)) reason = errno;
    if (!reason) reason = sync_directory_of(path);
    if (reason) return nbc_fail(err, NBC_FILE, "%s: cannot put the file in place: %s", path, strerror(reason));
    return NBC_OK;
}
