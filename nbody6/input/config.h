/** The configuration of a run, in the code's own terms: the namelist reader fills it (input.h), the models and the
 * driver read it. KZ numbers appear in the input table and nowhere else. Units: N-body (Henon) units unless the name
 * has a unit suffix. */
#ifndef NB6_CONFIG_H
#define NB6_CONFIG_H

#include "common/nbc.h"

#include <stdint.h>

/** With KZ(2) > 1, as in NBODY6. */
enum { NB6_ENERGY_RETRIES = 2 };

enum { NB6_PATH_MAX = 1024, NB6_NUMBERS_MAX = 64, NB6_ENGINE_WHY = 256 };
/** The largest name of a star: a centre of mass has the sum of two names. */
#define NB6_NAME_LARGEST (INT64_MAX / 2)

/** The latest time there is, N-body units: 2^63 ticks of 2^-40 (body.h) are 8.4e6, and the longest step has room
 * beyond.
 */
#define NB6_T_MAX 8e6
/** The shortest interval of adjusts and outputs. */
#define NB6_LEAST_INTERVAL 0x1p-30

enum nb6_model_kind {
    NB6_MODEL_UNIFORM,
    NB6_MODEL_PLUMMER,
    NB6_MODEL_KING,
    NB6_MODEL_FILE,
    NB6_MODEL_TWO_PLUMMER /**< n are the stars of both; the other parameters are in &INSETUP */
};
/** Mass functions; nbody6/model/imf.h has formulae and sources. */
enum nb6_imf_kind {
    NB6_IMF_EQUAL,
    NB6_IMF_POWER_LAW,
    NB6_IMF_KROUPA2001,
    NB6_IMF_MILLER_SCALO,
    NB6_IMF_KROUPA1993, /**< with Tout and Gilmore */
    NB6_IMF_EGGLETON,
    NB6_IMF_EGGLETON_NBODY6 /**< another function, which NBODY6 has in its place */
};
/** Units of the stars of a data file. */
enum nb6_file_units {
    NB6_FILE_NBODY,        /**< N-body units, taken as they are */
    NB6_FILE_NBODY_SCALED, /**< any units: centred, virial ratio applied, brought to N-body units */
    NB6_FILE_PHYSICAL,     /**< Msun, pc, km/s, unless the file has others */
    NB6_FILE_UNSTATED      /**< units that the file states; if it states none, N-body units, provided that the masses
                            *  add up to 1 */
};
/** Numbers of external potentials, as KZ(14) and nbody6/input/potentials.def have them; those that others ask for. */
enum nb6_tide_kind {
    NB6_TIDE_NONE,
    NB6_TIDE_SOLAR,
    NB6_TIDE_POINT_MASS,
    NB6_TIDE_GALAXY,
    NB6_TIDE_GAS,
    NB6_TIDE_MILKY_WAY
};
/** Removal of stars: beyond two tidal radii, or beyond one (in an isolated cluster as before). */
enum nb6_escape_kind { NB6_ESCAPE_KEEP, NB6_ESCAPE_RADIUS, NB6_ESCAPE_CUT_OFF };

/** Range of the central potential W0 of King's models. */
#define NB6_KING_W0_MIN 0.1
#define NB6_KING_W0_MAX 16.0

/** The cluster to make or to read. */
struct nb6_model_config {
    enum nb6_model_kind kind;
    enum nb6_imf_kind imf;
    enum nb6_file_units file_units;
    char data_path[NB6_PATH_MAX]; /**< 7-column table: m x y z vx vy vz */
    int unused;                   /**< no padding between the members (checkpoint_table.h); nor below */
    int64_t n;                    /**< stars; 0 with a data file: as many as it has lines */
    uint64_t seed;                /**< NRAND */
    double king_w0;               /**< central potential of the King model */
    double imf_alpha;             /**< power-law index, dN/dm ~ m^-alpha */
    double mass_max_msun, mass_min_msun;
    double virial_ratio; /**< Q = T/|U|; 0.5 is equilibrium; < 0: velocities stay as they are */
    double rotation_xy;  /**< VXROT: solid-body rotation factor, 0 none */
    double rotation_z;   /**< VZROT */
};

