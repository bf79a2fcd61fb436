#include "nbody6/engine/emulated/part.h"

#include "common/team.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/lists.h"
#include "nbody6/engine/stages/parcel.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"

#include <string.h>

/* ---- to the image */

enum { PLACES_OF_A_PART = 256 };

/* The work that a kernel of a device does for each place. */
struct moving {
    const struct nb6_dev *dev;
    const struct nb6_dev_parcel *parcel;
    const struct nb6_dev_aside *aside;
    void (*move)(const struct moving *job, int32_t place);
    int64_t places;
};

static void move_part(void *context, int part, int parts)
{
    const struct moving *job = context;
    int64_t first, end;
    nbc_range(job->places, part, parts, &first, &end);
    for (int64_t place = first; place < end; place++) job->move(job, (int32_t)place);
}

static void for_places(struct moving job)
{
    nbc_team_run(nbc_parts(job.places, PLACES_OF_A_PART), move_part, &job);
}

/* ---- what has left all bodies */

struct losing {
    const struct nb6_dev *dev;
    const struct nb6_touch_by_pulls *pulls;
    const struct nb6_pull_source *source;
};

static void lose_part(void *context, int part, int parts)
{
    const struct losing *job = context;
    int64_t first, end;
    nbc_range(job->dev->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        nb6_dev_lose_pulls(job->dev, job->pulls->t, job->pulls->n, job->source + job->pulls->first, (int32_t)i);
}

static void lose_pulls(const struct nb6_touched *touched, const struct nb6_dev *dev,
                       const struct nb6_dev_parcel *parcel)
{
    for (int64_t k = 0; k < touched->n_pulls; k++) {
        struct losing job = {dev, &touched->pulls[k], parcel->source};
        nbc_team_run(nbc_parts(dev->n, PLACES_OF_A_PART), lose_part, &job);
    }
}

/* ---- places */

static void settle(const struct moving *job, int32_t place)
{
    nb6_dev_settle_list(job->dev, place, job->dev->settled, 0, 1);
}

static void set_star_aside(const struct moving *job, int32_t place)
{
    nb6_dev_set_star_aside(job->dev, job->parcel, job->aside, place, 0, 1);
}

static void take_star(const struct moving *job, int32_t place)
{
    nb6_dev_take_star(job->dev, job->parcel, job->aside, place, 0, 1);
}

static void set_body_aside(const struct moving *job, int32_t place)
{
    nb6_dev_set_body_aside(job->dev, job->parcel, job->aside, place, 0, 1);
}

static void take_body(const struct moving *job, int32_t place)
{
    nb6_dev_take_body(job->dev, job->parcel, job->aside, place, 0, 1);
}

static void renumber(const struct moving *job, int32_t place)
{
    nb6_dev_renumber_list(job->dev, job->parcel, place, 0, 1);
    job->dev->row_now[place] = !job->dev->settled;
}

/* Places beyond the last body have no level. */
static void move_to_new_places(struct nb6_dev *dev, const struct nb6_dev_parcel *parcel)
{
    const struct nb6_dev_aside aside = nb6_dev_aside_in(nb6_dev_row(dev, 0, !dev->settled), dev);
    const int64_t n = dev->n, left = parcel->n_before - n, moved = parcel->end < n ? parcel->end : n;
    for_places((struct moving){dev, parcel, &aside, set_star_aside, moved});
    for_places((struct moving){dev, parcel, &aside, take_star, moved});
    for_places((struct moving){dev, parcel, &aside, set_body_aside, moved});
    for_places((struct moving){dev, parcel, &aside, take_body, moved});
    for_places((struct moving){dev, parcel, NULL, renumber, n});
    dev->settled = !dev->settled;
    if (left > 0) memset(dev->level + n, -1, (size_t)left);
}

static void unpack(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel)
{
    for (int64_t k = 0; k < parcel->n; k++) {
        nb6_dev_unpack_body(dev, parcel, k, 0, 1);
        nb6_dev_unpack_numbers(dev, parcel, k, 0, 1);
    }
}

/* Records of systems are in the image itself. */
static int import_part(struct nb6_sim *sim, struct nb6_dev *dev, struct nb6_dev_part *part)
{
    struct nb6_dev_parcel parcel = nb6_dev_parcel_for(sim, dev, part);
    const int moves = part->n_gone + part->n_come > 0;
    size_t head;
    void *data = nbc_alloc_unset(nb6_dev_lay_out_parcel(NULL, &parcel, &head) + 1, 1);
    if (!data) return 0;
    (void)nb6_dev_lay_out_parcel(data, &parcel, &head);
    nb6_dev_fill_head(sim, dev, part, &parcel);
    lose_pulls(&sim->engine_image.touched, dev, &parcel);
    if (moves) for_places((struct moving){dev, &parcel, NULL, settle, dev->n});
    nb6_dev_set_numbers(sim, dev);
    nb6_dev_place_part(sim, dev, part, &parcel, nb6_dev_row(dev, 0, !dev->settled));
    if (moves) move_to_new_places(dev, &parcel);
    unpack(dev, &parcel);
    nb6_dev_begin_again(sim, dev, &parcel);
    for (int64_t i = 0; i < dev->n; i++) nb6_dev_renew_predictor(dev, i);
    nbc_free(data);
    return 1;
}

int nb6_emulated_import_part(struct nb6_sim *sim, struct nb6_dev *dev)
{
    struct nb6_dev_part part;
    if (!nb6_dev_find_part(sim, dev, &part)) return 0;
    const int is_done = import_part(sim, dev, &part);
    nb6_dev_free_part(&part);
    return is_done;
}

/* ---- from the image */

/* Set place and list_at of a parcel, or, without room for them, count.
 * @param[in] news [dev->n]  of each body (stages/parcel.h)   @param[in,out] parcel  n, numbers */
static void name_news(const struct nb6_dev *dev, const int32_t *news, struct nb6_dev_parcel *parcel)
{
    parcel->n = parcel->numbers = 0;
    for (int64_t place = 0; place < dev->n; place++) {
        const int has_list = news[place] >= NB6_DEV_NEW_LIST;
        if (news[place] == NB6_DEV_NO_NEWS) continue;
        if (parcel->place) parcel->place[parcel->n] = (int32_t)place;
        if (parcel->list_at) parcel->list_at[parcel->n] = has_list ? parcel->numbers : -1;
        parcel->numbers += has_list ? news[place] - NB6_DEV_NEW_LIST : 0;
        parcel->n++;
    }
}

static void pack(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel)
{
    for (int64_t k = 0; k < parcel->n; k++) {
        nb6_dev_pack_body(dev, parcel, k, 0, 1);
        nb6_dev_pack_numbers(dev, parcel, k, 0, 1);
    }
}

int nb6_emulated_export_part(struct nb6_sim *sim, struct nb6_dev *dev, int *status, struct nbc_error *err)
{
    struct nb6_dev_parcel parcel = {0};
    int32_t *news = dev->member; /* scratch of blocks */
    size_t head;
    if (dev->control->stores_all) return 0;
    for (int64_t i = 0; i < dev->n; i++) news[i] = nb6_dev_news(dev, i, dev->t_home);
    name_news(dev, news, &parcel);
    if (!nb6_dev_is_part(dev, parcel.n)) return 0;
    void *data = nbc_alloc_unset(nb6_dev_lay_out_parcel(NULL, &parcel, &head) + 1, 1);
    if (!data) return 0;
    (void)nb6_dev_lay_out_parcel(data, &parcel, &head);
    name_news(dev, news, &parcel);
    pack(dev, &parcel);
    *status = nb6_dev_store_parcel(dev, &parcel, sim, err);
    nbc_free(data);
    return 1;
}
