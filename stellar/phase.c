#include "stellar/phase.h"

#include "stellar/collapse.h"

#include <math.h>

/* A phase of the same track begins, at the age at which the last one ended. */
static void go_on(const struct stellar_model *model, struct stellar_track *track, int type, struct stellar_star *star)
{
    double begin, end;
    struct stellar_point p;
    star->type = type;
    stellar_track_make(model, type, star->mass_track, track);
    if (stellar_phase(track, type, &begin, &end)) star->age_myr = begin;
    stellar_point_make(model, track, type, star->mass, star->age_myr, &p);
    star->core_mass = p.mc;
    star->co_core_mass = p.mco;
}

void stellar_become_remnant(int type, double mass, struct stellar_star *star)
{
    star->type = type;
    star->mass = star->mass_track = star->core_mass = mass;
    star->co_core_mass = type == STELLAR_CO_WD ? mass : 0;
    star->age_myr = 0;
}

static void become_white_dwarf(const struct stellar_model *model, int type, double mass, struct stellar_star *star,
                               struct stellar_event *event)
{
    struct stellar_random random = stellar_random_begin(model->options.nrand, star->name, star->n_event);
    event->number = star->n_event++;
    stellar_become_remnant(type, mass, star);
    stellar_kick_white_dwarf(&model->options, type, &random, event->kick_kms);
    event->kind = STELLAR_WHITE_DWARF;
}

/* White dwarf of a core of carbon and oxygen. HPT section 6 */
static int degenerate_type(const struct stellar_track *track)
{
    return track->mc_bagb < 1.6 ? STELLAR_CO_WD : STELLAR_ONE_WD;
}

static void collapse(const struct stellar_model *model, const struct stellar_track *track, struct stellar_star *star,
                     struct stellar_event *event)
{
    struct stellar_random random = stellar_random_begin(model->options.nrand, star->name, star->n_event);
    const double mc_he = star->type >= STELLAR_HE_MS ? star->mass : star->core_mass;
    const struct stellar_progenitor before = {star->mass, track->mc_bagb, mc_he, track->mc_sn};
    struct stellar_collapse left;
    stellar_collapse_make(model, &before, &left);
    stellar_kick_collapse(&model->options, &left, &random, event->kick_kms);
    stellar_become_remnant(left.type, left.mass, star);
    star->spin = stellar_birth_spin(model, &left, &random);
    event->kind = left.kind;
    event->number = star->n_event++;
    event->fallback = left.fallback;
}

/* A helium star that has burned a fraction of its main sequence */
static void become_helium_star(const struct stellar_model *model, struct stellar_track *track, double fraction,
                               struct stellar_star *star)
{
    star->mass_track = star->mass;
    go_on(model, track, STELLAR_HE_MS, star);
    star->age_myr = fraction * track->helium.t_ms;
}

void stellar_become_helium_giant(const struct stellar_model *model, struct stellar_track *track, double mco,
                                 struct stellar_star *star)
{
    const struct stellar_helium *s = &track->helium;
    struct stellar_point p;
    int is_giant;
    star->type = STELLAR_HE_GB;
    star->mass_track = star->mass;
    stellar_track_make(model, star->type, star->mass_track, track);
    star->age_myr = fmax(s->t_ms, stellar_shell_time(&s->shell, mco));
    stellar_point_make(model, track, star->type, star->mass, star->age_myr, &p);
    stellar_r_hegb(star->mass, stellar_law_luminosity(&s->shell.law, p.mco), s->l_tms, &is_giant);
    star->type = is_giant ? STELLAR_HE_GB : STELLAR_HE_HG;
    star->core_mass = p.mc;
    star->co_core_mass = p.mco;
}

/* The envelope of hydrogen is gone. HPT section 6 */
static void strip(const struct stellar_model *model, struct stellar_track *track, struct stellar_star *star,
                  struct stellar_event *event)
{
    const struct stellar_giant *g = &track->giant;
    const int degenerate = g->m0 < model->fits.m_hef;
    switch (star->type) {
    case STELLAR_HG:
    case STELLAR_GB:
        if (degenerate)
            become_white_dwarf(model, STELLAR_HE_WD, star->mass, star, event);
        else
            become_helium_star(model, track, 0, star);
        break;
    case STELLAR_CHEB:
        become_helium_star(model, track, fmax(0, fmin(1, (star->age_myr - g->t_hei) / g->t_he)), star);
        break;
    case STELLAR_EAGB:
        stellar_become_helium_giant(model, track, star->co_core_mass, star);
        break;
    default:
        become_white_dwarf(model, degenerate_type(track), star->mass, star, event);
    }
}

