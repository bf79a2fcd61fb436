#include "gpunb/tree/cells.h"

#include "common/radix.h"
#include "common/team.h"
#include "gpunb/tree/keys.h"

#include <math.h>
#include <string.h>

enum {
    N_PARTS = TREE_PARTS, /* places behind the parts of a cut: their number, and the first one */
    FIRST_PART = TREE_PARTS + 1,
    CUTS = TREE_PARTS + 2,
    ENTRY_WORDS = sizeof(struct nbc_keyed) / sizeof(uint64_t),
    BODIES_OF_A_PART = 1024, /* whose keys a thread makes in some ten microseconds */
    CELLS_OF_A_PART = 64,
    MOST_THREADS = 256
};

void *tree_room(struct tree_room *room, size_t count, size_t size)
{
    if (count <= room->bytes / size && room->data) return room->data;
    void *data = nbc_alloc_unset(count, size);
    if (!data) return NULL;
    nbc_free(room->data);
    room->data = data;
    room->bytes = count * size;
    return data;
}

void *tree_room_kept(struct tree_room *room, size_t count, size_t size)
{
    if (count <= room->bytes / size && room->data) return room->data;
    const size_t twice = room->bytes / size * 2;
    if (count < twice) count = twice;
    void *data = nbc_alloc_unset(count, size);
    if (!data) return NULL;
    if (room->data) memcpy(data, room->data, room->bytes);
    nbc_free(room->data);
    room->data = data;
    room->bytes = count * size;
    return data;
}

/* ---- keys */

struct box {
    double low[3], high[3];
};

struct keys {
    const double (*x)[3];
    const int32_t *number; /* of the bodies; NULL: all of them, from number `origin` on, around */
    size_t n, origin;
    struct box box, *of_part;
    struct tree_root root;
    double low[3], per_cell; /* of the root */
    struct nbc_keyed *entry;
    int32_t *new_number;
};

static size_t number_of(const struct keys *k, size_t place)
{
    if (k->number) return (size_t)k->number[place];
    return place + k->origin < k->n ? place + k->origin : place + k->origin - k->n;
}

static void bound_part(void *context, int part, int parts)
{
    const struct keys *k = context;
    struct box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    int64_t first, end;
    nbc_range((int64_t)k->n, part, parts, &first, &end);
    for (size_t i = (size_t)first; i < (size_t)end; i++)
        for (int c = 0; c < 3; c++) {
            const double x = k->x[number_of(k, i)][c];
            box.low[c] = x < box.low[c] ? x : box.low[c];
            box.high[c] = x > box.high[c] ? x : box.high[c];
        }
    k->of_part[part] = box;
}

static void key_part(void *context, int part, int parts)
{
    const struct keys *k = context;
    int64_t first, end;
    nbc_range((int64_t)k->n, part, parts, &first, &end);
    for (size_t i = (size_t)first; i < (size_t)end; i++) {
        const size_t j = number_of(k, i);
        k->entry[i] = (struct nbc_keyed){tree_key(k->x[j], k->low, k->per_cell), (uint64_t)j};
    }
}

/* @return 0: all bodies are in one point, and there are no keys */
static int make_keys(struct keys *k)
{
    struct box of_part[MOST_THREADS];
    int parts = nbc_parts((int64_t)k->n, BODIES_OF_A_PART);
    if (parts > MOST_THREADS) parts = MOST_THREADS;
    k->of_part = of_part;
    nbc_team_run(parts, bound_part, k);
    double width = 0;
    for (int c = 0; c < 3; c++) {
        k->box.low[c] = of_part[0].low[c];
        k->box.high[c] = of_part[0].high[c];
        for (int p = 1; p < parts; p++) {
            k->box.low[c] = fmin(k->box.low[c], of_part[p].low[c]);
            k->box.high[c] = fmax(k->box.high[c], of_part[p].high[c]);
        }
        width = fmax(width, k->box.high[c] - k->box.low[c]);
    }
    if (!(width > TREE_POINT)) return 0;
    for (int c = 0; c < 3; c++) k->low[c] = k->box.low[c] - k->root.below[c] * width;
    k->per_cell = TREE_KEY_CELLS / (k->root.width * width);
    nbc_team_run(parts, key_part, k);
    return 1;
}

