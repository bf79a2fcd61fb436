#include "nbody6/collisionless/system_memory.h"

#include "nbody6/collisionless/collisionless.h"

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

int nb6_collisionless_allocate(struct nb6_collisionless *s, int advances, struct nbc_error *err)
{
    if (nb6_collisionless_allocate_state(s) && (!advances || allocate_scratch(s))) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld bodies", (long long)s->n);
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
}
