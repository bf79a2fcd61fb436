/** The head of a table of stars, a comment that names its columns as McLuster does:
 *  "#Mass_[Msun] x_[pc] y_[pc] z_[pc] vx_[km/s] vy_[km/s] vz_[km/s] Mass(t=0)_[Msun] kw ...". Private to libnbody6. */
#ifndef NB6_TABLE_HEAD_H
#define NB6_TABLE_HEAD_H

struct nb6_table_head {
    int columns;  /**< names in it, 7 or more; 0: the table has no such head */
    int physical; /**< 1: the units are Msun, pc, km/s */
};

/** Is this line such a head? Its first seven names have to be mass (or m), x, y, z, vx, vy, vz, each perhaps with a
 * unit in brackets.
 *  @param[in]  line  ends with '\0'
 *  @param[out] head  filled if it is, untouched otherwise
 *  @return 1 or 0 */
int nb6_table_head_read(const char *line, struct nb6_table_head *head);

#endif
