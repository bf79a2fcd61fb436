/** Single stars that age: masses, radii, luminosities, types and remnants at any age, from published fits.
 *  Hurley, Pols & Tout 2000, MNRAS 315, 543 (HPT), zero age by Tout et al. 1996, MNRAS 281, 257; remnants, winds and
 *  kicks as `&INSSE` of NBODY6++GPU chooses them. docs/algorithms/stellar.md leads from each equation to its function.
 *
 *  A model holds a metallicity and the choices; it is constant once it is made, so that any number of threads may use
 *  it at once. A star is a value that its owner keeps: it stands at the last point of a time grid of its own.
 *  stellar_evolve moves it along that grid and answers for the time asked, so that how often a star is asked does not
 *  change what becomes of it. Random numbers follow from the seed, the name of the star and the number of its event.
 *
 *  Units: solar masses, radii and luminosities (nominal ones of the IAU, 2015, for the temperature), Myr, km/s. */
#ifndef STELLAR_H
#define STELLAR_H

#include "common/nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Types of stars, with the numbers of HPT, section 1. X(name, number, text) */
#define STELLAR_TYPE_LIST(X)                                                                                           \
    X(STELLAR_MS_LOW, 0, "main sequence, below 0.7 Msun")                                                              \
    X(STELLAR_MS, 1, "main sequence")                                                                                  \
    X(STELLAR_HG, 2, "Hertzsprung gap")                                                                                \
    X(STELLAR_GB, 3, "first giant branch")                                                                             \
    X(STELLAR_CHEB, 4, "core helium burning")                                                                          \
    X(STELLAR_EAGB, 5, "early asymptotic giant branch")                                                                \
    X(STELLAR_TPAGB, 6, "thermally pulsing asymptotic giant branch")                                                   \
    X(STELLAR_HE_MS, 7, "helium main sequence")                                                                        \
    X(STELLAR_HE_HG, 8, "helium Hertzsprung gap")                                                                      \
    X(STELLAR_HE_GB, 9, "helium giant branch")                                                                         \
    X(STELLAR_HE_WD, 10, "helium white dwarf")                                                                         \
    X(STELLAR_CO_WD, 11, "carbon-oxygen white dwarf")                                                                  \
    X(STELLAR_ONE_WD, 12, "oxygen-neon white dwarf")                                                                   \
    X(STELLAR_NS, 13, "neutron star")                                                                                  \
    X(STELLAR_BH, 14, "black hole")                                                                                    \
    X(STELLAR_NONE, 15, "no remnant")

enum stellar_type {
#define STELLAR_TYPE_ENUM(name, number, text) name = number,
    STELLAR_TYPE_LIST(STELLAR_TYPE_ENUM)
#undef STELLAR_TYPE_ENUM
        STELLAR_TYPES /**< how many there are */
};

/** The meaning of a type, in words; NULL for a number that is none. */
const char *stellar_type_text(int type);

/** Limits of masses. The fits were made for 0.5 to 50 solar masses; above STELLAR_MASS_FITTED they are extrapolated. */
#define STELLAR_MASS_LEAST 0.08
#define STELLAR_MASS_FITTED 100.0
#define STELLAR_MASS_MOST 150.0

/** Lighter stars of the main sequence are STELLAR_MS_LOW: all of them, or nearly, is convective. */
#define STELLAR_MASS_LOW 0.7

/** Limits of the metallicity, and of the time by which a star goes on at once. */
#define STELLAR_Z_LEAST 1e-4
#define STELLAR_Z_MOST 0.03
#define STELLAR_AGE_MOST_MYR 1e7

/** Choices of `&INSSE`, which are whole numbers or words. X(field, name, level A, B, C, most, words from 0 on, text) */
#define STELLAR_CHOICE_LIST(X)                                                                                         \
    X(nsflag, "NSFLAG", 1, 3, 4, 4, "sse belczynski2002 belczynski2008 rapid delayed",                                 \
      "masses of neutron stars and black holes")                                                                       \
    X(psflag, "PSFLAG", 0, 0, 1, 3, "none strong moderate weak", "pulsational pair instability")                       \
    X(ecflag, "ECFLAG", 0, 1, 1, 1, "off on", "supernovae by electron capture")                                        \
    X(mdflag, "MDFLAG", 1, 3, 4, 4, "none hurley2000 lbv belczynski2010 no_jump", "winds")                             \
    X(bhflag, "BHFLAG", 0, 2, 2, 5, "none unscaled fallback geneva mesa fuller", "kicks of black holes, and spins")    \
    X(kmech, "KMECH", 1, 1, 4, 4, "- momentum convection collapse neutrino", "mechanism of kicks")                     \
    X(wdflag, "WDFLAG", 1, 1, 1, 1, "mestel modified_mestel", "cooling of white dwarfs")                               \
    X(bhspinfl, "BHSPINFL", 0, 0, 0, 5, "zero uniform gaussian maxwellian geneva mesa", "spins of black holes")

