#include "nbody6/app/setup_advice.h"

#include "common/nbc.h"
#include "nbody6/app/setup_facts.h"
#include "nbody6/app/stars/unit_advice.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/run/nominal.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>

/* No advice for fewer stars. */
enum { STARS_OF_A_CLUSTER = 10 };

/* Globular clusters have half-mass radii of up to this part of their tidal radius (Baumgardt, Parmentier, Gieles &
 * Vesperini 2010, MNRAS 401, 1832); a galaxy soon strips larger ones. */
static const double ROCHE_FILLING = 0.3;
/* A binary wider than this part of the distance of neighbours is disturbed at every turn. */
static const double WIDE_BINARY = 0.25;
/* RMIN may differ by this factor from the value for the core density. */
static const double RMIN_FACTOR = 5;
/* DTADJ, in crossing times. */
static const double RARE_CHECKS = 1, MANY_CHECKS = 0.01;
/* SMAX, in mean steps that forces ask for. */
static const double SHORT_STEPS = 0.1;
/* Half-mass radii, in length units, for which the defaults in N-body units are made. */
static const double SMALL_R_HALF = 0.1, LARGE_R_HALF = 5;

__attribute__((format(printf, 3, 4))) static void warn(FILE *out, int *warnings, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(out, "  %-26s ", (*warnings)++ ? "" : "warnings");
    vfprintf(out, format, arguments);
    fprintf(out, "\n");
    va_end(arguments);
}

struct warning_lines {
    FILE *out;
    int *warnings;
};

static void warn_of_units(void *context, const char *text)
{
    const struct warning_lines *lines = context;
    warn(lines->out, lines->warnings, "%s", text);
}

/* ---- costs of the run ---- */

enum { TIME_ROOM = 32 };

static const char *time_text(double seconds, char text[TIME_ROOM])
{
    if (seconds < 120)
        snprintf(text, TIME_ROOM, "%.2g s", seconds);
    else if (seconds < 7200)
        snprintf(text, TIME_ROOM, "%.2g min", seconds / 60);
    else if (seconds < 172800)
        snprintf(text, TIME_ROOM, "%.2g h", seconds / 3600);
    else
        snprintf(text, TIME_ROOM, "%.3g days", seconds / 86400);
    return text;
}

static void print_needs(FILE *out, const struct nb6_config *config, const struct nb6_setup_facts *facts, double t_end)
{
    const int threads = omp_get_max_threads();
    const double have = (double)nbc_memory_bytes();
    char time[TIME_ROOM];
    struct nb6_nominal nominal;
    nb6_nominal_cost(config, facts->n, facts->n_binary, t_end, threads, &nominal);
    fprintf(out, "\n  %-26s about %.2g MB", "memory", nb6_config_memory(config, facts->n) * 1e-6);
    if (have > 0) fprintf(out, " of %.0f MB", have * 1e-6);
    if (facts->n < STARS_OF_A_CLUSTER) {
        fprintf(out, "\n");
        return;
    }
    fprintf(out,
            "\n  %-26s about %s with the %s engine and %d thread%s: %.2g irregular and %.2g regular steps at nominal "
            "costs, good to a "
            "factor of three; a dense core takes longer",
            "wall time", time_text(nominal.seconds, time), nominal.engine, threads, threads == 1 ? "" : "s",
            nominal.steps_irr, nominal.steps_reg);
    if (facts->n_binary > 0)
        fprintf(out, "; %s of it for %lld binar%s, up to ten times as much if they are soft",
                time_text(nominal.seconds_pairs, time), (long long)facts->n_binary, facts->n_binary == 1 ? "y" : "ies");
    fprintf(out, "\n");
}

/* ---- contradictions ---- */

static void look_at_tide(FILE *out, int *warnings, const struct nb6_setup_facts *facts, double r_tide)
{
    if (!(r_tide > 0) || facts->bulk.r_half <= ROCHE_FILLING * r_tide) return;
    warn(out, warnings,
         "the half-mass radius %.3g is %.2g of the tidal radius %.3g: the galaxy takes the cluster apart; a "
         "smaller RBAR or a weaker field makes it %.2g or less",
         facts->bulk.r_half, facts->bulk.r_half / r_tide, r_tide, ROCHE_FILLING);
}

/* The mean distance of stars within the half-mass radius, of systems where there are binaries. */
static void look_at_binaries(FILE *out, int *warnings, const struct nb6_config *config,
                             const struct nb6_setup_facts *facts)
{
    const double systems = (double)(facts->n - config->binaries.n);
    const double distance = facts->bulk.r_half * cbrt(8 * M_PI / 3 / systems);
    if (config->binaries.n == 0 || facts->a_widest <= WIDE_BINARY * distance) return;
    warn(out, warnings,
         "the widest of NBIN0 = %lld binaries has a = %.3g, %.2g of the mean distance %.3g of systems within "
         "the half-mass radius: it is soft, and not a binary for long; lower SEMI0 or the periods",
         (long long)config->binaries.n, facts->a_widest, facts->a_widest / distance, distance);
}

