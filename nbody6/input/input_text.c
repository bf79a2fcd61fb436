#include "nbody6/input/input_text.h"

#include "common/nbc.h"
#include "nbody6/input/namelist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* All bytes of a stream, up to one more than an input file may have. */
static int read_stream(FILE *file, const char *path, char **text, size_t *size, struct nbc_error *err)
{
    *text = nbc_alloc(NB6_NAMELIST_FILE_MAX + 1, 1);
    if (!*text) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the input", path);
    *size = fread(*text, 1, NB6_NAMELIST_FILE_MAX + 1, file);
    if (!ferror(file)) return NBC_OK;
    int status = nbc_fail(err, NBC_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    nbc_free(*text);
    return status;
}

static int read_file(const char *path, char **text, size_t *size, struct nbc_error *err)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file)
        return nbc_fail(err, errno == ENOMEM ? NBC_NO_MEMORY : NBC_BAD_INPUT,
                        "%s: the input file cannot be opened: %s; give the name of an input file", path,
                        strerror(errno));
    int status;
    if (fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode))
        status = nbc_fail(err, NBC_BAD_INPUT, "%s: is a directory; give the name of an input file", path);
    else
        status = read_stream(file, path, text, size, err);
    fclose(file);
    return status;
}

int nb6_input_load(const char *path, struct nb6_input_text *text, struct nbc_error *err)
{
    const int from_stdin = strcmp(path, "-") == 0;
    *text = (struct nb6_input_text){.path = path, .name = from_stdin ? "<stdin>" : path};
    return from_stdin ? read_stream(stdin, text->name, &text->text, &text->size, err)
                      : read_file(path, &text->text, &text->size, err);
}

void nb6_input_unload(struct nb6_input_text *text)
{
    nbc_free(text->text);
    text->text = NULL;
}
