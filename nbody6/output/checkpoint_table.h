/** How a table of checkpoint_fields.h is made from a list of members, and how the compiler sees that the list is
 *  complete. Private to checkpoint_fields*.c and to their test.
 *
 *  A list is a macro: `#define STAR_FIELDS(F, T) F(T, owner, "owner", OWNER) F(T, t0_reg, "t0_reg", TIME)`. T is the
 *  struct, `owner` its member, "owner" the name of the field in files, and the last argument the rule of the field
 *  (enum nb6_rule_kind); without a name and a rule it does not compile. A member may be renamed. A field may not: this
 *  program could not resume checkpoints of the version before. From the list come the table,
 *      static const struct nb6_state_field star_fields[] = {STAR_FIELDS(NB6_FIELD, struct nb6_star)};
 *  and the check that nothing was forgotten,
 *      _Static_assert(NB6_COVERS(struct nb6_star, STAR_FIELDS, sizeof(int8_t[2])), "...");
 *  which fails if the struct gets a member that is neither in the list nor among the bytes left out. Such a struct has
 * no padding, so that no member can hide between two others: a member `unused` or `spare`, which is left out, fills
 * bytes that the compiler would leave free. */
#ifndef NB6_CHECKPOINT_TABLE_H
#define NB6_CHECKPOINT_TABLE_H

#include "nbody6/output/checkpoint_fields.h"

#include <float.h>
#include <stddef.h>
#include <stdint.h>

#define NB6_MEMBER(type, member) (((type *)NULL)->member)

/** The type of a field follows from the member; enums are unsigned ints to the compiler. */
#define NB6_TYPE_OF(member)                                                                                            \
    _Generic((member), double: NB6_FIELD_F64, double *: NB6_FIELD_F64, double(*)[3]: NB6_FIELD_F64,                    \
        double(*)[6]: NB6_FIELD_F64, const double *: NB6_FIELD_F64, int64_t: NB6_FIELD_I64, int64_t *: NB6_FIELD_I64,  \
        uint64_t: NB6_FIELD_U64, int: NB6_FIELD_I32, int *: NB6_FIELD_I32, unsigned: NB6_FIELD_I32,                    \
        int8_t: NB6_FIELD_I8, int8_t *: NB6_FIELD_I8, char *: NB6_FIELD_TEXT)
#define NB6_BYTES_OF(member)                                                                                           \
    _Generic((member), double : 8, double * : 8, double(*)[3] : 8, double(*)[6] : 8, const double * : 8, int64_t : 8,  \
             int64_t * : 8, uint64_t : 8, int : 4, int * : 4, unsigned : 4, int8_t : 1, int8_t * : 1, char * : 1)
#define NB6_COUNT_OF(member) (sizeof(member) / NB6_BYTES_OF(member))

/* ---- rules in a word */

/* clang-format off */
#define BETWEEN(least, most) {NB6_RULE_RANGE, least, most}
#define BODY_FROM(least)     {NB6_RULE_BODY, least, 0}
#define STAR_FROM(least)     {NB6_RULE_STAR, least, 0}
#define CHAIN_NUMBER         {NB6_RULE_CHAIN, 0, 0}
#define SLOT_FROM(least)     {NB6_RULE_SLOT, least, 0}
#define OWNER                {NB6_RULE_OWNER, 0, 0}
#define INPUT                {NB6_RULE_INPUT, 0, 0}
#define ANY                  {NB6_RULE_ANY, 0, 0}
#define PRINTABLE            {NB6_RULE_TEXT, 0, 0}
/* clang-format on */

/** Quantities of a run are far below the first limits: the fourth derivative of a force is 10^60 at a separation of
 * 10^-10. Squares of values within these limits are finite. */
#define NUMBER BETWEEN(-1e120, 1e120)
#define NOT_NEGATIVE BETWEEN(0, 1e120)
#define POSITIVE BETWEEN(DBL_MIN, 1e120)
/** Positions and velocities: the driver takes all bodies for neighbours beyond 10^15. */
#define PLACE BETWEEN(-1e15, 1e15)
#define FLAG BETWEEN(0, 1)
/** So many that no run can have made more, and that sums of them are no overflow. */
#define COUNT BETWEEN(0, 0x1p60)
/** Ticks from 0 to NB6_T_MAX; or a tick before: never. */
#define TIME BETWEEN(0, 8e6 * 0x1p40)
#define TIME_OR_NEVER BETWEEN(-1, 8e6 * 0x1p40)
/** Seconds of a clock: a thousand years. */
#define SECONDS BETWEEN(0, 4e10)
#define BYTES COUNT

/* ---- rows */

/** Row of a table, whose rule is what stands last: for macros that have a struct of their own. */
#define NB6_FIELD_AT(T, member, name, ...)                                                                             \
    {name,       NB6_TYPE_OF(NB6_MEMBER(T, member)), offsetof(T, member), NB6_COUNT_OF(NB6_MEMBER(T, member)), 1, 0,   \
     __VA_ARGS__},
/** Row of a table: a member, or a member of a struct inside ("options.eta"), and its name in files. */
#define NB6_FIELD(T, member, name, rule) NB6_FIELD_AT(T, member, name, rule)
/** Row of a table: one member of every struct of an array ("merged.t"). */
#define NB6_FIELD_OF_EACH(T, array, member, name, rule)                                                                \
    {name,                                                                                                             \
     NB6_TYPE_OF(NB6_MEMBER(T, array[0].member)),                                                                      \
     offsetof(T, array[0].member),                                                                                     \
     NB6_COUNT_OF(NB6_MEMBER(T, array[0].member)),                                                                     \
     sizeof NB6_MEMBER(T, array) / sizeof NB6_MEMBER(T, array[0]),                                                     \
     sizeof NB6_MEMBER(T, array[0]),                                                                                   \
     rule},

/** Bytes of a row, with the sign of a sum. */
#define NB6_PLUS_BYTES(T, member, ...) +sizeof NB6_MEMBER(T, member)
#define NB6_PLUS_BYTES_OF_EACH(T, array, member, ...)                                                                  \
    +sizeof NB6_MEMBER(T, array) / sizeof NB6_MEMBER(T, array[0]) * sizeof NB6_MEMBER(T, array[0].member)

/** 1 if the members in the list, and `left_out` bytes of members that no checkpoint needs, are the whole
 *  struct. */
#define NB6_COVERS(T, LIST, left_out) (sizeof(T) == (left_out) + (0 LIST(NB6_PLUS_BYTES, T)))

#define NB6_ROWS(fields) (sizeof(fields) / sizeof(fields)[0])

#endif
