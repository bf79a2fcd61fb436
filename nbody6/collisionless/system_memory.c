#include "nbody6/collisionless/system_memory.h"

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/rows.h"

#include <string.h>

#include <string.h>

int nb6_collisionless_allocate_state(struct nb6_collisionless *s)
{
    const size_t n = (size_t)s->n;
    s->name = nbc_alloc_unset(n, sizeof *s->name);
    s->mass = nbc_alloc_unset(n, sizeof *s->mass);
    s->x0 = nbc_alloc_unset(n, sizeof *s->x0);
    s->v = nbc_alloc_unset(n, sizeof *s->v);
    s->acc = nbc_alloc_unset(n, sizeof *s->acc);
    s->level = nbc_alloc_unset(n, sizeof *s->level);
    return s->name && s->mass && s->x0 && s->v && s->acc && s->level;
}

static int allocate_scratch(struct nb6_collisionless *s)
{
    const size_t n = (size_t)s->n;
    s->x = nbc_alloc(n, sizeof *s->x);
    s->v_half = nbc_alloc(n, sizeof *s->v_half);
    s->due = nbc_alloc(n, sizeof *s->due);
    s->x_due = nbc_alloc(n, sizeof *s->x_due);
    s->acc_due = nbc_alloc(n, sizeof *s->acc_due);
    return s->x && s->v_half && s->due && s->x_due && s->acc_due;
}

int nb6_collisionless_allocate(struct nb6_collisionless *s, struct nbc_error *err)
{
    if (nb6_collisionless_allocate_state(s) && allocate_scratch(s)) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld bodies", (long long)s->n);
}

/* @return 0 without memory */
static int grow(void *array, int64_t kept, int64_t n, size_t size)
{
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = nbc_realloc(old, (size_t)kept, (size_t)n, size);
    if (grown) memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

int nb6_collisionless_reserve(struct nb6_collisionless *s, int64_t n, struct nbc_error *err)
{
    const int64_t more = n + n / 8; /* so that room does not grow with every body that comes */
    const struct {
        void *array;
        size_t size;
    } arrays[] = {{&s->name, sizeof *s->name},   {&s->mass, sizeof *s->mass},       {&s->x0, sizeof *s->x0},
                  {&s->v, sizeof *s->v},         {&s->acc, sizeof *s->acc},         {&s->level, sizeof *s->level},
                  {&s->x, sizeof *s->x},         {&s->due, sizeof *s->due},         {&s->v_half, sizeof *s->v_half},
                  {&s->x_due, sizeof *s->x_due}, {&s->acc_due, sizeof *s->acc_due}, {&s->work, sizeof *s->work}};
    if (n <= s->room) return NBC_OK;
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        if (!grow(arrays[k].array, s->room, more, arrays[k].size))
            return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld bodies of a domain", (long long)n);
    s->room = more;
    return NBC_OK;
}

void nb6_collisionless_release(struct nb6_collisionless *s)
{
    nbc_free(s->name);
    nbc_free(s->mass);
    nbc_free(s->x0);
    nbc_free(s->v);
    nbc_free(s->acc);
    nbc_free(s->level);
    nbc_free(s->x);
    nbc_free(s->v_half);
    nbc_free(s->due);
    nbc_free(s->x_due);
    nbc_free(s->acc_due);
    nbc_free(s->work);
}

void nb6_collisionless_get_rows(void *context, enum nb6_body_column column, int64_t first, int64_t count, void *rows)
{
    const size_t row = nb6_rank_row_bytes(column);
    const char *array = nb6_rank_column(context, column, NULL);
    memcpy(rows, array + (size_t)first * row, (size_t)count * row);
}
