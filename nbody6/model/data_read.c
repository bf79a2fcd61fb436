#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/data_columns.h"
#include "nbody6/input/unit_names.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"

int nb6_model_read(const struct nb6_config *config, struct nb6_model *model, struct nb6_data_units *units,
                   struct nbc_error *err)
{
    struct nb6_columns columns;
    const int status = nb6_columns_parse(config->data.columns, &columns, err);
    if (status) return status;
    return nb6_particles_is_hdf5(config->model.data_path)
               ? nb6_particles_read(&config->model, &columns, model, units, err)
               : nb6_table_read(&config->model, &columns, model, units, err);
}