/* ---- links */

struct linking {
    struct tree_cells *tree;
    struct nbc_keyed *entry;
    struct tree_root root;
    int leaf;
    size_t begin, end;    /* cells of the level */
    int32_t (*cut)[CUTS]; /* [end - begin] where their parts begin, how many there are, which is the first */
};

static void cut_cell(const struct linking *l, size_t c)
{
    const struct tree_cell *cell = &l->tree->cell[l->begin + c];
    int32_t *cut = l->cut[c];
    cut[N_PARTS] = cell->count > l->leaf ? tree_cut(&l->entry[0].key, ENTRY_WORDS, cell->first, cell->count, cut) : 0;
}

static void cut_part(void *context, int part, int parts)
{
    const struct linking *l = context;
    int64_t first, end;
    nbc_range((int64_t)(l->end - l->begin), part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) cut_cell(l, (size_t)c);
}

static void number_part(void *context, int part, int parts)
{
    const struct keys *k = context;
    int64_t first, end;
    nbc_range((int64_t)k->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) k->new_number[i] = (int32_t)k->entry[i].value;
}

/* The numbers of the bodies of some entries. */
static void read_numbers(const struct nbc_keyed *entry, size_t n, int32_t *number)
{
    struct keys keys = {.n = n, .entry = (struct nbc_keyed *)entry, .new_number = number};
    nbc_team_run(nbc_parts((int64_t)n, 8 * BODIES_OF_A_PART), number_part, &keys);
}

/* Bodies that one key cannot tell apart get second ones, within their own box.   @return 0 without memory */
static int sort_again(struct linking *l, size_t c, const double (*x)[3])
{
    struct tree_cells *tree = l->tree;
    const struct tree_cell *cell = &tree->cell[c];
    const size_t n = (size_t)cell->count;
    struct nbc_keyed *entry = l->entry + cell->first, *other = tree->others.data;
    int32_t *number = tree_room(&tree->marks, n, sizeof *number);
    if (!number) return 0;
    read_numbers(entry, n, number);
    struct keys keys = {.x = x, .number = number, .n = n, .root = l->root, .entry = entry};
    if (!make_keys(&keys)) {
        for (size_t i = 0; i < n; i++) entry[i].key = 0;
        return 1;
    }
    const int parts = nbc_radix_parts(n);
    const struct nbc_keyed *sorted = nbc_radix_sort64(n, TREE_KEY_BITS, entry, other, tree->counts.data, parts);
    if (sorted != entry) memcpy(entry, sorted, n * sizeof *entry);
    return 1;
}

/* Cells of the level that are too large and have equal keys. Points stay as they are. */
static int sort_equal_ones(struct linking *l, const double (*x)[3])
{
    for (size_t c = l->begin; c < l->end; c++) {
        const struct tree_cell *cell = &l->tree->cell[c];
        const struct nbc_keyed *first = &l->entry[cell->first], *last = first + cell->count - 1;
        if (cell->count > l->leaf && first->key == last->key && !sort_again(l, c, x)) return 0;
    }
    return 1;
}

static void add_parts(void *context, int part, int parts)
{
    const struct linking *l = context;
    int64_t first, end;
    nbc_range((int64_t)(l->end - l->begin), part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) {
        struct tree_cell *cell = &l->tree->cell[l->begin + (size_t)c];
        const int32_t *cut = l->cut[c], n = cut[N_PARTS];
        cell->child = cut[FIRST_PART];
        cell->n_child = n;
        for (int32_t p = 0; p < n; p++) {
            const int32_t stop = p + 1 < n ? cut[p + 1] : cell->first + cell->count;
            l->tree->cell[cell->child + p] = (struct tree_cell){.first = cut[p], .count = stop - cut[p]};
        }
    }
}

