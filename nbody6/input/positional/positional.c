#include "nbody6/input/positional/positional.h"

#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/list_directed.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/list.h"
#include "nbody6/input/positional/restart.h"
#include "nbody6/input/positional/table.h"
#include "nbody6/input/positional/translate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file being read. */
struct scan {
    struct nb6_positional *input;
    struct nb6_list_reader reader;
    struct nbc_error *err;
    int records;
};

/* A reader at the beginning of a text, past the mark of UTF-8, which some editors put there, and past lines that begin
 * with '#', as heads of tables do. */
static struct nb6_list_reader begin(const char *path, const char *text, size_t size)
{
    struct nb6_list_reader reader = {path, text, text + size, 1};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) reader.at += 3;
    while (reader.at < reader.end && *reader.at == '#') nb6_list_skip_line(&reader);
    return reader;
}

int nb6_positional_is(const char *text, size_t size)
{
    const struct nb6_list_reader reader = begin("", text, size);
    return nb6_list_numbers_ahead(&reader) > 0;
}

/* NBODY6++ has five or six numbers in its first line, NBODY6 two, or three if McLuster wrote it. */
static enum nb6_code find_code(const struct nb6_list_reader *reader)
{
    return nb6_list_numbers_ahead(reader) >= 5 ? NB6_CODE_NBODY6PP : NB6_CODE_NBODY6;
}

/* An integer that decides here; others are converted with all values. */
static int read_integer(struct nb6_token token, int *value)
{
    char text[16], *end;
    *value = 0;
    if (token.length == 0) return 1;
    if (token.length >= (int)sizeof text) return 0;
    snprintf(text, sizeof text, "%.*s", token.length, token.text);
    long number = strtol(text, &end, 10);
    if (end == text || *end || isspace((unsigned char)*text) || number < -1000000 || number > 1000000) return 0;
    *value = (int)number;
    return 1;
}

static int first_integer(const struct nb6_list_reader *reader)
{
    struct nb6_list_reader ahead = *reader;
    struct nb6_list_record record;
    int value;
    if (nb6_list_read(&ahead, 1, 1, &record, NULL) != NBC_OK || record.count == 0) return 0;
    return read_integer(record.value[0], &value) ? value : 0;
}

/* Tables of stars have seven numbers or more in every line, and begin with a mass; inputs begin with KSTART, and N. */
static int check_is_no_table(const struct nb6_list_reader *reader, struct nbc_error *err)
{
    struct nb6_list_reader ahead = *reader;
    int columns = nb6_list_numbers_ahead(reader);
    nb6_list_skip_line(&ahead);
    if ((columns == 5 || columns == 6) && nb6_list_numbers_ahead(&ahead) == columns && !first_integer(reader) &&
        !first_integer(&ahead))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s:%d: the file is a table, perhaps of stellar parameters as fort.12, and no input; an input "
                        "names it beside the file of the stars: &INMODEL DATA='...' STELLAR='%s' /",
                        reader->path, reader->line, reader->path);
    if (columns < 7 || nb6_list_numbers_ahead(&ahead) != columns) return NBC_OK;
    if (first_integer(reader) >= 1 && first_integer(reader) <= 5 && first_integer(&ahead) >= 2) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s:%d: the file is a table of stars, %d numbers in a line, and no input; give the input that "
                    "belongs to it (McLuster writes NAME.input), or one that names it: &INMODEL DATA='%s' /",
                    reader->path, reader->line, columns, reader->path);
}

/* The variable that value number k belongs to; *first becomes the number of its first value. */
static int find_field(const struct nb6_record *record, int k, struct nb6_record_field *field, int *first)
{
    *first = 0;
    for (int i = 0; nb6_record_field(record, i, field); i++) {
        if (k < *first + field->count) return 1;
        *first += field->count;
    }
    return 0;
}

static void count_values(const struct nb6_record *record, int *wanted, int *needed)
{
    struct nb6_record_field field;
    *wanted = 0;
    *needed = 0;
    for (int i = 0; nb6_record_field(record, i, &field); i++) {
        *wanted += field.count;
        if (!field.optional) *needed += field.count;
    }
}

static int too_short(const struct scan *s, const struct nb6_record *record, int count, int wanted)
{
    struct nb6_record_field field;
    char subscript[16] = "";
    int first;
    find_field(record, count, &field, &first);
    if (field.count > 1) snprintf(subscript, sizeof subscript, "(%d)", count - first + 1);
    return nbc_fail(s->err, NBC_BAD_INPUT,
                    "%s:%d: %s%s (value %d of %d): the file ends where it is needed; add it, or correct the options "
                    "KZ, which say what is read",
                    s->reader.path, s->reader.line, field.name, subscript, count + 1, wanted);
}

static int not_an_integer(const struct scan *s, const char *name, int position, int positions, struct nb6_token token)
{
    const char *advice = "";
    if (strcmp(name, "KZ(41)") == 0) advice = "; files of old versions have 40 options: add a line of ten zeros";
    if (strcmp(name, "NHI0") == 0) advice = "; files of old versions have no NHI0: add a 0 before this value";
    return nbc_fail(s->err, NBC_BAD_INPUT,
                    "%s:%d: %s (value %d of %d): %s is not a valid value; an integer is needed%s", s->reader.path,
                    token.line, name, position, positions, nb6_namelist_show(token.text, (size_t)token.length).text,
                    advice);
}

