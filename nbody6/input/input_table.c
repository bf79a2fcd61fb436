#include "nbody6/input/input_table.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "stellar/stellar.h"

#include <math.h>

#define FIELD(target, member) NB6_TO_##target, offsetof(struct nb6_config, member)
#define NUMBER NB6_TO_NUMBER, 0 /* without a member: nb6_config_number has the value */
#define NO_FIELD NB6_TO_NONE, 0
#define ANY -INFINITY, INFINITY, 0
#define FROM(min) min, INFINITY, 0
#define ABOVE(min) min, INFINITY, 1
#define WITHIN(min, max) min, max, 0
#define ABOVE_TO(min, max) min, max, 1
/* A variable that is known, and has no effect */
#define INTEGER_UNUSED(group, name, status, meaning)                                                                   \
    {                                                                                                                  \
        group, name, NB6_INTEGER, 1, status, "", "", ANY, meaning, NO_FIELD                                            \
    }
#define REAL_UNUSED(group, name, status, unit, meaning)                                                                \
    {                                                                                                                  \
        group, name, NB6_REAL, 1, status, unit, "", ANY, meaning, NO_FIELD                                             \
    }

/* An option in words (words/words.c) */
#define WORDS(name, meaning)                                                                                           \
    {                                                                                                                  \
        "INOPTIONS", name, NB6_TEXT, 1, NB6_USED, "", "''", ANY, meaning, NO_FIELD                                     \
    }

const struct nb6_input_group nb6_input_groups[] = {
    {"INNBODY6", 0, "kind and length of the run"},
    {"ININPUT", 0, "numbers, accuracy, output times, units, options"},
    {"INDATA", 0, "stellar masses"},
    {"INSCALE", 0, "virial ratio, rotation, tidal radius"},
    {"INXTRNL0", 0, "the galaxy"},
    {"INMODEL", 1, "initial models by name"},
    {"INOPTIONS", 1, "options KZ in words"},
    {"INRUN", 1, "how the run is made"},
    {"INCOLLISIONLESS", 1, "softened forces: a run of nbody6-collisionless, which nbody6 refuses"},
    {"INBINPOP", 0, "primordial binaries"},
    {"INHIPOP", 0, "primordial triples"},
    {"INSSE", 0, "evolution of single stars"},
    {"INBSE", 0, "evolution of binaries"},
    {"INCOLL", 0, "collisions"},
    {"INPULSAR", 0, "pulsars, in newer versions of NBODY6++GPU"},
    {"INSETUP", 0, "two Plummer models (KZ(5) = 2); without them nothing in it is used"},
};

const int nb6_input_group_count = sizeof nb6_input_groups / sizeof nb6_input_groups[0];