/* The core of a helium giant has grown as far as it can. HPT eq. 89: the rest of a star that ends as a dwarf of carbon
 * and oxygen burns to it on the way. */
static void end_helium_giant(const struct stellar_model *model, const struct stellar_track *track,
                             struct stellar_star *star, struct stellar_event *event)
{
    const double core = star->co_core_mass;
    const int type = degenerate_type(track);
    if (type == STELLAR_CO_WD)
        become_white_dwarf(model, type, fmin(star->mass, fmax(core, (core + 0.31) / 1.45)), star, event);
    else
        become_white_dwarf(model, type, fmin(core, star->mass), star, event);
}

/* Helium ignites. A flash begins a track anew: HPT section 7.1 */
static void ignite_helium(const struct stellar_model *model, struct stellar_track *track, struct stellar_star *star)
{
    if (star->mass_track < model->fits.m_hef) star->mass_track = star->mass;
    go_on(model, track, STELLAR_CHEB, star);
}

static void burn_out(const struct stellar_model *model, struct stellar_track *track, struct stellar_star *star,
                     struct stellar_event *event)
{
    switch (star->type) {
    case STELLAR_MS_LOW:
    case STELLAR_MS:
        go_on(model, track, STELLAR_HG, star);
        break;
    case STELLAR_HG:
        if (star->mass_track < model->fits.m_fgb)
            go_on(model, track, STELLAR_GB, star);
        else
            go_on(model, track, STELLAR_CHEB, star);
        break;
    case STELLAR_GB:
        ignite_helium(model, track, star);
        break;
    case STELLAR_CHEB:
        go_on(model, track, STELLAR_EAGB, star);
        break;
    case STELLAR_EAGB:
        if (track->giant.mc_du < track->mc_sn)
            go_on(model, track, STELLAR_TPAGB, star);
        else
            collapse(model, track, star, event);
        break;
    case STELLAR_HE_MS:
        stellar_become_helium_giant(model, track, 0, star);
        break;
    default:
        collapse(model, track, star, event);
    }
}

void stellar_phase_end(const struct stellar_model *model, int end, struct stellar_track *track,
                       struct stellar_star *star, struct stellar_event *event)
{
    *event = (struct stellar_event){.kind = STELLAR_CHANGE,
                                    .type_before = star->type,
                                    .number = -1,
                                    .time_myr = star->time_myr,
                                    .mass_before = star->mass};
    stellar_track_make(model, star->type, star->mass_track, track);
    if (end == STELLAR_BURNT)
        burn_out(model, track, star, event);
    else if (star->type >= STELLAR_HE_HG)
        end_helium_giant(model, track, star, event);
    else
        strip(model, track, star, event);
    star->step_myr = 0;
    event->type_after = star->type;
    event->mass_after = star->mass;
}

int stellar_reweigh_remnant(const struct stellar_model *model, double mass, struct stellar_star *star,
                            struct stellar_event *event)
{
    const struct stellar_options *o = &model->options;
    const int before = star->type, is_dwarf = before <= STELLAR_ONE_WD;
    *event = (struct stellar_event){
        .type_before = before, .number = -1, .time_myr = star->time_myr, .mass_before = star->mass};
    star->mass = star->mass_track = star->core_mass = mass;
    if (before == STELLAR_CO_WD) star->co_core_mass = mass;
    if (is_dwarf && mass >= o->mch) {
        struct stellar_random random = stellar_random_begin(o->nrand, star->name, star->n_event);
        const int collapses = before == STELLAR_ONE_WD;
        const struct stellar_collapse left = {.type = collapses ? STELLAR_NS : STELLAR_NONE,
                                              .kind = collapses ? STELLAR_ELECTRON_CAPTURE : STELLAR_DISRUPTION,
                                              .mass = collapses ? 1.26 : 0};
        stellar_kick_collapse(o, &left, &random, event->kick_kms);
        stellar_become_remnant(left.type, left.mass, star);
        event->kind = left.kind;
        event->number = star->n_event++;
    } else if (before == STELLAR_NS && mass > (o->nsflag == 0 ? o->mxns0 : o->mxns1)) {
        stellar_become_remnant(STELLAR_BH, mass, star);
    } else {
        return 0;
    }
    event->type_after = star->type;
    event->mass_after = star->mass;
    return 1;
}
