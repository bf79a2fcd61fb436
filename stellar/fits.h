/* The fitted coefficients of Tout et al. 1996 and Hurley, Pols & Tout 2000 (HPT below) at one metallicity. */
#ifndef STELLAR_FITS_H
#define STELLAR_FITS_H

enum { STELLAR_A = 82, STELLAR_B = 58 }; /* one more than the highest index of the paper, so that a[17] is a17 */

/* Made once for a metallicity, and constant from then on. */
struct stellar_fits {
    double z, zeta;      /* metallicity; log10(z / 0.02) */
    double m_hook;       /* HPT eq. 1: least mass with a hook at the end of the main sequence */
    double m_hef;        /* HPT eq. 2: greatest mass with a helium flash */
    double m_fgb;        /* HPT eq. 3: greatest mass with a first giant branch */
    double x_ms;         /* HPT eq. 6: least t_MS / t_BGB */
    double x_hydrogen;   /* hydrogen by mass, 0.76 - 3 z */
    double z_cooling;    /* z^0.4 of white dwarfs, HPT eq. 90 */
    double log_d;        /* log10 of D below m_hef, HPT eq. 32 */
    double lz[7], rz[9]; /* Tout et al. 1996, tables 1 and 2 */
    double a[STELLAR_A], b[STELLAR_B];
    /* Constants by which the fits below m_hef agree with those above it there */
    double alpha1, alpha3, alpha4; /* HPT eqs. 49, 56, 57 */
    double l_min_hef;              /* HPT eq. 51 at m_hef */
    double r_ratio_hef;            /* R_mHe / R_GB(L_minHe) at m_hef, HPT eq. 55 */
    double c_bgb, c_hei;           /* C of HPT eq. 44 at the base of the giant branch, and at helium ignition */
    double c_min;                  /* c of HPT eq. 51 */
    double alpha_bl, f_bl_fgb;     /* HPT eq. 58: factor of the term in b46; f_bl at m_fgb */
};

/* Coefficients at a metallicity from 1e-4 to 0.03. */
void stellar_fits_make(double z, struct stellar_fits *f);
/* The part of it that comes from tables alone. */
void stellar_tables(double z, struct stellar_fits *f);

#endif
