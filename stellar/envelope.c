/* Stars whose envelope is nearly gone: section 6.3 of Hurley, Pols & Tout 2000. */
#include "stellar/remnant.h"
#include "stellar/track.h"

#include "stellar/power.h"

#include <math.h>

/* Luminosity and radius of the star that is left when the envelope has gone */
static void bare_core(const struct stellar_model *model, const struct stellar_track *track, int type, double age,
                      const struct stellar_point *p, double *l, double *r)
{
    const struct stellar_giant *g = &track->giant;
    const double m_chandrasekhar = model->options.mch;
    if (type == STELLAR_CHEB) {
        stellar_hems_point(p->mc, fmax(0, fmin(1, (age - g->t_hei) / g->t_he)), l, r);
    } else if (type == STELLAR_EAGB) {
        struct stellar_helium core;
        int is_giant;
        stellar_helium_make(p->mc, &core);
        *l = fmax(core.l_tms, stellar_law_luminosity(&core.shell.law, p->mco));
        *r = stellar_r_hegb(p->mc, *l, core.l_tms, &is_giant);
    } else if (type <= STELLAR_GB && g->m0 >= model->fits.m_hef) {
        *l = stellar_l_zhe(p->mc);
        *r = stellar_r_zhe(p->mc);
    } else { /* degenerate cores: white dwarfs at age 0 */
        const double m = type >= STELLAR_HE_MS ? p->mco : p->mc;
        *l = stellar_l_wd(model, type <= STELLAR_GB ? STELLAR_HE_WD : STELLAR_CO_WD, m, 0);
        *r = stellar_r_wd(m, m_chandrasekhar);
    }
}

static double cube(double x)
{
    return x * x * x;
}

void stellar_thin_envelope(const struct stellar_model *model, const struct stellar_track *track, int type, double m,
                           double age, struct stellar_point *p)
{
    double l_core, r_core;
    bare_core(model, track, type, age, p, &l_core, &r_core);
    const double mu = fmax(0, p->mu), widen = fmax(1, 2.5 / m), b = 0.002 * widen,
                 c = 0.006 * widen;                                                /* eqs. 103, 104 */
    const double b3 = cube(mu / b), c3 = cube(mu / c), q = log(p->r / r_core);     /* eq. 105 */
    p->l = l_core * stellar_power(p->l / l_core, (1 + b * b * b) * b3 / (1 + b3)); /* eqs. 99, 101 */
    if (q <= 0) return;
    p->r = r_core * exp(q * (1 + c * c * c) * c3 * stellar_power(mu, 0.1 / q) / (1 + c3)); /* eqs. 100, 102 */
}
