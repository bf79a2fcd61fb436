/** The schema of a checkpoint: tables of the members that make up the state of a run. */
#ifndef NB6_CHECKPOINT_FIELDS_H
#define NB6_CHECKPOINT_FIELDS_H

#include <stddef.h>

/** Raised when a field is added, removed or changes its meaning: other versions are refused. */
enum { NB6_CHECKPOINT_SCHEMA = 20 };

enum nb6_field_type { NB6_FIELD_F64, NB6_FIELD_I64, NB6_FIELD_U64, NB6_FIELD_I32, NB6_FIELD_I8, NB6_FIELD_TEXT };

/** Kinds of limits of a rule. */
enum nb6_rule_kind {
    NB6_RULE_NONE,  /**< no rule: of no field */
    NB6_RULE_RANGE, /**< from least to most; NaN is in no range */
    NB6_RULE_BODY,  /**< number of a body of this checkpoint; or -1, if least is */
    NB6_RULE_STAR,  /**< the same of a star */
    NB6_RULE_SLOT,  /**< the same of a slot */
    NB6_RULE_CHAIN, /**< 0, or 1 + number of a chain */
    NB6_RULE_OWNER, /**< 0, 1 + number of a slot, or -1 - number of a star */
    NB6_RULE_INPUT, /**< the range of an input: nb6_config_check */
    NB6_RULE_ANY,   /**< any number: nothing is counted, pointed to or computed with it */
    NB6_RULE_TEXT   /**< characters that can be printed */
};

/** The rule for the values of a field, whatever the other fields are (checkpoint_rules.h). */
struct nb6_field_rule {
    enum nb6_rule_kind kind;
    double least, most;
};

/** A member of a struct: `count` values of `type` (a text of at most count - 1 bytes) at `offset`, or, with repeat > 1,
 *  as many times `count` values, each `stride` bytes after the ones before: a member of an array of structs. */
struct nb6_state_field {
    const char *name; /**< in files; the member may be called otherwise */
    enum nb6_field_type type;
    size_t offset, count, repeat, stride;
    struct nb6_field_rule rule; /**< rule for each of its values */
};

/** Members that are stored together. */
struct nb6_field_group {
    const char *name; /**< of the HDF5 group, such as "config_run" */
    size_t offset;    /**< of the struct inside struct nb6_checkpoint_state; 0 for arrays, of bodies and stars */
    size_t size;      /**< of the struct */
    size_t count;     /**< of fields */
    const struct nb6_state_field *field;
};

/** Bytes of one value. */
size_t nb6_state_field_bytes(enum nb6_field_type type);
/** Values of a field in one struct. */
size_t nb6_state_field_values(const struct nb6_state_field *field);

/** Groups with fields as attributes: one struct each; number k, NULL past the end. */
const struct nb6_field_group *nb6_state_group(int k);
/** Groups with fields as datasets, one row for each star. */
extern const struct nb6_field_group nb6_body_fields, nb6_star_fields;
/** One row for each star, if stars age. */
extern const struct nb6_field_group nb6_aged_fields;
/** One row for each slot of a pair: data of the driver, relative motion, length of its list. One row for each chain. */
extern const struct nb6_field_group nb6_pair_fields, nb6_ks_fields, nb6_chain_fields, nb6_perturber_fields;

#endif
