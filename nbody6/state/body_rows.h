/** Rows of the columns of all bodies, for those who write or show them in pieces: nobody has to hold all of them. */
#ifndef NB6_BODY_ROWS_H
#define NB6_BODY_ROWS_H

#include "common/nbc.h"

#include <stdint.h>

/** int64_t, double, double[3] (x, v, acc), int8_t, double, double a row; int32_t, double[3], double[3], double. */
enum nb6_body_column {
    NB6_ROWS_NAME,
    NB6_ROWS_MASS,
    NB6_ROWS_X,
    NB6_ROWS_V,
    NB6_ROWS_ACC,
    NB6_ROWS_LEVEL, /**< of the step */
    NB6_ROWS_POT,   /**< potential per unit mass, where it was made */
    NB6_ROWS_STEP,  /**< its length */
    /* Of trees that ranks keep, when their lists were made: */
    NB6_ROWS_PLACE_RANK,
    NB6_ROWS_PLACE_X,
    NB6_ROWS_PLACE_ACC,
    NB6_ROWS_PLACE_DRIFT
};

struct nb6_body_rows {
    /** Rows first to first + count - 1 of a column.   @param[out] buffer  [count] of the column's type */
    void (*get)(void *context, enum nb6_body_column column, int64_t first, int64_t count, void *buffer);
    void *context;
};

/** The other way: takes rows, in pieces. */
struct nb6_body_sink {
    void (*put)(void *context, enum nb6_body_column column, int64_t first, int64_t count, const void *rows);
    /** Rows that have been put, which may be put anew. */
    void (*get)(void *context, enum nb6_body_column column, int64_t first, int64_t count, void *rows);
    void *context;
};

/** Where bodies come from: names, masses, positions, velocities, and accelerations and levels of a run that goes on. */
struct nb6_body_source {
    /** All rows.   @return a status: the sink has not got all then */
    int (*give)(void *context, const struct nb6_body_sink *sink, struct nbc_error *err);
    void *context;
};

#endif
