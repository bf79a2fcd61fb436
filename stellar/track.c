#include "stellar/track.h"

#include "stellar/remnant.h"
#include "stellar/wind.h"

#include <math.h>

static int kind_of(int type)
{
    if (type <= STELLAR_MS) return STELLAR_TRACK_MS;
    if (type <= STELLAR_TPAGB) return STELLAR_TRACK_GIANT;
    return type <= STELLAR_HE_GB ? STELLAR_TRACK_HELIUM : STELLAR_TRACK_NONE;
}

/* HPT eq. 75, or 1.38 for electron capture (Belczynski et al. 2008). A core that is nearly there when it
 * begins to grow has some time all the same. */
static double collapsing_core(const struct stellar_model *model, double mc_bagb, double mc_begin)
{
    const int captures = model->options.ecflag && mc_bagb >= 1.6 && mc_bagb < 2.25;
    return fmax(captures ? 1.38 : fmax(model->options.mch, 0.773 * mc_bagb - 0.35), 1.05 * mc_begin);
}

void stellar_track_make(const struct stellar_model *model, int type, double m0, struct stellar_track *track)
{
    const int kind = kind_of(type);
    if ((int)track->kind == kind && track->m0 == m0) return;
    track->kind = kind;
    track->m0 = m0;
    if (kind == STELLAR_TRACK_MS) {
        stellar_ms_make(&model->fits, m0, &track->ms);
    } else if (kind == STELLAR_TRACK_GIANT) {
        const struct stellar_giant *g = &track->giant;
        stellar_giant_make(&model->fits, m0, &track->giant);
        track->mc_bagb = g->mc_bagb;
        track->mc_sn = collapsing_core(model, g->mc_bagb, stellar_law_core(&g->eagb.law, g->l_bagb));
        track->t_early = fmax(g->t_bagb, stellar_shell_time(&g->eagb, fmin(g->mc_du, track->mc_sn)));
        track->t_late = fmax(g->t_du, stellar_tpagb_time(g, track->mc_sn));
    } else if (kind == STELLAR_TRACK_HELIUM) {
        stellar_helium_make(m0, &track->helium);
        track->mc_bagb = m0;
        track->mc_sn = collapsing_core(model, m0, 0);
        track->t_late = fmax(track->helium.t_ms, stellar_shell_time(&track->helium.shell, track->mc_sn));
    }
}

int stellar_phase(const struct stellar_track *track, int type, double *begin, double *end)
{
    const struct stellar_giant *g = &track->giant;
    switch (type) {
    case STELLAR_MS_LOW:
    case STELLAR_MS:
        *begin = 0;
        *end = track->ms.t_ms;
        return 1;
    case STELLAR_HG:
        *begin = g->t_ms;
        *end = g->t_bgb;
        return 1;
    case STELLAR_GB:
        *begin = g->t_bgb;
        *end = g->t_hei;
        return 1;
    case STELLAR_CHEB:
        *begin = g->t_hei;
        *end = g->t_bagb;
        return 1;
    case STELLAR_EAGB:
        *begin = g->t_bagb;
        *end = track->t_early;
        return 1;
    case STELLAR_TPAGB:
        *begin = g->t_du;
        *end = track->t_late;
        return 1;
    case STELLAR_HE_MS:
        *begin = 0;
        *end = track->helium.t_ms;
        return 1;
    case STELLAR_HE_HG:
    case STELLAR_HE_GB:
        *begin = track->helium.t_ms;
        *end = track->t_late;
        return 1;
    default:
        return 0;
    }
}

/* HPT eq. 97 */
static double measure_envelope(double m, double mc, double l)
{
    return (m - mc) / m * fmin(5, fmax(1.2, 1 / sqrt(l / 7e4)));
}

static void giant_point(const struct stellar_model *model, const struct stellar_giant *g, int type, double m,
                        double age, struct stellar_point *p)
{
    const struct stellar_fits *f = &model->fits;
    p->mco = 0;
    switch (type) {
    case STELLAR_HG:
        stellar_hg_point(f, g, m, age, &p->l, &p->r, &p->mc);
        break;
    case STELLAR_GB:
        stellar_gb_point(f, g, m, age, &p->l, &p->r, &p->mc);
        break;
    case STELLAR_CHEB:
        stellar_cheb_point(f, g, m, age, &p->l, &p->r, &p->mc);
        break;
    case STELLAR_EAGB:
        p->mc = g->mc_bagb;
        stellar_eagb_point(f, g, m, age, &p->l, &p->r, &p->mco);
        break;
    default:
        stellar_tpagb_point(f, g, m, age, &p->l, &p->r, &p->mc);
        p->mco = p->mc;
    }
    p->envelope = m - p->mc;
    p->mu = measure_envelope(m, p->mc, p->l);
}

static void helium_point(const struct stellar_helium *s, int type, double m, double age, struct stellar_point *p)
{
    p->mc = m;
    if (type == STELLAR_HE_MS) {
        stellar_hems_point(m, fmin(1, age / s->t_ms), &p->l, &p->r);
        p->mco = 0;
        p->envelope = m;
    } else {
        const double limit = stellar_helium_core_limit(m);
        int is_giant;
        p->mco = stellar_shell_core(&s->shell, age);
        p->l = stellar_law_luminosity(&s->shell.law, p->mco);
        p->r = stellar_r_hegb(m, p->l, s->l_tms, &is_giant);
        p->type = is_giant ? STELLAR_HE_GB : STELLAR_HE_HG;
        p->envelope = limit - p->mco;
        p->mu = 5 * p->envelope / limit; /* HPT eq. 98 */
    }
}

void stellar_point_make(const struct stellar_model *model, const struct stellar_track *track, int type, double m,
                        double age, struct stellar_point *point)
{
    struct stellar_point *p = point;
    *p = (struct stellar_point){.type = type, .mc = type >= STELLAR_HE_WD ? m : 0, .envelope = m, .mu = HUGE_VAL};
    if (track->kind == STELLAR_TRACK_MS)
        stellar_ms_point(&track->ms, age, &p->l, &p->r);
    else if (track->kind == STELLAR_TRACK_GIANT)
        giant_point(model, &track->giant, type, m, age, p);
    else if (track->kind == STELLAR_TRACK_HELIUM)
        helium_point(&track->helium, type, m, age, p);
    else
        stellar_remnant_point(model, type, m, age, &p->l, &p->r);
    if (p->mu < 1) stellar_thin_envelope(model, track, type, m, age, p);
    p->wind = stellar_wind(model, type, m, p->l, p->r, type >= STELLAR_HE_MS ? 0 : p->mu);
}
