#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"

#include <stddef.h>
#include <string.h>

static int is_in(const struct nb6_input_variable *v, const char *group)
{
    return strcmp(v->group, group) == 0;
}

static int is_named(const struct nb6_input_variable *v, const char *name)
{
    return strcmp(v->name, name) == 0;
}

/* Variables that apply to drawn masses only, not to those of a data file. */
static int is_of_masses(const struct nb6_input_variable *v)
{
    return is_in(v, "INDATA") && (is_named(v, "ALPHAS") || is_named(v, "BODY1") || is_named(v, "BODYN"));
}

/* Variables of stars that age. */
static int is_of_stars(const struct nb6_input_variable *v)
{
    return is_in(v, "INSSE") || is_named(v, "ZMET") || is_named(v, "EPOCH0");
}

/* Does the galaxy that KZ(14) asks for take this variable of &INXTRNL0? */
static int galaxy_takes(const struct nb6_input_variable *v, int galaxy)
{
    static const char *const gas[] = {"MP", "AP2", "MPDOT", "TDELAY"};
    if (is_named(v, "RG0")) return galaxy == 2;
    if (is_named(v, "RG") || is_named(v, "VG")) return galaxy == 3 || galaxy == 5;
    if (is_named(v, "GMG")) return galaxy == 2 || galaxy == 3;
    for (size_t k = 0; k < sizeof gas / sizeof gas[0]; k++)
        if (is_named(v, gas[k])) return galaxy == 3 || galaxy == 4;
    return galaxy == 3;
}

const char *nb6_input_unused(const struct nb6_input_values *values, const struct nb6_input_variable *v)
{
    const int data = nb6_input_kz(values, 22);
    const int binaries = nb6_input_kz(values, 8) != 0, model_read = data > 1;
    if (v->status >= NB6_UNREAD && v->status <= NB6_STELLAR) return nb6_input_reason(v->status);
    if (is_of_stars(v) && nb6_input_kz(values, 19) == 0) return "stars do not age (KZ(19) = 0)";
    if (is_in(v, "INXTRNL0") && !galaxy_takes(v, nb6_input_kz(values, 14)))
        return "these belong to kinds of galaxy other than KZ(14)'s";
    if (is_in(v, "INSETUP") && (nb6_input_kz(values, 5) != 2 || model_read))
        return "two Plummer models are made with KZ(5) = 2";
    if ((is_named(v, "NHI0") || is_in(v, "INHIPOP")) && (!binaries || nb6_input_kz(values, 18) < 2))
        return "primordial triples need KZ(8) > 0 and KZ(18) > 1";
    if ((is_in(v, "INBINPOP") || is_named(v, "NBIN0")) && !binaries)
        return "there are primordial binaries only with KZ(8) > 0";
    if ((is_in(v, "INBINPOP") || is_in(v, "INHIPOP") || (is_of_masses(v) && data != 9)) && model_read)
        return "stars are read, not made (KZ(22) > 1)";
    return NULL;
}
