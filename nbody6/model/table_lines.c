#include "nbody6/model/table_lines.h"

#include "common/nbc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { BUFFER_BYTES = 1 << 17 };

/* First bytes of the files of other programs. */
static const struct {
    const char *bytes, *what, *remedy;
    size_t length;
} foreign[] = {{"\xfd"
                "7zXZ",
                "compressed with xz", "unxz", 5},
               {"BZh", "compressed with bzip2", "bunzip2", 3},
               {"\x28\xb5\x2f\xfd", "compressed with zstd", "unzstd", 4},
               {"PK\x03\x04", "a zip archive or a spreadsheet", "unzip, or save as CSV", 4},
               {"SIMPLE  =", "a FITS file", "save as CSV", 9},
               {"<?xml", "XML", "save as CSV", 5},
               {" ## N_STAR", "the text output single.40_T of NBODY6++GPU, whose rows are broken into several lines",
                "build it with HDF5, and snap.40_T.h5part is read", 10}};

/* Bytes of the largest record that is looked for: text as a number is larger. */
enum { RECORD_MAX = 1 << 28 };

/* A record of Fortran has its length before and behind it. */
static int has_fortran_record(FILE *file)
{
    int32_t before, behind;
    rewind(file);
    return fread(&before, sizeof before, 1, file) == 1 && before >= 4 && before <= RECORD_MAX &&
           fseek(file, before, SEEK_CUR) == 0 && fread(&behind, sizeof behind, 1, file) == 1 && behind == before;
}

static int refuse_foreign(const char *path, struct nbc_error *err)
{
    char begin[16] = "";
    FILE *file = fopen(path, "rb");
    if (!file) return NBC_OK; /* the next function that opens it reports the error */
    const size_t got = fread(begin, 1, sizeof begin, file);
    const int fortran = has_fortran_record(file);
    fclose(file);
    if (fortran)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "data file %s: is a binary file of Fortran, as conf.3 and single.40 of NBODY6++GPU, OUT3 of "
            "NBODY6, or GADGET's format 1; text, text compressed with gzip, HDF5 and snapshots of PeTar are "
            "read: write one of these",
            path);
    for (size_t k = 0; k < sizeof foreign / sizeof foreign[0]; k++)
        if (got >= foreign[k].length && memcmp(begin, foreign[k].bytes, foreign[k].length) == 0)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "data file %s: is %s; text, text compressed with gzip, and HDF5 are read: %s", path,
                            foreign[k].what, foreign[k].remedy);
    return NBC_OK;
}

int nb6_table_open(const char *path, struct nb6_table_lines *lines, struct nbc_error *err)
{
    struct stat info;
    const char *remedy = path[0] == '/' ? "check the path" : "check the path; it counts from the current folder";
    lines->path = path;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return nbc_fail(err, NBC_BAD_INPUT, "data file %s: is a folder; %s", path, remedy);
    const int status = refuse_foreign(path, err);
    if (status) return status;
    errno = 0;
    lines->file = gzopen(path, "rb");
    if (!lines->file)
        return nbc_fail(err, errno && errno != ENOMEM ? NBC_BAD_INPUT : NBC_NO_MEMORY, "data file %s: %s; %s", path,
                        errno ? strerror(errno) : "no memory to read it", remedy);
    gzbuffer(lines->file, BUFFER_BYTES);
    return NBC_OK;
}

/* Why there is nothing more to read. */
static int check_end(const struct nb6_table_lines *lines, struct nbc_error *err)
{
    int code;
    const char *why = gzerror(lines->file, &code);
    if (code == Z_OK || code == Z_STREAM_END) return NBC_OK;
    if (code == Z_ERRNO)
        return nbc_fail(err, nbc_file_status(errno), "%s: read error: %s", lines->path, strerror(errno));
    if (code == Z_MEM_ERROR) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to read it", lines->path);
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: the compressed file is damaged or cut off after line %lld (%s); copy it again", lines->path,
                    (long long)lines->number, why);
}

int nb6_table_next(struct nb6_table_lines *lines, int *more, struct nbc_error *err)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    size_t length = 0;
    int c;
    while ((c = gzgetc(lines->file)) >= 0 && c != '\n') {
        if (length == NB6_TABLE_LINE_MAX - 1 || c == '\0')
            return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %s: not a table of numbers in text form", lines->path,
                            (long long)lines->number + 1, c ? "a line of more than 8191 bytes" : "a zero byte");
        lines->text[length++] = (char)c;
    }
    const int status = c < 0 ? check_end(lines, err) : NBC_OK;
    lines->text[length] = '\0';
    lines->number++;
    *more = c >= 0 || length > 0;
    if (lines->number == 1 && strncmp(lines->text, byte_order_mark, 3) == 0)
        memmove(lines->text, lines->text + 3, length - 2);
    return status;
}

void nb6_table_close(struct nb6_table_lines *lines)
{
    if (lines->file) gzclose(lines->file);
    lines->file = NULL;
}
