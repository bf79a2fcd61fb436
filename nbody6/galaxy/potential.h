/** Operations of an external potential. Each potential has a file with one table of them, `nb6_potential_NAME`, and a
 * line in nbody6/input/potentials.def; no other file names it. Arguments are those of external.h. Private to
 * nbody6/galaxy.
 *
 * A field need not be linear: a relative motion feels the difference of the field at two places, and the centre of mass
 * of a pair or chain feels the mean over its members. */
#ifndef NB6_POTENTIAL_H
#define NB6_POTENTIAL_H

#include "nbody6/galaxy/external.h"

struct nb6_potential {
    /** Fill in what the field needs, in N-body units; kind is set, active is 1 unless this changes it, all else is 0.
     *  @return NBC_OK; NBC_BAD_INPUT: a message that begins with the name of the variable and has the remedy */
    int (*make)(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                struct nbc_error *err);
    void (*describe)(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT]);
    void (*force)(const struct nb6_external *external, double t, const double x[3], const double v[3],
                  const double acc[3], double ext_acc[3], double ext_jerk[3]);
    double (*noise)(const struct nb6_external *external, double t, const double x[3], const double v[3]);
    void (*relative)(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                     const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                     double ext_jerk[3]);
    void (*higher)(const struct nb6_external *external, double t, const double x[3], const double v[3],
                   const double acc[3], const double jerk[3], const double inner[3], double snap[3], double crackle[3]);
    double (*potential)(const struct nb6_external *external, double t, const double x[3]);
    double (*relative_potential)(const struct nb6_external *external, double t, const double centre[3],
                                 const double x[3]);
    /** All five NULL: the field does not depend on time. */
    int (*does_work)(const struct nb6_external *external);
    int (*extend_to)(struct nb6_external *external, double t, struct nbc_error *err);
    double (*known_until)(const struct nb6_external *external);
    double (*work)(const struct nb6_external *external, const struct nb6_moment *from, const struct nb6_moment *to);
    void (*rate)(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                 const double xdot[3], const double acc[3], const double jerk[3], double rate[2]);
    /** NULL: the field changes within any length; members of a system are resolved in it at all times. */
    void (*scale)(const struct nb6_external *external, double t, const double centre[2][3],
                  struct nb6_external_scale *scale);
    /** All three NULL: the field has no polynomial about a place. */
    int (*expand)(const struct nb6_external *external, double t, const double x[3], struct nb6_external_series *series);
    double (*near_time)(const struct nb6_external *external, double t, const double centre[2][3]);
    int (*near)(const struct nb6_external *external, const struct nb6_external_series *series, double t,
                const double centre[2][3], int n, const double mass[], const double (*x)[3], const double (*xdot)[3],
                double acc[][3], double jerk[][3], double power[2]);
    /** Both NULL: nothing in the field begins at a time of its own. */
    double (*longest_step)(const struct nb6_external *external, double t);
    double (*jump)(const struct nb6_external *external);
    double (*strongest)(const struct nb6_external *external, double t, const double x[3]);
};

#endif
