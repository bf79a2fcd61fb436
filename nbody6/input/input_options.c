#include "common/nbc.h"
#include "nbody6/input/input_table.h"

#include <stdio.h>

enum { MANY = 1000000 };

const struct nb6_input_option nb6_input_options_table[NB6_KZ_COUNT] = {
    {1, 1, 0, "dump to comm.1"},
    {2, 0, 0, "dump to comm.2, restart after an energy error"},
    {3, 1, 0, "snapshots"},
    {4, 0, 0, "diagnostics of binaries"},
    {5, 1, 1, "initial model (KZ(22) = 0, 1, without MODEL of &INMODEL)"},
    {6, 0, 0, "output of binaries"},
    {7, 0, 0, "Lagrangian radii"},
    {8, 0, 0, "primordial binaries"},
    {9, 0, 0, "output of binaries"},
    {10, 0, 0, "diagnostics of regularization"},
    {11, 0, 0, "not used"},
    {12, 0, 0, "Hertzsprung-Russell output"},
    {13, 0, 0, "interstellar clouds"},
    {14, 0, 0, "galaxy"},
    {15, 1, 0, "triples, quadruples, chains"},
    {16, 1, 0, "adjustment of RMIN, DTMIN, ECLOSE"},
    {17, 0, 0, "adjustment of ETAI, ETAR, ETAU by the energy error"},
    {18, 0, 0, "hierarchies"},
    {19, 0, 0, "stellar evolution"},
    {20, 0, 0, "mass function (KZ(22) = 0, 1, 9)"},
    {21, 0, 0, "additional output"},
    {22, 0, 0, "initial model: made or read"},
    {23, 0, 0, "escapers"},
    {24, 0, 0, "massive black hole, black holes"},
    {25, 0, 0, "white-dwarf kicks"},
    {26, 2, 0, "slow-down of regularized pairs"},
    {27, 0, 0, "tides, gravitational radiation"},
    {28, 0, 0, "magnetic braking"},
    {29, 0, 0, "pulsars"},
    {30, 1, 0, "chain regularization (KZ(15) > 0)"},
    {31, 0, 0, "correction of the centre of mass"},
    {32, 0, 0, "longer DTADJ, DELTAT with binding energy"},
    {33, 0, 0, "statistics of block steps"},
    {34, 0, 0, "Roche-lobe overflow, tides of binaries"},
    {35, 0, 0, "time offset"},
    {36, 0, 0, "not used"},
    {37, 0, 0, "additional neighbours"},
    {38, 0, 0, "corrections of the force polynomials"},
    {39, 0, 0, "neighbour criterion"},
    {40, 0, 0, "derivatives for the first steps"},
    {41, 0, 0, "eigenevolution of primordial binaries"},
    {42, 0, 0, "periods of primordial binaries"},
    {43, 0, 0, "not used"},
    {44, 0, 0, "not used"},
    {45, 0, 0, "moments of inertia"},
    {46, 0, 0, "custom output"},
    {47, 0, 0, "interval of custom output"},
    {48, 0, 0, "reduced HDF5 output"},
    {49, 0, 0, "not used"},
    {50, 0, 0, "neighbour search before a regularized step"},
};

