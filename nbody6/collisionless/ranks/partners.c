#include "nbody6/collisionless/ranks/partners.h"

int nb6_partners_open(struct nb6_partners *p, struct nb6_world *world, size_t spare_bytes, struct nbc_error *err)
{
    const int ranks = nb6_world_size(world);
    *p = (struct nb6_partners){.world = world, .ranks = ranks};
    p->with = nbc_alloc((size_t)ranks, sizeof *p->with);
    p->spare = nbc_alloc_unset(spare_bytes, 1);
    return p->with && p->spare ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for messages of %d ranks", ranks);
}

void nb6_partners_close(struct nb6_partners *p)
{
    for (int r = 0; r < p->ranks && p->with; r++) nbc_free(p->with[r].come);
    nbc_free(p->with);
    nbc_free(p->spare);
    *p = (struct nb6_partners){0};
}

static int sends(const struct nb6_partner *with, enum nb6_partners_way way)
{
    return way == NB6_TREES ? with->gives : with->gets;
}

static int receives(const struct nb6_partner *with, enum nb6_partners_way way)
{
    return way == NB6_TREES ? with->gets : with->gives;
}

int nb6_partners_provide(struct nb6_partners *p, enum nb6_partners_way way, struct nbc_error *err)
{
    for (int r = 0; r < p->ranks; r++) {
        struct nb6_partner *with = &p->with[r];
        const size_t bytes = (size_t)with->bytes_come;
        if (!receives(with, way) || bytes <= with->room) continue;
        nbc_free(with->come);
        with->room = 0;
        with->come = nbc_alloc_unset(bytes, 1);
        if (!with->come)
            return nbc_fail(err, NBC_NO_MEMORY, "rank %d has no memory for the trees of %d ranks",
                            nb6_world_rank(p->world), p->ranks);
        with->room = bytes;
    }
    return NBC_OK;
}

static void wait_for_all(struct nb6_partners *p, enum nb6_partners_way way, int with_in)
{
    for (int r = 0; r < p->ranks; r++) {
        if (with_in && receives(&p->with[r], way)) nb6_message_wait(p->world, &p->with[r].in);
        if (sends(&p->with[r], way)) nb6_message_wait(p->world, &p->with[r].out);
    }
}

static void begin_sends(struct nb6_partners *p, enum nb6_partners_way way, int tag)
{
    for (int r = 0; r < p->ranks; r++) {
        struct nb6_partner *with = &p->with[r];
        if (sends(with, way)) nb6_world_send(p->world, &with->out, r, tag, with->data, (size_t)with->bytes);
    }
}

void nb6_partners_pass(struct nb6_partners *p, enum nb6_partners_way way)
{
    const int tag = nb6_world_tag(p->world);
    for (int r = 0; r < p->ranks; r++) {
        struct nb6_partner *with = &p->with[r];
        if (receives(with, way)) nb6_world_receive(p->world, &with->in, r, tag, with->come, (size_t)with->bytes_come);
    }
    begin_sends(p, way, tag);
    wait_for_all(p, way, 1);
}

/* One after another into the same memory. */
void nb6_partners_lose_boxes(struct nb6_partners *p)
{
    const int tag = nb6_world_tag(p->world);
    begin_sends(p, NB6_BOXES, tag);
    for (int r = 0; r < p->ranks; r++) {
        struct nb6_partner *with = &p->with[r];
        if (!receives(with, NB6_BOXES)) continue;
        nb6_world_receive(p->world, &with->in, r, tag, p->spare, (size_t)with->bytes_come);
        nb6_message_wait(p->world, &with->in);
    }
    wait_for_all(p, NB6_BOXES, 0);
}

void nb6_partners_tell_bytes(struct nb6_partners *p)
{
    const int tag = nb6_world_tag(p->world);
    for (int r = 0; r < p->ranks; r++) {
        struct nb6_partner *with = &p->with[r];
        if (with->gets) nb6_world_receive(p->world, &with->in, r, tag, &with->bytes_come, sizeof with->bytes_come);
        if (with->gives) nb6_world_send(p->world, &with->out, r, tag, &with->bytes, sizeof with->bytes);
    }
    wait_for_all(p, NB6_TREES, 1);
}