/** Numbers of `&INSSE`. X(field, name, level A, B, C, least, most, text) */
#define STELLAR_NUMBER_LIST(X)                                                                                         \
    X(mch, "MCH", 1.44, 1.44, 1.44, 1.3, 1.5, "Chandrasekhar mass, Msun")                                              \
    X(mxns0, "MXNS0", 1.8, 1.8, 1.8, 1.3, 5.0, "greatest mass of a neutron star if NSFLAG is 0, Msun")                 \
    X(mxns1, "MXNS1", 2.5, 2.5, 2.5, 1.3, 5.0, "greatest mass of a neutron star otherwise, Msun")                      \
    X(nwind, "NWIND", 0.5, 0.5, 0.477, 0.0, 10.0, "coefficient of Reimers' wind")                                      \
    X(hewind, "HEWIND", 0.5, 0.5, 0.5, 0.0, 10.0, "factor of winds of helium stars if MDFLAG is 1 or 2")               \
    X(flbv, "FLBV", 1.5, 1.5, 1.5, 0.0, 10.0, "coefficient of winds of luminous blue variables")                       \
    X(disp, "DISP", 190.0, 265.0, 265.0, 0.0, 2000.0, "dispersion of kicks, km/s")                                     \
    X(ecsig, "ECSIG", 20.0, 3.0, 3.0, 0.0, 2000.0, "dispersion of kicks after electron capture, km/s")                 \
    X(wdsig1, "WDSIG1", 2.0, 2.0, 2.0, 0.0, 100.0, "dispersion of kicks of He and CO white dwarfs, km/s")              \
    X(wdsig2, "WDSIG2", 2.0, 2.0, 2.0, 0.0, 100.0, "dispersion of kicks of ONe white dwarfs, km/s")                    \
    X(wdkmax, "WDKMAX", 6.0, 6.0, 6.0, 0.0, 1000.0, "greatest kick of a white dwarf, km/s")

struct stellar_options {
#define STELLAR_OPTION_FIELD(field, ...) int32_t field;
    STELLAR_CHOICE_LIST(STELLAR_OPTION_FIELD)
#undef STELLAR_OPTION_FIELD
#define STELLAR_OPTION_FIELD(field, ...) double field;
    STELLAR_NUMBER_LIST(STELLAR_OPTION_FIELD)
#undef STELLAR_OPTION_FIELD
    int64_t nrand; /**< seed */
};

/** The defaults of a level of `&INSSE`, with seed 1.
 *  @param[in] level  'A', 'B' or 'C'
 *  @return NBC_OK; NBC_BAD_ARGUMENT: another level */
int stellar_options_level(char level, struct stellar_options *options, struct nbc_error *err);
/** Set one option by its name in `&INSSE`, in letters of any case: a number, or a word of STELLAR_CHOICE_LIST.
 *  @return NBC_OK; NBC_BAD_INPUT: an unknown name or value, which the error says; the options are what they were */
int stellar_options_set(struct stellar_options *options, const char *name, const char *value, struct nbc_error *err);

/** Fits at a metallicity, and choices. Constant once it is made: any thread may use it. */
struct stellar_model;
/** @param[in]  z  mass fraction of heavy elements, STELLAR_Z_LEAST to STELLAR_Z_MOST
 *  @param[out] model  NULL if it fails
 *  @return NBC_OK; NBC_BAD_ARGUMENT: z, or an option out of range; NBC_NO_MEMORY */
int stellar_create(double z, const struct stellar_options *options, struct stellar_model **model,
                   struct nbc_error *err);
void stellar_free(struct stellar_model *model);
double stellar_metallicity(const struct stellar_model *model);

/** A star at the last point of its time grid. Its owner keeps and copies it; the library alone writes to it, but for a
 *  star that is evolved when it begins: type, name, z, time, age, both masses, and 0 elsewhere. The first call finds
 * the cores. Those of a remnant are its mass. */
struct stellar_star {
    int32_t type;    /**< enum stellar_type */
    int32_t n_event; /**< supernovae and births of white dwarfs so far */
    int64_t name;
    double z;        /**< metallicity, that of the model */
    double time_myr; /**< of this point */
    double age_myr;  /**< on the track of mass_track: since zero age, since helium ignition, or since it is a remnant */
    double mass_track; /**< mass for which the fits are asked: M0 of HPT, section 7.1 */
    double mass;
    double core_mass;    /**< of helium, or all of a remnant; 0 on the main sequence */
    double co_core_mass; /**< of carbon and oxygen; 0 where there is none */
    double spin;         /**< of a black hole, c J / (G M^2); 0 for others */
    double step_myr;     /**< step that the accuracy of the wind permitted last; 0 at the begin of a phase */
};

/** A star at a time. */
struct stellar_view {
    int32_t type;
    int32_t phase_ends; /**< 1: a phase ends at ask_again_myr, and the star becomes of another type */
    double time_myr, mass, luminosity, radius, temperature_k;
    double core_mass, co_core_mass, wind; /**< wind: mass lost, Msun/Myr */
    double spin;
    double ask_again_myr; /**< until then mass changes by less than 1e-3 and radius by less than 5 percent, and no phase
                               ends; it is later than time_myr, and HUGE_VAL if nothing will change */
};

