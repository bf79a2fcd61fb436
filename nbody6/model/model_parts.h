/** The parts that model.c puts together. Private to libnbody6. */
#ifndef NB6_MODEL_PARTS_H
#define NB6_MODEL_PARTS_H

#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/model.h"
#include "nbody6/model/random.h"

/** Positions and velocities of n stars, drawn independently of the masses, for G = 1 and total mass 1, and the
 *  potential energy of the smooth model they are drawn from. All arrays are there; nothing is scaled yet. */
typedef int nb6_model_sampler(const struct nb6_model_config *config, nb6_random_t *position, nb6_random_t *velocity,
                              struct nb6_model *model, double *potential, struct nbc_error *err);

/** Homogeneous sphere of radius 1; velocities fill a sphere homogeneously too. */
nb6_model_sampler nb6_model_uniform;

/** Plummer's model with scale length 1 after Aarseth, Henon & Wielen 1974, A&A 37, 183, Appendix, cut off at 10 scale
 *  lengths, as in NBODY6: 1.5 percent of the mass are left out. */
nb6_model_sampler nb6_model_plummer;

/** King's model of W0 = config->king_w0 in units of its core radius (king.h). */
nb6_model_sampler nb6_model_king;

/** Two Plummer models, each as nb6_model_scale leaves it, and then the second, of the last N2 stars, SCALE times as
 *  large; in orbit about each other, at the apocentre APO on the x axis, the orbit in the plane of x and y. Total mass
 * 1, in units of the first's virial radius, centre of mass at rest in the origin.
 *  @param[in,out] model  masses of any sum; x and v are set
 *  @return NBC_OK; as nb6_model_scale; NBC_NO_MEMORY */
int nb6_model_two_plummer(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err);

/** Arrays for n stars, names 1 to n.   @param[in,out] model  its store is kept; all else is set, on success only */
int nb6_model_alloc(int64_t n, struct nb6_model *model, struct nbc_error *err);
/** Names 1 to n. */
void nb6_model_number(const struct nb6_model *model);

/** Read the first config->model.n stars (all if n <= 0) of the data file, a table or HDF5, as they are.
 *  @param[in,out] model  its store is kept; n, the arrays and data are set on success only
 *  @param[out]    units  as the file states them */
int nb6_model_read(const struct nb6_config *config, struct nb6_model *model, struct nb6_data_units *units,
                   struct nbc_error *err);

/** nb6_model_size of the data file. */
int nb6_model_size_of_file(const struct nb6_config *config, int64_t *n, struct nbc_error *err);

/** The two kinds of data files that are seen; columns as COLUMNS has them. Called in the C locale. */
int nb6_table_read(const struct nb6_config *config, const struct nb6_columns *columns, struct nb6_model *model,
                   struct nb6_data_units *units, struct nbc_error *err);
int nb6_particles_read(const struct nb6_config *config, const struct nb6_columns *columns, struct nb6_model *model,
                       struct nb6_data_units *units, struct nbc_error *err);
int nb6_table_size(const struct nb6_config *config, const struct nb6_columns *columns, int64_t *n,
                   struct nbc_error *err);
int nb6_particles_size(const struct nb6_config *config, const struct nb6_columns *columns, int64_t *n,
                       struct nbc_error *err);
/** How large a number of the file may be: one of its units of a quantity in Msun, pc, km/s, as far as the input says
 * it; 1 of N-body units, and less than any of units that are scaled away. */
double nb6_data_scale(const struct nb6_config *config, enum nb6_quantity quantity);
/** Does the file begin as HDF5 does, perhaps behind a user block? */
int nb6_particles_is_hdf5(const char *path);

/** Give the stars names, if these are positive and all different; otherwise they keep 1 to n, which is noted in `data`.
 *  @param[in] name    [n]; NULL: those that they have, which become 1 to n if they are no names   @param[in] wanted  1:
 * refuse others   @return NBC_OK; NBC_BAD_INPUT; NBC_NO_MEMORY */
int nb6_model_set_names(const int64_t *name, int wanted, const char *path, struct nb6_model *model,
                        struct nbc_error *err);

/** Stellar parameters of config->data.stellar_path, if that names a file, become properties of the stars.
 *  @return NBC_OK; NBC_BAD_INPUT: no such lines, or of other stars; NBC_NO_MEMORY */
int nb6_model_read_stellar(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err);
/** Radii without a unit are in solar radii where the file is in physical units, else in N-body units; whether radii
 *  act.   @return NBC_OK; NBC_BAD_INPUT: they are to act, and are not there for each star */
int nb6_model_settle_properties(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err);