static int take_options(struct scan *s, struct nb6_list_record *record)
{
    for (int k = 0; k < NB6_KZ_COUNT; k++) {
        char name[16];
        snprintf(name, sizeof name, "KZ(%d)", k + 1);
        struct nb6_token *token = &record->value[k];
        if (!read_integer(*token, &s->input->kz[k])) return not_an_integer(s, name, k + 1, NB6_KZ_COUNT, *token);
        if (token->length > 0) continue;
        *token = (struct nb6_token){.text = "0", .length = 1, .repeat = 1};
        token->line = k < record->count ? record->line : record->last_line;
    }
    return NBC_OK;
}

/* The values of a record become assignments. */
static int take_values(struct scan *s, const struct nb6_record *record, struct nb6_list_record *values, int wanted)
{
    struct nb6_record_field field;
    int position = 0;
    for (int i = 0; nb6_record_field(record, i, &field); i++, position += field.count) {
        const struct nb6_token *value = &values->value[position];
        int status = NBC_OK, hierarchies, bad = 0;
        if (strcmp(field.name, "KZ") == 0) status = take_options(s, values);
        if (strcmp(field.name, "ICIRC") == 0) bad = !read_integer(*value, &s->input->icirc);
        if (strcmp(field.name, "NHI0") == 0) bad = !read_integer(*value, &hierarchies);
        if (bad) status = not_an_integer(s, field.name, position + 1, wanted, *value);
        if (status != NBC_OK) return status;
        if (field.group[0]) nb6_positional_add(s->input->list, &field, value, position + 1, wanted);
    }
    return NBC_OK;
}

static int read_values(struct scan *s, const struct nb6_record *record, struct nb6_list_record *values, int *wanted)
{
    int needed;
    count_values(record, wanted, &needed);
    int status = nb6_list_read(&s->reader, *wanted, needed, values, s->err);
    if (status != NBC_OK) return status;
    if (values->count < needed && !values->closed) return too_short(s, record, values->count, *wanted);
    s->records++;
    if (s->input->notes && values->last_line > values->line && *wanted < NB6_KZ_COUNT)
        fprintf(s->input->notes, "note: lines %d to %d are one record: %s\n", values->line, values->last_line,
                record->fields);
    return NBC_OK;
}

static int read_record(struct scan *s, const struct nb6_record *record)
{
    struct nb6_list_record values;
    int wanted, status = read_values(s, record, &values, &wanted);
    return status == NBC_OK ? take_values(s, record, &values, wanted) : status;
}

/* 1: a new run. */
static int kstart_of(const struct nb6_positional *input)
{
    double start;
    if (!nb6_positional_number(input, "INNBODY6", "KSTART", &start)) return 1;
    return start >= 2 && start < 6 ? (int)start : 1; /* the check of values refuses all others */
}

static int read_restart(struct scan *s, int kstart)
{
    struct nb6_list_record values;
    int wanted;
    for (int k = 0; k < 2; k++) {
        if (kstart != 5 && kstart != 3 + k) continue;
        int status = read_values(s, &nb6_restart_records[k], &values, &wanted);
        if (status == NBC_OK) status = nb6_positional_take_restart(s->input, &nb6_restart_records[k], &values, s->err);
        if (status != NBC_OK) return status;
    }
    return NBC_OK;
}

static int read_records(struct scan *s)
{
    const int *kz = s->input->kz;
    for (int k = 0; k < nb6_record_count; k++) {
        const struct nb6_record *record = &nb6_records[k];
        if (!(record->codes & (int)s->input->code) || !nb6_record_is_read(record, kz)) continue;
        int times = record->lines_option ? kz[record->lines_option - 1] - record->lines_less : 1;
        for (int i = 0; i < times; i++) {
            int status = read_record(s, record);
            if (status != NBC_OK) return status;
        }
        if (kstart_of(s->input) != 1) return read_restart(s, kstart_of(s->input));
    }
    return NBC_OK;
}

static void note_understanding(const struct scan *s, int first_line, int last_line)
{
    FILE *notes = s->input->notes;
    if (!notes) return;
    fprintf(notes, "note: positional input of %s: %d records in lines %d to %d; `--to-namelist` writes the namelist\n",
            s->input->code == NB6_CODE_NBODY6 ? "NBODY6" : "NBODY6++", s->records, first_line, last_line);
    if (nb6_list_numbers_ahead(&s->reader) > 0)
        fprintf(notes, "note: the numbers after line %d are not read: no option asks for them\n", last_line);
}

static int scan(struct scan *s)
{
    int status = check_is_no_table(&s->reader, s->err);
    if (status != NBC_OK) return status;
    s->input->code = find_code(&s->reader);
    status = read_records(s);
    if (status != NBC_OK) return status;
    note_understanding(s, (int)s->input->list->assignment[0].line, s->reader.line - 1);
    nb6_positional_translate(s->input);
    return NBC_OK;
}

int nb6_positional_scan(const char *path, const char *text, size_t size, FILE *notes, struct nb6_namelist *list,
                        struct nb6_positional *input, struct nbc_error *err)
{
    *list = (struct nb6_namelist){0};
    *input = (struct nb6_positional){.list = list, .notes = notes};
    int status = nb6_namelist_check_text(path, text, size, err);
    if (status == NBC_OK) status = nb6_positional_create(input, path, text, size, err);
    if (status != NBC_OK) return status;
    struct scan s = {.input = input, .err = err};
    s.reader = begin(list->path, list->text, size);
    status = scan(&s);
    if (status != NBC_OK) nb6_namelist_free(list);
    return status;
}