/** Kinds of events. */
enum stellar_event_kind {
    STELLAR_CHANGE = 0,           /**< another type */
    STELLAR_WHITE_DWARF = 1,      /**< a white dwarf is born */
    STELLAR_SUPERNOVA = 2,        /**< the core collapses */
    STELLAR_ELECTRON_CAPTURE = 3, /**< the core collapses by electron capture */
    STELLAR_PAIR_INSTABILITY = 4, /**< a supernova that leaves nothing */
    STELLAR_DISRUPTION = 5        /**< carbon ignites in a degenerate core: nothing is left */
};

struct stellar_event {
    int32_t kind, type_before, type_after;
    int32_t number; /**< of the event, on which its random numbers depend: 0, 1, ...; -1: none were drawn */
    double time_myr, mass_before, mass_after;
    double fallback;    /**< fraction of what was thrown out that falls back; 0 unless the core collapses */
    double kick_kms[3]; /**< change of velocity */
};

/** Events of a call, in order of time. */
enum { STELLAR_EVENTS_MOST = 16 };
struct stellar_events {
    int32_t n;
    struct stellar_event event[STELLAR_EVENTS_MOST];
};

/** A star at zero age.
 *  @param[in]  time_myr  of its birth   @param[in] mass  STELLAR_MASS_LEAST to STELLAR_MASS_MOST
 *  @param[out] star  unchanged if it fails
 *  @return NBC_OK; NBC_BAD_ARGUMENT with the limit; NBC_NON_FINITE */
int stellar_birth(const struct stellar_model *model, int64_t name, double mass, double time_myr,
                  struct stellar_star *star, struct nbc_error *err);
/** A naked helium star at zero age, 0.32 to STELLAR_MASS_MOST. */
int stellar_birth_helium(const struct stellar_model *model, int64_t name, double mass, double time_myr,
                         struct stellar_star *star, struct nbc_error *err);

/** A star at a time. Moves it to the last point of its grid up to that time; the view is for the time itself.
 *  @param[in,out] star    unchanged if it fails
 *  @param[in]     time_myr  star->time_myr or later
 *  @param[out]    view    may be NULL
 *  @param[out]    events  what has happened from star->time_myr to the point to which the star moves, which is all
 * until time_myr, because the end of a phase is a point of the grid. May be NULL.
 *  @return NBC_OK; NBC_BAD_ARGUMENT: a state or a time that cannot be; NBC_NON_FINITE. Never prints, never exits. */
int stellar_evolve(const struct stellar_model *model, struct stellar_star *star, double time_myr,
                   struct stellar_view *view, struct stellar_events *events, struct nbc_error *err);

/** Many stars at one time, by the threads of OpenMP; results do not depend on their number.
 *  @param[in,out] star  [n]   @param[out] view  [n], may be NULL
 *  @param[out]    events  [n], may be NULL
 *  @return the status of the failed star of the least index, which the error names, or NBC_OK */
int stellar_evolve_all(const struct stellar_model *model, int64_t n, struct stellar_star star[], double time_myr,
                       struct stellar_view view[], struct stellar_events events[], struct nbc_error *err);

/** The mass of a star changes at time_myr by something else than its wind. On the main sequence and in the Hertzsprung
 *  gap the star goes on as one of the new mass that has burned the same fraction of its phase; later the core stays
 *  what it is. HPT, section 7.1. A giant that loses its envelope becomes a helium star or a white dwarf.
 *  @param[in,out] star    unchanged if it fails
 *  @param[in]     mass    from 1e-3 to STELLAR_MASS_MOST
 *  @param[out]    events  as of stellar_evolve, with what the change makes of the star; may be NULL
 *  @return as of stellar_evolve */
int stellar_set_mass(const struct stellar_model *model, struct stellar_star *star, double time_myr, double mass,
                     struct stellar_view *view, struct stellar_events *events, struct nbc_error *err);

/** Two stars become one at time_myr: the type of the product is that of the collision matrix of Hurley, Tout & Pols
 *  2002, MNRAS 329, 897, table 2. Stars of the main sequence mix, and have spent a tenth of their hydrogen; a giant
 *  that swallows one keeps its core; cores add up. A neutron star or black hole takes a part of a star that is no
 *  remnant (FCTORCL), and the rest is lost; two white dwarfs of helium leave nothing. What exceeds STELLAR_MASS_MOST is
 *  lost. Deviates: tracks of giants are found by their cores from the fits here, and stars with cores lose no envelope.
 *  @param[in]  star     its model is `model`, and so is that of the product, which has its name
 *  @param[in]  other    of `other_model`, whose metallicity may be another one
 *  @param[in]  kept     0 to 1   @param[out] product  unchanged if it fails; may be one of the stars
 *  @param[out] view     of the product; may be NULL   @param[out] events  until time_myr, and those of the product
 *  @return as of stellar_evolve */
int stellar_merge(const struct stellar_model *model, const struct stellar_star *star,
                  const struct stellar_model *other_model, const struct stellar_star *other, double time_myr,
                  double kept, struct stellar_star *product, struct stellar_view *view, struct stellar_events *events,
                  struct nbc_error *err);

#ifdef __cplusplus
}
#endif
#endif
