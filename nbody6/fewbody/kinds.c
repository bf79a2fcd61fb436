#include "nbody6/fewbody/kinds.h"

#include "nbody6/fewbody/chain_kind.h"
#include "nbody6/fewbody/hierarchy_kind.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pair_kind.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

static const struct nb6_kind *const kinds[] = {
    [NB6_PAIR] = &nb6_pair_kind,
    [NB6_CHAIN] = &nb6_chain_kind,
    [NB6_HIERARCHY] = &nb6_hierarchy_kind,
};

void nb6_kinds_install(struct nb6_sim *sim)
{
    sim->pairs.kinds = kinds;
}
