#include "nbody6/input/input_data_file.h"

#include "nbody6/input/config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Take the file if it is there. `length` bytes of the input's path, then `ending`. */
static int take(const char *input_path, size_t length, const char *ending, char to[NB6_PATH_MAX])
{
    char path[NB6_PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*s%s", (int)length, input_path, ending);
    if (n >= NB6_PATH_MAX || access(path, F_OK) != 0) return 0;
    strcpy(to, path);
    return 1;
}

/* Beside the input, unless it is here. */
static void find_beside(const char *input_path, char path[NB6_PATH_MAX])
{
    const char *slash = strrchr(input_path, '/');
    char name[NB6_PATH_MAX];
    strcpy(name, path);
    if (name[0] == '/' || !slash || access(name, F_OK) == 0) return;
    take(input_path, (size_t)(slash + 1 - input_path), name, path);
}

/* The path of an input without the ending of its name. */
static size_t stem_length(const char *input_path)
{
    const char *slash = strrchr(input_path, '/'), *name = slash ? slash + 1 : input_path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - input_path) : strlen(input_path);
}

/* X.fort.10 or X.input.fort.10 beside X.input, as versions of McLuster call it. */
static int take_of_name(const char *input_path, const char *ending, char to[NB6_PATH_MAX])
{
    return take(input_path, stem_length(input_path), ending, to) || take(input_path, strlen(input_path), ending, to);
}

void nb6_input_find_data(const char *input_path, int named, FILE *notes, struct nb6_config *config)
{
    char *data = config->model.data_path, *stellar = config->data.stellar_path;
    if (!named && (take_of_name(input_path, ".dat.10", data) || take_of_name(input_path, ".fort.10", data))) {
        if (notes) fprintf(notes, "note: the stars are read from %s, which has the input's name\n", data);
    } else {
        find_beside(input_path, data);
    }
    if (strcmp(stellar, "fort.12") == 0 && take_of_name(input_path, ".fort.12", stellar)) {
        if (notes) fprintf(notes, "note: stellar parameters are read from %s, which has the input's name\n", stellar);
    } else if (stellar[0]) {
        find_beside(input_path, stellar);
    }
}

void nb6_input_find_costs(const char *input_path, struct nb6_config *config)
{
    if (config->data.costs_path[0]) find_beside(input_path, config->data.costs_path);
}
