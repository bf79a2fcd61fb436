#include "nbody6/app/setup_physics.h"

#include "nbody6/fewbody/pairs/start.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "regularization/chain.h"

/* 1: pairs are regularized */
static int print_pairs(FILE *out, const struct nb6_pair_config *p, int64_t n)
{
    if (!p->adjust && !(p->r_min > 0 && p->dt_min > 0)) {
        fprintf(out, "  %-26s none: neither RMIN and DTMIN nor KZ(16)\n", "regularization of pairs");
        return 0;
    }
    fprintf(out, "  %-26s ", "regularization of pairs");
    if (p->r_min > 0 && p->dt_min > 0) fprintf(out, "RMIN = %g, DTMIN = %g, ", p->r_min, p->dt_min);
    if (p->adjust && n >= NB6_STARS_OF_A_CORE) fprintf(out, "by the core density, ");
    if (p->adjust && n < NB6_STARS_OF_A_CORE && !(p->r_min > 0 && p->dt_min > 0))
        fprintf(out, "RMIN = %g median distances of two stars at t = 0, ", NB6_CLOSE_AMONG_FEW);
    fprintf(out, "ETAU = %g, GMIN = %g, GMAX = %g\n", p->eta_u, p->gamma_min, p->gamma_max);
    return 1;
}

static void print_systems(FILE *out, const struct nb6_pair_config *p)
{
    static const char *const slow[] = {"off", "of weakly perturbed pairs",
                                       "of weakly perturbed pairs, and inside chains"};
    fprintf(out, "  %-26s %s\n", "slow-down", slow[p->slow_down > 1 ? 2 : p->slow_down]);
    fprintf(out, "  %-26s ", "three and more stars");
    if (!p->systems || (!p->chains && !p->hierarchies)) {
        fprintf(out, "no search for them\n");
        return;
    }
    if (p->chains)
        fprintf(out, "strong encounters by chain regularization (method %s)", chain_method_name(p->chain_method));
    fprintf(out, "%s%s\n", p->chains && p->hierarchies ? "; " : "", p->hierarchies ? "stable systems are frozen" : "");
}

void nb6_setup_physics(FILE *out, const struct nb6_config *config, int64_t n)
{
    static const char *const escapes[] = {"stay", "removed beyond two tidal radii", "removed beyond one tidal radius"};
    char galaxy[NB6_EXTERNAL_TEXT];
    fprintf(out, "\n  %-26s of all stars on each other, without softening\n", "gravity");
    if (print_pairs(out, &config->pair, n)) print_systems(out, &config->pair);
    if (config->pair.r_star > 0)
        fprintf(out, "  %-26s of stars of radius RSTAR = %g, which merge\n", "collisions", config->pair.r_star);
    else if (config->stellar.collide)
        fprintf(out, "  %-26s of stars of the radii of their age, which merge\n", "collisions");
    else if (config->data.radii)
        fprintf(out, "  %-26s of stars of the radii in DATA, which merge\n", "collisions");
    else
        fprintf(out, "  %-26s none: stars are points\n", "collisions");
    nb6_external_describe(config, galaxy);
    fprintf(out, "  %-26s %s\n", "galaxy", galaxy);
    fprintf(out, "  %-26s %s%s\n", "escapers", escapes[config->escape], config->write_escapers ? ", and written" : "");
    if (config->stellar.evolve)
        fprintf(out, "  %-26s LEVEL = '%c', metallicity ZMET = %g; stars exchange no mass yet\n", "stellar evolution",
                "AABC"[config->stellar.level], config -> stellar.z);
    else
        fprintf(out, "  %-26s none\n", "stellar evolution");
}