const struct nb6_input_variable nb6_input_variables[] = {
    {"INNBODY6", "KSTART", NB6_INTEGER, 1, NB6_USED, "", "1", ANY,
     "1: a new run; 2 to 5: the run of this name continues, with the values that are set (see below)", NO_FIELD},
    {"INNBODY6", "TCOMP", NB6_REAL, 1, NB6_USED, "s", "0", WITHIN(0, 1e300),
     "wall-clock time after which the run ends with a checkpoint; 0: no limit", FIELD(DOUBLE, run.wall_limit_s)},
    {"INNBODY6", "TCRTP0", NB6_REAL, 1, NB6_USED, "Myr", "0", WITHIN(0, 1e12),
     "end of the run in physical time; if TCRIT is given as well, the earlier one counts; 0: TCRIT alone",
     FIELD(DOUBLE, run.t_crit_myr)},
    INTEGER_UNUSED("INNBODY6", "ISERNB", NB6_TECHNICAL, "size of an irregular block from which MPI is used"),
    INTEGER_UNUSED("INNBODY6", "ISERREG", NB6_TECHNICAL, "size of a regular block from which MPI is used"),
    INTEGER_UNUSED("INNBODY6", "ISERKS", NB6_TECHNICAL, "number of pairs from which MPI is used"),
    REAL_UNUSED("INNBODY6", "ADTIME", NB6_TECHNICAL, "", "time of a debug dump"),
    REAL_UNUSED("INNBODY6", "DUMPTIME", NB6_TECHNICAL, "", "time of a debug dump"),
    REAL_UNUSED("INNBODY6", "DPRINTT", NB6_TECHNICAL, "", "time of debug output"),
    REAL_UNUSED("INNBODY6", "DTPRINT", NB6_TECHNICAL, "", "interval of debug output"),
    INTEGER_UNUSED("INNBODY6", "NAMEP", NB6_TECHNICAL, "star to print for debugging"),

    {"ININPUT", "N", NB6_INTEGER, 1, NB6_USED, "", "1000", WITHIN(2, 2147483646.0),
     "number of stars. With a data file: the number of its lines that are read; all of them if N is not given",
     FIELD(INT64, model.n)},
    {"ININPUT", "NFIX", NB6_INTEGER, 1, NB6_USED, "", "1", FROM(1), "a snapshot at every NFIX-th output time",
     FIELD(INT64, run.n_fix)},
    {"ININPUT", "NCRIT", NB6_INTEGER, 1, NB6_USED, "", "0", FROM(0), "the run ends when NCRIT or fewer stars are left",
     FIELD(INT64, run.n_crit)},
    {"ININPUT", "NRAND", NB6_INTEGER, 1, NB6_USED, "", "1", WITHIN(1, 9007199254740992.0),
     "seed of the random numbers: the same seed makes the same cluster everywhere", FIELD(UINT64, model.seed)},
    {"ININPUT", "NNBOPT", NB6_INTEGER, 1, NB6_USED, "", "0", FROM(0),
     "wanted mean number of neighbours; 0: balance regular and irregular work", FIELD(INT64, integration.nnb_opt)},
    INTEGER_UNUSED("ININPUT", "NRUN", NB6_TECHNICAL,
                   "number of the run; files are named after the input file or --out"),
    INTEGER_UNUSED("ININPUT", "NCOMM", NB6_TECHNICAL, "write every NCOMM-th dump; see CKPT of &INRUN"),
    {"ININPUT", "ETAI", NB6_REAL, 1, NB6_USED, "", "0.02", ABOVE_TO(0, 0.08),
     "time-step factor of the irregular force; fewer than 300 stars take (N/300)^(1/2) of it",
     FIELD(DOUBLE, integration.eta_irr)},
    {"ININPUT", "ETAR", NB6_REAL, 1, NB6_USED, "", "0.02", ABOVE_TO(0, 0.16),
     "time-step factor of the regular force; fewer than 300 stars take (N/300)^(1/2) of it",
     FIELD(DOUBLE, integration.eta_reg)},
    {"ININPUT", "RS0", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e6),
     "first radius of the neighbour spheres; 0: from the local density", FIELD(DOUBLE, integration.r_nb_init)},
    {"ININPUT", "DTADJ", NB6_REAL, 1, NB6_USED, "N-body", "1", ABOVE_TO(0, NB6_T_MAX),
     "interval of energy checks: rows of the table and of NAME.log.csv", FIELD(DOUBLE, run.dt_adjust)},
    {"ININPUT", "DELTAT", NB6_REAL, 1, NB6_USED, "N-body", "1", ABOVE_TO(0, NB6_T_MAX), "interval of output: snapshots",
     FIELD(DOUBLE, run.dt_output)},
    {"ININPUT", "TCRIT", NB6_REAL, 1, NB6_USED, "N-body", "10", WITHIN(0, NB6_T_MAX),
     "end of the run; the default does not count where TCRTP0 is given; 0: TCRTP0 alone", FIELD(DOUBLE, run.t_crit)},
    {"ININPUT", "QE", NB6_REAL, 1, NB6_USED, "", "2e-4", ABOVE_TO(0, 1e300),
     "energy tolerance: the run ends, or goes back (KZ(2) > 1), if the error of an interval DTADJ exceeds 5 QE of the "
     "cluster's energy, or the galaxy's work",
     FIELD(DOUBLE, run.energy_tol)},
    {"ININPUT", "RBAR", NB6_REAL, 1, NB6_USED, "pc", "1", WITHIN(1e-9, 1e9),
     "the N-body unit of length; without it, of stars that are read in physical units, their virial radius",
     FIELD(DOUBLE, rbar_pc)},
    {"ININPUT", "ZMBAR", NB6_REAL, 1, NB6_USED, "Msun", "1", WITHIN(1e-12, 1e12),
     "mean stellar mass; the mass functions (KZ(20)) draw masses in Msun, and their mean replaces it",
     FIELD(DOUBLE, zmbar_msun)},
    {"ININPUT", "KZ", NB6_INTEGER, NB6_KZ_COUNT, NB6_USED, "", "", WITHIN(-1e6, 1e6),
     "options; each has an entry of its own", NO_FIELD},
    {"ININPUT", "DTMIN", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e6),
     "a quarter of the irregular step below which a star may be regularized; 0: from the core density "
     "(KZ(16) > 0), or none",
     FIELD(DOUBLE, pair.dt_min)},
    {"ININPUT", "RMIN", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e6),
     "distance below which two stars may be regularized; 0: from the core density (KZ(16) > 0), or none",
     FIELD(DOUBLE, pair.r_min)},
    {"ININPUT", "ETAU", NB6_REAL, 1, NB6_USED, "", "0.2", ABOVE_TO(0, 0.5),
     "step factor of regularized pairs: 2 pi/ETAU steps an orbit, a third as many where the perturbation is weak",
     FIELD(DOUBLE, pair.eta_u)},
    {"ININPUT", "ECLOSE", NB6_REAL, 1, NB6_USED, "N-body", "1", ABOVE_TO(0, 1e300),
     "binding energy per unit mass of a hard binary", FIELD(DOUBLE, pair.e_close)},
    {"ININPUT", "GMIN", NB6_REAL, 1, NB6_USED, "", "1e-6", ABOVE_TO(0, 1e-4),
     "relative perturbation below which a body does not perturb a regularized pair", FIELD(DOUBLE, pair.gamma_min)},
    {"ININPUT", "GMAX", NB6_REAL, 1, NB6_USED, "", "1e-2", ABOVE_TO(0, 0.1),
     "relative perturbation that ends a regularized pair which is wider than RMIN and not hard",
     FIELD(DOUBLE, pair.gamma_max)},
    {"ININPUT", "SMAX", NB6_REAL, 1, NB6_USED, "N-body", "1", ABOVE(0),
     "largest time-step; rounded down to a power of two, at most 1", FIELD(DOUBLE, integration.dt_max)},
    {"ININPUT", "LEVEL", NB6_TEXT, 1, NB6_USED, "", "'0'", ANY,
     "choices for stars that age (KZ(19) > 0): 'A', 'B' or 'C' of Kamlah et al. 2022, 'A' if it is not given; '0': "
     "stars "
     "do not age",
     NO_FIELD},

    {"INDATA", "ALPHAS", NB6_REAL, 1, NB6_USED, "", "1", WITHIN(-10, 10),
     "index of the power-law mass function dN/dm ~ m^-ALPHAS (KZ(20) = 0); 1, or BODY1 = BODYN: equal masses",
     FIELD(DOUBLE, model.imf_alpha)},
    {"INDATA", "BODY1", NB6_REAL, 1, NB6_USED, "Msun", "100", WITHIN(1e-12, 1e12), "largest stellar mass",
     FIELD(DOUBLE, model.mass_max_msun)},
    {"INDATA", "BODYN", NB6_REAL, 1, NB6_USED, "Msun", "0.08", WITHIN(1e-12, 1e12), "smallest stellar mass",
     FIELD(DOUBLE, model.mass_min_msun)},
    {"INDATA", "NBIN0", NB6_INTEGER, 1, NB6_USED, "", "0", FROM(0),
     "number of primordial binaries (KZ(8)). In a generated model N counts systems, and there are N + NBIN0 stars",
     FIELD(INT64, binaries.n)},
    {"INDATA", "NHI0", NB6_INTEGER, 1, NB6_USED, "", "0", FROM(0),
     "number of primordial triples (KZ(8) > 0, KZ(18) > 1), at most NBIN0: binaries whose first star is a "
     "binary, which adds a star to each",
     FIELD(INT64, triples.n)},
    {"INDATA", "ZMET", NB6_REAL, 1, NB6_USED, "", "0.02", WITHIN(0, 1),
     "metallicity of stars that age, 0.0001 to 0.03: mass fraction of heavy elements", FIELD(DOUBLE, stellar.z)},
    {"INDATA", "EPOCH0", NB6_REAL, 1, NB6_USED, "Myr", "0", WITHIN(-1e300, 1e300),
     "when stars that age were born, 0 or less: they have their masses then", FIELD(DOUBLE, stellar.epoch_0_myr)},
    REAL_UNUSED("INDATA", "DTPLOT", NB6_OUTPUT, "N-body", "interval of output for a Hertzsprung-Russell diagram"),

    {"INSCALE", "Q", NB6_REAL, 1, NB6_USED, "", "0.5", WITHIN(0, 1e6),
     "virial ratio T/|U| that the velocities are scaled to; 0.5: equilibrium, 0: at rest",
     FIELD(DOUBLE, model.virial_ratio)},
    {"INSCALE", "VXROT", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 1e6),
     "> 0: velocities in the xy plane are multiplied by it, and a solid-body rotation about z is added; 0: none",
     FIELD(DOUBLE, model.rotation_xy)},
    {"INSCALE", "VZROT", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(-1e6, 1e6),
     "factor of the velocities along z where VXROT > 0 (1 keeps them)", FIELD(DOUBLE, model.rotation_z)},
    {"INSCALE", "RTIDE", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e12),
     "tidal radius before scaling; > 0 with KZ(14) = 2: RBAR follows from it", FIELD(DOUBLE, tide.rtide_unscaled)},

    {"INXTRNL0", "GMG", NB6_REAL, 1, NB6_USED, "Msun", "0", WITHIN(0, 1e30),
     "mass of the point-mass galaxy (KZ(14) = 2), or of a point mass in the centre of the galaxy (3)",
     FIELD(DOUBLE, tide.galaxy_mass_msun)},
    {"INXTRNL0", "RG0", NB6_REAL, 1, NB6_USED, "kpc", "0", WITHIN(0, 1e12),
     "distance from the galactic centre (KZ(14) = 2)", FIELD(DOUBLE, tide.galaxy_distance_kpc)},
    {"INXTRNL0", "DISK", NB6_REAL, 1, NB6_USED, "Msun", "0", WITHIN(0, 1e30),
     "mass of a Miyamoto disk (KZ(14) = 3), 0: none", FIELD(DOUBLE, tide.disk_mass_msun)},
    {"INXTRNL0", "A", NB6_REAL, 1, NB6_USED, "kpc", "0", WITHIN(0, 1e12), "length of the disk",
     FIELD(DOUBLE, tide.disk_length_kpc)},
    {"INXTRNL0", "B", NB6_REAL, 1, NB6_USED, "kpc", "0", WITHIN(0, 1e12), "height of the disk",
     FIELD(DOUBLE, tide.disk_height_kpc)},
    {"INXTRNL0", "VCIRC", NB6_REAL, 1, NB6_USED, "km/s", "0", WITHIN(0, 1e5),
     "circular velocity of the galaxy at RCIRC (KZ(14) = 3), to which a logarithmic halo adds what is missing; 0: no "
     "halo",
     FIELD(DOUBLE, tide.halo_velocity_kms)},
    {"INXTRNL0", "RCIRC", NB6_REAL, 1, NB6_USED, "kpc", "0", WITHIN(0, 1e12), "see VCIRC",
     FIELD(DOUBLE, tide.halo_radius_kpc)},
    {"INXTRNL0", "GMB", NB6_REAL, 1, NB6_USED, "Msun", "0", WITHIN(0, 1e30),
     "mass of a Dehnen bulge (KZ(14) = 3), 0: none", FIELD(DOUBLE, tide.bulge_mass_msun)},
    {"INXTRNL0", "AR", NB6_REAL, 1, NB6_USED, "kpc", "0", WITHIN(0, 1e12), "length of the bulge",
     FIELD(DOUBLE, tide.bulge_length_kpc)},
    {"INXTRNL0", "GAM", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 2.9),
     "inner slope of the bulge, density ~ r^-GAM: 1 Hernquist, 2 Jaffe", FIELD(DOUBLE, tide.bulge_slope)},
    {"INXTRNL0", "RG", NB6_REAL, 3, NB6_USED, "kpc", "0", WITHIN(-1e12, 1e12),
     "place of the cluster in the galaxy (KZ(14) = 3, 5); about a point mass alone, if VG(3) = 0: apocentre, "
     "eccentricity",
     FIELD(DOUBLE, tide.position_kpc)},
    {"INXTRNL0", "VG", NB6_REAL, 3, NB6_USED, "km/s", "0", WITHIN(-1e5, 1e5),
     "velocity of the cluster in the galaxy (KZ(14) = 3, 5)", FIELD(DOUBLE, tide.velocity_kms)},
    {"INXTRNL0", "MP", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e12),
     "mass of a Plummer sphere of gas about the cluster (KZ(14) = 3, 4), 0: none; generated and scaled stars have Q "
     "with it",
     FIELD(DOUBLE, tide.gas_mass)},
    {"INXTRNL0", "AP2", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e6), "scale length of the gas",
     FIELD(DOUBLE, tide.gas_length)},
    {"INXTRNL0", "MPDOT", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e12),
     "rate at which gas leaves: its mass is MP/(1 + MPDOT (t - TDELAY)) from TDELAY on", FIELD(DOUBLE, tide.gas_rate)},
    {"INXTRNL0", "TDELAY", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, NB6_T_MAX),
     "time at which the gas begins to leave", FIELD(DOUBLE, tide.gas_delay)},

    {"INMODEL", "MODEL", NB6_TEXT, 1, NB6_USED, "", "'plummer'", ANY,
     "'uniform', 'plummer', 'king' or 'file'; overrides KZ(5), which has no King model", NO_FIELD},
    {"INMODEL", "W0", NB6_REAL, 1, NB6_USED, "", "6", WITHIN(NB6_KING_W0_MIN, NB6_KING_W0_MAX),
     "central potential of the King model", FIELD(DOUBLE, model.king_w0)},
    {"INMODEL", "DATA", NB6_TEXT, 1, NB6_USED, "", "'dat.10'", ANY,
     "stars: a table m x y z vx vy vz or with named columns, CSV, gzip, HDF5, or of PeTar, NBODY6++GPU, AMUSE; here or "
     "beside the input; else X.dat.10 for X.input",
     FIELD(TEXT, model.data_path)},
    {"INMODEL", "UNITS", NB6_TEXT, 1, NB6_USED, "", "''", ANY,
     "of DATA: 'nbody' (KZ(22) = 2), 'scaled' (6), 'astro': Msun, pc, km/s (10), 'gadget', or three as 'Msun AU km/s', "
     "'232533 Msun kpc km/s'; else as the file states",
     NO_FIELD},
    {"INMODEL", "COLUMNS", NB6_TEXT, 1, NB6_USED, "", "''", ANY,
     "of DATA, by name or number: mass x y z vx vy vz, and perhaps the id; of HDF5 the group, 'PartType4', "
     "'Step#3', or set",
     FIELD(TEXT, data.columns)},
    {"INMODEL", "KEEP", NB6_TEXT, 1, NB6_USED, "", "''", ANY,
     "of DATA: columns that stay with the stars and are in snapshots, by name, or 'all', or 'none'; else types, "
     "radii and others of known names (docs/stars.md)",
     FIELD(TEXT, data.keep)},
    {"INMODEL", "STELLAR", NB6_TEXT, 1, NB6_USED, "", "''", ANY,
     "a file with a line for each star of DATA: mass, type, initial mass, epoch, spin, as fort.12 of NBODY6, or with "
     "the "
     "core mass, as datsev.21: they stay with the stars",
     FIELD(TEXT, data.stellar_path)},
    {"INMODEL", "RADII", NB6_TEXT, 1, NB6_USED, "", "'keep'", ANY,
     "of the stars in DATA: 'keep' them with the stars, or 'collide': two stars merge where they touch, as with RSTAR",
     NO_FIELD},

    WORDS("CHECKPOINTS",
          "beside those by wall-clock time (CKPT of &INRUN); 'retry': a run goes back to the last adjust "
          "with shorter steps if the energy error is too large"),
    WORDS("SNAPSHOTS", "snapshots at every NFIX-th output time"),
    WORDS("LAGRANGIAN_MASS", "mass that the fractions of Lagrangian radii are of"),
    WORDS("PRIMORDIAL_BINARIES", "made by &INBINPOP, or declared: the first 2 NBIN0 stars of a data file"),
    WORDS("GALAXY", "external field; all but 'none' and 'solar' take variables of &INXTRNL0"),
    WORDS("MULTIPLE_SYSTEMS", "search for systems of three and more stars"),
    WORDS("CLOSE_ENCOUNTERS", "RMIN, DTMIN and ECLOSE stay as given, or follow the density of the core"),
    WORDS("PRIMORDIAL_TRIPLES", "NHI0 of them are made by &INHIPOP"),
    WORDS("MASS_FUNCTION", "of masses that are drawn, from BODYN to BODY1"),
    WORDS("WRITE_MODEL", "table of the stars that were made"),
    WORDS("ESCAPERS", "beyond two tidal radii, or one: stay, are removed, and written to NAME.esc.csv"),
    WORDS("SLOW_DOWN", "of weakly perturbed pairs, and of tight pairs inside chains"),
    WORDS("SYSTEM_KINDS", "kinds of systems that MULTIPLE_SYSTEMS searches for"),
    WORDS("NEIGHBOUR_SPHERE", "radius of the neighbour spheres: by distance, or weighted by the root of the mass"),
    WORDS("FIRST_DERIVATIVES", "number of derivatives for the first steps"),
    WORDS("BINARY_PERIODS", "of primordial binaries"),

    {"INRUN", "NNBMAX", NB6_INTEGER, 1, NB6_USED, "", "0", FROM(0), "longest neighbour list; 0: automatic",
     FIELD(INT64, integration.nnb_max)},
    {"INRUN", "CKPT", NB6_REAL, 1, NB6_USED, "s", "600", WITHIN(0, 1e300),
     "wall-clock time between checkpoints; 0: only at the end and as KZ(2) says",
     FIELD(DOUBLE, run.checkpoint_interval_s)},
    {"INRUN", "DTADJ_MYR", NB6_REAL, 1, NB6_USED, "Myr", "0", WITHIN(0, 1e12),
     "> 0: interval of energy checks in physical time, in the place of DTADJ", FIELD(DOUBLE, run.dt_adjust_myr)},
    {"INRUN", "DTOUT_MYR", NB6_REAL, 1, NB6_USED, "Myr", "0", WITHIN(0, 1e12),
     "> 0: interval of output in physical time, in the place of DELTAT", FIELD(DOUBLE, run.dt_output_myr)},
    {"INRUN", "DEVICE", NB6_TEXT, 1, NB6_USED, "", "'auto'", ANY,
     "backend of the regular force: 'auto', 'cpu', a name that --list-devices shows, or 'cuda:0,1' for these GPUs",
     FIELD(TEXT, run.device)},
    {"INRUN", "IRR", NB6_TEXT, 1, NB6_USED, "", "'auto'", ANY,
     "backend of the irregular force: 'auto' or a name that --list-devices shows", FIELD(TEXT, run.irr_backend)},
    {"INRUN", "PREC", NB6_TEXT, 1, NB6_USED, "", "'default'", ANY,
     "position differences in the regular force: 'float', 'twofloat', 'double', or 'default': the backend's choice",
     NO_FIELD},
    {"INRUN", "ENGINE", NB6_TEXT, 1, NB6_USED, "", "'auto'", ANY,
     "engine of the block steps: 'host', 'device' (a GPU), 'emulated' (the same in plain C, to test it), or "
     "'auto': the faster one available",
     NO_FIELD},
    {"INRUN", "DEVLOSS", NB6_TEXT, 1, NB6_USED, "", "'stop'", ANY,
     "when a GPU does not answer, or has no memory for the device engine: 'stop' with a checkpoint, or 'host': "
     "continue "
     "without it",
     NO_FIELD},
    {"INRUN", "CHAIN", NB6_TEXT, 1, NB6_USED, "", "'auto'", ANY,
     "method for encounters of three and more stars: 'chain' (KS-regularized), 'ar' (logarithmic Hamiltonian, for mass "
     "ratios above 100), or 'auto': by the masses",
     NO_FIELD},
    {"INRUN", "RSTAR", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e6),
     "radius of each star: two stars merge where the pericentre of their motion is within the sum of both radii; the "
     "volumes add up. 0: points",
     FIELD(DOUBLE, pair.r_star)},
    {"INRUN", "FORCE_ERROR", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 0.1),
     "> 0: regular forces by a tree, 99 of 100 wrong by less than this, 1e-6 or more; 0: direct sums",
     FIELD(DOUBLE, integration.force_error)},
    {"INRUN", "DTFIXI", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1),
     "constant irregular time-step, a power of two, to measure orders of convergence; 0: individual steps",
     FIELD(DOUBLE, integration.dt_fixed_irr)},
    {"INRUN", "DTFIXR", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1),
     "constant regular time-step, a power of two; 0: individual steps", FIELD(DOUBLE, integration.dt_fixed_reg)},
    {"INRUN", "NBFIX", NB6_INTEGER, 1, NB6_USED, "", "0", WITHIN(0, 1),
     "1: neighbour radii stay as they are unless a list overflows", FIELD(INT, integration.fixed_nnb)},
    {"INRUN", "FCHECK", NB6_INTEGER, 1, NB6_USED, "", "0", WITHIN(0, 1),
     "1: compare all forces with a direct sum at each adjust, as --force-check", FIELD(INT, run.force_check)},

    {"INCOLLISIONLESS", "SOFTENING", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e6),
     "softening length of the forces; 0: none, and the run is one of nbody6", NUMBER},
    {"INCOLLISIONLESS", "DT", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1),
     "the step that all bodies share, or the longest of block steps: a power of two, of which DTADJ, DELTAT and TCRIT "
     "are multiples",
     NUMBER},
    {"INCOLLISIONLESS", "ETA", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 10),
     "> 0: block steps, the longest power of two not above ETA (SOFTENING/acceleration)^(1/2); 0: shared steps",
     NUMBER},
    {"INCOLLISIONLESS", "FORCE_ERROR", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 0.1),
     "> 0: forces by a tree, of which 99 of 100 are wrong by less than this part of themselves; 0: direct sums",
     NUMBER},
    {"INCOLLISIONLESS", "THETA", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 1),
     "instead of FORCE_ERROR: a tree whose cells act as one where they look smaller than this angle, 0.1 to 1; 0: none",
     NUMBER},
    {"INCOLLISIONLESS", "ORDER", NB6_INTEGER, 1, NB6_USED, "", "0", WITHIN(0, GPUNB_MOST_ORDER),
     "of the expansions of a tree, 1 (a mass at its centre) to 8; 0: the cheapest one for FORCE_ERROR, or 3 with THETA",
     NUMBER},
    {"INCOLLISIONLESS", "LEAF", NB6_INTEGER, 1, NB6_USED, "", "0", WITHIN(0, 1024),
     "most bodies of a cell of the tree that is not divided; 0: what is fastest for the backend", NUMBER},
    {"INCOLLISIONLESS", "GROUP", NB6_INTEGER, 1, NB6_USED, "", "0", WITHIN(0, 16384),
     "most bodies that share a list of terms of the tree; 0: what is fastest for the backend", NUMBER},
    {"INCOLLISIONLESS", "WALK", NB6_TEXT, 1, NB6_USED, "", "'auto'", ANY,
     "terms of the tree: 'auto' ('hybrid' where a tree pays), 'hybrid', 'treecode' or 'groups', 'fmm'; to compare "
     "'single', 'one-by-one-i', 'one-by-one-j'",
     NUMBER},
    {"INCOLLISIONLESS", "REUSE", NB6_INTEGER, 1, NB6_USED, "", "1", WITHIN(1, 64),
     "longest steps that the cells of a tree serve before they are made anew, or sooner if bodies have moved too far; "
     "1: each force has new ones",
     NUMBER},

    {"INCOLLISIONLESS", "COSTS", NB6_TEXT, 1, NB6_USED, "", "''", ANY,
     "file of nominal costs of this machine (bench/tune_tree --write): ORDER, LEAF, GROUP and where a tree pays "
     "follow; "
     "'': known ones",
     FIELD(TEXT, data.costs_path)},

    {"INBINPOP", "SEMI0", NB6_REAL, 1, NB6_USED, "N-body", "0.001", ABOVE(0), "semi-major axis (KZ(42) = 0)",
     FIELD(DOUBLE, binaries.semi_max)},
    {"INBINPOP", "ECC0", NB6_REAL, 1, NB6_USED, "", "-1", ANY,
     "eccentricity: < 0 or 40 thermal distribution, 0 to below 1 fixed, 20 uniform, 30 density 0.1765/e^2 above 0.15",
     FIELD(DOUBLE, binaries.ecc)},
    {"INBINPOP", "RATIO", NB6_REAL, 1, NB6_USED, "", "1", ABOVE_TO(0, 1),
     "mass ratio m1/(m1 + m2); 1: equal masses, each that of a star; without effect with KZ(20) > 1 or < 0, which give "
     "each star a mass",
     FIELD(DOUBLE, binaries.ratio)},
    {"INBINPOP", "RANGE", NB6_REAL, 1, NB6_USED, "", "0", ANY,
     "> 0: uniform in log a from SEMI0 down to SEMI0/RANGE; < 0: uniform in a from SEMI0 to -RANGE; 0: all SEMI0 "
     "(KZ(42) = 0)",
     FIELD(DOUBLE, binaries.range)},
    INTEGER_UNUSED("INBINPOP", "NSKIP", NB6_FIXED, "spacing of binaries in the mass spectrum; masses are random"),
    {"INBINPOP", "IDORM", NB6_INTEGER, 1, NB6_USED, "", "0", FROM(0), "dormant binaries; not there yet: 0", NO_FIELD},
    {"INHIPOP", "SEMI0", NB6_REAL, 1, NB6_USED, "N-body", "1e-5", ABOVE(0), "semi-major axis of the inner orbit",
     FIELD(DOUBLE, triples.semi_max)},
    {"INHIPOP", "ECC0", NB6_REAL, 1, NB6_USED, "", "-1", ANY,
     "eccentricity of the inner orbit: < 0 thermal distribution, 0 to below 1 fixed", FIELD(DOUBLE, triples.ecc)},
    {"INHIPOP", "RATIO", NB6_REAL, 1, NB6_USED, "", "1", ABOVE_TO(0, 1),
     "1: equal masses of the inner stars; else the share of the first is uniform from 0.5 to 0.9",
     FIELD(DOUBLE, triples.ratio)},
    {"INHIPOP", "RANGE", NB6_REAL, 1, NB6_USED, "", "5", ANY,
     "> 0: uniform in log a from SEMI0 down to SEMI0/RANGE, anew, then halved, until the triple is stable; 0: all "
     "SEMI0",
     FIELD(DOUBLE, triples.range)},