const struct nb6_input_choice nb6_input_choices[] = {
    {1, 0, MANY, NB6_OUTPUT, "a checkpoint is written at the end, STOP and signals; see CKPT of &INRUN"},
    {2, 0, 0, NB6_USED, "checkpoints by wall-clock time only (CKPT of &INRUN)"},
    {2, 1, 1, NB6_USED, "a checkpoint at every output time as well"},
    {2, 2, 2, NB6_USED,
     "as 1, and back to the last adjust with half of ETAI and ETAR, at most twice, where the energy error exceeds 5 "
     "QE"},
    {2, 3, MANY, NB6_NEAREST, "as 2: steps become shorter when they are made anew, not at once"},
    {3, 0, 0, NB6_USED, "no snapshots"},
    {3, 1, MANY, NB6_USED, "snapshots at every NFIX-th output time"},
    {4, 0, MANY, NB6_OUTPUT, "diagnostics of binaries"},
    {5, 0, 0, NB6_USED, "uniform sphere"},
    {5, 1, 1, NB6_USED, "Plummer model"},
    {5, 2, 2, NB6_USED, "two Plummer models in orbit about each other, by &INSETUP"},
    {5, 3, 3, NB6_MISSING, "massive perturber and planetesimal disk"},
    {5, 4, 4, NB6_MISSING, "massive binary"},
    {5, 5, 5, NB6_MISSING, "Jaffe model"},
    {5, 6, MANY, NB6_MISSING, "Zhao cusp"},
    {6, 0, MANY, NB6_OUTPUT, "output of binaries"},
    {7, 0, 1, NB6_USED, "fractions of the present mass; always in NAME.log.csv"},
    {7, 2, 2, NB6_USED, "fractions of the initial mass"},
    {7, 3, 3, NB6_USED, "fractions of the present mass"},
    {7, 4, 4, NB6_USED, "fractions of the initial mass"},
    {7, 5, MANY, NB6_USED, "fractions of the present mass"},
    {8, 0, 0, NB6_USED, "none"},
    {8, 1, 1, NB6_USED, "NBIN0 binaries by &INBINPOP; with a data file as 2"},
    {8, 2, 2, NB6_USED, "the first 2 NBIN0 lines of the data file are pairs; without one as 1"},
    {8, 3, MANY, NB6_USED, "as 1"},
    {9, 0, MANY, NB6_OUTPUT, "output of binaries"},
    {10, 0, MANY, NB6_OUTPUT, "diagnostics of regularization"},
    {11, -MANY, MANY, NB6_UNREAD, "without meaning"},
    {12, -MANY, 0, NB6_USED, "none"},
    {12, 1, MANY, NB6_AGEING,
     "snapshots have types, radii, luminosities, temperatures and ages of the stars, which they have in any case"},
    {13, 0, 0, NB6_USED, "none"},
    {13, 1, MANY, NB6_MISSING, "interstellar clouds"},
#define POTENTIAL(number, name, family, meaning) {14, number, number, NB6_USED, meaning},
#define MISSING(number, meaning) {14, number, number, NB6_MISSING, meaning},
#include "nbody6/input/potentials.def"
    {15, 0, 0, NB6_USED, "off"},
    {15, 1, MANY, NB6_USED, "search for systems of three and more stars; KZ(30) says of what kind"},
    {16, 0, 0, NB6_USED, "RMIN, DTMIN and ECLOSE stay as given"},
    {16, 1, 1, NB6_USED, "RMIN, DTMIN and ECLOSE follow the core density at every DTADJ"},
    {16, 2, MANY, NB6_NEAREST, "as 1: neither the core radius nor the perturbation of chains changes RMIN"},
    {17, 0, 0, NB6_USED, "step factors stay as given"},
    {17, 1, MANY, NB6_FIXED, "step factors stay as given"},
    {18, 0, 0, NB6_USED, "none"},
    {18, 1, 1, NB6_OUTPUT, "diagnostics of hierarchies"},
    {18, 2, MANY, NB6_USED, "NHI0 primordial triples by &INHIPOP, if KZ(8) > 0"},
    {19, 0, 0, NB6_USED, "none"},
    {19, 1, 2, NB6_AGEING, "as 3: winds act as well as supernovae"},
    {19, 3, MANY, NB6_AGEING, "stars age, by LEVEL and &INSSE (docs/stars.md)"},
    {20, -5, -5, NB6_USED, "of nbody6 alone: as -3, binaries with (m1/m2)^0.4 in place of m1/m2"},
    {20, -3, -3, NB6_USED, "of nbody6 alone: as 3 by the function that NBODY6 has, m = 0.3 X/(1-X)^0.55"},
    {20, 0, 0, NB6_USED, "power law (ALPHAS, BODY1, BODYN), or equal masses"},
    {20, 1, 1, NB6_USED, "Miller & Scalo 1979, by the generating function of Eggleton, Fitchett & Tout 1989"},
    {20, 2, 2, NB6_USED, "Kroupa, Tout & Gilmore 1993 (BODY1, BODYN), binaries of random pairs"},
    {20, 3, 3, NB6_USED, "Eggleton 2006: m = 0.3 (X/(1-X))^0.55, binaries of random pairs"},
    {20, 4, 4, NB6_USED, "as 2, binaries with (m1/m2)^0.4 in place of m1/m2"},
    {20, 5, 5, NB6_USED, "as 3, binaries with (m1/m2)^0.4 in place of m1/m2"},
    {20, 6, 6, NB6_USED, "Kroupa 2001 (BODY1, BODYN), binaries of random pairs"},
    {20, 7, 7, NB6_USED, "as 6, binaries with (m1/m2)^0.4 in place of m1/m2"},
    {20, 8, 8, NB6_USED, "as 6, binaries with mass ratios of density 0.6 q^-0.4 (Kouwenhoven et al. 2007)"},
    {21, 0, MANY, NB6_OUTPUT, "additional output"},
    {22, 0, 0, NB6_USED, "made (KZ(5) or MODEL of &INMODEL)"},
    {22, 1, 1, NB6_USED, "made, and written as a table of 7 columns"},
    {22, 2, 2, NB6_USED, "read from dat.10 (or DATA of &INMODEL) in N-body units, as it is"},
    {22, 3, 3, NB6_USED, "as 2, from a file as TREE has it: N, dimensions, time, all masses, positions, velocities"},
    {22, 4, 4, NB6_USED, "as 2, from a file as Starlab has it: the stars of the tree of particles"},
    {22, 6, 6, NB6_USED, "read, and scaled to N-body units and to the virial ratio Q"},
    {22, 7, 7, NB6_USED, "as 6, from a file as TREE has it"},
    {22, 8, 8, NB6_USED, "as 6, from a file as Starlab has it"},
    {22, 9, 9, NB6_USED, "as 6, with masses of the mass function (KZ(20)) in place of those of the file"},
    {22, 10, 10, NB6_USED, "read in Msun, pc, km/s, and brought to N-body units"},
    {23, 0, 0, NB6_USED, "stay"},
    {23, 1, 1, NB6_USED, "removed beyond two tidal radii"},
    {23, 2, 2, NB6_USED, "removed beyond two tidal radii, and written to NAME.esc.csv"},
    {23, 3, 3, NB6_USED, "removed beyond one tidal radius, and written to NAME.esc.csv"},
    {23, 4, 4, NB6_NEAREST, "as 3; positions and velocities are written, which hold the escape angles"},
    {23, 5, MANY, NB6_MISSING, "tidal tail (2 removes escapers, and writes their places and velocities)"},
    {24, -MANY, -1, NB6_MISSING, "massive body in the centre of a cusp"},
    {24, 0, 0, NB6_USED, "none"},
    {24, 1, 1, NB6_MISSING, "intermediate-mass black hole"},
    {24, 2, MANY, NB6_MISSING_STELLAR, "all stars start as black holes"},
    {25, 0, 0, NB6_USED, "none"},
    {25, 1, 1, NB6_AGEING, "of helium and carbon-oxygen white dwarfs, by WDSIG1"},
    {25, 2, MANY, NB6_AGEING, "also of oxygen-neon white dwarfs, by WDSIG2"},
    {26, 0, 0, NB6_USED, "off; a pair inside a chain is slowed as long as its perturbation is below GMIN"},
    {26, 1, 1, NB6_USED, "slow-down of weakly perturbed pairs"},
    {26, 2, 2, NB6_USED, "also of tight pairs inside chains that are disturbed more"},
    {26, 3, MANY, NB6_NEAREST, "as 2: relative motions keep their energy, and nothing is rectified"},
    {27, -MANY, -1, NB6_AGEING, "stars collide, by the radii that they have at their age"},
    {27, 0, 0, NB6_USED, "none"},
    {27, 1, 2, NB6_NOT_YET, "tides"},
    {27, 3, MANY, NB6_NOT_YET, "tides and gravitational radiation"},
    {28, 0, 0, NB6_USED, "none"},
    {28, 1, MANY, NB6_NOT_YET, "magnetic braking, neutron stars"},
    {29, -MANY, 0, NB6_USED, "none"},
    {29, 1, MANY, NB6_STELLAR, "pulsars of newer versions of NBODY6++GPU (&INPULSAR)"},
    {30, -MANY, -1, NB6_USED, "chains only"},
    {30, 0, 0, NB6_USED, "stable hierarchies only"},
    {30, 1, MANY, NB6_USED, "chains and stable hierarchies"},
    {31, 0, MANY, NB6_FIXED, "the centre of mass is never shifted; its drift is in NAME.log.csv"},
    {32, 0, MANY, NB6_FIXED, "DTADJ and DELTAT stay as given"},
    {33, 0, MANY, NB6_OUTPUT, "statistics of block steps"},
    {34, 0, 0, NB6_USED, "none"},
    {34, 1, MANY, NB6_NOT_YET, "exchange of mass in binaries"},
    {35, 0, MANY, NB6_FIXED, "time is an integer and needs no offset"},
    {36, -MANY, MANY, NB6_UNREAD, "without meaning"},
    {37, 0, MANY, NB6_FIXED, "the neighbour criterion looks ahead over the regular step and finds fast stars"},
    {38, 0, MANY, NB6_FIXED, "changes of neighbour lists are always corrected for"},
    {39, 0, 0, NB6_USED, "distance"},
    {39, 1, 1, NB6_NEAREST, "as 0: neighbour radii follow the local density, and no density centre"},
    {39, 2, 2, NB6_USED, "distance weighted by the square root of the mass"},
    {39, 3, 3, NB6_NEAREST, "as 2: neighbour radii follow the local density, and no density centre"},
    {39, 4, MANY, NB6_NEAREST, "as 0: neighbour radii follow the local density, and no density centre"},
    {40, 0, 0, NB6_USED, "first steps from force and its first derivative"},
    {40, 1, MANY, NB6_USED, "second and third derivatives from a second pass over all pairs"},
    {41, 0, 0, NB6_USED, "none"},
    {41, 1, MANY, NB6_MISSING_STELLAR, "proto-stellar evolution of primordial binaries"},
    {42, 0, 0, NB6_USED, "semi-major axes by SEMI0 and RANGE of &INBINPOP"},
    {42, 1, 1, NB6_USED, "density 0.03438 y, y = log10 of the period in days"},
    {42, 2, 2, NB6_USED, "density 3.5 y/(100 + y^2)"},
    {42, 3, 3, NB6_USED, "density 2.3 (y - 1)/(45 + (y - 1)^2)"},
    {42, 4, 4, NB6_USED, "density 2.5 (y - 1)/(45 + (y - 1)^2), Kroupa 1995"},
    {42, 5, 5, NB6_USED, "Duquennoy & Mayor 1991: normal distribution of y, mean 4.8, deviation 2.3, from 1 to 10"},
    {43, -MANY, MANY, NB6_UNREAD, "without meaning"},
    {44, -MANY, MANY, NB6_UNREAD, "without meaning"},
    {45, 0, MANY, NB6_OUTPUT, "moments of inertia"},
    {46, 0, MANY, NB6_OUTPUT, "custom output"},
    {47, -MANY, MANY, NB6_OUTPUT, "interval of custom output"},
    {48, 0, MANY, NB6_OUTPUT, "reduced HDF5 output"},
    {49, -MANY, MANY, NB6_UNREAD, "without meaning"},
    {50, 0, MANY, NB6_FIXED, "neighbour search before a regularized step"},
};

