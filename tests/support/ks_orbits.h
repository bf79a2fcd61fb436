/** A free KS pair over many orbits, measured independently of the library. */
#ifndef KS_ORBITS_H
#define KS_ORBITS_H

struct ks_orbits {
    double energy;         /* relative error of the energy, from x and v */
    double eccentricity;   /* error, from x and v */
    double time_per_orbit; /* error of the phase in periods, divided by the orbits */
    double steps_per_orbit;
};

/** Integrate `orbits` periods of a pair with a = 1, m = 1 and this eccentricity from the apocentre. 0, or a status. */
int ks_orbits_measure(double eccentricity, double eta, double orbits, struct ks_orbits *result);

/** Table over e = 0 .. 0.999999 on stdout; the number of limits that are exceeded. */
int ks_orbits_table(double orbits);

#endif