/** The galaxy. */
struct nb6_tide_config {
    enum nb6_tide_kind kind;
    int unused;
    double galaxy_mass_msun;    /**< GMG, point mass */
    double galaxy_distance_kpc; /**< RG0 */
    double rtide_unscaled;      /**< RTIDE of &INSCALE: > 0 with a point mass sets RBAR = r_t/RTIDE */
    /* KZ(14) = 3: nbody6/galaxy/components.h has the formulae */
    double disk_mass_msun, disk_length_kpc, disk_height_kpc; /**< DISK, A, B; mass 0: no disk, and so on */
    double halo_velocity_kms, halo_radius_kpc;               /**< VCIRC, RCIRC */
    double bulge_mass_msun, bulge_length_kpc, bulge_slope;   /**< GMB, AR, GAM */
    double position_kpc[3], velocity_kms[3];                 /**< RG, VG */
    double gas_mass, gas_length, gas_rate, gas_delay;        /**< MP, AP2, MPDOT, TDELAY; N-body units */
};

/** The least FORCE_ERROR of &INRUN: that of gpunb_tree_least_error of the backends that sum in float. */
#define NB6_LEAST_FORCE_ERROR 1e-6

/** Integration. */
struct nb6_integration_config {
    double eta_irr, eta_reg;           /**< time-step factors of NA12 eq. 1 */
    double dt_max;                     /**< SMAX, a power of two <= 1 */
    double dt_fixed_irr, dt_fixed_reg; /**< > 0: constant steps (order measurements), powers of two */
    double force_error;                /**< > 0: regular forces by a tree, to this part of themselves; 0: direct sums */
    double r_nb_init;                  /**< RS0; 0: from the local density */
    int64_t nnb_opt;                   /**< wanted mean neighbour number; 0: balance regular and irregular work */
    int64_t nnb_max;                   /**< upper limit of a list; 0: automatic */
    int fixed_nnb;                     /**< 1: radii stay as they are unless a list overflows (order measurements) */
    int mass_weighted_nb;              /**< neighbour sphere weighted by sqrt(m/<m>) (KZ(39) = 2, 3) */
    int initial_fpoly2;                /**< KZ(40) > 0: second and third derivatives for the first steps */
    int unused;
};

/** The engine that advances block steps of single stars. */
enum nb6_engine_choice {
    NB6_ENGINE_HOST,     /**< in memory, with GPUNB and GPUIRR */
    NB6_ENGINE_DEVICE,   /**< on the GPU */
    NB6_ENGINE_EMULATED, /**< the stages of the GPU in plain C, to test them */
    NB6_ENGINE_AUTO      /**< the device if present and faster, else the host (engine/choice.h) */
};

/** Reaction to the loss of the engine's device. */
enum nb6_loss_choice {
    NB6_LOSS_STOP, /**< it ends, with a checkpoint */
    NB6_LOSS_HOST  /**< it goes on with the host engine, from the last state in memory */
};

enum nb6_lagrangian_mass { NB6_LAGR_CURRENT_MASS, NB6_LAGR_INITIAL_MASS };

