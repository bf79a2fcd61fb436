#include "nbody6/output/textfile.h"

#include "common/file.h"
#include "common/nbc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const struct nb6_textfile *file, const char *what, struct nbc_error *err)
{
    return nbc_fail(err, nbc_file_status(errno), "%s: cannot %s: %s", file->path, what, strerror(errno));
}

int nb6_textfile_open(struct nb6_textfile *file, const char *path, int64_t keep, int64_t *found, struct nbc_error *err)
{
    struct stat status;
    file->fd = -1;
    if (nbc_file_name(file->path, sizeof file->path, path, ""))
        return nbc_fail(err, NBC_FILE, "%s: the file name is too long", path);
    const int special = nbc_file_refuse_special(path, err);
    if (special) return special;
    file->told = 0;
    file->fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file->fd < 0) return fail(file, "open for writing", err);
    int failed = fstat(file->fd, &status);
    if (!failed && status.st_size > keep) failed = ftruncate(file->fd, (off_t)keep);
    if (failed) {
        int result = fail(file, "cut back", err);
        nb6_textfile_close(file);
        return result;
    }
    *found = status.st_size;
    file->bytes = status.st_size < keep ? status.st_size : keep;
    return NBC_OK;
}

int nb6_textfile_add(struct nb6_textfile *file, const char *text, struct nbc_error *err)
{
    size_t length = strlen(text), done = 0;
    if (file->fd < 0) return NBC_OK;
    while (done < length) {
        ssize_t put = pwrite(file->fd, text + done, length - done, (off_t)file->bytes + (off_t)done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            int status = fail(file, "write", err);
            return ftruncate(file->fd, (off_t)file->bytes) ? fail(file, "write", err) : status;
        }
        done += (size_t)put;
    }
    file->bytes += (int64_t)length;
    return NBC_OK;
}

int nb6_textfile_sync(struct nb6_textfile *file, struct nbc_error *err)
{
    return file->fd >= 0 && fsync(file->fd) && errno != EINVAL ? fail(file, "write", err) : NBC_OK;
}

int nb6_textfile_was_moved(struct nb6_textfile *file)
{
    struct stat ours, found;
    if (file->fd < 0 || file->told || fstat(file->fd, &ours)) return 0;
    if (stat(file->path, &found) == 0) {
        if (ours.st_dev == found.st_dev && ours.st_ino == found.st_ino) return 0;
    } else if (errno != ENOENT) {
        return 0; /* it cannot be known */
    }
    return file->told = 1;
}

void nb6_textfile_close(struct nb6_textfile *file)
{
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
}

void nb6_line_add(struct nb6_line *line, const char *format, ...)
{
    va_list args;
    size_t room = sizeof line->text - line->used;
    va_start(args, format);
    int length = vsnprintf(line->text + line->used, room, format, args);
    va_end(args);
    if (length > 0) line->used += (size_t)length < room ? (size_t)length : room - 1;
}
