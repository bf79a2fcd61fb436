#include "nbody6/input/input.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_data_file.h"
#include "nbody6/input/input_print.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/input_words.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional.h"

#include <errno.h>
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
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the input file cannot be opened: %s; give the name of an input file",
                        path, strerror(errno));
    int status;
    if (fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode))
        status = nbc_fail(err, NBC_BAD_INPUT, "%s: is a directory; give the name of an input file", path);
    else
        status = read_stream(file, path, text, size, err);
    fclose(file);
    return status;
}

/* Put file and line in front of a message that begins with the name of a variable. */
static int locate(const struct nb6_input_values *values, int status, struct nbc_error *err)
{
    if (!err || status == NBC_OK) return status;
    char name[NB6_NAMELIST_NAME_MAX] = "", text[sizeof err->text];
    size_t n = strcspn(err->text, ":");
    if (n < sizeof name) memcpy(name, err->text, n);
    int variable = nb6_input_find_variable(NULL, name);
    int line = variable < 0 ? 0 : values->value[values->first[variable]].line;
    memcpy(text, err->text, sizeof text);
    if (line) return nbc_fail(err, status, "%s:%d: %s", values->path, line, text);
    return nbc_fail(err, status, "%s: %s", values->path, text);
}

static int interpret(struct nb6_input_values *values, const struct nb6_input_options *options,
                     struct nb6_config *config, struct nbc_error *err)
{
    int status = nb6_input_check_missing(values, options, err);
    if (status == NBC_OK) status = nb6_input_check_contradictions(values, err);
    if (status == NBC_OK) status = nb6_input_apply(values, options->notes, config, err);
    if (status != NBC_OK) return status;
    nb6_input_settle(values, options->notes, config);
    status = nb6_config_check(config, err);
    if (status != NBC_OK) return locate(values, status, err);
    nb6_input_note_ignored(values, options->notes);
    return NBC_OK;
}

/* Take a text apart, whichever of the formats it has. */
static int scan(const char *name, const char *text, size_t size, FILE *notes, struct nb6_namelist *list,
                struct nb6_positional *positional, struct nbc_error *err)
{
    if (nb6_positional_is(text, size)) return nb6_positional_scan(name, text, size, notes, list, positional, err);
    return nb6_namelist_scan(name, text, size, list, err);
}

/* Values and configuration of a text. */
static int understand(const char *name, const char *text, size_t size, const struct nb6_input_options *options,
                      struct nb6_input_values *values, struct nb6_config *config, struct nbc_error *err)
{
    struct nb6_namelist list;
    struct nb6_positional positional = {.code = NB6_CODE_NBODY6PP};
    nb6_config_init(config);
    if (strlen(name) >= NB6_PATH_MAX)
        return nbc_fail(err, NBC_BAD_INPUT, "the name of the input is longer than %d characters", NB6_PATH_MAX - 1);
    strcpy(config->run.input_path, name);
    int status = scan(name, text, size, options->notes, &list, &positional, err);
    if (status != NBC_OK) return status;
    if (positional.code == NB6_CODE_NBODY6) strcpy(config->model.data_path, "fort.10");
    status = nb6_input_values_create(values, name, err);
    if (status == NBC_OK) {
        memcpy(values->choice, positional.choice, sizeof values->choice);
        status = nb6_input_take_all(values, &list, options->notes, err);
        if (status == NBC_OK) status = interpret(values, options, config, err);
        if (status != NBC_OK) nb6_input_values_free(values);
    }
    status = nb6_positional_locate(&list, status, err);
    nb6_namelist_free(&list);
    return status;
}

int nb6_input_read_text(const char *name, const char *text, size_t size, const struct nb6_input_options *options,
                        struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_input_options no_options = {0};
    struct nb6_input_values values;
    struct nb6_config result;
    int status = understand(name, text, size, options ? options : &no_options, &values, &result, err);
    if (status != NBC_OK) return status;
    nb6_input_values_free(&values);
    *config = result;
    return NBC_OK;
}

/* Values and configuration of a file, or of standard input ("-"); then its data file is looked for. */
static int understand_file(const char *path, const struct nb6_input_options *options, struct nb6_input_values *values,
                           struct nb6_config *config, struct nbc_error *err)
{
    int from_stdin = strcmp(path, "-") == 0;
    const char *shown = from_stdin ? "<stdin>" : path;
    char *text;
    size_t size;
    int status = from_stdin ? read_stream(stdin, shown, &text, &size, err) : read_file(path, &text, &size, err);
    if (status != NBC_OK) return status;
    status = understand(shown, text, size, options, values, config, err);
    nbc_free(text);
    if (status != NBC_OK || config->model.kind != NB6_MODEL_FILE) return status;
    nb6_input_find_data(path, nb6_input_get(values, "INMODEL", "DATA")->line != 0, options->notes, config);
    return NBC_OK;
}

int nb6_input_read(const char *path, const struct nb6_input_options *options, struct nb6_config *config,
                   struct nbc_error *err)
{
    const struct nb6_input_options no_options = {0};
    struct nb6_input_values values;
    struct nb6_config result;
    int status = understand_file(path, options ? options : &no_options, &values, &result, err);
    if (status != NBC_OK) return status;
    nb6_input_values_free(&values);
    *config = result;
    return NBC_OK;
}

int nb6_input_to_namelist(FILE *out, const char *path, const struct nb6_input_options *options, struct nbc_error *err)
{
    struct nb6_input_values values;
    struct nb6_config config;
    int status = understand_file(path, options, &values, &config, err);
    if (status != NBC_OK) return status;
    nb6_input_print(out, &values, &config);
    nb6_input_values_free(&values);
    return NBC_OK;
}

/* One assignment of a known variable, on top of what the configuration holds. */
static int set_one(const struct nb6_namelist *list, struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_input_options no_options = {0};
    const struct nb6_assignment *a = list->assignment;
    int variable = nb6_input_find_variable(NULL, a->name);
    if (variable < 0) {
        const char *near = nb6_input_near_variable(NULL, a->name);
        return nbc_fail(err, NBC_BAD_INPUT, "%s: unknown variable%s%s", a->name, near ? "; did you mean " : "",
                        near ? near : "");
    }
    struct nb6_input_values values;
    int status = nb6_input_values_create(&values, list->path, err);
    if (status != NBC_OK) return status;
    struct nb6_config result = *config;
    status = nb6_input_take(&values, list, a, variable, err);
    if (status == NBC_OK) status = nb6_input_take_words(&values, err);
    if (status == NBC_OK) status = nb6_input_check_missing(&values, &no_options, err);
    if (status == NBC_OK) status = nb6_input_apply(&values, NULL, &result, err);
    if (status == NBC_OK) *config = result;
    nb6_input_values_free(&values);
    return status;
}

int nb6_input_set(struct nb6_config *config, const char *name, const char *value, struct nbc_error *err)
{
    size_t room = strlen(name) + strlen(value) + 16;
    char *text = nbc_alloc(room, 1);
    if (!text) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the input");
    int size = snprintf(text, room, "&G %s=%s\n/", name, value);
    struct nb6_namelist list;
    int status = nb6_namelist_scan("<argument>", text, (size_t)size, &list, err);
    nbc_free(text);
    if (status != NBC_OK) return status;
    if (list.groups != 1 || list.assignments != 1 || list.assignment[0].count == 0)
        status = nbc_fail(err, NBC_BAD_INPUT, "%s: '%s' is no value of one variable", name,
                          nb6_namelist_show(value, strlen(value)).text);
    else
        status = set_one(&list, config, err);
    nb6_namelist_free(&list);
    return status;
}