static void look_at_encounters(FILE *out, int *warnings, const struct nb6_config *config,
                               const struct nb6_setup_facts *facts)
{
    const double r_min = config->pair.r_min, wanted = facts->r_encounter;
    if (config->pair.adjust || !(r_min > 0) || !(wanted > 0)) return;
    if (r_min <= RMIN_FACTOR * wanted && r_min >= wanted / RMIN_FACTOR) return;
    warn(out, warnings,
         "RMIN = %.3g is %s than the core needs, 4 r_h/(N C^(1/3)) = %.3g (core radius %.3g): %s; set RMIN "
         "and DTMIN, or KZ(16)=1",
         r_min, r_min > wanted ? "larger" : "smaller", wanted, facts->r_core,
         r_min > wanted ? "pairs are regularized that are none" : "close encounters take very small steps");
}

static void look_at_times(FILE *out, int *warnings, const struct nb6_config *config,
                          const struct nb6_setup_facts *facts)
{
    const double crossing = facts->bulk.t_cross, interval = config->run.dt_adjust;
    if (!(crossing > 0)) return;
    if (interval > RARE_CHECKS * crossing)
        warn(out, warnings,
             "DTADJ = %.3g is %.2g crossing times (%.3g): errors are seen late, and RMIN and radii follow the "
             "core late; %.2g is usual",
             interval, interval / crossing, crossing, crossing / 3);
    else if (interval < MANY_CHECKS * crossing)
        warn(out, warnings,
             "DTADJ = %.3g is %.2g of a crossing time (%.3g): every check sums over all pairs; %.2g is usual", interval,
             interval / crossing, crossing, crossing / 3);
}

static void look_at_size(FILE *out, int *warnings, const struct nb6_setup_facts *facts)
{
    if (facts->bulk.r_half >= SMALL_R_HALF && facts->bulk.r_half <= LARGE_R_HALF) return;
    warn(out, warnings,
         "the half-mass radius is %.3g length units, and intervals and steps are made for about 0.8: RBAR "
         "= %.3g pc makes it so, or UNITS='scaled'",
         facts->bulk.r_half, facts->bulk.r_half * facts->rbar_pc / 0.77);
}

static void look_at_end(FILE *out, int *warnings, const struct nb6_config *config, const struct nb6_setup_facts *facts)
{
    if (config->run.n_crit < facts->n) return;
    warn(out, warnings, "NCRIT = %lld: there are only %lld stars, so that the run ends at t = 0; lower NCRIT",
         (long long)config->run.n_crit, (long long)facts->n);
}

int nb6_advise_short_steps(const struct nb6_config *config, int64_t n, int64_t n_binary, double t,
                           char text[NB6_ADVICE_ROOM])
{
    const struct nb6_integration_config *steps = &config->integration;
    char time[TIME_ROOM];
    struct nb6_nominal nominal;
    if (n < STARS_OF_A_CLUSTER || steps->dt_fixed_irr > 0) return 0;
    nb6_nominal_cost(config, n, n_binary, t, omp_get_max_threads(), &nominal);
    if (!(nominal.longest < SHORT_STEPS)) return 0;
    snprintf(text, NB6_ADVICE_ROOM,
             "SMAX = %.3g is %.2g of the mean step that forces need: all stars make such short steps, %.2g in all, "
             "about %s at nominal costs; SMAX limits the longest steps, ETAI and ETAR shorten all of them",
             steps->dt_max, nominal.longest, nominal.steps_irr, time_text(nominal.seconds, time));
    return 1;
}

static void look_at_steps(FILE *out, int *warnings, const struct nb6_config *config,
                          const struct nb6_setup_facts *facts, double t)
{
    char text[NB6_ADVICE_ROOM];
    if (nb6_advise_short_steps(config, facts->n, facts->n_binary, t, text)) warn(out, warnings, "%s", text);
}

void nb6_setup_advise(FILE *out, const struct nb6_config *config, const struct nb6_setup_facts *facts,
                      const struct nb6_units *units, const struct nb6_external *field)
{
    const double t_end = nb6_config_end(config, units->time_myr);
    int warnings = 0;
    struct warning_lines lines = {out, &warnings};
    print_needs(out, config, facts, t_end);
    nb6_units_advise(config, &facts->data, &facts->bulk, units, warn_of_units, &lines);
    if (facts->n < STARS_OF_A_CLUSTER || !(facts->bulk.r_half > 0)) return;
    look_at_tide(out, &warnings, facts, nb6_external_tidal_radius(field, facts->mass_total));
    look_at_binaries(out, &warnings, config, facts);
    look_at_encounters(out, &warnings, config, facts);
    look_at_times(out, &warnings, config, facts);
    look_at_size(out, &warnings, facts);
    look_at_end(out, &warnings, config, facts);
    look_at_steps(out, &warnings, config, facts, t_end);
    if (warnings == 0) fprintf(out, "  %-26s none\n", "warnings");
}