const int nb6_input_choice_count = sizeof nb6_input_choices / sizeof nb6_input_choices[0];

const struct nb6_input_choice *nb6_input_find_choice(int number, long value)
{
    for (int k = 0; k < nb6_input_choice_count; k++) {
        const struct nb6_input_choice *choice = &nb6_input_choices[k];
        if (choice->number == number && value >= choice->low && value <= choice->high) return choice;
    }
    return NULL;
}

const char *nb6_input_reason(enum nb6_input_status status)
{
    switch (status) {
    case NB6_NEAREST:
        return "noted when it is read";
    case NB6_OUTPUT:
        return "output is written in files of our own: NAME.log.csv, NAME.events.jsonl, HDF5 snapshots";
    case NB6_FIXED:
        return "settled in one way here; see --help-input";
    case NB6_TECHNICAL:
        return "these concern the inside of other codes";
    case NB6_UNREAD:
        return "no code reads these";
    case NB6_STELLAR:
        return "exchange of mass, tides and pulsars are not computed yet";
    default:
        return NULL;
    }
}

void nb6_input_describe_choice(const struct nb6_input_choice *c, char *text, size_t size)
{
    int no_low = c->low <= -1000000, no_high = c->high >= 1000000;
    if (no_low && no_high)
        snprintf(text, size, "any");
    else if (no_low)
        snprintf(text, size, "<= %d", c->high);
    else if (no_high)
        snprintf(text, size, ">= %d", c->low);
    else if (c->low == c->high)
        snprintf(text, size, "%d", c->low);
    else
        snprintf(text, size, "%d to %d", c->low, c->high);
}
