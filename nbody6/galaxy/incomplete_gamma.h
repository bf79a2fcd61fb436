/** Incomplete gamma functions, which C has not. Private to nbody6/galaxy. */
#ifndef NB6_INCOMPLETE_GAMMA_H
#define NB6_INCOMPLETE_GAMMA_H

/** The lower one, int_0^x s^(a-1) e^-s ds, and the upper one, from x on, for a > 0, x >= 0, to some 1e-15 of Gamma(a).
 *  Source: Press et al. 2007, Numerical Recipes, section 6.2: series below x = a + 1, continued fraction above. */
void nb6_incomplete_gamma(double a, double x, double *below, double *above);

#endif
