#include "stellar/core.h"

#include "stellar/power.h"

#include <math.h>

void stellar_core_law_make(struct stellar_core_law *law, double p, double q, double b, double d)
{
    law->p = p;
    law->q = q;
    law->b = b;
    law->d = d;
    law->m_x = stellar_power(b / d, 1 / (p - q));
    law->l_x = b * stellar_power(law->m_x, q);
}

double stellar_law_luminosity(const struct stellar_core_law *law, double mc)
{
    return mc <= law->m_x ? law->d * stellar_power(mc, law->p) : law->b * stellar_power(mc, law->q);
}

double stellar_law_core(const struct stellar_core_law *law, double l)
{
    return l <= law->l_x ? stellar_power(l / law->d, 1 / law->p) : stellar_power(l / law->b, 1 / law->q);
}

/* Time that a core of luminosity l = k mc^n would need to grow without bound */
static double time_left(double a, double k, double n, double l)
{
    return stellar_power(k / l, (n - 1) / n) / ((n - 1) * a * k);
}

struct stellar_shell stellar_shell_make(const struct stellar_core_law *law, double a, double t, double l)
{
    struct stellar_shell s = {*law, a, t, t, t, t};
    if (l <= law->l_x) {
        s.t_inf1 = t + time_left(a, law->d, law->p, l);
        s.t_x = s.t_inf1 - time_left(a, law->d, law->p, law->l_x);
        l = law->l_x;
    }
    s.t_inf2 = s.t_x + time_left(a, law->b, law->q, l);
    return s;
}

/* Core mass at a time t before it would grow without bound; a time past that counts as just before. */
static double core_before(double a, double k, double n, double t)
{
    return stellar_power((n - 1) * a * k * fmax(t, 1e-12), 1 / (1 - n));
}

double stellar_shell_core(const struct stellar_shell *s, double t)
{
    if (t <= s->t_x && s->t_x > s->t_start) return core_before(s->a, s->law.d, s->law.p, s->t_inf1 - t);
    return core_before(s->a, s->law.b, s->law.q, s->t_inf2 - t);
}

double stellar_shell_time(const struct stellar_shell *s, double mc)
{
    const double l = stellar_law_luminosity(&s->law, mc);
    if (mc <= s->law.m_x && s->t_x > s->t_start) return s->t_inf1 - time_left(s->a, s->law.d, s->law.p, l);
    return s->t_inf2 - time_left(s->a, s->law.b, s->law.q, l);
}