/** Stars of a file must not be at one place.   @param[in] line  [n] line of each in the file; NULL: unknown, as of
 * stars that are not in memory
 *  @return NBC_OK; NBC_BAD_INPUT: names two that are; NBC_NO_MEMORY */
int nb6_model_refuse_coincident(const char *path, const int64_t *line, const struct nb6_model *model,
                                struct nbc_error *err);

/** Settle which units the stars are in, and bring those that are in physical ones to Msun, pc, km/s.
 *  @param[in,out] model  data.units: the units of the stars on return
 *  @return NBC_OK; NBC_BAD_INPUT: contradictory, unknown, or not stated where the values cannot be N-body units */
int nb6_model_settle_units(const struct nb6_config *config, const struct nb6_data_units *units, struct nb6_model *model,
                           struct nbc_error *err);
/** Radius that holds half of the mass, about the median place; 0: of no stars. */
int nb6_model_half_mass_radius(const struct nb6_model *model, double *r_half, struct nbc_error *err);

/** Bring a model to N-body units: total mass 1, centre of mass at rest in the origin, virial ratio
 *  Q = T/|U| = config->virial_ratio (negative: as it is), E = -1/4, or U = -1/2 where Q >= 1 (E would be >= 0).
 *
 *  Rotation (rotation_xy > 0), meaning of NBODY6's VXROT and VZROT: in these units v_x, v_y are multiplied by
 *  rotation_xy, v_z by rotation_z, and a solid-body rotation of angular velocity -1 about z (retrograde to the orbit of
 *  the cluster) is added. Other than NBODY6, all velocities are then multiplied by one factor that restores Q, so that
 *  the ratio of ordered to random motion is as asked for and the cluster neither expands nor collapses by it.
 *
 *  @param[in]  smooth_potential potential energy of the smooth model (of total mass 1), used in place of the sum over
 *              pairs above NB6_EXACT_POTENTIAL_MAX stars: right to the sampling error, some n^(-1/2); 0: there is none,
 *              sum always
 *  @param[out] length_factor factor by which positions were multiplied; may be NULL
 *  @return NBC_OK; NBC_BAD_INPUT (no mass, no potential, no velocities to scale); NBC_NO_MEMORY */
int nb6_model_scale(const struct nb6_model_config *config, double smooth_potential, struct nb6_model *model,
                    double *length_factor, struct nbc_error *err);

/** A scaled model in the gas of KZ(14) = 3 or 4: velocities become those of the same virial ratio in the attraction of
 *  the gas as well, T = Q |U - sum m x a_gas|. As NBODY6 does; energies are no longer -1/4 in sum. */
void nb6_model_embed(const struct nb6_tide_config *tide, struct nb6_model *model);

/** Masses in Msun of the systems of a model with primordial binaries, the first config->binaries.n of which are
 *  binaries: of two stars of the mass function, paired by config->binaries.pairing, if it gives them
 *  (nb6_imf_draws_companions); else a drawn mass that is divided by RATIO or, with RATIO = 1, that each of two equal
 *  stars has. Sets zmbar_msun, the mean mass of stars. Kouwenhoven et al. 2007, A&A 474, 77: mass ratios.
 *  @param[out] second [binaries.n] the second star's share of the mass */
int nb6_binaries_draw_masses(const struct nb6_config *config, struct nb6_model *systems, double *second,
                             struct nbc_error *err);

/** Relative motion of two stars: isotropic orientation, random time. Total mass, semi-major axis, eccentricity.
 *  @param[out] x,v  of the first seen from the second */
void nb6_draw_orbit(double mass, double a, double e, nb6_random_t *random, double x[3], double v[3]);

/** Replace the first binaries.n bodies of a scaled model by two stars each on random orbits: they become the first 2
 *  binaries.n stars, in pairs.   @param[in] second [binaries.n] */
int nb6_binaries_split(const struct nb6_config *config, const double *second, struct nb6_model *model,
                       struct nbc_error *err);

/** Split the first star of the first triples.n binaries into two on a closer orbit (NBODY6: HIPOP): they become the
 * pair, and the other star of the binary follows all pairs. The inner orbit is small enough for the triple to be stable
 *  (hierarchy_critical_ratio, with the inclination) unless triples.range is 0.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_triples_split(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err);

/** nb6_model_scale for a model whose first 2 binaries.n stars are pairs: the virial ratio is that of the systems, and
 * the relative orbits keep their shape. */
int nb6_binaries_scale(const struct nb6_config *config, struct nb6_model *model, double *length_factor,
                       struct nbc_error *err);

/** The potential energy is summed over all pairs up to this number of stars; above it, the value of the smooth model is
 *  used. */
enum { NB6_EXACT_POTENTIAL_MAX = 200000 };

#endif
