#include "nbody6/app/data_note.h"

#include "nbody6/analysis/multiples.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double AU_PER_PC = 206264.80624709636; /* 648000/pi, IAU 2015 Resolution B2 */

__attribute__((format(printf, 2, 3))) static void add(char text[NB6_DATA_TEXT], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, NB6_DATA_TEXT - used, format, arguments);
    va_end(arguments);
}

static void describe_systems(const struct nb6_model *model, const struct nb6_multiples *m, char text[NB6_DATA_TEXT])
{
    const double au = model->rbar_pc * AU_PER_PC;
    if (m->n_binary + m->n_triple + m->n_larger == 0) {
        add(text, "; no binaries in them");
        return;
    }
    add(text, "; in them %lld %s", (long long)m->n_binary, m->n_binary == 1 ? "binary" : "binaries");
    if (m->n_triple) add(text, ", %lld triple%s", (long long)m->n_triple, m->n_triple == 1 ? "" : "s");
    if (m->n_larger) add(text, ", %lld larger system%s", (long long)m->n_larger, m->n_larger == 1 ? "" : "s");
    add(text, ", semi-major axes of two stars from %.3g to %.3g (%.3g to %.3g AU)", m->a_least, m->a_most,
        m->a_least * au, m->a_most * au);
}

static void describe_massless(const struct nb6_model *model, char text[NB6_DATA_TEXT])
{
    int64_t count = 0, first = 0;
    for (int64_t i = model->n; i-- > 0;) {
        if (model->mass[i] > 0) continue;
        count++;
        first = model->name[i];
    }
    if (count == 1)
        add(text, "; star %lld has mass 0, and attracts no other", (long long)first);
    else if (count > 1)
        add(text, "; %lld stars have mass 0, star %lld and others, and attract none", (long long)count,
            (long long)first);
}

/* GADGET writes h whether its units have it or not. */
static void describe_hubble(const struct nb6_model *model, char text[NB6_DATA_TEXT])
{
    const double h = model->data.hubble;
    if (h == 0) return;
    add(text, "; HubbleParam = %g in a file without cosmology is not used", h);
    if (model->data.units == NB6_FILE_PHYSICAL)
        add(text, ": %.4g Msun in all; with lengths and masses in units of 1/h it would be %.4g Msun",
            model->zmbar_msun * (double)model->n, model->zmbar_msun * (double)model->n / h);
    add(text, "%s lengths %.4g times as large: then divide UnitLength_in_cm and UnitMass_in_g in the file by h",
        model->data.units == NB6_FILE_PHYSICAL ? ", and" : "; with lengths and masses in units of 1/h", 1 / h);
}

void nb6_data_tell_units(const struct nb6_data_facts *data, char text[NB6_DATA_UNITS])
{
    static const char *const from[] = {[NB6_UNITS_ASSUMED] = ", as nothing else is said and the masses add up to 1",
                                       [NB6_UNITS_KZ] = ", as KZ(22) says",
                                       [NB6_UNITS_INPUT] = ", as UNITS says",
                                       [NB6_UNITS_FILE] = ", as the file says"};
    snprintf(text, NB6_DATA_UNITS, "%s%s%s", data->units_text, from[data->units_from],
             data->units == NB6_FILE_NBODY_SCALED ? "; scaled to N-body units" : "");
}

void nb6_data_describe(const struct nb6_model *model, const struct nb6_multiples *systems, int units,
                       char text[NB6_DATA_TEXT])
{
    const struct nb6_data_facts *data = &model->data;
    char of_file[NB6_DATA_UNITS];
    nb6_data_tell_units(data, of_file);
    snprintf(text, NB6_DATA_TEXT, "%lld stars from a %s%s%s", (long long)model->n, data->format, units ? " in " : "",
             units ? of_file : "");
    if (data->units == NB6_FILE_PHYSICAL) add(text, ", length unit %.6g pc", model->rbar_pc);
    if (data->rows_unused) add(text, "; %lld more are not used", (long long)data->rows_unused);
    if (data->columns_unused)
        add(text, "; %d column%s not used", data->columns_unused, data->columns_unused == 1 ? " is" : "s are");
    for (int k = 0; model->properties && k < model->properties->count; k++)
        add(text, "%s%s%s%s%s", k ? ", " : "; kept with them: ", model->properties->column[k].name,
            model->properties->column[k].unit[1] ? " (" : "",
            model->properties->column[k].unit[1] ? model->properties->column[k].unit : "",
            model->properties->column[k].unit[1] ? ")" : "");
    if (data->unread[0]) add(text, "; not read: %s", data->unread);
    if (data->ids_unused) add(text, "; ids are not used, as they are not all different and from 1 to 2^62 - 1");
    describe_hubble(model, text);
    if (data->t != 0) add(text, "; of t = %.6g there, which is t = 0 here", data->t);
    describe_massless(model, text);
    describe_systems(model, systems, text);
}