/** Files that a run writes when it stops. */
struct nb6_run_config {
    char name[NB6_PATH_MAX];             /**< prefix of all output files */
    char input_path[NB6_PATH_MAX];       /**< where the input came from, for messages; "<stdin>" */
    double t_crit;                       /**< end, absolute N-body time */
    double t_crit_myr;                   /**< TCRTP0 > 0: end in Myr, of nb6_config_end */
    double wall_limit_s;                 /**< TCOMP */
    double dt_adjust, dt_output;         /**< DTADJ, DELTAT */
    double dt_adjust_myr, dt_output_myr; /**< DTADJ_MYR, DTOUT_MYR > 0: in Myr, in the place of those
                                            (nb6_config_settle_intervals) */
    int64_t n_fix;                       /**< a snapshot at every n_fix-th output */
    int64_t n_crit;                      /**< stop when N <= n_crit */
    double energy_tol;                   /**< QE: stop when |dE/E| of an adjust interval > 5 QE */
    int snapshots;                       /**< KZ(3) > 0 */
    int checkpoint_at_output;            /**< KZ(2) > 0 */
    double
        checkpoint_interval_s; /**< wall-clock seconds between checkpoints, 0: none but the ones above and at the end */
    int write_data_table;      /**< KZ(22) = 1: dat.10 of the initial model */
    enum nb6_lagrangian_mass lagrangian_mass;
    int force_check;      /**< compare all forces with a direct sum at each adjust (--force-check) */
    char device[64];      /**< "auto", "cpu", or a GPUNB backend name */
    char irr_backend[64]; /**< "auto" or a GPUIRR backend name */
    int precision;        /**< enum gpunb_precision */
    int engine;           /**< enum nb6_engine_choice */
    int on_device_loss;   /**< enum nb6_loss_choice */
    int energy_retries;   /**< KZ(2) > 1: how often an adjust interval with an energy error above 5 QE is repeated, with
                             half of ETAI and ETAR */
    int t_crit_open;      /**< 1: the input has no TCRIT, and t_crit is the default of nb6_config_init */
};

/** Regularization of close pairs. */
struct nb6_pair_config {
    double r_min, dt_min; /**< RMIN, DTMIN: separation, and a quarter of the irregular step, below which two stars are
                             candidates for a pair; 0: from the density of the core if adjust is set, else there is no
                             regularization */
    double eta_u;         /**< ETAU: 2 pi/ETAU steps an orbit */
    double e_close;       /**< ECLOSE: binding energy per unit mass of a hard binary */
    double gamma_min;     /**< GMIN: perturbation below which a body does not act on the relative motion */
    double gamma_max;     /**< GMAX: perturbation that ends a pair which is wider than RMIN and not hard */
    int adjust;           /**< KZ(16) > 0: r_min, dt_min, e_close follow the core density */
    int slow_down;        /**< KZ(26) > 0: of pairs; > 1: of pairs inside chains, also of those disturbed above GMIN */
    int systems;          /**< KZ(15) > 0: look for systems of three and more stars */
    int chains;           /**< KZ(30) is not 0: chain regularization of strong encounters */
    int hierarchies;      /**< KZ(30) >= 0: stable triples and quadruples are frozen */
    int chain_method;     /**< CHAIN: enum chain_method */
    double r_star;        /**< RSTAR: radius of every star at the start; 0: points, which never collide */
};

