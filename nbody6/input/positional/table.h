/** Places of variables in the positional input of NBODY6 and of NBODY6++ before 2023, and meanings of options of NBODY6
 *  that differ from those in NBODY6++. The reader, the help and docs/input.md are made from these tables. Sources: the
 *  comments of define.f in NBODY6, the manual of NBODY6++. Private to libnbody6. */
#ifndef NB6_POSITIONAL_TABLE_H
#define NB6_POSITIONAL_TABLE_H

#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"

/** The routine of the legacy code that reads a record. */
enum nb6_code { NB6_CODE_NBODY6 = 1, NB6_CODE_NBODY6PP = 2, NB6_CODE_BOTH = 3 };

/** An option within limits, and not `except`; 0: without exception. */
struct nb6_condition {
    int option, low, high, except;
};

enum { NB6_CONDITIONS = 3 };

struct nb6_record {
    int codes;
    const char *group;  /**< of its variables, as far as they name none themselves */
    const char *fields; /**< nb6_record_field takes it apart: "N NFIX INRUN.NNBMAX KZ*50 NCOMM? .ICIRC" */
    struct nb6_condition when[NB6_CONDITIONS]; /**< all have to hold; option 0: no more */
    int lines_option, lines_less; /**< option 0: one record; else the value of the option minus this number */
};

/** One variable of a record. */
struct nb6_record_field {
    char group[NB6_NAMELIST_NAME_MAX]; /**< "": no variable of nbody6 */
    char name[NB6_NAMELIST_NAME_MAX];
    int count;    /**< values */
    int optional; /**< may be missing at the end of the line, as all after it */
};

/** An option of NBODY6 with another meaning than in the table of the input. */
struct nb6_foreign_option {
    struct nb6_input_choice choice; /**< values and their meaning in NBODY6 */
    int becomes;                    /**< the value that means this here, unless the choice is refused */
};

extern const struct nb6_record nb6_records[];
/** Records that a restart reads after its first one: the first of these with KSTART = 3 and 5, the second with 4 and 5
 *  (modify.f). Values <= 0 leave the run's value unchanged. */
extern const struct nb6_record nb6_restart_records[2];
extern const struct nb6_foreign_option nb6_foreign_options[];
extern const int nb6_record_count, nb6_foreign_option_count;

/** The variable number k of a record.   @return 0: it has fewer */
int nb6_record_field(const struct nb6_record *record, int k, struct nb6_record_field *field);
/** Do the options of a file ask for this record?   @param[in] kz [NB6_KZ_COUNT], as the file has them */
int nb6_record_is_read(const struct nb6_record *record, const int *kz);
/** NULL: the option has the same meaning here. */
const struct nb6_foreign_option *nb6_find_foreign_option(int number, int value);

#endif
