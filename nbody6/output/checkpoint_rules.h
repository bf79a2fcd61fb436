/** Rules for the fields of a checkpoint: one beside each field in the tables of checkpoint_fields*.c, without
 *  which they do not compile. A checkpoint with a right checksum may still be wrong: edited, or written by another
 * program. So its numbers are checked before they are used: each by its own rule (checkpoint_rules.c), then against
 * each other (checkpoint_relations.h). Failures stay in the file, with the remedy. Private to checkpoint*.c and their
 * tests. */
#ifndef NB6_CHECKPOINT_RULES_H
#define NB6_CHECKPOINT_RULES_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/output/checkpoint_fields.h"

#include <stdint.h>

struct nb6_sim;

/** Counts that are the limits of indices. */
struct nb6_rule_sizes {
    int64_t stars, slots, chains;
};

/** Those of a simulation. */
struct nb6_rule_sizes nb6_rule_sizes_of(const struct nb6_sim *sim);

/** Judge the fields of an array of structs.
 *  @param[in] array    [rows] of the struct; its texts end with a 0
 *  @param[in] is_used  [rows] 0: a row that is not read and may have any values; NULL: all are read */
void nb6_rules_judge(struct nb6_hdf5 *file, const struct nb6_field_group *group, const void *array, int64_t rows,
                     const int8_t *is_used, const struct nb6_rule_sizes *sizes);

/** One of its fields. */
void nb6_rules_judge_field(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                           const struct nb6_state_field *field, const void *array, int64_t rows, const int8_t *is_used,
                           const struct nb6_rule_sizes *sizes);
/** Some rows of a field, of all that the file has. */
struct nb6_rule_rows {
    int64_t first, count, all;
};
/** Judge these rows of a field as they come from the file.
 *  @param[in] values  [rows->count] times the values of a row, of the type of the field, one after the other */
void nb6_rules_judge_values(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                            const struct nb6_state_field *field, const void *values, const struct nb6_rule_rows *rows,
                            const struct nb6_rule_sizes *sizes);
/** Whether a field may have all these values, as they come from the file: far less work than to find the one that is
 *  not allowed.   @param[in] values  [n] of the type of the field, one after the other */
int nb6_rules_allow(const struct nb6_state_field *field, const void *values, size_t n,
                    const struct nb6_rule_sizes *sizes);

/** Checks one row of a checkpoint against other data; may be called by several threads, each with its own file. */
typedef void (*nb6_rules_judge_row)(struct nb6_hdf5 *file, const struct nb6_sim *sim, int64_t row);
/** Let all rows from 0 to n - 1 be judged; the first one that is refused counts. */
void nb6_rules_each(struct nb6_hdf5 *file, const struct nb6_sim *sim, int64_t n, nb6_rules_judge_row judge);

/** Refuse a value, unless something was refused before: "GROUP/NAME[ROW] is VALUE; it must be MUST_BE".   @param[in]
 * row  -1: there are none */
void nb6_rules_refuse(struct nb6_hdf5 *file, const char *field, int64_t row, double value, const char *must_be);
/** The same if something does not hold. */
void nb6_rules_unless(int holds, struct nb6_hdf5 *file, const char *field, int64_t row, double value,
                      const char *must_be);
/** Whether two numbers are the same but for rounding, of sums in another order or by another program. */
int nb6_rules_are_near(double a, double b);

#endif
