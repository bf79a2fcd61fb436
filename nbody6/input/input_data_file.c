#include "nbody6/input/input_data_file.h"

#include "nbody6/input/config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Take the file if it is there. `length` bytes of the input's path, then `ending`. */
static int take(const char *input_path, size_t length, const char *ending, struct nb6_config *config)
{
    char path[NB6_PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*s%s", (int)length, input_path, ending);
    if (n >= NB6_PATH_MAX || access(path, F_OK) != 0) return 0;
    strcpy(config->model.data_path, path);
    return 1;
}

/* The path of an input without the ending of its name. */
static size_t stem_length(const char *input_path)
{
    const char *slash = strrchr(input_path, '/'), *name = slash ? slash + 1 : input_path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - input_path) : strlen(input_path);
}

void nb6_input_find_data(const char *input_path, int named, FILE *notes, struct nb6_config *config)
{
    const char *slash = strrchr(input_path, '/');
    char data[NB6_PATH_MAX];
    strcpy(data, config->model.data_path);
    size_t stem = stem_length(input_path);
    if (!named && (take(input_path, stem, ".dat.10", config) || take(input_path, stem, ".fort.10", config))) {
        if (notes)
            fprintf(notes, "note: the stars are read from %s, which has the input's name\n", config->model.data_path);
        return;
    }
    if (data[0] == '/' || !slash || access(data, F_OK) == 0) return;
    take(input_path, (size_t)(slash + 1 - input_path), data, config);
}
