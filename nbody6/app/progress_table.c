#include "nbody6/app/progress_table.h"

#include "nbody6/analysis/adjust_row.h"

#include <stdio.h>
#include <string.h>

/* In this order. The first ones fit the narrowest terminal. */
static const struct {
    const char *name;
    int width;
} column[] = {{"T", 11}, {"T[Myr]", 11}, {"Q", 7},  {"DE", 10}, {"E", 17},
              {"N", 8},  {"<NNB>", 7},   {"RC", 9}, {"RH", 9},  {"STEPS", 12}};

enum { COLUMNS = sizeof column / sizeof column[0], VALUE_TEXT = 40 };

int nb6_table_columns(int width)
{
    int k = 1, used = column[0].width;
    for (; k < COLUMNS && (width <= 0 || used + 1 + column[k].width <= width); k++) used += 1 + column[k].width;
    return k;
}

static void print_values(const struct nb6_adjust_row *row, double time_myr, char value[COLUMNS][VALUE_TEXT])
{
    int k = 0;
    snprintf(value[k++], VALUE_TEXT, "%.5g", row->t);
    snprintf(value[k++], VALUE_TEXT, "%.5g", row->t * time_myr);
    snprintf(value[k++], VALUE_TEXT, "%.4f", row->energy.virial_ratio);
    snprintf(value[k++], VALUE_TEXT, "%.2e", row->de_cluster);
    snprintf(value[k++], VALUE_TEXT, "%.10f", row->energy.total);
    snprintf(value[k++], VALUE_TEXT, "%lld", (long long)row->n);
    snprintf(value[k++], VALUE_TEXT, "%.1f", row->nnb_mean);
    snprintf(value[k++], VALUE_TEXT, "%.5f", row->r_core);
    snprintf(value[k++], VALUE_TEXT, "%.5f", row->r_half);
    snprintf(value[k++], VALUE_TEXT, "%llu", (unsigned long long)row->counters.steps_irr);
}

static void add(int k, const char *value, char text[NB6_TABLE_TEXT])
{
    const size_t used = strlen(text);
    snprintf(text + used, NB6_TABLE_TEXT - used, "%s%*s", k ? " " : "", column[k].width, value);
}

void nb6_table_header(int columns, char text[NB6_TABLE_TEXT])
{
    text[0] = 0;
    for (int k = 0; k < columns; k++) add(k, column[k].name, text);
}

void nb6_table_row(const struct nb6_adjust_row *row, double time_myr, int columns, char text[NB6_TABLE_TEXT])
{
    char value[COLUMNS][VALUE_TEXT];
    print_values(row, time_myr, value);
    text[0] = 0;
    for (int k = 0; k < columns; k++) add(k, value[k], text);
}
