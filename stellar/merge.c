/* Two stars that become one. HTP is Hurley, Tout & Pols 2002, MNRAS 329, 897. */
#include "stellar/check.h"
#include "stellar/evolve.h"
#include "stellar/phase.h"

#include <math.h>

/* Types of products by those of both stars: HTP, table 2, the collision matrix. Main-sequence stars have 0 or 1 by
 * their mass; two helium stars of the main sequence are one again. */
static const signed char product_type[STELLAR_NONE][STELLAR_NONE] = {
    /*  0   1   2   3   4   5   6   7   8   9  10  11  12  13  14 */
    {1, 1, 2, 3, 4, 5, 6, 4, 6, 6, 3, 6, 6, 13, 14},              /* 0 */
    {1, 1, 2, 3, 4, 5, 6, 4, 6, 6, 3, 6, 6, 13, 14},              /* 1 */
    {2, 2, 3, 3, 4, 4, 5, 4, 4, 4, 3, 5, 5, 13, 14},              /* 2 */
    {3, 3, 3, 3, 4, 4, 5, 4, 4, 4, 3, 5, 5, 13, 14},              /* 3 */
    {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 13, 14},              /* 4 */
    {5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 13, 14},              /* 5 */
    {6, 6, 5, 5, 4, 4, 6, 4, 6, 6, 5, 6, 6, 13, 14},              /* 6 */
    {4, 4, 4, 4, 4, 4, 4, 7, 8, 9, 7, 9, 9, 13, 14},              /* 7 */
    {6, 6, 4, 4, 4, 4, 6, 8, 8, 9, 7, 9, 9, 13, 14},              /* 8 */
    {6, 6, 4, 4, 4, 4, 6, 9, 9, 9, 7, 9, 9, 13, 14},              /* 9 */
    {3, 3, 3, 3, 4, 4, 5, 7, 7, 7, 15, 9, 9, 13, 14},             /* 10 */
    {6, 6, 5, 5, 4, 4, 6, 9, 9, 9, 9, 11, 12, 13, 14},            /* 11 */
    {6, 6, 5, 5, 4, 4, 6, 9, 9, 9, 9, 12, 12, 13, 14},            /* 12 */
    {13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14}, /* 13 */
    {14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14}, /* 14 */
};

/* Tracks of giants are made for masses from here on: the lightest ones of the fits. */
static const double LIGHTEST_GIANT = 0.5;
/* Helium burns from this mass on. */
static const double LIGHTEST_HELIUM = 0.32;
/* Core at the base of the second giant branch from which a star does not pulse: HPT, section 5.4. */
static const double HEAVIEST_PULSING_CORE = 2.25;

/* ---- what two stars bring ---- */

struct ingredients {
    double mass, core, co; /* all of it; core of helium; of carbon and oxygen */
    double spent_h;        /* mass times the spent part of the hydrogen of main-sequence stars */
    double spent_he;       /* helium that has burnt */
};

/* Part of its phase that is over. */
static double progress_of(const struct stellar_model *model, const struct stellar_star *star)
{
    struct stellar_track track = {.kind = STELLAR_TRACK_NONE};
    double begin, end;
    stellar_track_make(model, star->type, star->mass_track, &track);
    if (!stellar_phase(&track, star->type, &begin, &end) || !(end > begin)) return 0;
    return fmax(0, fmin(1, (star->age_myr - begin) / (end - begin)));
}

static void add_star(const struct stellar_model *model, const struct stellar_star *star, struct ingredients *all)
{
    all->mass += star->mass;
    if (star->type <= STELLAR_MS) {
        all->spent_h += star->mass * progress_of(model, star);
        return;
    }
    const int is_giant = star->type <= STELLAR_TPAGB, is_dwarf = star->type >= STELLAR_HE_WD;
    const double core = is_giant ? star->core_mass : star->mass;
    double co = star->co_core_mass;
    if (is_dwarf) co = star->type == STELLAR_HE_WD ? 0 : star->mass;
    all->core += core;
    all->co += co;
    all->spent_he += star->type == STELLAR_CHEB || star->type == STELLAR_HE_MS ? core * progress_of(model, star) : co;
}

/* ---- giants with a core ---- */

/* A property of giants that grows with the mass of their tracks. */
typedef double property(const struct stellar_model *model, double m0, double part);

static double early_core(const struct stellar_model *model, double m0, double part)
{
    (void)part;
    return stellar_mc_bagb(&model->fits, m0);
}

