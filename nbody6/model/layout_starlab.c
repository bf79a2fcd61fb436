#include "common/nbc.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/model/model_layouts.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/table_lines.h"
#include "nbody6/model/table_row.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 256, AT_FIRST = 1024 };

/* An open particle. Its position and velocity include those of the particles around it. */
struct particle {
    double mass, x[3], v[3];
    int64_t index, line;
    int has_mass, has_x, has_v, has_others;
};

struct reader {
    struct nb6_table_lines *lines;
    struct particle open[DEPTH_MAX];
    int depth, dynamics; /* particles that are open; 1: within (Dynamics of the last of them */
    struct particle *star;
    int64_t n, capacity;
};

static int complain(const struct reader *r, struct nbc_error *err, const char *what)
{
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: %s", r->lines->path, (long long)r->lines->number, what);
}

static int open_particle(struct reader *r, struct nbc_error *err)
{
    if (r->depth == DEPTH_MAX) return complain(r, err, "particles stand more than 256 deep in each other");
    struct particle *p = &r->open[r->depth++];
    *p = (struct particle){.line = r->lines->number};
    if (r->depth > 1) p[-1].has_others = 1;
    return NBC_OK;
}

/* All but the outermost are at their own position, relative to the one around. */
static void add_place(struct reader *r)
{
    struct particle *p = &r->open[r->depth - 1];
    for (int k = 0; k < 3 && r->depth > 2; k++) {
        p->x[k] += p[-1].x[k];
        p->v[k] += p[-1].v[k];
    }
}

static int keep_star(struct reader *r, const struct particle *p, struct nbc_error *err)
{
    if (!p->has_mass || !p->has_x || !p->has_v)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%lld: this particle has no %s in its (Dynamics; add it", r->lines->path,
                        (long long)p->line,
                        !p->has_mass ? "m"
                        : !p->has_x  ? "r"
                                     : "v");
    if (r->n == r->capacity) {
        const int64_t wanted = r->capacity + r->capacity / 4 + AT_FIRST;
        struct particle *grown = nbc_realloc(r->star, (size_t)r->capacity, (size_t)wanted, sizeof *grown);
        if (!grown) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for its stars", r->lines->path);
        r->star = grown;
        r->capacity = wanted;
    }
    r->star[r->n++] = *p;
    return NBC_OK;
}

static int close_particle(struct reader *r, struct nbc_error *err)
{
    if (r->depth == 0) return complain(r, err, "')Particle' without '(Particle'");
    const struct particle *p = &r->open[--r->depth];
    return p->has_others ? NBC_OK : keep_star(r, p, err);
}

/* Text behind the sign of "m = 0.5" or "r = 1 2 3", if the line has this name. */
static const char *value_of(const char *line, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(line, name, length) != 0) return NULL;
    line = nb6_table_content(line + length);
    return *line == '=' ? line + 1 : NULL;
}

static int read_place(const struct reader *r, const char *text, int first, double to[3], int *has,
                      struct nbc_error *err)
{
    *has = 1;
    return nb6_table_numbers(r->lines->path, r->lines->number, text, first, 3, to, err);
}

static int read_dynamics(struct reader *r, const char *line, struct nbc_error *err)
{
    struct particle *p = &r->open[r->depth - 1];
    const char *text;
    if ((text = value_of(line, "r"))) return read_place(r, text, NB6_X, p->x, &p->has_x, err);
    if ((text = value_of(line, "v"))) return read_place(r, text, NB6_VX, p->v, &p->has_v, err);
    if (!(text = value_of(line, "m"))) return NBC_OK;
    p->has_mass = 1;
    const int status = nb6_table_numbers(r->lines->path, r->lines->number, text, NB6_MASS, 1, &p->mass, err);
    return !status && p->mass < 0 ? complain(r, err, "the mass is negative; a mass must be >= 0") : status;
}

static int begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static int read_line(struct reader *r, const char *line, struct nbc_error *err)
{
    const char *text;
    if (begins(line, "(Particle")) return open_particle(r, err);
    if (begins(line, ")Particle")) return close_particle(r, err);
    if (r->depth == 0) return *line ? complain(r, err, "a Starlab file begins with '(Particle'") : NBC_OK;
    if (begins(line, "(Dynamics")) {
        r->dynamics = 1;
    } else if (begins(line, ")Dynamics")) {
        if (r->dynamics) add_place(r);
        r->dynamics = 0;
    } else if (r->dynamics) {
        return read_dynamics(r, line, err);
    } else if ((text = value_of(line, "i"))) {
        r->open[r->depth - 1].index = strtoll(text, NULL, 10);
    }
    return NBC_OK;
}

static int read_lines(struct reader *r, struct nbc_error *err)
{
    int more = 1, closed = 0;
    while (!closed) { /* the first particle with all that it holds */
        int status = nb6_table_next(r->lines, &more, err);
        if (!status && !more) return complain(r, err, "the file ends within a particle, or has none; complete it");
        const int was_open = r->depth > 0;
        if (!status) status = read_line(r, nb6_table_content(r->lines->text), err);
        if (status) return status;
        closed = was_open && r->depth == 0;
    }
    return NBC_OK;
}

static int to_model(const struct reader *r, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_model made = {.n = 0};
    int status = nb6_model_alloc(r->n, &made, err);
    if (status) return status;
    int64_t *name = nbc_alloc((size_t)r->n, sizeof *name);
    if (!name) status = nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the names of the stars", r->lines->path);
    for (int64_t i = 0; i < r->n && !status; i++) {
        made.mass[i] = r->star[i].mass;
        memcpy(made.x[i], r->star[i].x, sizeof made.x[i]);
        memcpy(made.v[i], r->star[i].v, sizeof made.v[i]);
        name[i] = r->star[i].index;
    }
    if (!status) status = nb6_model_set_names(name, 0, r->lines->path, &made, err);
    nbc_free(name);
    if (status) {
        nb6_model_free(&made);
        return status;
    }
    snprintf(made.data.format, sizeof made.data.format, "Starlab file");
    *model = made;
    return NBC_OK;
}

int nb6_layout_read_starlab(struct nb6_table_lines *lines, struct nb6_model *model, struct nbc_error *err)
{
    struct reader *r = nbc_alloc(1, sizeof *r);
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to read it", lines->path);
    r->lines = lines;
    int status = read_lines(r, err);
    if (!status) status = to_model(r, model, err);
    nbc_free(r->star);
    nbc_free(r);
    return status;
}
