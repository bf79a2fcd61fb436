#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_layouts.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/petar.h"
#include "nbody6/model/table_lines.h"

#include <locale.h>

/* A file with the layout given by KZ(22), without units. */
static int read_layout(const struct nb6_config *config, const struct nb6_columns *columns, struct nb6_model *model,
                       struct nbc_error *err)
{
    const char *path = config->model.data_path;
    struct nb6_table_lines lines = {.number = 0};
    const char *of_tables = columns->count ? "COLUMNS" : columns->keep.count || columns->keep.all ? "KEEP" : NULL;
    if (of_tables)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: %s is no table, by KZ(22); remove %s, or set KZ(22) = 2", of_tables,
                        path, of_tables);
    int status = nb6_table_open(path, &lines, err);
    if (status) return status;
    status = config->data.layout == NB6_LAYOUT_TREE ? nb6_layout_read_tree(&lines, model, err)
                                                    : nb6_layout_read_starlab(&lines, model, err);
    nb6_table_close(&lines);
    if (!status && (status = nb6_model_refuse_coincident(path, NULL, model, err))) nb6_model_free(model);
    return status;
}

/* A snapshot of PeTar, without units. */
static int read_petar(const struct nb6_config *config, enum nb6_petar kind, const struct nb6_columns *columns,
                      struct nb6_model *model, struct nbc_error *err)
{
    const char *path = config->model.data_path;
    const int64_t n = config->model.n;
    double scale[NB6_ID];
    struct nb6_model made = {.n = 0};
    if (columns->keep.count || columns->keep.all)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: KEEP: of snapshots of PeTar masses, places and velocities are read; remove KEEP", path);
    for (int k = 0; k < NB6_ID; k++) scale[k] = nb6_data_scale(config, (enum nb6_quantity)k);
    int status = nb6_petar_read(path, kind, scale, &made, err);
    if (!status && n > made.n)
        status = nbc_fail(err, NBC_BAD_INPUT, "%s: %lld stars, but N = %lld: set N = %lld", path, (long long)made.n,
                          (long long)n, (long long)made.n);
    if (!status) status = nb6_model_refuse_coincident(path, NULL, &made, err);
    if (status) {
        nb6_model_free(&made);
        return status;
    }
    if (n > 0) {
        made.data.rows_unused = made.n - n;
        made.n = n;
    }
    *model = made;
    return NBC_OK;
}

/* A file, and what is wanted of it: the stars, or how many there are. */
struct request {
    const struct nb6_config *config;
    struct nb6_model *model;
    struct nb6_data_units *units;
    int64_t *n;
    struct nbc_error *err;
};

static int read_file(const struct request *r)
{
    const struct nb6_config *config = r->config;
    struct nb6_model *model = r->model;
    struct nb6_data_units *units = r->units;
    struct nbc_error *err = r->err;
    struct nb6_columns columns;
    const int status = nb6_columns_parse(config->data.columns, config->data.keep, &columns, err);
    if (status) return status;
    if (config->data.layout != NB6_LAYOUT_FOUND) return read_layout(config, &columns, model, err);
    const char *path = config->model.data_path;
    if (nb6_particles_is_hdf5(path)) return nb6_particles_read(config, &columns, model, units, err);
    const enum nb6_petar kind = columns.count ? NB6_PETAR_NONE : nb6_petar_kind(path);
    if (kind != NB6_PETAR_NONE) return read_petar(config, kind, &columns, model, err);
    return nb6_table_read(config, &columns, model, units, err);
}

/* Of the layouts that are not here, all stars are read at once. */
static int count_stars(const struct request *r)
{
    struct nb6_columns columns;
    const struct nb6_config *config = r->config;
    const char *path = config->model.data_path;
    const int status = nb6_columns_parse(config->data.columns, config->data.keep, &columns, r->err);
    if (status || config->data.layout != NB6_LAYOUT_FOUND) return status;
    if (nb6_particles_is_hdf5(path)) return nb6_particles_size(config, &columns, r->n, r->err);
    if (!columns.count && nb6_petar_kind(path) != NB6_PETAR_NONE) return NBC_OK;
    return nb6_table_size(config, &columns, r->n, r->err);
}

/* strtod follows the locale of the program: a comma for a point in many. */
static int in_c_locale(int (*answer)(const struct request *), const struct request *r)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return nbc_fail(r->err, NBC_NO_MEMORY, "%s: no memory to read it", r->config->model.data_path);
    const locale_t before = uselocale(c_locale);
    const int status = answer(r);
    uselocale(before);
    freelocale(c_locale);
    return status;
}

int nb6_model_read(const struct nb6_config *config, struct nb6_model *model, struct nb6_data_units *units,
                   struct nbc_error *err)
{
    return in_c_locale(read_file, &(struct request){config, model, units, NULL, err});
}

int nb6_model_size_of_file(const struct nb6_config *config, int64_t *n, struct nbc_error *err)
{
    return in_c_locale(count_stars, &(struct request){config, NULL, NULL, n, err});
}
