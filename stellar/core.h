/* Burning shells: how a core grows, and the luminosity that follows from its mass. Section 5.2 of Hurley, Pols & Tout
 * 2000 (HPT). Solar units and Myr. */
#ifndef STELLAR_CORE_H
#define STELLAR_CORE_H

/* L = min(B Mc^q, D Mc^p): HPT eq. 37 */
struct stellar_core_law {
    double p, q, b, d;
    double m_x, l_x; /* core mass and luminosity at which the branches meet: HPT eq. 38 */
};

/* A shell that burns from a time on: dMc/dt = A L */
struct stellar_shell {
    struct stellar_core_law law;
    double a;
    double t_start, t_x; /* begin; time at which the branches meet, t_start if they have met before */
    double t_inf1, t_inf2;
};

void stellar_core_law_make(struct stellar_core_law *law, double p, double q, double b, double d);
double stellar_law_luminosity(const struct stellar_core_law *law, double mc);
double stellar_law_core(const struct stellar_core_law *law, double l);
/** A shell that has luminosity l at time t. HPT eqs. 40 to 42 */
struct stellar_shell stellar_shell_make(const struct stellar_core_law *law, double a, double t, double l);
/** Core mass at a time from t_start on. HPT eq. 39 */
double stellar_shell_core(const struct stellar_shell *s, double t);
/** Time at which the core has a mass. HPT eq. 43 */
double stellar_shell_time(const struct stellar_shell *s, double mc);

#endif
