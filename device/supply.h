/** A piece of memory, on any side, that is given out to several arrays, or is only counted before it is allocated. */
#ifndef NBD_SUPPLY_H
#define NBD_SUPPLY_H

#include <stddef.h>

/** Arrays begin at multiples of 256 bytes. */
struct nbd_supply {
    char *next;   /**< NULL: it is only counted */
    size_t bytes; /**< given out so far */
};

/** The next array of so many objects; NULL if it is only counted. */
static inline void *nbd_take(struct nbd_supply *s, size_t count, size_t size)
{
    const size_t bytes = (count * size + 255) / 256 * 256;
    char *memory = s->next;
    s->bytes += bytes;
    if (memory) s->next += bytes;
    return memory;
}

#endif
