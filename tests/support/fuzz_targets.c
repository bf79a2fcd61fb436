#include "tests/support/fuzz_targets.h"
#include "common/nbc.h"
#include "nbody6/input/config.h"

#include "nbody6/input/input.h"
#include "nbody6/input/input_text.h"
#include "nbody6/input/properties.h"
#include "nbody6/model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A refusal has a message, with this in it. */
static const char *check_refusal(int status, const struct nbc_error *err, const char *wanted)
{
    if (status == NBC_NO_MEMORY) return NULL;
    if (status != NBC_BAD_INPUT) return "status is neither NBC_OK nor NBC_BAD_INPUT";
    if (err->status != status || !memchr(err->text, '\0', sizeof err->text) || !err->text[0])
        return "the error is not filled";
    return strstr(err->text, wanted) ? NULL : "the message does not name the file";
}

static int open_memory(const char *name, const uint8_t *data, size_t size, char path[32])
{
    int file = memfd_create(name, 0);
    if (file < 0) return -1;
    snprintf(path, 32, "/proc/self/fd/%d", file);
    if (size == 0 || write(file, data, size) == (ssize_t)size) return file;
    close(file);
    return -1;
}

/* A good input and the namelist that is written of it are the same configuration. */
static const char *check_as_namelist(const char *path, const struct nb6_input_options *options,
                                     const struct nb6_config *config)
{
    static struct nb6_config again;
    struct nbc_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    int status = nb6_input_to_namelist(out, path, options, &err);
    fclose(out);
    const char *broken = status == NBC_OK || status == NBC_NO_MEMORY ? NULL : "a good input gives no namelist";
    if (status == NBC_OK) {
        status = nb6_input_read_text("f.inp", text, size, NULL, &again, &err);
        if (status != NBC_OK && status != NBC_NO_MEMORY) broken = "the namelist of a good input is refused";
    }
    free(text);
    if (status != NBC_OK || broken) return broken;
    /* The name of a data file that is not used is not written. */
    if (config->model.kind != NB6_MODEL_FILE) memcpy(again.model.data_path, config->model.data_path, NB6_PATH_MAX);
    return memcmp(&again, config, sizeof again) == 0 ? NULL : "the namelist of a good input is another configuration";
}

const char *fuzz_namelist(const uint8_t *data, size_t size)
{
    static struct nb6_config config, untouched;
    static FILE *notes;
    struct nbc_error err = {0};
    if (size == 0) return NULL;
    if (!notes) notes = fopen("/dev/null", "w");
    const struct nb6_input_options options = {.dynamics_only = data[0] & 1, .notes = notes};
    memset(&config, 0x5a, sizeof config);
    untouched = config;
    int status = nb6_input_read_text("f.inp", (const char *)data + 1, size - 1, &options, &config, &err);
    if (status != NBC_OK) {
        if (memcmp(&config, &untouched, sizeof config) != 0)
            return "the configuration was touched in spite of an error";
        return check_refusal(status, &err, "f.inp");
    }
    if (nb6_config_check(&config, &err) != NBC_OK) return "an accepted configuration is invalid";
    if (config.model.n != 0 && config.model.n < 2) return "N < 2 was accepted";
    int exponent;
    if (frexp(config.integration.dt_max, &exponent) != 0.5) return "SMAX is no power of two";
    if (!memchr(config.model.data_path, '\0', sizeof config.model.data_path)) return "DATA has no end";
    char path[32];
    int file = open_memory("f.inp", data + 1, size - 1, path);
    if (file < 0) return NULL;
    const char *broken = check_as_namelist(path, &options, &config);
    close(file);
    return broken;
}

/* After permitted changes the configuration is valid, with the same stars, units and galaxy. */
static const char *check_changed(const struct nb6_config *before, const struct nb6_config *after,
                                 const struct nb6_changes *changes)
{
    struct nbc_error err = {0};
    if (nb6_config_check(after, &err) != NBC_OK) return "a changed configuration is invalid";
    if (memcmp(&before->model, &after->model, sizeof before->model) != 0) return "the model changed";
    if (memcmp(&before->tide, &after->tide, sizeof before->tide) != 0) return "the galaxy changed";
    if (before->rbar_pc != after->rbar_pc || before->zmbar_msun != after->zmbar_msun) return "the units changed";
    const int different = memcmp(before, after, sizeof *before) != 0;
    if (different != (changes->count > 0)) return "changes are not those that are told";
    return changes->count < NB6_CHANGES_MAX ? NULL : "there is no room for all changes";
}

