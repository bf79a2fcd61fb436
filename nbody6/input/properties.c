#include "nbody6/input/properties.h"

#include "common/nbc.h"
#include "nbody6/input/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char NB6_STELLAR_RADIUS[] = "StellarRadius";

/* ---- made and released ---- */

struct named {
    int64_t name, place;
};

static int by_name(const void *a, const void *b)
{
    const struct named *p = a, *q = b;
    return (p->name > q->name) - (p->name < q->name);
}

static int sort_names(struct nb6_properties *p)
{
    struct named *list = nbc_alloc((size_t)p->n, sizeof *list);
    if (!list) return 0;
    for (int64_t i = 0; i < p->n; i++) list[i] = (struct named){p->name[i], i};
    qsort(list, (size_t)p->n, sizeof *list, by_name);
    for (int64_t i = 0; i < p->n; i++) p->order[i] = list[i].place;
    nbc_free(list);
    return 1;
}

int nb6_properties_create(int64_t n, const int64_t *name, struct nb6_properties **properties, struct nbc_error *err)
{
    struct nb6_properties *made = nbc_alloc(1, sizeof *made);
    *properties = NULL;
    if (made) {
        made->n = n;
        made->name = nbc_alloc((size_t)n, sizeof *made->name);
        made->order = nbc_alloc((size_t)n, sizeof *made->order);
        if (made->name) memcpy(made->name, name, (size_t)n * sizeof *name);
    }
    if (!made || !made->name || !made->order || !sort_names(made)) {
        nb6_properties_free(made);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the properties of %lld stars", (long long)n);
    }
    *properties = made;
    return NBC_OK;
}

void nb6_properties_free(struct nb6_properties *properties)
{
    if (!properties) return;
    for (int k = 0; k < properties->count; k++) nbc_free(properties->value[k]);
    nbc_free(properties->name);
    nbc_free(properties->order);
    nbc_free(properties);
}

int nb6_properties_add(struct nb6_properties *properties, const struct nb6_property *column, double **value,
                       struct nbc_error *err)
{
    const int k = properties->count;
    if (k == NB6_PROPERTIES_MAX)
        return nbc_fail(err, NBC_BAD_INPUT, "more than %d columns are to be kept with the stars; KEEP names those",
                        NB6_PROPERTIES_MAX);
    struct nb6_property *to = &properties->column[k];
    *to = *column;
    for (char *c = to->name; *c; c++)
        if (*c == '/') *c = '_';
    if (nb6_property_is_reserved(to->name)) strcat(to->name, "_");
    if (nb6_properties_find(properties, to->name) >= 0)
        return nbc_fail(err, NBC_BAD_INPUT, "two columns of the stars would be kept under the name %s; KEEP says which",
                        to->name);
    *value = nbc_alloc((size_t)properties->n, sizeof **value);
    if (!*value)
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the properties of %lld stars", (long long)properties->n);
    for (int64_t i = 0; i < properties->n; i++) (*value)[i] = NAN;
    properties->value[k] = *value;
    properties->count++;
    return NBC_OK;
}

int nb6_properties_copy(const struct nb6_properties *from, struct nb6_properties **to, struct nbc_error *err)
{
    *to = NULL;
    if (!from) return NBC_OK;
    struct nb6_properties *made;
    int status = nb6_properties_create(from->n, from->name, &made, err);
    for (int k = 0; k < from->count && !status; k++) {
        double *value;
        status = nb6_properties_add(made, &from->column[k], &value, err);
        if (!status) memcpy(value, from->value[k], (size_t)from->n * sizeof *value);
    }
    if (status) {
        nb6_properties_free(made);
        return status;
    }
    made->radii_act = from->radii_act;
    *to = made;
    return NBC_OK;
}

/* ---- asked ---- */

int nb6_property_is_reserved(const char *name)
{
    static const char *const names[] = {"Coordinates",     "Velocities",        "Masses",         "ParticleIDs",
                                        "Potential",       "Acceleration",      "Jerk",           "NeighbourRadius",
                                        "NeighbourNumber", "TimeStepIrregular", "TimeStepRegular"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcmp(names[k], name) == 0) return 1;
    return 0;
}

int nb6_properties_find(const struct nb6_properties *properties, const char *name)
{
    for (int k = 0; properties && k < properties->count; k++)
        if (strcmp(properties->column[k].name, name) == 0) return k;
    return -1;
}

int64_t nb6_properties_place(const struct nb6_properties *properties, int64_t name, int64_t near)
{
    int64_t low = 0, high = properties->n;
    if (near >= 0 && near < high && properties->name[near] == name) return near;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (properties->name[properties->order[middle]] < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low < properties->n && properties->name[properties->order[low]] == name ? properties->order[low] : -1;
}

int nb6_radii_act(const struct nb6_properties *properties)
{
    return properties && properties->radii_act;
}

double nb6_properties_radius(const struct nb6_properties *properties, int64_t name, double length_pc)
{
    if (!nb6_radii_act(properties)) return 0;
    const int k = nb6_properties_find(properties, NB6_STELLAR_RADIUS);
    const int64_t place = nb6_properties_place(properties, name, -1);
    const double radius = k >= 0 && place >= 0 ? properties->value[k][place] : 0;
    const double unit = k >= 0 && strcmp(properties->column[k].unit, "Rsun") == 0 ? NB6_RSUN_PC / length_pc : 1;
    return isfinite(radius) ? radius * unit : 0;
}
