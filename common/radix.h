/** A stable radix sort of keys with values, by the team of threads (team.h): the same result for any number of them. */
#ifndef NBC_RADIX_H
#define NBC_RADIX_H

#include <stddef.h>
#include <stdint.h>

/** Bits of a key are sorted ten at a time. */
enum { NBC_RADIX_DIGIT_BITS = 10, NBC_RADIX_DIGITS = 1 << NBC_RADIX_DIGIT_BITS };

/** A key of up to 64 bits and its value. */
struct nbc_keyed {
    uint64_t key, value;
};

/** A key of 32 bits and its value in one number, which takes half of the memory and of the time. */
static inline uint64_t nbc_keyed32(uint32_t key, uint32_t value)
{
    return (uint64_t)key << 32 | value;
}

/** Threads that n < 2^32 entries are worth. */
int nbc_radix_parts(size_t n);

/** Sort keys that are below 2^bits, bits <= 32, made by nbc_keyed32. Entries with equal keys keep their order.
 *  @param[in,out] entry, other  [n], both overwritten
 *  @param[out] count            [parts], scratch
 *  @param[in] parts             of nbc_radix_parts
 *  @return the sorted ones, which are in `entry` or in `other` */
uint64_t *nbc_radix_sort32(size_t n, int bits, uint64_t *entry, uint64_t *other, uint32_t (*count)[NBC_RADIX_DIGITS],
                           int parts);

/** The same, bits <= 64. */
struct nbc_keyed *nbc_radix_sort64(size_t n, int bits, struct nbc_keyed *entry, struct nbc_keyed *other,
                                   uint32_t (*count)[NBC_RADIX_DIGITS], int parts);

#endif
