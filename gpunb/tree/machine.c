/* The machine that nominal costs are of, and that on which a handle computes. */
#include "gpunb/tree/method.h"

#include "gpunb/handle.h"

#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* "AuthenticAMD family 26"; "" where there is no way to tell. */
static void name_processor(char *text, size_t size)
{
    text[0] = '\0';
#if defined(__x86_64__)
    unsigned a, b, c, d;
    char vendor[13] = "";
    if (!__get_cpuid(0, &a, &b, &c, &d)) return;
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    if (!__get_cpuid(1, &a, &b, &c, &d)) return;
    const unsigned base = a >> 8 & 0xf, extended = a >> 20 & 0xff;
    snprintf(text, size, "%s family %u", vendor, base == 0xf ? base + extended : base);
#else
    (void)size;
#endif
}

void gpunb_tree_machine(const gpunb_t *handle, char text[GPUNB_TREE_MACHINE])
{
    if (gpunb_gpus(handle, 0, NULL) > 0)
        gpunb_device_names(handle, text, GPUNB_TREE_MACHINE);
    else
        name_processor(text, GPUNB_TREE_MACHINE);
}

void gpunb_tree_describe_row(const struct gpunb_tree_costs *costs, int is_own, const char *machine,
                             char text[GPUNB_TREE_MACHINE])
{
    if (is_own)
        snprintf(text, GPUNB_TREE_MACHINE, "those given, of %s", costs->machine);
    else if (strstr(machine, costs->processor))
        snprintf(text, GPUNB_TREE_MACHINE, "%s, %s", costs->backend, costs->machine);
    else
        snprintf(text, GPUNB_TREE_MACHINE, "%s, %s, the nearest to %s; bench/tune_tree finds those of this machine",
                 costs->backend, costs->machine, machine[0] ? machine : "this machine");
}

void gpunb_tree_describe_costs(const gpunb_t *handle, char text[GPUNB_TREE_MACHINE])
{
    char machine[GPUNB_TREE_MACHINE];
    text[0] = '\0';
    if (!handle->tree) return;
    gpunb_tree_machine(handle, machine);
    gpunb_tree_describe_row(&handle->tree->costs, handle->tree->has_own_costs, machine, text);
}

double gpunb_tree_pair_cost(const gpunb_t *handle)
{
    struct gpunb_tree_costs row;
    if (handle->tree) return handle->tree->costs.pair;
    gpunb_tree_costs_row(handle->backend->name, &row);
    return row.pair;
}

void gpunb_tree_costs_in_use(const gpunb_t *handle, char text[GPUNB_TREE_COSTS_TEXT])
{
    text[0] = '\0';
    if (handle->tree) gpunb_tree_costs_print(&handle->tree->costs, text);
}
