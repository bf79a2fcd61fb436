/* Parameters of a continued run: those that may change, and for each other one the reason why it may not. */
#include "nbody6/input/input_change_rules.h"

#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"

#include <stdio.h>
#include <string.h>

/* Why not; NULL: it may be changed. */
static const char MODEL[] = "it belongs to the stars that the run began with";
static const char UNITS[] = "everything the run has written is in these units";
static const char GALAXY[] = "the galaxy is in the energies that the run has booked";
static const char FORCES[] = "the forces, lists and steps that the run has rest on it";
static const char COMMAND[] = "the command line says it: see `nbody6 --help`";

#define MEMBER(name) offsetof(struct nb6_config, name), sizeof(((struct nb6_config *)NULL)->name)

/* Members set by options and words; those of other variables are in the table of the input. */
const struct nb6_change_meaning nb6_change_meanings[] = {
    {"KZ(2)", MEMBER(run.checkpoint_at_output), NULL},
    {"KZ(2)", MEMBER(run.energy_retries), NULL},
    {"KZ(3)", MEMBER(run.snapshots), NULL},
    {"KZ(5)", MEMBER(model.kind), MODEL},
    {"KZ(7)", MEMBER(run.lagrangian_mass), NULL},
    {"KZ(8)", MEMBER(binaries.wanted), MODEL},
    {"KZ(14)", MEMBER(tide.kind), GALAXY},
    {"KZ(15)", MEMBER(pair.systems), NULL},
    {"KZ(16)", MEMBER(pair.adjust), NULL},
    {"KZ(19)", MEMBER(stellar.evolve), MODEL},
    {"KZ(20)", MEMBER(model.imf), MODEL},
    {"KZ(20)", MEMBER(binaries.pairing), MODEL},
    {"KZ(22)", MEMBER(model.kind), MODEL},
    {"KZ(22)", MEMBER(model.file_units), MODEL},
    {"KZ(23)", MEMBER(escape), NULL},
    {"KZ(23)", MEMBER(write_escapers), NULL},
    {"KZ(25)", MEMBER(stellar.white_dwarf_kicks), MODEL},
    {"KZ(26)", MEMBER(pair.slow_down), NULL},
    {"KZ(27)", MEMBER(stellar.collide), MODEL},
    {"KZ(30)", MEMBER(pair.chains), NULL},
    {"KZ(30)", MEMBER(pair.hierarchies), NULL},
    {"KZ(39)", MEMBER(integration.mass_weighted_nb), FORCES},
    {"KZ(40)", MEMBER(integration.initial_fpoly2), NULL},
    {"KZ(42)", MEMBER(binaries.period), MODEL},
    {"MODEL", MEMBER(model.kind), MODEL},
    {"DATA", MEMBER(model.data_path), MODEL},
    {"LEVEL", MEMBER(stellar.level), MODEL},
    {"RADII", MEMBER(data.radii), MODEL},
    {"DEVICE", MEMBER(run.device), COMMAND},
    {"IRR", MEMBER(run.irr_backend), COMMAND},
    {"ENGINE", MEMBER(run.engine), COMMAND},
    {"DEVLOSS", MEMBER(run.on_device_loss), COMMAND},
    {"PREC", MEMBER(run.precision), FORCES},
    {"CHAIN", MEMBER(pair.chain_method), NULL},
};
const int nb6_change_meaning_count = sizeof nb6_change_meanings / sizeof nb6_change_meanings[0];

static const char *const changeable[] = {"TCOMP",  "TCRTP0", "NFIX",   "NCRIT",     "NNBOPT",   "ETAI",
                                         "ETAR",   "DTADJ",  "DELTAT", "TCRIT",     "QE",       "DTMIN",
                                         "RMIN",   "ETAU",   "ECLOSE", "GMIN",      "GMAX",     "SMAX",
                                         "NNBMAX", "CKPT",   "FCHECK", "DTADJ_MYR", "DTOUT_MYR"};

const char *nb6_change_reason(const struct nb6_input_variable *v)
{
    for (size_t k = 0; k < sizeof changeable / sizeof changeable[0]; k++)
        if (strcmp(v->name, changeable[k]) == 0) return NULL;
    if (strcmp(v->name, "RBAR") == 0 || strcmp(v->name, "ZMBAR") == 0) return UNITS;
    if (strcmp(v->group, "INXTRNL0") == 0 || strcmp(v->name, "RTIDE") == 0) return GALAXY;
    if (strcmp(v->group, "INCOLLISIONLESS") == 0) return FORCES;
    return strcmp(v->group, "INRUN") == 0 || strcmp(v->name, "RS0") == 0 ? FORCES : MODEL;
}

static const char introduction[] =
    "`nbody6 --resume NAME.ckpt.h5 CHANGES.inp` continues a run with the values of an input: a namelist,\n"
    "perhaps the whole input of the run, or a restart file of NBODY6. An input with KSTART = 2 to 5,\n"
    "named alone, continues the run of its name or of --out, or that of the only checkpoint in the working\n"
    "directory. `--check` shows the changes and runs nothing. The run reports each change on standard output\n"
    "and in NAME.log.csv, and writes the next checkpoint at once. You may change:\n\n";

static const char rest[] =
    "The program refuses any other change, with the reason; it accepts the values that the run has.\n"
    "Steps, neighbour spheres and perturbers get new values when they are next computed; KZ(15), KZ(26),\n"
    "KZ(30) and CHAIN apply to systems that form later; RMIN, DTMIN and ECLOSE hold until the next adjust\n"
    "if KZ(16) > 0. With KSTART = 2, TCRIT counts from the checkpoint, as in NBODY6++GPU, else from t = 0;\n"
    "an input with KSTART > 1 does not change N, RBAR and ZMBAR.\n";

/* Names, separated by commas, at most so many columns a line. */
struct wrapped {
    FILE *out;
    int column;
};

static void print_name(struct wrapped *w, const char *name, const char *quote)
{
    enum { COLUMNS = 110 };
    const int length = (int)(strlen(name) + 2 * strlen(quote));
    if (w->column > 0) w->column += fprintf(w->out, ",");
    if (w->column + 1 + length > COLUMNS) {
        fprintf(w->out, "\n");
        w->column = 0;
    }
    w->column += fprintf(w->out, "%s%s%s%s", w->column > 0 ? " " : "", quote, name, quote);
}

void nb6_change_help(FILE *out, int markdown)
{
    const char *quote = markdown ? "`" : "", *last = "";
    struct wrapped w = {out, 0};
    if (markdown) fprintf(out, "\n## Runs that go on with other parameters\n\n");
    fprintf(out, "%s", introduction);
    for (size_t k = 0; k < sizeof changeable / sizeof changeable[0]; k++) print_name(&w, changeable[k], quote);
    for (int k = 0; k < nb6_change_meaning_count; k++) {
        const struct nb6_change_meaning *m = &nb6_change_meanings[k];
        if (!m->reason && strcmp(m->name, last) != 0) print_name(&w, m->name, quote);
        last = m->name;
    }
    fprintf(out, ".\n\n%s", rest);
}
