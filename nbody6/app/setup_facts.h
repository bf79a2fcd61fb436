/** Facts about the stars of a run before it begins. */
#ifndef NB6_SETUP_FACTS_H
#define NB6_SETUP_FACTS_H

#include "common/nbc.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/app/data_note.h"
#include "nbody6/model/model.h"

/** N-body units where no unit is named. */
struct nb6_setup_facts {
    int64_t n;
    double zmbar_msun, rbar_pc;
    double mass_total, mass_least, mass_most;
    int is_made;                /**< 1: of the stars themselves; 0: of the distributions they will be drawn from */
    struct nb6_bulk bulk;       /**< mass, size, virial ratio and times */
    double r_core, r_encounter; /**< core radius, and RMIN as the core density gives it; 0: not known */
    int64_t n_binary;           /**< binaries that are declared, made, or found in data, larger systems with them */
    double a_widest;            /**< semi-major axis of the widest declared binary that is bound; 0: none */
    struct nb6_data_facts data; /**< of a data file */
    char about[NB6_DATA_TEXT];  /**< the same in words */
};

/** Make or read the stars. Models of more than 20000 stars are not made; their distributions are used.
 *  @return NBC_OK; the status of nb6_model_make */
int nb6_setup_find(const struct nb6_config *config, struct nb6_setup_facts *facts, struct nbc_error *err);

#endif