/** Primordial binaries. */
enum nb6_binary_period {
    NB6_BINARY_SEMI_MAJOR_AXIS,    /**< by semi_max and range */
    NB6_BINARY_LOG_PERIOD,         /**< density 0.03438 y, y = log10 P (days) */
    NB6_BINARY_PERIOD_100,         /**< 3.5 y/(100 + y^2) */
    NB6_BINARY_PERIOD_2_3,         /**< 2.3 (y - 1)/(45 + (y - 1)^2) */
    NB6_BINARY_KROUPA1995,         /**< 2.5 (y - 1)/(45 + (y - 1)^2) */
    NB6_BINARY_DUQUENNOY_MAYOR1991 /**< normal, mean 4.8, standard deviation 2.3, from 1 to 10 */
};
/** Masses of the two stars of a binary, where the mass function gives each of them one. */
enum nb6_binary_pairing {
    NB6_PAIRING_RANDOM,     /**< as they are drawn */
    NB6_PAIRING_CORRELATED, /**< (m1/m2)^0.4 takes the place of m1/m2, their sum stays (Eggleton, in NBODY6) */
    NB6_PAIRING_MASS_RATIO  /**< m2 = q m1 with density 0.6 q^-0.4 (Kouwenhoven et al. 2007), not below BODYN */
};
struct nb6_binary_config {
    int64_t n;                     /**< NBIN0: number of binaries, which are the first 2 n stars; a made model has
                                        model.n systems and so model.n + n stars */
    int wanted;                    /**< KZ(8) > 0; n counts only then */
    enum nb6_binary_period period; /**< KZ(42) */
    enum nb6_binary_pairing pairing;
    int unused;
    double semi_max; /**< SEMI0: semi-major axis */
    double range;    /**< RANGE: > 0 uniform in log a from semi_max down to semi_max/range; < 0 uniform in a
                          from semi_max to -range; 0 all equal */
    double ecc;      /**< ECC0: < 0 and 40 thermal, 0 to 1 fixed, 20 uniform, 30 density 0.1765/e^2 */
    double ratio;    /**< RATIO: m1/(m1 + m2); 1: equal masses */
};

/** Primordial triples: the first binaries, whose first star becomes a closer one. */
struct nb6_triple_config {
    int64_t n;       /**< NHI0: number of triples, at most that of binaries; each adds a star */
    double semi_max; /**< SEMI0 of &INHIPOP: semi-major axis of the inner orbit */
    double range;    /**< RANGE: > 0 uniform in log a from semi_max down to semi_max/range, and less until the triple is
                          stable; 0 all equal, stable or not */
    double ecc;      /**< ECC0: < 0 thermal, 0 to below 1 fixed */
    double ratio;    /**< RATIO: 1 equal masses; else m1/(m1 + m2) is uniform from 0.5 to 0.9 */
};

/** Stars that age (stellar/stellar.h); the variables of &INSSE are numbers (config_stellar.h). */
struct nb6_stellar_config {
    int evolve;            /**< KZ(19) > 0 */
    int level;             /**< LEVEL: 1, 2, 3 for 'A', 'B', 'C'; 0: '0', or not given: as 'A' where stars age */
    int white_dwarf_kicks; /**< KZ(25): 0 none, 1 of helium and carbon-oxygen white dwarfs, 2 of all */
    int collide;           /**< KZ(27) < 0: stars collide, by the radii that they have now */
    double z;              /**< ZMET: metallicity */
    double epoch_0_myr;    /**< EPOCH0: when the stars were born */
};

/** How a data file is laid out. */
enum nb6_file_layout {
    NB6_LAYOUT_FOUND,  /**< a table or HDF5, which is seen */
    NB6_LAYOUT_TREE,   /**< KZ(22) = 3, 7: N, dimensions, time, then all masses, positions, velocities */
    NB6_LAYOUT_STARLAB /**< KZ(22) = 4, 8: particles within each other, as Starlab writes them */
};

/** How files are read. It is not used once a run has begun, so checkpoints do not hold it. */
struct nb6_data_config {
    enum nb6_file_layout layout;
    int new_masses;                  /**< KZ(22) = 9: the mass function gives the masses, the file the rest */
    char columns[256];               /**< COLUMNS (words/columns.h); "": as the file says */
    char keep[256];                  /**< KEEP: columns that are kept with the stars; "": those of known names */
    char stellar_path[NB6_PATH_MAX]; /**< STELLAR: stellar parameters, as fort.12 of NBODY6 has them; "": none */
    char costs_path[NB6_PATH_MAX]; /**< COSTS: nominal costs of trees, which a checkpoint has itself; "": committed ones
                                    */
    int radii;                     /**< RADII: 1: those of the file act */
    int units_asked;               /**< 1: by UNITS, which then gives file_units; 0: KZ(22) does, or nothing */
    int unused;                    /**< no padding between the members */
    double msun, pc, kms;          /**< UNITS: one of the file's units in Msun, pc, km/s; 0: not given */
    int length_unit_open; /**< 1: RBAR is not given: that of the file, or for physical units the virial radius */
    int mass_unit_open;   /**< 1: ZMBAR is not given: that of the file, if it has one */
};

