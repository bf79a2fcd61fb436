/** Columns of a data file beside masses, positions and velocities: types, radii, and other columns that are kept. A run
 *  writes them into its snapshots; radii act on collisions only if the input selects this. They are stored by the names
 *  of stars and never change after they were read. Private to libnbody6. */
#ifndef NB6_PROPERTIES_H
#define NB6_PROPERTIES_H

#include "common/nbc.h"

#include <stdint.h>

enum { NB6_PROPERTIES_MAX = 64, NB6_PROPERTY_NAME = 64, NB6_PROPERTY_UNIT = 32 };

/** A column. */
struct nb6_property {
    char name[NB6_PROPERTY_NAME]; /**< of its dataset in a snapshot, without '/' */
    char unit[NB6_PROPERTY_UNIT]; /**< "Msun", "Rsun", ...; "1": a number; "": nothing is said */
    const char *description;      /**< for snapshots; NULL: a column of the data file */
};

struct nb6_properties {
    int64_t n;
    int count;
    int radii_act;  /**< 1: stars have the radii of the column NB6_STELLAR_RADIUS, and merge */
    int64_t *name;  /**< [n] of the stars, in the order of the file */
    int64_t *order; /**< [n] places in name, by ascending names */
    struct nb6_property column[NB6_PROPERTIES_MAX];
    double *value[NB6_PROPERTIES_MAX]; /**< [count][n]; NaN: not known */
};

/** The column of radii, in solar radii ("Rsun") or N-body units ("length"). */
extern const char NB6_STELLAR_RADIUS[];

/** Properties of n stars of different names; no columns yet.
 *  @param[out] properties release with nb6_properties_free; NULL on failure   @return NBC_OK; NBC_NO_MEMORY */
int nb6_properties_create(int64_t n, const int64_t *name, struct nb6_properties **properties, struct nbc_error *err);
void nb6_properties_free(struct nb6_properties *properties);
/** A new column, without values (NaN).
 *  @param[in] column  '/' in its name becomes '_', and the name of another dataset of a snapshot gets a '_' behind it
 *  @param[out] value [n] to be filled, in the order of the names
 *  @return NBC_OK; NBC_BAD_INPUT: there is one of this name, or there are too many; NBC_NO_MEMORY */
int nb6_properties_add(struct nb6_properties *properties, const struct nb6_property *column, double **value,
                       struct nbc_error *err);
/** A copy.   @param[in] from may be NULL: so is the copy   @return NBC_OK; NBC_NO_MEMORY */
int nb6_properties_copy(const struct nb6_properties *from, struct nb6_properties **to, struct nbc_error *err);

/** Is this the name of a dataset that a snapshot has for something else? */
int nb6_property_is_reserved(const char *name);
/** The number of a column; -1: there is none.   @param[in] properties may be NULL */
int nb6_properties_find(const struct nb6_properties *properties, const char *name);
/** Index of a star among the values; -1: it has none.
 *  @param[in] near  an index that is tried first: the one after that of the last query */
int64_t nb6_properties_place(const struct nb6_properties *properties, int64_t name, int64_t near);

/** Whether radii from the data act.   @param[in] properties may be NULL */
int nb6_radii_act(const struct nb6_properties *properties);
/** The radius of a star that acts, N-body units; 0 where it is not known.   @param[in] length_pc  the unit of length */
double nb6_properties_radius(const struct nb6_properties *properties, int64_t name, double length_pc);

#endif
