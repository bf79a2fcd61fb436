#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

int nb6_input_find_group(const char *name)
{
    for (int k = 0; k < nb6_input_group_count; k++)
        if (strcasecmp(nb6_input_groups[k].name, name) == 0) return k;
    return -1;
}

/* NBODY6++ users distribute the variables of stellar evolution over three groups; each is known in all of them. */
static int is_stellar_group(const char *group)
{
    return strcasecmp(group, "INSSE") == 0 || strcasecmp(group, "INBSE") == 0 || strcasecmp(group, "INCOLL") == 0;
}

static int is_of_group(const struct nb6_input_variable *variable, const char *group)
{
    return !group || strcasecmp(variable->group, group) == 0 ||
           (is_stellar_group(group) && is_stellar_group(variable->group));
}

int nb6_input_find_variable(const char *group, const char *name)
{
    for (int k = 0; k < nb6_input_variable_count; k++)
        if (is_of_group(&nb6_input_variables[k], group) && strcasecmp(nb6_input_variables[k].name, name) == 0) return k;
    return -1;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance with transpositions, for short names. */
static int edit_distance(const char *a, int m, const char *b, int n)
{
    int row[3][NB6_NAMELIST_NAME_MAX + 1];
    int *before = row[0], *last = row[1], *now = row[2];
    for (int j = 0; j <= n; j++) last[j] = j;
    for (int i = 1; i <= m; i++) {
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            int same = toupper((unsigned char)a[i - 1]) == toupper((unsigned char)b[j - 1]);
            now[j] = smaller(last[j - 1] + !same, smaller(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && toupper((unsigned char)a[i - 1]) == toupper((unsigned char)b[j - 2]) &&
                toupper((unsigned char)a[i - 2]) == toupper((unsigned char)b[j - 1]))
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[n];
}

int nb6_input_distance(const char *a, const char *b)
{
    int m = (int)strlen(a), n = (int)strlen(b);
    if (m > NB6_NAMELIST_NAME_MAX || n > NB6_NAMELIST_NAME_MAX) return -1;
    int distance = edit_distance(a, m, b, n);
    int longest = m > n ? m : n;
    return distance <= (longest <= 3 ? 1 : 1 + longest / 3) && distance < longest ? distance : -1;
}

const char *nb6_input_near_variable(const char *group, const char *name)
{
    const char *near = NULL;
    int best = NB6_NAMELIST_NAME_MAX;
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        int distance = is_of_group(v, group) ? nb6_input_distance(name, v->name) : -1;
        if (distance < 0 || distance >= best) continue;
        best = distance;
        near = v->name;
    }
    return near;
}

const char *nb6_input_near_group(const char *name)
{
    const char *near = NULL;
    int best = NB6_NAMELIST_NAME_MAX;
    for (int k = 0; k < nb6_input_group_count; k++) {
        int distance = nb6_input_distance(name, nb6_input_groups[k].name);
        if (distance < 0 || distance >= best) continue;
        best = distance;
        near = nb6_input_groups[k].name;
    }
    return near;
}
