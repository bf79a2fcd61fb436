#include "nbody6/input/list_directed.h"

#include "common/nbc.h"
#include "nbody6/input/namelist.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_rest_of_line(struct nb6_list_reader *r)
{
    while (r->at < r->end && *r->at != '\n') r->at++;
}

/* Past blanks and a comment, to the next value, separator or end of the line. */
static void skip_blanks(struct nb6_list_reader *r)
{
    while (r->at < r->end && is_blank(*r->at)) r->at++;
    if (r->at < r->end && *r->at == '!') skip_rest_of_line(r);
}

static void next_line(struct nb6_list_reader *r)
{
    skip_rest_of_line(r);
    if (r->at == r->end) return;
    r->at++;
    r->line++;
}

/* To the next line that is not blank. */
static void skip_blank_lines(struct nb6_list_reader *r)
{
    skip_blanks(r);
    while (r->at < r->end && *r->at == '\n') {
        next_line(r);
        skip_blanks(r);
    }
}

/* A value: the text up to the next separator. */
static struct nb6_token take_word(struct nb6_list_reader *r)
{
    struct nb6_token token = {.text = r->at, .repeat = 1, .line = r->line};
    while (r->at < r->end && !is_blank(*r->at) && !strchr(",/\n", *r->at)) r->at++;
    token.length = (int)(r->at - token.text);
    return token;
}

/* "3*0" is 0 three times, "3*" a null value three times. */
static int take_repeat(const struct nb6_list_reader *r, struct nb6_token *token, struct nbc_error *err)
{
    const char *p = token->text, *end = p + token->length;
    int64_t repeat = 0;
    while (p < end && isdigit((unsigned char)*p)) {
        if (repeat <= NB6_NAMELIST_FILE_MAX) repeat = 10 * repeat + (*p - '0');
        p++;
    }
    if (p == token->text || p == end || *p != '*') return NBC_OK;
    if (repeat < 1 || repeat > NB6_NAMELIST_FILE_MAX)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: the repeat count in %s is out of range", r->path, token->line,
                        nb6_namelist_show(token->text, (size_t)token->length).text);
    token->repeat = (int)repeat;
    token->text = p + 1;
    token->length = (int)(end - token->text);
    return NBC_OK;
}

/* A token of r values: as many of them as the record has room for. */
static void add(struct nb6_list_record *record, int wanted, struct nb6_token token)
{
    if (record->count == 0) record->line = token.line;
    record->last_line = token.line;
    int repeat = token.repeat;
    token.repeat = 1;
    while (repeat-- > 0 && record->count < wanted) record->value[record->count++] = token;
}

int nb6_list_read(struct nb6_list_reader *reader, int wanted, int needed, struct nb6_list_record *record,
                  struct nbc_error *err)
{
    *record = (struct nb6_list_record){.count = 0};
    int after_value = 0;
    while (record->count < wanted) {
        skip_blanks(reader);
        if (reader->at == reader->end || *reader->at == '\n') {
            if (record->count >= needed) break;
            if (reader->at == reader->end) break;
            next_line(reader);
        } else if (*reader->at == '/') {
            record->closed = 1;
            record->last_line = reader->line;
            if (record->count == 0) record->line = reader->line;
            break;
        } else if (*reader->at == ',') {
            if (!after_value) add(record, wanted, (struct nb6_token){.repeat = 1, .line = reader->line});
            after_value = 0;
            reader->at++;
        } else {
            struct nb6_token token = take_word(reader);
            int status = take_repeat(reader, &token, err);
            if (status != NBC_OK) return status;
            add(record, wanted, token);
            after_value = 1;
        }
    }
    next_line(reader);
    return NBC_OK;
}

static int begins_number(const char *p, const char *end)
{
    if (p < end && (*p == '+' || *p == '-')) p++;
    if (p < end && *p == '.') p++;
    return p < end && isdigit((unsigned char)*p);
}

int nb6_list_numbers_ahead(const struct nb6_list_reader *reader)
{
    struct nb6_list_reader ahead = *reader;
    int numbers = 0;
    skip_blank_lines(&ahead);
    while (ahead.at < ahead.end && begins_number(ahead.at, ahead.end)) {
        struct nb6_token token = take_word(&ahead);
        numbers += take_repeat(&ahead, &token, NULL) == NBC_OK && token.repeat < NB6_RECORD_VALUES ? token.repeat : 1;
        skip_blanks(&ahead);
        if (ahead.at < ahead.end && *ahead.at == ',') ahead.at++;
        skip_blanks(&ahead);
    }
    return numbers;
}

void nb6_list_skip_line(struct nb6_list_reader *reader)
{
    skip_blank_lines(reader);
    next_line(reader);
}