/* @return the end of the cells of the next level; 0 without memory */
static size_t add_level(struct linking *l)
{
    struct tree_cells *tree = l->tree;
    size_t end = l->end;
    for (size_t c = 0; c < l->end - l->begin; c++) {
        l->cut[c][FIRST_PART] = (int32_t)end;
        end += (size_t)l->cut[c][N_PARTS];
    }
    tree->cell = tree_room_kept(&tree->cells, end, sizeof *tree->cell);
    if (!tree->cell) return 0;
    nbc_team_run(nbc_parts((int64_t)(l->end - l->begin), CELLS_OF_A_PART), add_parts, l);
    return end;
}

static int link_cells(struct linking *l, const double (*x)[3])
{
    struct tree_cells *tree = l->tree;
    tree->cell = tree_room_kept(&tree->cells, 1, sizeof *tree->cell);
    if (!tree->cell) return 0;
    tree->cell[0] = (struct tree_cell){.count = (int32_t)tree->n};
    tree->n_levels = 0;
    l->begin = 0;
    l->end = 1;
    while (l->begin < l->end) {
        tree->level[tree->n_levels++] = l->begin;
        if (tree->n_levels == TREE_LEVELS) break; /* they stay as large as they are */
        if (!sort_equal_ones(l, x)) return 0;
        l->cut = tree_room(&tree->marks, l->end - l->begin, sizeof *l->cut);
        if (!l->cut) return 0;
        nbc_team_run(nbc_parts((int64_t)(l->end - l->begin), CELLS_OF_A_PART), cut_part, l);
        const size_t end = add_level(l);
        if (end == 0) return 0;
        l->begin = l->end;
        l->end = end;
    }
    tree->level[tree->n_levels] = l->end;
    return 1;
}

int tree_make_cells(struct tree_cells *tree, size_t n, const double (*x)[3], uint64_t build, int leaf, int32_t origin,
                    double *seconds)
{
    const double begin = nbc_wtime();
    const int parts = nbc_radix_parts(n);
    struct keys keys = {.x = x, .n = n, .origin = (size_t)origin % n, .root = tree_root_of(build)};
    tree->n = n;
    tree->number = tree_room(&tree->numbers, n, sizeof *tree->number);
    struct nbc_keyed *entry = tree_room(&tree->entries, n, sizeof *entry),
                     *other = tree_room(&tree->others, n, sizeof *other);
    if (!tree->number || !entry || !other ||
        !tree_room(&tree->counts, (size_t)parts, sizeof(uint32_t[NBC_RADIX_DIGITS])))
        return NBC_NO_MEMORY;
    keys.entry = entry;
    const int has_keys = make_keys(&keys);
    for (size_t i = 0; i < n && !has_keys; i++) entry[i] = (struct nbc_keyed){0, number_of(&keys, i)};
    const double keyed = nbc_wtime();
    struct nbc_keyed *sorted =
        has_keys ? nbc_radix_sort64(n, TREE_KEY_BITS, entry, other, tree->counts.data, parts) : entry;
    if (sorted == other) { /* `others` is scratch from here on */
        const struct tree_room entries = tree->entries;
        tree->entries = tree->others;
        tree->others = entries;
    }
    const double sort = nbc_wtime();
    struct linking linking = {.tree = tree, .entry = sorted, .root = keys.root, .leaf = leaf};
    if (!link_cells(&linking, x)) return NBC_NO_MEMORY;
    read_numbers(sorted, n, tree->number);
    seconds[0] += keyed - begin;
    seconds[1] += sort - keyed;
    seconds[2] += nbc_wtime() - sort;
    return NBC_OK;
}

void tree_free_cells(struct tree_cells *tree)
{
    struct tree_room *rooms[] = {&tree->numbers, &tree->cells,  &tree->entries,
                                 &tree->others,  &tree->counts, &tree->marks};
    for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) {
        nbc_free(rooms[r]->data);
        *rooms[r] = (struct tree_room){0};
    }
}
