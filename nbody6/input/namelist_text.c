#include "common/nbc.h"
#include "nbody6/input/namelist.h"

#include <string.h>

struct nb6_shown nb6_namelist_show(const char *text, size_t length)
{
    struct nb6_shown shown;
    size_t n = length > 40 ? 37 : length;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        shown.text[i] = (char)(c >= 0x20 && c < 0x7f ? c : '?');
    }
    strcpy(shown.text + n, length > 40 ? "..." : "");
    return shown;
}

/* Files that people give by mistake, by their first bytes. */
static int check_kind(const char *path, const char *text, size_t size, struct nbc_error *err)
{
    static const struct {
        const char *magic;
        size_t length;
        const char *what;
    } kinds[] = {
        {"\x89HDF\r\n\x1a\n", 8,
         "is an HDF5 file; a snapshot is named by an input, &INMODEL DATA='FILE' /, a checkpoint is continued by "
         "`nbody6 --resume FILE`"},
        {"nbody6 checkpoint", 17, "is a checkpoint; it is continued by `nbody6 --resume FILE`"},
        {"\x1f\x8b", 2, "is compressed (gzip); an input has to be unpacked, stars are named: &INMODEL DATA='FILE' /"},
        {"\x7f"
         "ELF",
         4, "is a program; give a namelist file"},
        {"\xff\xfe", 2, "is UTF-16 text; save it as plain ASCII or UTF-8 text"},
        {"\xfe\xff", 2, "is UTF-16 text; save it as plain ASCII or UTF-8 text"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (size >= kinds[k].length && memcmp(text, kinds[k].magic, kinds[k].length) == 0)
            return nbc_fail(err, NBC_BAD_INPUT, "%s:1: the file %s", path, kinds[k].what);
    return NBC_OK;
}

int nb6_namelist_check_text(const char *path, const char *text, size_t size, struct nbc_error *err)
{
    if (size > NB6_NAMELIST_FILE_MAX)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: the file is longer than %d bytes; give a namelist file; a file of stars is named by "
                        "one: &INMODEL DATA='%s' /",
                        path, NB6_NAMELIST_FILE_MAX, path);
    int status = check_kind(path, text, size, err);
    if (status != NBC_OK) return status;
    int line = 1;
    size_t start = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f)
            return nbc_fail(
                err, NBC_BAD_INPUT,
                "%s:%d: the file contains the control character 0x%02x in column %zu: it is binary or damaged; "
                "give a namelist file as plain text",
                path, line, c, i - start + 1);
        if (i - start > NB6_NAMELIST_LINE_MAX)
            return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: the line is longer than %d characters; break it into several",
                            path, line, NB6_NAMELIST_LINE_MAX);
        if (c == '\n') {
            line++;
            start = i + 1;
        }
    }
    return NBC_OK;
}
