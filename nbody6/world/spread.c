#include "nbody6/world/spread.h"

#include <string.h>

struct nb6_spread {
    struct nb6_world *world;
    int rank, size;
    int64_t n;
    size_t item;   /* bytes of one */
    int is_binary; /* partners by XOR: the number of ranks is a power of two */
    int unit;      /* ranks whose items are accumulated */
    int stages;    /* of the accumulation */
    int sets, slots;
    struct nb6_spread_set *set; /* [sets] own, those of the stages, those of the ring */
    int64_t most;
    struct nb6_spread_memory memory;
    char *array[2];
    struct nb6_message in, out; /* under way, if is_moving */
    int is_moving;
    struct nb6_spread_counts counts;
};

/* ---- owners */

static int around(const struct nb6_spread *s, int owner)
{
    return ((owner % s->size) + s->size) % s->size;
}

static int64_t first_of(const struct nb6_spread *s, int owner)
{
    int64_t first, end;
    nb6_world_share(s->world, s->n, owner, &first, &end);
    return first;
}

/* Items of consecutive owners, around. */
static int64_t items_of(const struct nb6_spread *s, int first, int owners)
{
    const int end = first + owners;
    if (end < s->size) return first_of(s, end) - first_of(s, first);
    const int64_t tail = s->n - first_of(s, first);
    return end == s->size ? tail : tail + first_of(s, end - s->size);
}

/* First owner of the `owners` that rank r has after as many stages. */
static int start_of(const struct nb6_spread *s, int r, int owners)
{
    return s->is_binary ? r & ~(owners - 1) : r;
}

/* Where the items of an owner of the own unit lie. */
static char *place_of(const struct nb6_spread *s, int owner)
{
    const int base = start_of(s, s->rank, s->unit);
    return s->array[0] + (size_t)items_of(s, base, around(s, owner - base)) * s->item;
}

/* ---- the plan */

int nb6_spread_unit(int ranks, double share_bytes, double room)
{
    int unit = 1;
    while (2 * unit < ranks && 2 * unit * share_bytes <= room) unit *= 2;
    return unit;
}

static void plan_unit(struct nb6_spread *s, size_t room)
{
    const int64_t share = (s->n + s->size - 1) / s->size;
    s->is_binary = (s->size & (s->size - 1)) == 0;
    s->unit = nb6_spread_unit(s->size, (double)share * (double)s->item, (double)room);
    while (1 << s->stages < s->unit) s->stages++;
    s->sets = 1 + s->stages + (s->size - 1) / s->unit;
}

static void plan_sets(struct nb6_spread *s)
{
    const int base = start_of(s, s->rank, s->unit);
    s->set[0] = (struct nb6_spread_set){.first = s->rank, .owners = 1};
    for (int k = 0; k < s->stages; k++) {
        const int owners = 1 << k, from = s->is_binary ? s->rank ^ owners : around(s, s->rank + owners);
        s->set[1 + k] = (struct nb6_spread_set){.first = start_of(s, from, owners), .owners = owners};
    }
    for (int k = 1 + s->stages, passed = s->unit; k < s->sets; k++, passed += s->unit) {
        const int rest = s->size - passed;
        s->set[k] =
            (struct nb6_spread_set){.first = around(s, base + passed), .owners = rest < s->unit ? rest : s->unit};
    }
    for (int k = 0; k < s->sets; k++) {
        s->set[k].n = items_of(s, s->set[k].first, s->set[k].owners);
        if (s->set[k].n > s->most) s->most = s->set[k].n;
    }
}

static int is_of_ring(const struct nb6_spread *s, int k)
{
    return k > s->stages;
}

/* Sets of the ring come in the order of owners, once around: those before the first owner have one slot, those after it
 * another. */
static int shares_slot(const struct nb6_spread *s, int k)
{
    return is_of_ring(s, k) && is_of_ring(s, k - 1) && s->set[k].first > s->set[k - 1].first;
}

static void plan_slots(struct nb6_spread *s)
{
    for (int k = 0; k < s->sets; k++) {
        s->slots += !shares_slot(s, k);
        s->set[k].slot = 0;
        for (int other = 0; other < s->sets; other++)
            s->set[k].slot += !shares_slot(s, other) && s->set[other].first < s->set[k].first;
    }
    for (int k = 1; k < s->sets; k++)
        if (shares_slot(s, k)) s->set[k].slot = s->set[k - 1].slot;
}

static int take_ordinary(void *context, size_t bytes, void **memory, struct nbc_error *err)
{
    (void)context;
    *memory = nbc_alloc_unset(bytes, 1);
    return *memory ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for %zu bytes of other ranks", bytes);
}

static void give_back_ordinary(void *context, void *memory)
{
    (void)context;
    nbc_free(memory);
}

static int take_array(struct nb6_spread *s, int k, size_t items, struct nbc_error *err)
{
    void *memory;
    const int status = s->memory.take(s->memory.context, items * s->item, &memory, err);
    s->array[k] = memory;
    return status;
}