const char *fuzz_changes(const uint8_t *data, size_t size)
{
    static struct nb6_config before, after;
    static struct nb6_changes changes;
    static FILE *notes;
    struct nbc_error err = {0};
    if (size == 0) return NULL;
    if (!notes) notes = fopen("/dev/null", "w");
    const struct nb6_input_options options = {.dynamics_only = data[0] & 1, .notes = notes};
    const struct nb6_input_text text = {"f.inp", "f.inp", (char *)(uintptr_t)(data + 1), size - 1};
    nb6_config_init(&before);
    before.model.n = 100;
    after = before;
    int status = nb6_input_change(&text, &options, (double)(data[0] >> 1), &after, &changes, &err);
    if (status == NBC_OK) return check_changed(&before, &after, &changes);
    if (memcmp(&before, &after, sizeof before) != 0) return "the configuration was touched in spite of an error";
    return check_refusal(status, &err, "f.inp");
}

static const char *check_properties(const struct nb6_properties *p)
{
    if (!p) return NULL;
    if (p->count < 1 || p->count > NB6_PROPERTIES_MAX) return "properties without columns, or too many";
    for (int k = 0; k < p->count; k++) {
        const struct nb6_property *column = &p->column[k];
        if (!memchr(column->name, '\0', sizeof column->name) || !memchr(column->unit, '\0', sizeof column->unit))
            return "the name of a property, or its unit, has no end";
        if (!column->name[0] || strchr(column->name, '/') || nb6_property_is_reserved(column->name))
            return "a property has a name that no dataset can have";
        if (nb6_properties_find(p, column->name) != k) return "two properties have one name";
        for (int64_t i = 0; i < p->n; i++)
            if (isinf(p->value[k][i])) return "a property is infinite";
    }
    for (int64_t i = 0; i < p->n; i++) {
        if (nb6_properties_place(p, p->name[i], -1) != i) return "a star's properties are not found";
        if (!(nb6_properties_radius(p, p->name[i], 1) >= 0)) return "a radius that acts is negative";
    }
    return NULL;
}

static const char *check_model(const struct nb6_model *model)
{
    double mass = 0;
    const char *broken = check_properties(model->properties);
    if (broken) return broken;
    for (int64_t i = 0; i < model->n; i++) {
        if (!(model->mass[i] >= 0) || !isfinite(model->mass[i])) return "a mass is negative or not finite";
        mass += model->mass[i];
        for (int k = 0; k < 3; k++)
            if (!isfinite(model->x[i][k]) || !isfinite(model->v[i][k])) return "a coordinate is not finite";
    }
    return mass > 0 ? NULL : "a model without mass was accepted";
}

const char *fuzz_dat10(const uint8_t *data, size_t size)
{
    static struct nb6_config config;
    static const enum nb6_file_units units[] = {NB6_FILE_NBODY, NB6_FILE_NBODY_SCALED, NB6_FILE_PHYSICAL,
                                                NB6_FILE_UNSTATED};
    struct nbc_error err = {0};
    if (size == 0) return NULL;
    char path[32];
    int file = open_memory("dat.10", data + 1, size - 1, path);
    if (file < 0) return NULL;
    nb6_config_init(&config);
    config.model.kind = NB6_MODEL_FILE;
    config.model.file_units = units[data[0] % 4];
    config.model.n = data[0] & 4 ? 3 : 0;
    config.data.length_unit_open = data[0] & 8 ? 1 : 0;
    if (data[0] & 16) strcpy(config.data.columns, data[0] & 32 ? "7 2 3 4 5 6 1" : "mass x y z vx vy vz id");
    if (data[0] & 64) strcpy(config.data.keep, data[0] & 32 ? "all" : "radius, kw, Z");
    config.data.radii = (data[0] & 192) == 128;
    strcpy(config.model.data_path, path);
    struct nb6_model model = {0};
    int status = nb6_model_make(&config, &model, &err);
    const char *broken;
    if (status == NBC_OK) {
        broken = check_model(&model);
        nb6_model_free(&model);
    } else {
        broken = check_refusal(status, &err, ""); /* scaling names quantities, not the file */
    }
    close(file);
    return broken;
}

const char *fuzz_stellar(const uint8_t *data, size_t size)
{
    static const char stars[] = "0.5 1 0 0 0 0.5 0\n0.3 -1 0 0 0 -0.5 0\n0.2 0 1 0 0 0 0.1\n";
    static struct nb6_config config;
    struct nbc_error err = {0};
    char table[32], path[32];
    if (size == 0) return NULL;
    const int first = open_memory("dat.10", (const uint8_t *)stars, sizeof stars - 1, table);
    const int file = open_memory("fort.12", data + 1, size - 1, path);
    const char *broken = NULL;
    if (first >= 0 && file >= 0) {
        struct nb6_model model = {0};
        nb6_config_init(&config);
        config.model.kind = NB6_MODEL_FILE;
        config.model.n = data[0] & 1 ? 3 : 0;
        strcpy(config.model.data_path, table);
        strcpy(config.data.stellar_path, path);
        const int status = nb6_model_make(&config, &model, &err);
        broken = status == NBC_OK ? check_model(&model) : check_refusal(status, &err, path);
        if (status == NBC_OK) nb6_model_free(&model);
    }
    if (first >= 0) close(first);
    if (file >= 0) close(file);
    return broken;
}