struct nb6_config {
    struct nb6_run_config run;
    struct nb6_model_config model;
    struct nb6_pair_config pair;
    struct nb6_binary_config binaries;
    struct nb6_triple_config triples;
    struct nb6_tide_config tide;
    struct nb6_integration_config integration;
    struct nb6_stellar_config stellar;
    struct nb6_data_config data;
    enum nb6_escape_kind escape;
    int write_escapers;             /**< KZ(23) >= 2: a row for each escaper in NAME.esc.csv */
    double rbar_pc, zmbar_msun;     /**< RBAR, ZMBAR: length unit, mean stellar mass */
    double number[NB6_NUMBERS_MAX]; /**< of variables that have no member here: ask nb6_config_number */
};

/** Defaults of every field: a Plummer model of 1000 equal masses, documented in docs/input.md. */
void nb6_config_init(struct nb6_config *config);

/** When the run ends, N-body time: TCRIT or TCRTP0, the earlier one if both are given; a default TCRIT does not count
 * beside TCRTP0.   @param[in] time_myr  unit of time */
double nb6_config_end(const struct nb6_config *config, double time_myr);
/** Make that t_crit, the only end from then on. */
void nb6_config_settle_end(struct nb6_config *config, double time_myr);
/** Make DTADJ_MYR and DTOUT_MYR, where they are given, intervals in N-body time: dt_adjust, dt_output. Does so again
 * with the same result.   @param[in] time_myr  unit of time */
void nb6_config_settle_intervals(struct nb6_config *config, double time_myr);
/** Whether they are intervals that a run can have in a unit of time, settled or not.
 *  @return NBC_OK; NBC_BAD_INPUT, which names the variable and its range in Myr */
int nb6_config_check_intervals(const struct nb6_config *config, double time_myr, struct nbc_error *err);
enum { NB6_END_TEXT = 192 };
/** A sentence that says which of two given ends applies, or that TCRTP0 lies beyond all times.
 *  @return 0: no sentence is needed, and the text is empty */
int nb6_config_tell_end(const struct nb6_config *config, double time_myr, char text[NB6_END_TEXT]);

/** The value of an input variable that has no member in struct nb6_config (NUMBER in the table of the input), by its
 *  group and name, in upper or lower case.
 *  @param[out] number  stays as it is if the call fails
 *  @return NBC_OK; NBC_BAD_ARGUMENT: there is no such group or variable, and the error says which one it may be that
 * was meant; or the variable has a member */
int nb6_config_number(const struct nb6_config *config, const char *group, const char *name, double *number,
                      struct nbc_error *err);

/** Check a configuration as a whole (ranges and contradictions), however it was made.
 *  @return NBC_OK or NBC_BAD_INPUT with the name of the quantity and the remedy in err */
int nb6_config_check(const struct nb6_config *config, struct nbc_error *err);

/** Whether a run has softened forces: &INCOLLISIONLESS is that of nbody6-collisionless. */
int nb6_config_is_collisionless(const struct nb6_config *config);
/** Refuse such a run.   @return NBC_OK; NBC_BAD_INPUT, which names the program that makes it */
int nb6_config_check_collisional(const struct nb6_config *config, struct nbc_error *err);

/** Memory that a run with n stars needs, in bytes: an estimate, good to a factor of two. */
double nb6_config_memory(const struct nb6_config *config, int64_t n);

/** Wanted mean neighbour number at the start.   @param[in] heaviest  largest mass over that of all */
double nb6_radius_initial_mean(const struct nb6_config *config, int64_t n, double heaviest);

#endif
