#include "nbody6/input/namelist.h"

#include "common/nbc.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct scanner {
    struct nb6_namelist *list;
    const char *at, *end;
    int line;
    size_t groups_room, assignments_room, tokens_room;
    struct nbc_error *err;
};

static int no_memory(struct scanner *s)
{
    return nbc_fail(s->err, NBC_NO_MEMORY, "%s: no memory for the input", s->list->path);
}

/* Room for one more element. */
static int grow(struct scanner *s, void **array, size_t count, size_t *room, size_t size)
{
    if (count < *room) return NBC_OK;
    size_t wanted = *room ? 2 * *room : 64;
    void *larger = nbc_realloc(*array, *room, wanted, size);
    if (!larger) return no_memory(s);
    *array = larger;
    *room = wanted;
    return NBC_OK;
}

static int is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static int is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Skip blanks, line ends and comments; counts lines if `line` is given. */
static const char *skip_blanks(const char *p, const char *end, int *line)
{
    while (p < end) {
        if (*p == '!') {
            while (p < end && *p != '\n') p++;
        } else if (is_blank(*p)) {
            if (*p == '\n' && line) ++*line;
            p++;
        } else {
            break;
        }
    }
    return p;
}

static void skip(struct scanner *s)
{
    s->at = skip_blanks(s->at, s->end, &s->line);
}

static const char *name_end(const char *p, const char *end)
{
    while (p < end && is_name(*p)) p++;
    return p;
}

/* If p is the beginning of `(subscripts)`, its end; else p. */
static const char *subscripts_end(const char *p, const char *end)
{
    if (p == end || *p != '(') return p;
    for (const char *q = p + 1; q < end; q++) {
        if (*q == ')') return q + 1;
        if (!isdigit((unsigned char)*q) && !strchr(":+- \t,", *q)) break;
    }
    return p;
}

/* Does `NAME =` or `NAME(subscripts) =` begin here? */
static int is_assignment(const char *p, const char *end)
{
    if (p == end || !is_name_start(*p)) return 0;
    p = skip_blanks(name_end(p, end), end, NULL);
    p = skip_blanks(subscripts_end(p, end), end, NULL);
    return p < end && *p == '=';
}

static int copy_name(struct scanner *s, char name[NB6_NAMELIST_NAME_MAX], const char *what)
{
    const char *stop = name_end(s->at, s->end);
    size_t length = (size_t)(stop - s->at);
    if (length >= NB6_NAMELIST_NAME_MAX)
        return nbc_fail(s->err, NBC_BAD_INPUT, "%s:%d: %s: the name of a %s has at most %d characters", s->list->path,
                        s->line, nb6_namelist_show(s->at, length).text, what, NB6_NAMELIST_NAME_MAX - 1);
    for (size_t i = 0; i < length; i++) name[i] = (char)toupper((unsigned char)s->at[i]);
    name[length] = '\0';
    s->at = stop;
    return NBC_OK;
}

static int add_token(struct scanner *s, struct nb6_token token)
{
    struct nb6_namelist *list = s->list;
    int status = grow(s, (void **)&list->token, list->tokens, &s->tokens_room, sizeof *list->token);
    if (status != NBC_OK) return status;
    list->token[list->tokens++] = token;
    list->assignment[list->assignments - 1].count++;
    return NBC_OK;
}

/* r* before a value: its count, 1 without one, -1 if it is no sensible count. */
static int take_repeat(struct scanner *s)
{
    const char *p = s->at;
    long repeat = 0;
    while (p < s->end && isdigit((unsigned char)*p)) {
        if (repeat <= NB6_NAMELIST_FILE_MAX) repeat = 10 * repeat + (*p - '0');
        p++;
    }
    if (p == s->at || p == s->end || *p != '*') return 1;
    s->at = p + 1;
    return repeat < 1 || repeat > NB6_NAMELIST_FILE_MAX ? -1 : (int)repeat;
}

