#include "bench/support/arguments.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers up to the end, or to a sign that may follow; *end: where they end, the beginning if there is none. */
static int read_whole(const char *text, char **end)
{
    errno = 0;
    const long value = strtol(text, end, 10);
    if (errno || value < INT_MIN || value > INT_MAX) *end = (char *)(uintptr_t)text;
    return (int)value;
}

static int take_whole(const char *value, int *to)
{
    char *end;
    const int number = read_whole(value, &end);
    if (end == value || *end) return 0;
    *to = number;
    return 1;
}

static int take_range(const char *value, int *lowest, int *highest)
{
    char *end;
    const int first = read_whole(value, &end);
    if (end == value || *end != '-' || !take_whole(end + 1, highest)) return 0;
    *lowest = first;
    return 1;
}

static int take_size(const char *value, size_t *to)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || number > SIZE_MAX) return 0;
    *to = (size_t)number;
    return 1;
}

static int take_real(const char *value, double *to)
{
    char *end;
    const double number = strtod(value, &end);
    if (end == value || *end || !isfinite(number)) return 0;
    *to = number;
    return 1;
}

/* @return what the value should be; NULL: it was taken */
static const char *take(const struct bench_argument *argument, const char *value)
{
    if (argument->whole) return take_whole(value, argument->whole) ? NULL : "a whole number";
    if (argument->size) return take_size(value, argument->size) ? NULL : "a whole number from 0 on";
    if (argument->real) return take_real(value, argument->real) ? NULL : "a number";
    if (argument->lowest) return take_range(value, argument->lowest, argument->highest) ? NULL : "a range such as 1-8";
    *argument->text = value;
    return NULL;
}

static void read_argument(const char *program, const char *given, const struct bench_argument *known, size_t n)
{
    const char *value = strchr(given, '=');
    const size_t length = value ? (size_t)(value - given) : 0;
    const char *wanted = NULL;
    size_t k = 0;
    while (k < n && (strlen(known[k].name) != length || strncmp(given, known[k].name, length) != 0)) k++;
    if (k < n && !(wanted = take(&known[k], value + 1))) return;
    if (wanted)
        fprintf(stderr, "%s: %s: the value is not %s\n", program, given, wanted);
    else {
        fprintf(stderr, "%s: %s: %s; arguments are name=value of", program, given,
                value ? "there is no such argument" : "no name=value");
        for (k = 0; k < n; k++) fprintf(stderr, "%s %s", k ? "," : "", known[k].name);
        fputc('\n', stderr);
    }
    exit(2);
}

void bench_read_arguments(const char *program, int argc, char **argv, const struct bench_argument *known, size_t n)
{
    for (int a = 1; a < argc; a++) read_argument(program, argv[a], known, n);
}
