/** Initial models: made by random numbers or read from a table, scaled to N-body units. */
#ifndef NB6_MODEL_H
#define NB6_MODEL_H

#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

struct nb6_model_store;
struct nb6_properties;

/** The source of the units of a data file. */
enum nb6_units_from {
    NB6_UNITS_ASSUMED, /**< none: its masses add up to 1 */
    NB6_UNITS_KZ,      /**< KZ(22) */
    NB6_UNITS_INPUT,   /**< UNITS of &INMODEL */
    NB6_UNITS_FILE     /**< the file */
};

/** Facts about a data file that are worth a note to the user. */
struct nb6_data_facts {
    enum nb6_file_units units;  /**< units of the file's stars: stated, found in the file, or NB6_FILE_NBODY */
    int64_t rows_unused;        /**< rows beyond the n that were asked for */
    int columns_unused;         /**< columns that are not used */
    int is_own;                 /**< 1: a snapshot or model of nbody6 */
    int ids_unused;             /**< 1: ids that are not all different and positive; names count from 1 */
    double rbar_pc, zmbar_msun; /**< of a snapshot of this code; 0: not stated */
    double t;                   /**< time of a snapshot, N-body units or its own */
    double hubble;              /**< HubbleParam of a snapshot without cosmology that is not 1; 0: there is none */
    char format[48];            /**< "table", "table with named columns", "snapshot of nbody6", ... */
    enum nb6_units_from units_from;
    double unit[3];       /**< of mass, length, velocity in Msun, pc, km/s, as the file was read; 0: N-body units */
    char unread[160];     /**< names of what the file has and is not read, ", ..." behind them for more; "" */
    char units_text[128]; /**< the same in words: "Msun, kpc, km/s", "N-body units" */
};

/** A set of stars, structure of arrays. */
struct nb6_model {
    int64_t n;
    int64_t *name;                       /**< [n] 1-based */
    double *mass;                        /**< [n] */
    double (*x)[3];                      /**< [n] */
    double (*v)[3];                      /**< [n] */
    double zmbar_msun;                   /**< mean mass in Msun: drawn from the mass function, else from the input */
    double rbar_pc;                      /**< length unit in pc, from the input or (tidal scaling) derived */
    struct nb6_data_facts data;          /**< facts about the data file */
    struct nb6_properties *properties;   /**< that are kept with the stars; NULL: none */
    const struct nb6_model_store *store; /**< NULL; else has the stars, and the arrays one piece (model/pieces.h) */
    int64_t first;                       /**< of a part of a model: its first star in the store */
};

/** Make or read the model that the configuration describes. The same seed gives the same bits everywhere (random.h).
 *  @param[out] model  filled on success (release with nb6_model_free), untouched on failure
 *  @return NBC_OK; NBC_BAD_INPUT (data file: path, line, column and remedy in err); NBC_FILE (read error);
 *  NBC_NO_MEMORY
 */
int nb6_model_make(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err);
void nb6_model_free(struct nb6_model *model);

/** Let the model's number of stars and units replace those of the input; convert the end of the run, and intervals, to
 * N-body units if they were given in Myr. To be called before nb6_create. */
void nb6_model_settle(const struct nb6_model *model, struct nb6_config *config);

/** Write the 7-column table m x y z vx vy vz (17 significant digits) that KZ(22) = 2 reads back bit for bit. Written to
 * a temporary name and renamed, so that nothing is left half-written. */
int nb6_model_write_table(const struct nb6_model *model, const char *path, struct nbc_error *err);

#endif
