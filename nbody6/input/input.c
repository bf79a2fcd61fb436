#include "nbody6/input/input.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_data_file.h"
#include "nbody6/input/input_gather.h"
#include "nbody6/input/input_print.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_text.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/positional.h"
#include "nbody6/input/words/words.h"

#include <stdio.h>
#include <string.h>

static int interpret(struct nb6_input_values *values, const struct nb6_input_options *options,
                     struct nb6_config *config, struct nbc_error *err)
{
    int status = nb6_input_check_missing(values, options, 0, err);
    if (status == NBC_OK) status = nb6_input_check_contradictions(values, err);
    if (status == NBC_OK) status = nb6_input_apply(values, options->notes, config, err);
    if (status == NBC_OK) status = nb6_input_settle(values, options->notes, config, err);
    if (status != NBC_OK) return status;
    status = nb6_config_check(config, err);
    if (status != NBC_OK) return nb6_input_locate(values, status, err);
    nb6_input_note_ignored(values, options->notes);
    return NBC_OK;
}

/* Values and configuration of a text. */
static int understand(const char *name, const char *text, size_t size, const struct nb6_input_options *options,
                      struct nb6_input_values *values, struct nb6_config *config, struct nbc_error *err)
{
    struct nb6_input_origin origin;
    nb6_config_init(config);
    if (strlen(name) >= NB6_PATH_MAX)
        return nbc_fail(err, NBC_BAD_INPUT, "the name of the input is longer than %d characters", NB6_PATH_MAX - 1);
    strcpy(config->run.input_path, name);
    int status = nb6_input_gather(name, text, size, options->notes, values, &origin, err);
    if (status != NBC_OK) return status;
    if (origin.code == NB6_CODE_NBODY6) strcpy(config->model.data_path, "fort.10");
    status = interpret(values, options, config, err);
    const int positional = origin.list.assignments > 0 && origin.list.assignment[0].positions > 0;
    if (status == NBC_OK && options->notes && !positional && config->tide.kind == NB6_TIDE_MILKY_WAY)
        fprintf(options->notes, "note: VG is in km/s; versions of NBODY6++ have pc/Myr with KZ(14)=5\n");
    if (status != NBC_OK) nb6_input_values_free(values);
    status = nb6_positional_locate(&origin.list, status, err);
    nb6_namelist_free(&origin.list);
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

/* Values and configuration of a text that was loaded; then its data file is looked for. */
static int understand_loaded(const struct nb6_input_text *text, const struct nb6_input_options *options,
                             struct nb6_input_values *values, struct nb6_config *config, struct nbc_error *err)
{
    int status = understand(text->name, text->text, text->size, options, values, config, err);
    if (status == NBC_OK) nb6_input_find_costs(text->path, config);
    if (status != NBC_OK || config->model.kind != NB6_MODEL_FILE) return status;
    nb6_input_find_data(text->path, nb6_input_get(values, "INMODEL", "DATA")->line != 0, options->notes, config);
    return NBC_OK;
}

int nb6_input_read_loaded(const struct nb6_input_text *text, const struct nb6_input_options *options,
                          struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_input_options no_options = {0};
    struct nb6_input_values values;
    struct nb6_config result;
    int status = understand_loaded(text, options ? options : &no_options, &values, &result, err);
    if (status != NBC_OK) return status;
    nb6_input_values_free(&values);
    *config = result;
    return NBC_OK;
}

int nb6_input_read(const char *path, const struct nb6_input_options *options, struct nb6_config *config,
                   struct nbc_error *err)
{
    struct nb6_input_text text;
    int status = nb6_input_load(path, &text, err);
    if (status != NBC_OK) return status;
    status = nb6_input_read_loaded(&text, options, config, err);
    nb6_input_unload(&text);
    return status;
}

/* Of a run that goes on only changes are asked for: there is no configuration to make of them. */
static int print_restart(FILE *out, const struct nb6_input_text *text, const struct nb6_input_options *options,
                         struct nbc_error *err)
{
    struct nb6_input_values values;
    struct nb6_input_origin origin;
    struct nb6_config config;
    nb6_config_init(&config);
    int status = nb6_input_gather(text->name, text->text, text->size, options->notes, &values, &origin, err);
    if (status != NBC_OK) return status;
    status = nb6_positional_locate(&origin.list, nb6_input_check_missing(&values, options, 1, err), err);
    if (status == NBC_OK) nb6_input_print(out, &values, &config);
    nb6_input_values_free(&values);
    nb6_namelist_free(&origin.list);
    return status;
}

static int print_loaded(FILE *out, const struct nb6_input_text *text, const struct nb6_input_options *options,
                        struct nbc_error *err)
{
    struct nb6_input_values values;
    struct nb6_config config;
    int kstart, status = nb6_input_kstart(text, &kstart, err);
    if (status != NBC_OK) return status;
    if (kstart > 1) return print_restart(out, text, options, err);
    status = understand_loaded(text, options, &values, &config, err);
    if (status != NBC_OK) return status;
    nb6_input_print(out, &values, &config);
    nb6_input_values_free(&values);
    return NBC_OK;
}

int nb6_input_to_namelist(FILE *out, const char *path, const struct nb6_input_options *options, struct nbc_error *err)
{
    struct nb6_input_text text;
    int status = nb6_input_load(path, &text, err);
    if (status != NBC_OK) return status;
    status = print_loaded(out, &text, options, err);
    nb6_input_unload(&text);
    return status;
}

/* One assignment of a known variable, over the present value of the configuration. */
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
    if (status == NBC_OK) status = nb6_input_check_missing(&values, &no_options, 0, err);
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