#define CHOICE(field, name, a, b, c, most, words, text)                                                                \
    {"INSSE", name, NB6_INTEGER, 1, NB6_USED, "", "-1", WITHIN(-1, most), text ", by number; -1: that of LEVEL",       \
     NUMBER},
    STELLAR_CHOICE_LIST(CHOICE)
#define NUMBER_OF_LEVEL(field, name, a, b, c, least, most, text)                                                       \
    {"INSSE", name, NB6_REAL, 1, NB6_USED, "", "-1", WITHIN(-1, most), text "; -1: that of LEVEL", NUMBER},
        STELLAR_NUMBER_LIST(NUMBER_OF_LEVEL){"INSSE", "NETA", NB6_REAL, 1, NB6_USED, "", "-1", WITHIN(-1, 10),
                                             "NWIND, where that is not given", NUMBER},
    {"INSSE", "VVFAC", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 1e6),
     "> 0: DISP is so many N-body units of velocity, whatever it says", NUMBER},
    {"INSSE", "VFAC", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 1e6), "VVFAC, where that is not given", NUMBER},
    REAL_UNUSED("INSSE", "BWIND", NB6_STELLAR, "", "companion-enhanced mass loss"),
    INTEGER_UNUSED("INSSE", "KICKTYPE", NB6_STELLAR, "recoil by gravitational waves"),
    REAL_UNUSED("INBSE", "LAMBD1", NB6_STELLAR, "", "common-envelope structure"),
    REAL_UNUSED("INBSE", "LAMBDA", NB6_STELLAR, "", "common-envelope structure"),
    REAL_UNUSED("INBSE", "ALPHAC", NB6_STELLAR, "", "common-envelope efficiency"),
    REAL_UNUSED("INBSE", "ALPHA1", NB6_STELLAR, "", "common-envelope efficiency"),
    REAL_UNUSED("INBSE", "XK2", NB6_STELLAR, "", "gyration constant"),
    REAL_UNUSED("INBSE", "XK3", NB6_STELLAR, "", "gyration constant"),
    REAL_UNUSED("INBSE", "ACC1", NB6_STELLAR, "", "wind accretion"),
    REAL_UNUSED("INBSE", "ACC2", NB6_STELLAR, "", "wind accretion"),
    REAL_UNUSED("INBSE", "XBETA", NB6_STELLAR, "", "wind velocity"),
    REAL_UNUSED("INBSE", "XXI", NB6_STELLAR, "", "spin reduction"),
    REAL_UNUSED("INBSE", "EPSNOV", NB6_STELLAR, "", "fraction of mass kept in novae"),
    REAL_UNUSED("INBSE", "EDDFAC", NB6_STELLAR, "", "Eddington factor"),
    REAL_UNUSED("INBSE", "GAMM1", NB6_STELLAR, "", "angular momentum lost in Roche overflow"),
    {"INCOLL", "FCTORCL", NB6_REAL, 1, NB6_USED, "", "0.5", WITHIN(0, 1),
     "part of a star that a neutron star or black hole takes when it collides with it; the rest is lost", NUMBER},

    REAL_UNUSED("INPULSAR", "PSR_SPINA", NB6_STELLAR, "", "periods at birth: first parameter"),
    REAL_UNUSED("INPULSAR", "PSR_SPINB", NB6_STELLAR, "", "periods at birth: second parameter"),
    REAL_UNUSED("INPULSAR", "PSR_BMAGA", NB6_STELLAR, "", "magnetic fields at birth: first parameter"),
    REAL_UNUSED("INPULSAR", "PSR_BMAGB", NB6_STELLAR, "", "magnetic fields at birth: second parameter"),
    REAL_UNUSED("INPULSAR", "PSRM_SPINA", NB6_STELLAR, "", "as PSR_SPINA, after a merger or collapse"),
    REAL_UNUSED("INPULSAR", "PSRM_SPINB", NB6_STELLAR, "", "as PSR_SPINB, after a merger or collapse"),
    REAL_UNUSED("INPULSAR", "PSRM_BMAGA", NB6_STELLAR, "", "as PSR_BMAGA, after a merger or collapse"),
    REAL_UNUSED("INPULSAR", "PSRM_BMAGB", NB6_STELLAR, "", "as PSR_BMAGB, after a merger or collapse"),
    REAL_UNUSED("INPULSAR", "PSR_BMIN", NB6_STELLAR, "", "smallest magnetic field"),
    REAL_UNUSED("INPULSAR", "PSR_RAD", NB6_STELLAR, "", "radius of a pulsar"),
    REAL_UNUSED("INPULSAR", "PSR_TAU", NB6_STELLAR, "", "time of the fields' decay"),
    REAL_UNUSED("INPULSAR", "PSR_KAPPA", NB6_STELLAR, "", "decay of a field by accretion"),
    REAL_UNUSED("INPULSAR", "PSR_EP", NB6_STELLAR, "", "efficiency of accretion"),
    INTEGER_UNUSED("INPULSAR", "PSR_PMODE", NB6_STELLAR, "distribution of periods"),
    INTEGER_UNUSED("INPULSAR", "PSR_BMODE", NB6_STELLAR, "distribution of magnetic fields"),
    INTEGER_UNUSED("INPULSAR", "PSRM_PMODE", NB6_STELLAR, "as PSR_PMODE, after a merger or collapse"),
    INTEGER_UNUSED("INPULSAR", "PSRM_BMODE", NB6_STELLAR, "as PSR_BMODE, after a merger or collapse"),
    INTEGER_UNUSED("INPULSAR", "PSR_ACC_CE", NB6_STELLAR, "accretion in a common envelope"),

    REAL_UNUSED("INSETUP", "SEMI", NB6_UNREAD, "", "of a massive binary"),
    {"INSETUP", "APO", NB6_REAL, 1, NB6_USED, "N-body", "0", WITHIN(0, 1e6),
     "separation of the two models at the begin, where their orbit has its apocentre; the unit is the virial radius of "
     "the first",
     NUMBER},
    {"INSETUP", "ECC", NB6_REAL, 1, NB6_USED, "", "0", WITHIN(0, 1), "eccentricity of their orbit, below 1", NUMBER},
    {"INSETUP", "N2", NB6_INTEGER, 1, NB6_USED, "", "0", WITHIN(0, 1e9),
     "stars of the second model, beside the N of the first", NUMBER},
    {"INSETUP", "SCALE", NB6_REAL, 1, NB6_USED, "", "1", WITHIN(0, 1e6),
     "size of the second model over that of the first", NUMBER},
    REAL_UNUSED("INSETUP", "ZM1", NB6_UNREAD, "", "mass of a massive binary's first body"),
    REAL_UNUSED("INSETUP", "ZM2", NB6_UNREAD, "", "mass of its second body"),
    REAL_UNUSED("INSETUP", "ZMH", NB6_UNREAD, "", "mass in the centre of a cusp"),
    REAL_UNUSED("INSETUP", "RCUT", NB6_UNREAD, "", "cut-off radius of a cusp"),
};

const int nb6_input_variable_count = sizeof nb6_input_variables / sizeof nb6_input_variables[0];