/* A quoted string, in which a doubled quote stands for one. It ends on its own line. */
static int take_quoted(struct scanner *s, struct nb6_token *token, const char *name)
{
    char quote = *s->at;
    const char *p = s->at + 1;
    for (; p < s->end && *p != '\n'; p++) {
        if (*p != quote) continue;
        if (p + 1 < s->end && p[1] == quote) {
            p++;
            continue;
        }
        token->length = (int)(p + 1 - s->at);
        s->at = p + 1;
        return NBC_OK;
    }
    return nbc_fail(s->err, NBC_BAD_INPUT,
                    "%s:%d: %s: the text that begins with %s has no closing quote; add it on the same line",
                    s->list->path, s->line, name, nb6_namelist_show(s->at, (size_t)(p - s->at)).text);
}

static int take_value(struct scanner *s, const char *name)
{
    const char *start = s->at;
    struct nb6_token token = {.repeat = take_repeat(s), .line = s->line};
    token.text = s->at;
    if (s->at < s->end && (*s->at == '\'' || *s->at == '"')) {
        int status = take_quoted(s, &token, name);
        if (status != NBC_OK) return status;
    } else {
        while (s->at < s->end && !is_blank(*s->at) && !strchr(",/!='\"&$", *s->at)) s->at++;
        token.length = (int)(s->at - token.text);
    }

    struct nb6_shown shown = nb6_namelist_show(start, (size_t)(s->at - start));

    if (token.repeat < 1)
        return nbc_fail(s->err, NBC_BAD_INPUT, "%s:%d: %s: the repeat count in %s is out of range", s->list->path,
                        s->line, name, shown.text);

    if (s->at == start || (s->at < s->end && strchr("='\"", *s->at)))
        return nbc_fail(
            s->err, NBC_BAD_INPUT,
            "%s:%d: %s: unexpected '%c' after %s%s; write NAME=value, NAME=value with blanks or commas between",
            s->list->path, s->line, name, s->at < s->end ? *s->at : '?', shown.text[0] ? shown.text : "=",
            shown.text[0] ? "" : " or a comma");

    return add_token(s, token);
}

/* The values of one assignment: up to the next one or the end of the group. A comma that no value precedes is a null
 * value. */
static int take_values(struct scanner *s, const char *name)
{
    int after_value = 0;
    for (;;) {
        skip(s);
        if (s->at == s->end || strchr("/&$", *s->at) || is_assignment(s->at, s->end)) return NBC_OK;
        int status = NBC_OK;
        if (*s->at == ',') {
            if (!after_value) status = add_token(s, (struct nb6_token){.text = s->at, .repeat = 1, .line = s->line});
            after_value = 0;
            s->at++;
        } else {
            status = take_value(s, name);
            after_value = 1;
        }
        if (status != NBC_OK) return status;
    }
}

static int take_assignment(struct scanner *s)
{
    struct nb6_namelist *list = s->list;
    int status = grow(s, (void **)&list->assignment, list->assignments, &s->assignments_room, sizeof *list->assignment);
    if (status != NBC_OK) return status;
    struct nb6_assignment *a = &list->assignment[list->assignments];
    *a = (struct nb6_assignment){.group = (int)list->groups - 1, .line = s->line, .first = list->tokens};
    status = copy_name(s, a->name, "variable");
    if (status != NBC_OK) return status;
    list->assignments++;
    skip(s);
    const char *stop = subscripts_end(s->at, s->end);
    if (stop > s->at) {
        a->subscripts = s->at + 1;
        a->subscripts_length = (int)(stop - s->at) - 2;
        s->at = stop;
        skip(s);
    }
    s->at++; /* the '=' that is_assignment saw */
    return take_values(s, a->name);
}

/* The shipped NBODY6++ samples have a group &INSETUP, which no code reads, with names that lack their '='. */
static int is_tolerated(const struct scanner *s)
{
    return strcmp(s->list->group[s->list->groups - 1].name, "INSETUP") == 0 && is_name_start(*s->at);
}

static int bad_item(struct scanner *s, const char *group)
{
    const char *p = s->at;
    while (p < s->end && !is_blank(*p) && !strchr(",/", *p)) p++;
    size_t length = p > s->at ? (size_t)(p - s->at) : 1;
    if (is_name_start(*s->at))
        return nbc_fail(s->err, NBC_BAD_INPUT, "%s:%d: %s: '=' expected after this name in group &%s; write NAME=value",
                        s->list->path, s->line, nb6_namelist_show(s->at, length).text, group);
    return nbc_fail(s->err, NBC_BAD_INPUT,
                    "%s:%d: %s: a variable's name is expected here in group &%s; write NAME=value", s->list->path,
                    s->line, nb6_namelist_show(s->at, length).text, group);
}

