/** The head of a table of stars: a line, commented or not, that names the columns, perhaps with units, as in
 *  "#Mass_[Msun] x_[pc] y_[pc] z_[pc] vx_[km/s] vy_[km/s] vz_[km/s] kw ...", "m,x,y,z,vx,vy,vz" or "mass_msun x_pc
 * ..."; and the units that ECSV files state before it. Private to libnbody6. */
#ifndef NB6_TABLE_HEAD_H
#define NB6_TABLE_HEAD_H

#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/star_columns.h"

/** Name and unit of a column, by a line of an ECSV file. */
struct nb6_ecsv_column {
    char name[NB6_COLUMN_NAME_MAX], unit[NB6_PROPERTY_UNIT];
};

struct nb6_table_head {
    int columns;            /**< names in it; 0: there is no head (yet) */
    int at[NB6_QUANTITIES]; /**< column of each quantity, from 0; -1: none, of the id only */
    int numbered;           /**< 1: there is none, and COLUMNS numbers the columns */
    double scale[NB6_ID];   /**< one of the file's units in Msun, pc, km/s: numbers times this are limited */
    int part;               /**< bits of the quantities in the line that names most of them, and is no head */
    int is_sky;             /**< 1: a line names positions on the sky, as Gaia has them */
    struct nb6_data_units units;
    char twice[NB6_COLUMN_NAME_MAX + 8];  /**< a quantity that two columns may hold; "" */
    struct nb6_unit ecsv[NB6_QUANTITIES]; /**< units by the lines "# - {name: x, unit: pc, ...}" of an ECSV file */
    int n_ecsv;                           /**< other columns of such lines */
    struct nb6_ecsv_column ecsv_column[NB6_PROPERTIES_MAX];
    struct nb6_star_columns kept;         /**< other columns that are kept with the stars */
    char kept_twice[NB6_COLUMN_NAME_MAX]; /**< a column that KEEP wants and that is one too many; "" */
    int keep_found[NB6_PROPERTIES_MAX];   /**< which names of KEEP have a column */
};

/** No head. Columns are numbered by `chosen`, or the seven come first. */
void nb6_table_head_init(const struct nb6_columns *chosen, struct nb6_table_head *head);

/** Is this line the head? It is if each of the seven quantities has a column: by the names in `chosen`, or else by
 *  names that are usual for them. A line behind the head that holds units for all seven is part of it.
 *  @param[in]     line    ends with '\0'; with its comment character, if it has one
 *  @param[in,out] head    filled if it is
 *  @return 1 or 0 */
int nb6_table_head_read(const char *line, const struct nb6_columns *chosen, struct nb6_table_head *head);

/** Which quantity a name without unit usually stands for; -1: none.   @param[in] name  [length] */
int nb6_quantity_of_name(const char *name, size_t length);

#endif
