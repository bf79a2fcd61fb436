#include "common/radix.h"

#include "common/team.h"

#include <string.h>

enum {
    ENTRIES_OF_A_PART = 8192, /* sorted by a thread in some ten microseconds */
    MOST_PARTS = 32,
    WORDS_OF_32 = 1, /* of an entry */
    WORDS_OF_64 = 2
};

/* The first word of an entry has the key. */
struct sorting {
    size_t n;
    uint64_t *from, *to;
    uint32_t (*count)[NBC_RADIX_DIGITS]; /* [parts]: of each digit; then where they go */
    int shift;
};

/* Compiled for each number of words. */
#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t digit_of(const struct sorting *s, const uint64_t *entry)
{
    return (uint32_t)(*entry >> s->shift) & (NBC_RADIX_DIGITS - 1);
}

INLINE void count_digits(const struct sorting *s, int part, int parts, const size_t words)
{
    int64_t first, end;
    uint32_t *count = s->count[part];
    nbc_range((int64_t)s->n, part, parts, &first, &end);
    memset(count, 0, sizeof s->count[part]);
    for (size_t j = (size_t)first; j < (size_t)end; j++) count[digit_of(s, s->from + j * words)]++;
}

INLINE void move_entries(const struct sorting *s, int part, int parts, const size_t words)
{
    int64_t first, end;
    uint32_t *next = s->count[part];
    nbc_range((int64_t)s->n, part, parts, &first, &end);
    for (size_t j = (size_t)first; j < (size_t)end; j++) {
        const uint64_t *entry = s->from + j * words;
        uint64_t *place = s->to + next[digit_of(s, entry)]++ * words;
        for (size_t w = 0; w < words; w++) place[w] = entry[w];
    }
}

static void count32(void *context, int part, int parts)
{
    count_digits(context, part, parts, WORDS_OF_32);
}

static void count64(void *context, int part, int parts)
{
    count_digits(context, part, parts, WORDS_OF_64);
}

static void move32(void *context, int part, int parts)
{
    move_entries(context, part, parts, WORDS_OF_32);
}

static void move64(void *context, int part, int parts)
{
    move_entries(context, part, parts, WORDS_OF_64);
}

/* Counts to the places of the first entry of each digit and part. Entries with equal digits keep their order, however
 * many parts there are. */
static void begin_of_digits(struct sorting *s, int parts)
{
    uint32_t sum = 0;
    for (int d = 0; d < NBC_RADIX_DIGITS; d++)
        for (int part = 0; part < parts; part++) {
            const uint32_t n = s->count[part][d];
            s->count[part][d] = sum;
            sum += n;
        }
}

/* From the lowest digit of a key to the highest one; key_at: where keys begin in their word. */
static uint64_t *sort(struct sorting *s, int key_at, int bits, int parts, nbc_part *count, nbc_part *move)
{
    for (int done = 0; done < bits; done += NBC_RADIX_DIGIT_BITS) {
        s->shift = key_at + done;
        nbc_team_run(parts, count, s);
        begin_of_digits(s, parts);
        nbc_team_run(parts, move, s);
        uint64_t *made = s->to;
        s->to = s->from;
        s->from = made;
    }
    return s->from;
}

int nbc_radix_parts(size_t n)
{
    const int wanted = nbc_parts((int64_t)n, ENTRIES_OF_A_PART);
    return wanted < MOST_PARTS ? wanted : MOST_PARTS;
}

uint64_t *nbc_radix_sort32(size_t n, int bits, uint64_t *entry, uint64_t *other, uint32_t (*count)[NBC_RADIX_DIGITS],
                           int parts)
{
    struct sorting s = {.n = n, .from = entry, .to = other, .count = count};
    return sort(&s, 32, bits, parts, count32, move32);
}

struct nbc_keyed *nbc_radix_sort64(size_t n, int bits, struct nbc_keyed *entry, struct nbc_keyed *other,
                                   uint32_t (*count)[NBC_RADIX_DIGITS], int parts)
{
    struct sorting s = {.n = n, .from = (uint64_t *)entry, .to = (uint64_t *)other, .count = count};
    return sort(&s, 0, bits, parts, count64, move64) == (uint64_t *)entry ? entry : other;
}
