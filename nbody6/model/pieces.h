/** The bodies of a model, piece by piece: a model need not be in memory as a whole.
 *
 *  A pass over a model is
 *
 *      for (struct nb6_piece p = nb6_pieces(model, GETS, PUTS); nb6_piece_next(&p);) ...
 *
 *  with `count` bodies at a time, the first of which is number `first` of the model. Those of a model in memory are one
 *  piece; so sums are made in the order of the bodies, and have the same bits either way. */
#ifndef NB6_PIECES_H
#define NB6_PIECES_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_config;
struct nb6_model;

/** int64_t, double, double[3], double[3] a row. */
enum nb6_model_column { NB6_MODEL_NAME, NB6_MODEL_MASS, NB6_MODEL_X, NB6_MODEL_V };

/** Columns of a pass. */
enum { NB6_NAMES = 1, NB6_MASSES = 2, NB6_PLACES = 4, NB6_VELOCITIES = 8 };

/** Bodies of a piece, at most: 4 MiB. */
enum { NB6_PIECE_BODIES = 1 << 16 };

/** Where bodies are that are not in memory, by their numbers from 0 on. Calls do not fail. */
struct nb6_model_store {
    void (*get)(void *context, enum nb6_model_column column, int64_t first, int64_t count, void *rows);
    void (*put)(void *context, enum nb6_model_column column, int64_t first, int64_t count, const void *rows);
    void *context;
    int64_t n;     /**< bodies that there is room for */
    int64_t piece; /**< bodies of a piece: a multiple of 8, NB6_PIECE_BODIES at most */
};

struct nb6_piece {
    const struct nb6_model *model;
    int gets, puts;
    int64_t first, count;
    int64_t *name;           /**< [count] these four are of the model, or of the store: */
    double *mass;            /**< [count] of that, those that the pass gets can be read, */
    double (*x)[3], (*v)[3]; /**< [count] and those that it puts are kept */
};

struct nb6_piece nb6_pieces(const struct nb6_model *model, int gets, int puts);
/** The next piece, after the last one was kept.   @return 0: there is none */
int nb6_piece_next(struct nb6_piece *piece);

/** Rows of a column of the model, wherever it is. */
void nb6_model_put(const struct nb6_model *model, enum nb6_model_column column, int64_t first, int64_t count,
                   const void *rows);

/** How many stars a model has that nb6_model_make_in can make; tables are read for that.
 *  @param[out] n  0: this one is made as a whole. So are binaries, stars with columns that are kept, files of which
 * only the first stars are wanted, pipes, and the layouts of AMUSE, NBODY6++GPU, PeTar, Starlab and tree codes
 *  @return as nb6_model_make */
int nb6_model_size(const struct nb6_config *config, int64_t *n, struct nbc_error *err);
/** nb6_model_make with stars that are nowhere in memory as a whole: the same bits.
 *  @param[in]  store  has room for so many stars as nb6_model_size says; stays the caller's
 *  @param[out] model  with this store, which it needs until it is freed
 *  @return as nb6_model_make; what has been put is of no use after a failure */
int nb6_model_make_in(const struct nb6_config *config, const struct nb6_model_store *store, struct nb6_model *model,
                      struct nbc_error *err);

#endif
