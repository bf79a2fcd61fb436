#include "nbody6/app/status/status_read.h"

#include "common/file.h"

#include <stdint.h>
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

/* A run writes a count; another program may have written any number. */
static int64_t count_of(const char *names, const char *row, const char *name)
{
    const double value = value_of(names, row, name);
    return value > 0 && value < INT32_MAX ? (int64_t)value : 0;
}

/* The last line that has an end and is no comment, and the one before it; lines are cut there. */
static const char *last_line(char *text, const char **before)
{
    const char *found = NULL;
    char *end;
    *before = NULL;
    for (char *line = text; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (line[0] == '#' || !line[0]) continue;
        *before = found;
        found = line;
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
    const char *before, *row = last_line(tail, &before);
    if (!row || !is_number(row)) return; /* the names, or a line cut at its beginning */
    *last = (struct nb6_last_row){.known = 1,
                                  .t = value_of(names, row, "t"),
                                  .t_myr = value_of(names, row, "t_myr"),
                                  .de_cluster = value_of(names, row, "de_cluster"),
                                  .de_cluster_interval = value_of(names, row, "de_cluster_interval"),
                                  .wall_s = value_of(names, row, "wall_s"),
                                  .n = count_of(names, row, "n")};
    for (int k = 0; k < NB6_ERROR_PARTS; k++) {
        last->part[k] = value_of(names, row, nb6_error_part_names[k]);
        if (before && is_number(before)) last->part[k] -= value_of(names, before, nb6_error_part_names[k]);
    }
}

/* @return NULL where there is no such file, or one that may never end */
static FILE *open_text(const char *path)
{
    return nbc_file_refuse_special(path, NULL) ? NULL : fopen(path, "rb");
}

struct nb6_last_row nb6_status_last_row(const char *log)
{
    struct nb6_last_row last = {0};
    FILE *file = open_text(log);
    if (!file) return last;
    read_row(file, &last);
    fclose(file);
    return last;
}

static int64_t lines_with(const char *events, const char *start, const char *kind)
{
    char line[512]; /* longer lines come in pieces, of which the first has time and kind */
    int64_t count = 0;
    FILE *file = open_text(events);
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        count += strncmp(line, start, strlen(start)) == 0 && strstr(line, kind) != NULL;
    fclose(file);
    return count;
}

int64_t nb6_status_escapes_at(const char *events, double t)
{
    char start[64];
    snprintf(start, sizeof start, "{\"t\": %.12g, ", t); /* as nb6_events_text has it */
    return lines_with(events, start, "\"event\": \"escape\"");
}

int64_t nb6_status_energy_jumps(const char *events)
{
    return lines_with(events, "", "\"event\": \"energy_jump\"");
}