/* At `/`, `&` or `$`: the end of the group? */
static int take_end(struct scanner *s, const struct nb6_group *group)
{
    if (*s->at++ == '/') return NBC_OK;
    const char *stop = name_end(s->at, s->end);
    size_t length = (size_t)(stop - s->at);
    if (length == 0 || (length == 3 && strncasecmp(s->at, "end", 3) == 0)) {
        s->at = stop;
        return NBC_OK;
    }
    return nbc_fail(s->err, NBC_BAD_INPUT,
                    "%s:%d: &%s begins before group &%s (line %d) has ended; end that one with '/'", s->list->path,
                    s->line, nb6_namelist_show(s->at, length).text, group->name, group->line);
}

static int take_group(struct scanner *s)
{
    struct nb6_namelist *list = s->list;
    int status = grow(s, (void **)&list->group, list->groups, &s->groups_room, sizeof *list->group);
    if (status != NBC_OK) return status;
    struct nb6_group *group = &list->group[list->groups];
    group->line = s->line;
    s->at++; /* & or $ */
    if (s->at == s->end || !is_name_start(*s->at))
        return nbc_fail(s->err, NBC_BAD_INPUT, "%s:%d: the name of a group is expected after '&', as in &ININPUT",
                        list->path, s->line);
    status = copy_name(s, group->name, "group");
    if (status != NBC_OK) return status;
    list->groups++;
    for (;;) {
        skip(s);
        if (s->at == s->end)
            return nbc_fail(
                s->err, NBC_BAD_INPUT,
                "%s:%d: &%s: the group has no end: the file ends before its '/'; add '/' after its last value",
                list->path, group->line, group->name);
        if (strchr("/&$", *s->at)) return take_end(s, group);
        if (is_assignment(s->at, s->end)) {
            status = take_assignment(s);
            if (status != NBC_OK) return status;
        } else if (*s->at == ',') {
            s->at++;
        } else if (is_tolerated(s)) {
            s->at = name_end(s->at, s->end);
        } else {
            return bad_item(s, group->name);
        }
    }
}

static int scan(struct scanner *s)
{
    for (;;) {
        skip(s);
        if (s->at == s->end) return NBC_OK;
        if (*s->at != '&' && *s->at != '$') {
            const char *p = s->at;
            while (p < s->end && *p != '\n' && *p != '\r') p++;
            const int is_first = s->list->groups == 0;
            return nbc_fail(
                s->err, NBC_BAD_INPUT,
                "%s:%d: text outside of a group: %s; groups are written &NAME ... /, comments begin with '!'%s%s%s",
                s->list->path, s->line, nb6_namelist_show(s->at, (size_t)(p - s->at)).text,
                is_first ? "; a file of stars is named by an input: &INMODEL DATA='" : "",
                is_first ? s->list->path : "", is_first ? "' /" : "");
        }
        int status = take_group(s);
        if (status != NBC_OK) return status;
    }
}

int nb6_namelist_scan(const char *path, const char *text, size_t size, struct nb6_namelist *list, struct nbc_error *err)
{
    *list = (struct nb6_namelist){0};
    int status = nb6_namelist_check_text(path, text, size, err);
    if (status != NBC_OK) return status;
    struct scanner s = {.list = list, .line = 1, .err = err};
    list->path = nbc_alloc(strlen(path) + 1, 1);
    list->text = nbc_alloc(size + 1, 1);
    if (!list->path || !list->text) {
        nb6_namelist_free(list);
        return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the input", path);
    }
    strcpy(list->path, path);
    memcpy(list->text, text, size);
    s.at = list->text;
    s.end = list->text + size;
    if (size >= 3 && memcmp(s.at, "\xef\xbb\xbf", 3) == 0) s.at += 3; /* byte order mark of UTF-8 */
    status = scan(&s);
    if (status != NBC_OK) nb6_namelist_free(list);
    return status;
}

void nb6_namelist_free(struct nb6_namelist *list)
{
    nbc_free(list->path);
    nbc_free(list->text);
    nbc_free(list->group);
    nbc_free(list->assignment);
    nbc_free(list->token);
    *list = (struct nb6_namelist){0};
}
