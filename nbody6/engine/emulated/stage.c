#include "nbody6/engine/emulated/stage.h"

#include "common/nbc.h"
#include "common/team.h"

struct stage {
    const struct nb6_dev *dev;
    nb6_emulated_item *make;
    int64_t items;
};

static void stage_part(void *context, int part, int parts)
{
    const struct stage *stage = context;
    int64_t first, end;
    nbc_range(stage->items, part, parts, &first, &end);
    for (int64_t item = first; item < end; item++) stage->make(stage->dev, item);
}

void nb6_emulated_stage(const struct nb6_dev *dev, nb6_emulated_item *make, int64_t items, int64_t worth_a_thread)
{
    struct stage stage = {dev, make, items};
    nbc_team_run(nbc_parts(items, worth_a_thread), stage_part, &stage);
}
