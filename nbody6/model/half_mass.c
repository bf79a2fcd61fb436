/* The radius that holds half of the mass, about the median place. */
#include "common/nbc.h"
#include "common/sort.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"

#include <math.h>

struct weighted {
    double value, mass;
};

/* The quantity that a median is of: a coordinate, or the distance from a place. */
struct of {
    const struct nb6_model *model;
    int d;                /* 0 to 2; else: */
    const double *centre; /* of the distance */
};

static double value_of(const struct of *of, const double x[3])
{
    double r2 = 0.0;
    if (!of->centre) return x[of->d];
    for (int d = 0; d < 3; d++) r2 += (x[d] - of->centre[d]) * (x[d] - of->centre[d]);
    return sqrt(r2);
}

static int by_value(const void *a, const void *b)
{
    const struct weighted *p = a, *q = b;
    if (p->value != q->value) return p->value < q->value ? -1 : 1;
    return (p->mass > q->mass) - (p->mass < q->mass);
}

/* ---- of stars that are narrowed down until they are few */

/* Stars whose value is between two bounds, both included, and the mass of those below them. */
struct range {
    double least, most, below, total;
    int64_t count;
};

enum { BINS = 4096 };

struct bin {
    double mass, least, most;
    int64_t count;
};

static void add_to_bin(struct bin *bin, double value, double mass)
{
    if (bin->count++ == 0) bin->least = bin->most = value;
    bin->least = fmin(bin->least, value);
    bin->most = fmax(bin->most, value);
    bin->mass += mass;
}

/* All stars, whose values are finite. */
static struct range whole_range(const struct of *of)
{
    struct bin all = {0};
    for (struct nb6_piece p = nb6_pieces(of->model, NB6_MASSES | NB6_PLACES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) add_to_bin(&all, value_of(of, p.x[i]), p.mass[i]);
    return (struct range){all.least, all.most, 0.0, all.mass, all.count};
}

/* Whether bins of a range have a width. */
static int is_wide(const struct range *range)
{
    return isfinite(BINS / (range->most - range->least));
}

/* The bin that has the median. The first and the last one have stars, so that ranges become narrower. */
static void narrow(const struct of *of, struct range *range, struct bin bin[BINS])
{
    const double unit = BINS / (range->most - range->least);
    int k = 0;
    for (int b = 0; b < BINS; b++) bin[b] = (struct bin){0};
    for (struct nb6_piece p = nb6_pieces(of->model, NB6_MASSES | NB6_PLACES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            const double value = value_of(of, p.x[i]);
            if (value >= range->least && value <= range->most)
                add_to_bin(&bin[(int)fmin((value - range->least) * unit, BINS - 1)], value, p.mass[i]);
        }
    while (k < BINS - 1 && range->below + bin[k].mass < 0.5 * range->total) range->below += bin[k++].mass;
    range->least = bin[k].least;
    range->most = bin[k].most;
    range->count = bin[k].count;
}

static int64_t collect(const struct of *of, const struct range *range, struct weighted *list)
{
    int64_t n = 0;
    for (struct nb6_piece p = nb6_pieces(of->model, NB6_MASSES | NB6_PLACES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            const double value = value_of(of, p.x[i]);
            if (value >= range->least && value <= range->most) list[n++] = (struct weighted){value, p.mass[i]};
        }
    return n;
}

/* ---- */

/* Half of the mass has a smaller value. Stars that are not in memory as a whole are summed in another order: then it is
 * this one or, within rounding, one beside it.   @param[out] list  [room] scratch */
static double median(const struct of *of, struct weighted *list, int64_t room, struct bin *bin)
{
    struct range range = whole_range(of);
    while (range.count > room && is_wide(&range)) narrow(of, &range, bin);
    if (range.count > room) return range.least;
    const int64_t n = collect(of, &range, list);
    double total = range.total, below = range.below;
    int64_t k = 0;
    nbc_sort(list, (size_t)n, sizeof *list, by_value);
    if (n == of->model->n) {
        total = 0.0;
        for (int64_t i = 0; i < n; i++) total += list[i].mass;
    }
    while (k < n - 1 && (below += list[k].mass) < 0.5 * total) k++;
    return list[k].value;
}

int nb6_model_half_mass_radius(const struct nb6_model *model, double *r_half, struct nbc_error *err)
{
    double centre[3];
    const int64_t n = model->n, room = model->store && n > model->store->piece ? model->store->piece : n;
    struct weighted *list = nbc_alloc((size_t)room, sizeof *list);
    struct bin *bin = nbc_alloc(BINS, sizeof *bin);
    const int is_there = list && bin;
    for (int d = 0; d < 3 && is_there; d++) centre[d] = median(&(struct of){model, d, NULL}, list, room, bin);
    if (is_there) *r_half = median(&(struct of){model, 0, centre}, list, room, bin);
    nbc_free(list);
    nbc_free(bin);
    if (is_there) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the half-mass radius of %lld stars", (long long)n);
}
