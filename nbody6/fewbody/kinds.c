#include "nbody6/fewbody/kinds.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/vector_sums.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <stdint.h>

#define KIND(number, name) extern const struct nb6_kind nb6_##name##_kind;
#include "nbody6/fewbody/kinds.def"
#undef KIND

static const struct nb6_kind *const kinds[] = {
#define KIND(number, name) [number] = &nb6_##name##_kind,
#include "nbody6/fewbody/kinds.def"
#undef KIND
};

int nb6_kinds_install(struct nb6_sim *sim, struct nbc_error *err)
{
    const int32_t n = (int32_t)(sizeof kinds / sizeof *kinds);
    sim->subsystems.kinds = kinds;
    sim->subsystems.sums = nb6_vector_sums_best();
    sim->subsystems.n_kind = n;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++) {
        const int32_t kind = sim->subsystems.system[slot].kind;
        if (nb6_slot_is_used(&sim->subsystems, slot) && (kind < 0 || kind >= n))
            return nbc_fail(err, NBC_FILE, "a few-body system is of kind %d, of which this program does not know",
                            kind);
    }
    return NBC_OK;
}