static int allocate(struct nb6_spread *s, struct nbc_error *err)
{
    const size_t unit = (size_t)items_of(s, start_of(s, s->rank, s->unit), s->unit);
    int64_t most = 0; /* of the ring */
    for (int k = s->stages + 1; k < s->sets; k++)
        if (s->set[k].n > most) most = s->set[k].n;
    const int status = take_array(s, 0, unit > (size_t)most ? unit : (size_t)most, err);
    return status ? status : take_array(s, 1, (size_t)most, err);
}

int nb6_spread_open(struct nb6_spread **spread, struct nb6_world *world, int64_t n, size_t size, size_t room,
                    const struct nb6_spread_memory *memory, struct nbc_error *err)
{
    static const struct nb6_spread_memory ordinary = {.take = take_ordinary, .give_back = give_back_ordinary};
    struct nb6_spread *s = nbc_alloc(1, sizeof *s);
    if (!s) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the items of other ranks");
    s->world = world;
    s->rank = nb6_world_rank(world);
    s->size = nb6_world_size(world);
    s->n = n;
    s->item = size;
    s->memory = memory ? *memory : ordinary;
    plan_unit(s, room);
    s->set = nbc_alloc((size_t)s->sets, sizeof *s->set);
    int status = s->set ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for %d sets of items", s->sets);
    if (!status) {
        plan_sets(s);
        plan_slots(s);
        status = allocate(s, err);
    }
    if (status)
        nb6_spread_close(s);
    else
        *spread = s;
    return status;
}

void nb6_spread_close(struct nb6_spread *s)
{
    if (!s) return;
    for (int k = 0; k < 2; k++) s->memory.give_back(s->memory.context, s->array[k]);
    nbc_free(s->set);
    nbc_free(s);
}

void *nb6_spread_own(struct nb6_spread *s)
{
    return place_of(s, s->rank);
}

int nb6_spread_slots(const struct nb6_spread *s)
{
    return s->slots;
}

int64_t nb6_spread_most(const struct nb6_spread *s)
{
    return s->most;
}

int nb6_spread_sets(const struct nb6_spread *s, const struct nb6_spread_set **sets)
{
    *sets = s->set;
    return s->sets;
}

void nb6_spread_get_counts(const struct nb6_spread *s, struct nb6_spread_counts *counts)
{
    *counts = s->counts;
}

/* ---- messages. The one that brings set k, and the one that goes out with it. */

/* The arrays of the ring take turns: the set before is going out meanwhile. */
static char *array_of(const struct nb6_spread *s, int k)
{
    return is_of_ring(s, k) ? s->array[(k - s->stages) % 2] : place_of(s, s->set[k].first);
}

static void begin_stage(struct nb6_spread *s, int k, int tag)
{
    const int owners = 1 << (k - 1), mine = start_of(s, s->rank, owners);
    const int to = s->is_binary ? s->rank ^ owners : around(s, s->rank - owners);
    const int from = s->is_binary ? to : around(s, s->rank + owners);
    nb6_world_receive(s->world, &s->in, from, tag, array_of(s, k), (size_t)s->set[k].n * s->item);
    nb6_world_send(s->world, &s->out, to, tag, place_of(s, mine), (size_t)items_of(s, mine, owners) * s->item);
}

/* The next unit takes as many owners of the set before as it lacks: of the last set those that are not its own. */
static void begin_turn(struct nb6_spread *s, int k, int tag)
{
    const int turn = k - s->stages;
    const int first = turn == 1 ? start_of(s, s->rank, s->unit) : s->set[k - 1].first;
    const char *held = turn == 1 ? s->array[0] : array_of(s, k - 1);
    nb6_world_receive(s->world, &s->in, around(s, s->rank + s->unit), tag, array_of(s, k),
                      (size_t)s->set[k].n * s->item);
    nb6_world_send(s->world, &s->out, around(s, s->rank - s->unit), tag, held,
                   (size_t)items_of(s, first, s->set[k].owners) * s->item);
}

static void begin(struct nb6_spread *s, int k)
{
    const int tag = nb6_world_tag(s->world);
    if (is_of_ring(s, k))
        begin_turn(s, k, tag);
    else
        begin_stage(s, k, tag);
    s->is_moving = 1;
    s->counts.messages++;
    s->counts.bytes += s->out.bytes;
}

static void end(struct nb6_spread *s)
{
    const double start = nb6_world_seconds(s->world);
    nb6_message_wait(s->world, &s->in);
    nb6_message_wait(s->world, &s->out);
    s->is_moving = 0;
    s->counts.wait_s += nb6_world_seconds(s->world) - start;
}

void nb6_spread_move_on(struct nb6_spread *s)
{
    if (!s->is_moving) return;
    (void)nb6_message_test(s->world, &s->in);
    (void)nb6_message_test(s->world, &s->out);
}

void nb6_spread_run(struct nb6_spread *s, nb6_spread_work *work, void *context)
{
    for (int k = 0; k < s->sets; k++) {
        if (k + 1 < s->sets) begin(s, k + 1);
        s->counts.works++;
        s->counts.beside += s->is_moving != 0;
        work(context, &s->set[k], k == 0 ? nb6_spread_own(s) : array_of(s, k));
        if (k + 1 < s->sets) end(s);
    }
    s->counts.runs++;
}
