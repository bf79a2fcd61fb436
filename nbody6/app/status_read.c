#include "nbody6/app/status_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of the log has some 1500 characters: the last whole one is in this much of its end. */
enum { TAIL_BYTES = 65536, HEAD_BYTES = 8192 };

/* Value of a column, both lines in the same order; 0 if it is not there. */
static double value_of(const char *names, const char *row, const char *name)
{
    const size_t length = strlen(name);
    while (names && row) {
        if (strncmp(names, name, length) == 0 && (names[length] == ',' || names[length] == 0)) return strtod(row, NULL);
        names = strchr(names, ',');
        row = strchr(row, ',');
        if (names && row) names++, row++;
    }
    return 0;
}

/* The last line that has an end and is no comment; lines are cut there. */
static const char *last_line(char *text)
{
    const char *found = NULL;
    char *end;
    for (char *line = text; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (line[0] != '#' && line[0]) found = line;
    }
    return found;
}

static int is_number(const char *row)
{
    char *end;
    strtod(row, &end);
    return end != row && *end == ',';
}

static void read_row(FILE *file, struct nb6_last_row *last)
{
    static char names[HEAD_BYTES], tail[TAIL_BYTES + 1]; /* the command has one thread when it reads */
    if (!fgets(names, sizeof names, file)) return;
    names[strcspn(names, "\n")] = 0;
    if (fseek(file, -TAIL_BYTES, SEEK_END)) rewind(file);
    tail[fread(tail, 1, TAIL_BYTES, file)] = 0;
    const char *row = last_line(tail);
    if (!row || !is_number(row)) return; /* the names, or a line cut at its beginning */
    *last = (struct nb6_last_row){.known = 1,
                                  .t = value_of(names, row, "t"),
                                  .t_myr = value_of(names, row, "t_myr"),
                                  .de_cluster = value_of(names, row, "de_cluster"),
                                  .de_cluster_interval = value_of(names, row, "de_cluster_interval"),
                                  .wall_s = value_of(names, row, "wall_s"),
                                  .n = (int64_t)value_of(names, row, "n")};
}

struct nb6_last_row nb6_status_last_row(const char *log)
{
    struct nb6_last_row last = {0};
    FILE *file = fopen(log, "rb");
    if (!file) return last;
    read_row(file, &last);
    fclose(file);
    return last;
}

int64_t nb6_status_energy_jumps(const char *events)
{
    char line[512]; /* longer lines come in pieces, of which the first has the kind */
    int64_t count = 0;
    FILE *file = fopen(events, "rb");
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) count += strstr(line, "\"event\": \"energy_jump\"") != NULL;
    fclose(file);
    return count;
}