static double pulsing_core(const struct stellar_model *model, double m0, double part)
{
    struct stellar_giant g;
    (void)part;
    stellar_giant_make(&model->fits, m0, &g);
    return g.mc_du;
}

static double burning_core(const struct stellar_model *model, double m0, double part)
{
    struct stellar_giant g;
    stellar_giant_make(&model->fits, m0, &g);
    return g.mc_hei + (g.mc_bagb - g.mc_hei) * part;
}

/* The mass from low to high with this property; the nearer end if none has it. */
static double find_track(const struct stellar_model *model, property *of, double part, double wanted, double low,
                         double high)
{
    if (!(of(model, low, part) < wanted)) return low;
    if (!(of(model, high, part) > wanted)) return high;
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        if (of(model, middle, part) < wanted)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static void set_track(const struct stellar_model *model, int type, double m0, struct stellar_track *track,
                      struct stellar_star *star)
{
    star->type = type;
    star->mass_track = m0;
    stellar_track_make(model, type, m0, track);
}

/* Helium burns in the core, and a part of it is spent. */
static void make_burning(const struct stellar_model *model, const struct ingredients *all, struct stellar_track *track,
                         struct stellar_star *star)
{
    const double part = all->core > 0 ? fmin(0.99, all->spent_he / all->core) : 0, m_hef = model->fits.m_hef;
    double m0 = fmin(all->mass, m_hef);
    if (all->core > burning_core(model, m0, part))
        m0 = find_track(model, burning_core, part, all->core, fmax(m0, m_hef), STELLAR_MASS_MOST);
    set_track(model, STELLAR_CHEB, fmax(LIGHTEST_GIANT, m0), track, star);
    star->age_myr = track->giant.t_hei + part * track->giant.t_he;
}

/* The first giant branch: stars without one, and heavier cores, ignite helium. */
static void make_first_giant(const struct stellar_model *model, const struct ingredients *all,
                             struct stellar_track *track, struct stellar_star *star)
{
    const struct stellar_giant *g = &track->giant;
    if (all->mass >= model->fits.m_fgb) {
        make_burning(model, all, track, star);
        return;
    }
    set_track(model, STELLAR_GB, fmax(LIGHTEST_GIANT, all->mass), track, star);
    if (all->core >= g->mc_hei) {
        make_burning(model, all, track, star);
        return;
    }
    const double part = (all->core - g->mc_bgb) / (g->mc_hei - g->mc_bgb);
    const double age = g->m0 < model->fits.m_hef ? stellar_shell_time(&g->gb, fmax(all->core, g->mc_bgb))
                                                 : g->t_bgb + part * (g->t_hei - g->t_bgb);
    star->age_myr = fmax(g->t_bgb, fmin(age, g->t_hei));
}

static void make_early(const struct stellar_model *model, const struct ingredients *all, struct stellar_track *track,
                       struct stellar_star *star)
{
    const double m0 = find_track(model, early_core, 0, all->core, LIGHTEST_GIANT, STELLAR_MASS_MOST);
    set_track(model, STELLAR_EAGB, m0, track, star);
    const struct stellar_giant *g = &track->giant;
    const double age = all->co > 0 ? stellar_shell_time(&g->eagb, all->co) : g->t_bagb;
    star->age_myr = fmax(g->t_bagb, fmin(age, track->t_early));
}

/* One core; one that is too heavy for pulses is of helium around carbon and oxygen. */
static void make_pulsing(const struct stellar_model *model, const struct ingredients *all, struct stellar_track *track,
                         struct stellar_star *star)
{
    const double heaviest = find_track(model, early_core, 0, HEAVIEST_PULSING_CORE, LIGHTEST_GIANT, STELLAR_MASS_MOST);
    const double most = (1 - 1e-9) * heaviest;
    if (all->core > pulsing_core(model, most, 0)) {
        make_early(model, all, track, star);
        return;
    }
    double m0 = fmax(LIGHTEST_GIANT, fmin(all->mass, most));
    set_track(model, STELLAR_TPAGB, m0, track, star);
    if (all->core < track->giant.mc_du || all->core > track->mc_sn)
        m0 = find_track(model, pulsing_core, 0, all->core, LIGHTEST_GIANT, most);
    set_track(model, STELLAR_TPAGB, m0, track, star);
    const double age = stellar_tpagb_time(&track->giant, fmax(all->core, track->giant.mc_du));
    star->age_myr = fmax(track->giant.t_du, fmin(age, track->t_late));
}

/* ---- products ---- */

/* On the main sequence all is mixed, and a tenth of the hydrogen burns: HTP, the section on mergers. */
static void make_main_sequence(const struct stellar_model *model, const struct ingredients *all,
                               struct stellar_track *track, struct stellar_star *star)
{
    const double of_hydrogen = 0.1;
    set_track(model, all->mass < STELLAR_MASS_LOW ? STELLAR_MS_LOW : STELLAR_MS, all->mass, track, star);
    star->age_myr = of_hydrogen * track->ms.t_ms * all->spent_h / all->mass;
}

static void make_helium(const struct stellar_model *model, int type, const struct ingredients *all,
                        struct stellar_track *track, struct stellar_star *star)
{
    if (all->mass < LIGHTEST_HELIUM) {
        stellar_become_remnant(all->co > 0 ? STELLAR_CO_WD : STELLAR_HE_WD, all->mass, star);
    } else if (type == STELLAR_HE_MS) {
        set_track(model, STELLAR_HE_MS, all->mass, track, star);
        star->age_myr = fmin(1, all->spent_he / all->mass) * track->helium.t_ms;
    } else {
        stellar_become_helium_giant(model, track, all->co, star);
        star->age_myr = fmin(star->age_myr, track->t_late); /* a core that is too heavy collapses now */
    }
}

/* A star with the more evolved one's fits: a giant that swallows a star of the main sequence keeps its core. */
static int swallows(const struct stellar_star *evolved, int type)
{
    return type == evolved->type && type >= STELLAR_HG && type <= STELLAR_TPAGB;
}

/* Dwarfs, neutron stars and black holes. */
static void make_compact(const struct stellar_model *model, int type, double mass, struct stellar_star *star,
                         struct stellar_events *events)
{
    struct stellar_event event;
    stellar_become_remnant(type, star->mass, star);
    if (stellar_reweigh_remnant(model, mass, star, &event)) stellar_add_event(&event, events);
}

/* Two dwarfs of helium: it burns at once, and nothing is left. */
static void destroy(struct stellar_star *star, struct stellar_events *events)
{
    const struct stellar_event event = {.kind = STELLAR_DISRUPTION,
                                        .type_before = star->type,
                                        .type_after = STELLAR_NONE,
                                        .number = -1,
                                        .time_myr = star->time_myr,
                                        .mass_before = star->mass};
    stellar_become_remnant(STELLAR_NONE, 0, star);
    stellar_add_event(&event, events);
}

/* A star that burns, as its type and its ingredients say. */
static void make_burner(const struct stellar_model *model, int type, const struct stellar_star *evolved,
                        const struct stellar_star *other, struct ingredients *all, struct stellar_track *track,
                        struct stellar_star *star)
{
    all->mass = fmin(all->mass, STELLAR_MASS_MOST); /* the rest is lost: the fits end there */
    star->mass = all->mass;
    if (swallows(evolved, type) && other->type <= STELLAR_MS) {
        struct stellar_work work = {.has_point = 0};
        struct stellar_point p;
        const int64_t name = star->name;
        const int32_t n_event = star->n_event;
        *star = *evolved;
        star->name = name;
        star->n_event = n_event;
        stellar_reweigh(model, all->mass, &work, star, &p);
        return;
    }
    if (type <= STELLAR_MS)
        make_main_sequence(model, all, track, star);
    else if (type == STELLAR_GB || type == STELLAR_HG)
        make_first_giant(model, all, track, star);
    else if (type == STELLAR_CHEB)
        make_burning(model, all, track, star);
    else if (type == STELLAR_EAGB)
        make_early(model, all, track, star);
    else if (type == STELLAR_TPAGB)
        make_pulsing(model, all, track, star);
    else
        make_helium(model, type, all, track, star);
}

/* The core shows, and an envelope that is too thin for it is gone. */
static void settle_burner(const struct stellar_model *model, struct stellar_track *track, struct stellar_star *star,
                          struct stellar_events *events)
{
    struct stellar_point p;
    struct stellar_event event;
    if (star->type >= STELLAR_HE_WD) return;
    stellar_track_make(model, star->type, star->mass_track, track);
    stellar_point_make(model, track, star->type, star->mass, star->age_myr, &p);
    star->core_mass = fmin(p.mc, star->mass);
    star->co_core_mass = fmin(p.mco, star->mass);
    if (p.envelope > 0) return;
    stellar_phase_end(model, STELLAR_STRIPPED, track, star, &event);
    stellar_add_event(&event, events);
}

/* The fits of another metallicity: the star is as far in its phase as before. */
static void adopt(const struct stellar_model *from, const struct stellar_model *to, struct stellar_star *star)
{
    struct stellar_track track = {.kind = STELLAR_TRACK_NONE};
    double begin, end;
    const double part = from == to ? 0 : progress_of(from, star);
    star->z = to->fits.z;
    if (from == to) return;
    stellar_track_make(to, star->type, star->mass_track, &track);
    if (stellar_phase(&track, star->type, &begin, &end)) star->age_myr = begin + part * (end - begin);
}

/* Of two stars at one time, the fits of both being the same. */
static void merge(const struct stellar_model *model, const struct stellar_star *evolved,
                  const struct stellar_star *other, double kept, struct stellar_star *star,
                  struct stellar_events *events)
{
    struct stellar_track track = {.kind = STELLAR_TRACK_NONE};
    struct ingredients all = {.mass = 0};
    const int type = product_type[evolved->type][other->type];
    add_star(model, evolved, &all);
    add_star(model, other, &all);
    star->time_myr = evolved->time_myr;
    star->step_myr = 0;
    star->mass = evolved->mass;
    star->type = evolved->type;
    if (type == STELLAR_NONE) {
        star->mass = all.mass;
        destroy(star, events);
    } else if (type >= STELLAR_NS) {
        const double swallowed = other->type < STELLAR_HE_WD ? kept * other->mass : other->mass;
        star->spin = evolved->type == type ? evolved->spin : 0;
        make_compact(model, evolved->type, fmin(evolved->mass + swallowed, STELLAR_MASS_MOST), star, events);
        if (star->type != type && type == STELLAR_BH) stellar_become_remnant(STELLAR_BH, star->mass, star);
    } else if (type >= STELLAR_HE_WD) {
        make_compact(model, type, all.mass, star, events);
    } else {
        make_burner(model, type, evolved, other, &all, &track, star);
        settle_burner(model, &track, star, events);
    }
}

/* Of two stars of the main sequence the heavier one. */
static int is_more_evolved(const struct stellar_star *a, const struct stellar_star *b)
{
    if (a->type <= STELLAR_MS && b->type <= STELLAR_MS) return a->mass >= b->mass;
    return a->type >= b->type;
}

int stellar_merge(const struct stellar_model *model, const struct stellar_star *star,
                  const struct stellar_model *other_model, const struct stellar_star *other, double time_myr,
                  double kept, struct stellar_star *product, struct stellar_view *view, struct stellar_events *events,
                  struct nbc_error *err)
{
    struct stellar_work work = {.has_point = 0}, other_work = {.has_point = 0};
    struct stellar_star a = *star, b = *other, made;
    if (events) events->n = 0;
    int status = stellar_check_star(model, star, err);
    if (!status) status = stellar_check_star(other_model, other, err);
    if (!status) status = stellar_check_time(star, time_myr, err);
    if (!status) status = stellar_check_time(other, time_myr, err);
    if (!status && !(kept >= 0 && kept <= 1))
        status = nbc_fail(err, NBC_BAD_ARGUMENT, "a part of %g that is kept: it is from 0 to 1", kept);
    if (!status) status = stellar_stand_at(model, time_myr, &a, &work, events, err);
    if (!status) status = stellar_stand_at(other_model, time_myr, &b, &other_work, events, err);
    if (status) {
        if (events) events->n = 0;
        return status;
    }
    adopt(other_model, model, &b);
    made =
        (struct stellar_star){.name = star->name, .z = a.z, .n_event = a.n_event > b.n_event ? a.n_event : b.n_event};
    if (a.type == STELLAR_NONE || b.type == STELLAR_NONE) {
        const int32_t n_event = made.n_event;
        made = a.type == STELLAR_NONE ? b : a;
        made.name = star->name;
        made.n_event = n_event;
    } else if (is_more_evolved(&a, &b)) {
        merge(model, &a, &b, kept, &made, events);
    } else {
        merge(model, &b, &a, kept, &made, events);
    }
    struct stellar_events more = {.n = 0};
    status = stellar_evolve(model, &made, time_myr, view, &more, err); /* its phase may be over */
    for (int k = 0; k < more.n; k++) stellar_add_event(&more.event[k], events);
    if (!status)
        *product = made;
    else if (events)
        events->n = 0;
    return status;
}
