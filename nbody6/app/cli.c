#include "nbody6/app/cli.h"

#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, ACTION, TEXT, NUMBER, COUNT, NAME_OR_NOTHING };

/* One option: its member in struct nb6_cli, and its text in the help. */
struct option {
    const char *name;
    enum kind kind;
    size_t offset;
    enum nb6_action action; /* of ACTION, and of those that imply one */
    const char *argument;   /* how it is shown */
    const char *help;       /* NULL: an option of nbody6-collisionless alone, which has its own help */
};

#define AT(member) offsetof(struct nb6_cli, member), NB6_ACTION_RUN

static const struct option options[] = {
    {"--check", ACTION, 0, NB6_ACTION_CHECK, "",
     "check the input, show the setup with units, cost and warnings; write nothing"},
    {"--dynamics-only", FLAG, AT(dynamics_only), "",
     "turn off stellar evolution, tides and relativity where the input asks for them"},
    {"--init-only", ACTION, 0, NB6_ACTION_INIT_ONLY, "", "make the initial model: NAME.init.h5 and NAME.dat10"},
    {"--to-namelist", ACTION, 0, NB6_ACTION_TO_NAMELIST, "",
     "write the input, whatever its format, to standard output as a commented namelist"},
    {"--out", TEXT, AT(out), "NAME", "begin the names of all output files with NAME (else: the input file's name)"},
    {"--overwrite", FLAG, AT(overwrite), "", "remove the files of an earlier run of this name"},
    {"--resume", TEXT, offsetof(struct nb6_cli, checkpoint), NB6_ACTION_RESUME, "FILE",
     "continue from a checkpoint, NAME.ckpt.h5 or NAME, bit for bit, or with the changes of an input file (*); with "
     "--check: show how"},
    {"--status", NAME_OR_NOTHING, offsetof(struct nb6_cli, status_of), NB6_ACTION_STATUS, "[DIR]",
     "show the state of the runs in a folder, or of a run NAME: finished, running, stopped or failed; how to continue"},
    {"--tcrit", NUMBER, AT(t_crit), "T", "end at N-body time T (*)"},
    {"--wall-limit", NUMBER, AT(wall_limit_s), "S", "end with a checkpoint after S seconds (*)"},
    {"--checkpoint-interval", NUMBER, AT(checkpoint_interval_s), "S",
     "a checkpoint every S seconds; 0: only at the end (*)"},
    {"--device", TEXT, AT(device), "NAME",
     "backend of the regular force: auto, cpu, one of --list-devices, or cuda:0,1 for these GPUs (*)"},
    {"--irr-backend", TEXT, AT(irr_backend), "NAME",
     "backend of the irregular force: auto, or one of --list-devices (*)"},
    {"--engine", TEXT, AT(engine), "WORD",
     "engine of the block steps: host, device (all bodies on a GPU), emulated (the same in C), auto (*)"},
    {"--on-device-loss", TEXT, AT(on_device_loss), "WORD",
     "when a GPU fails: stop (with a checkpoint), or host: continue without it (*)"},
    {"--precision", TEXT, AT(precision), "WORD",
     "regular force: float, twofloat, double (default: the backend's choice)"},
    {"--walk", TEXT, AT(walk), "WORD", NULL},
    {"--threads", COUNT, AT(threads), "N",
     "use N threads (else: OMP_NUM_THREADS, or all cores); results do not depend on it"},
    {"--force-check", FLAG, AT(force_check), "", "compare all forces with a direct sum at each adjust (*)"},
    {"--profile", FLAG, AT(profile), "", "at the end, show times and calls by stage and by size of the blocks (*)"},
    {"--quiet", FLAG, AT(quiet), "", "print nothing but warnings and errors, on standard error"},
    {"--list-devices", ACTION, 0, NB6_ACTION_LIST_DEVICES, "", "show the backends of this binary on this machine"},
    {"--help-input", NAME_OR_NOTHING, offsetof(struct nb6_cli, help_name), NB6_ACTION_HELP_INPUT, "[NAME]",
     "describe the input: all, a variable, option (KZ(14)) or group, or what has a WORD in it"},
    {"--markdown", FLAG, AT(markdown), "", "with --help-input: as Markdown"},
    {"--help", ACTION, 0, NB6_ACTION_HELP, "", "this text"},
    {"--version", ACTION, 0, NB6_ACTION_VERSION, "", "version"},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

void nb6_cli_usage(FILE *out)
{
    fprintf(out,
            "usage: nbody6 [options] INPUT.inp      run the star cluster that a file describes: a namelist, as of\n"
            "                                      NBODY6++GPU, or an old input of NBODY6 or NBODY6++\n"
            "       nbody6 [options] < INPUT.inp    the same from standard input (also: nbody6 -)\n"
            "       nbody6 --resume NAME.ckpt.h5 [CHANGES.inp]\n"
            "                                      continue a run, with parameters changed as an input says\n\n");
    for (int k = 0; k < OPTIONS; k++) {
        char text[48];
        if (!options[k].help) continue;
        snprintf(text, sizeof text, "%s%s%s", options[k].name, options[k].argument[0] ? " " : "", options[k].argument);
        fprintf(out, "  %-26s %s\n", text, options[k].help);
    }
    fprintf(
        out,
        "\n(*) may be changed with --resume, as may --out, --overwrite, --threads and --quiet; everything else is "
        "as the\n"
        "checkpoint says, or an input file with it. An input with KSTART > 1 continues the run of its name.\n"
        "`touch STOP` in the working directory, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 and SIGUSR2 end a run with "
        "a\n"
        "checkpoint.\n"
        "Exit codes: 0 done, 1 internal error, 2 bad input, 3 energy tolerance exceeded, 4 file error, 5 device "
        "error,\n6 not enough memory.\n");
}

static const struct option *find_option(const char *name, size_t length)
{
    for (int k = 0; k < OPTIONS; k++)
        if (strlen(options[k].name) == length && strncmp(options[k].name, name, length) == 0) return &options[k];
    return NULL;
}

static int unknown_option(const char *name, struct nbc_error *err)
{
    const char *near = NULL;
    int best = NB6_NAMELIST_NAME_MAX;
    for (int k = 0; k < OPTIONS; k++) {
        int distance = nb6_input_distance(name, options[k].name);
        if (distance < 0 || distance >= best) continue;
        best = distance;
        near = options[k].name;
    }
    return nbc_fail(err, NBC_BAD_INPUT, "%s: unknown option; %s%s%s", nb6_namelist_show(name, strlen(name)).text,
                    near ? "did you mean " : "`nbody6 --help` lists the options", near ? near : "", near ? "?" : "");
}

static int take_number(const struct option *o, const char *value, struct nb6_cli *cli, struct nbc_error *err)
{
    char *end;
    double x = strtod(value, &end), least = strcmp(o->name, "--checkpoint-interval") == 0 ? 0 : 0x1p-40;
    if (strcmp(o->name, "--tcrit") == 0 && x > NB6_T_MAX)
        return nbc_fail(err, NBC_BAD_INPUT, "--tcrit: %g is out of range; the latest time is %g", x, NB6_T_MAX);
    if (end == value || *end || !isfinite(x) || x < least)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: '%s' is no valid value; give a number %s 0", o->name,
                        nb6_namelist_show(value, strlen(value)).text, least == 0 ? ">=" : ">");
    memcpy((char *)cli + o->offset, &x, sizeof x);
    if (least == 0) cli->set_checkpoint_interval = 1;
    return NBC_OK;
}

static int take_count(const struct option *o, const char *value, struct nb6_cli *cli, struct nbc_error *err)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (end == value || *end || n < 1 || n > 4096)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: '%s' is no valid value; give an integer from 1 to 4096", o->name,
                        nb6_namelist_show(value, strlen(value)).text);
    memcpy((char *)cli + o->offset, &(int){(int)n}, sizeof(int));
    return NBC_OK;
}

static int set_action(const char *name, enum nb6_action action, struct nb6_cli *cli, struct nbc_error *err)
{
    const enum nb6_action before = cli->action;
    if ((before == NB6_ACTION_CHECK && action == NB6_ACTION_RESUME) ||
        (before == NB6_ACTION_RESUME && action == NB6_ACTION_CHECK)) {
        cli->action = NB6_ACTION_RESUME;
        cli->check = 1;
        return NBC_OK;
    }
    if (before != NB6_ACTION_RUN && before != action)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: does not go together with another option that says what to do", name);
    cli->action = action;
    return NBC_OK;
}

/* An option that takes a value. */
static int take_value(const struct option *o, const char *value, struct nb6_cli *cli, struct nbc_error *err)
{
    if (!value || !*value)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: a value is missing; write %s %s", o->name, o->name, o->argument);
    if (o->kind == NUMBER) return take_number(o, value, cli, err);
    if (o->kind == COUNT) return take_count(o, value, cli, err);
    memcpy((char *)cli + o->offset, &value, sizeof value);
    return o->action == NB6_ACTION_RUN ? NBC_OK : set_action(o->name, o->action, cli, err);
}

/* The option at argv[*k]; moves *k past its value. */
static int take_option(int argc, char **argv, int *k, struct nb6_cli *cli, struct nbc_error *err)
{
    const char *text = strcmp(argv[*k], "-h") == 0 ? "--help" : argv[*k];
    const char *equals = strchr(text, '=');
    const struct option *o = find_option(text, equals ? (size_t)(equals - text) : strlen(text));
    if (!o) return unknown_option(text, err);
    int needs_none = o->kind == FLAG || o->kind == ACTION;
    if (needs_none && equals) return nbc_fail(err, NBC_BAD_INPUT, "%s: takes no value", o->name);
    if (o->kind == FLAG) {
        memcpy((char *)cli + o->offset, &(int){1}, sizeof(int));
        return NBC_OK;
    }
    if (o->kind == ACTION) return set_action(o->name, o->action, cli, err);
    const char *value = equals ? equals + 1 : *k + 1 < argc ? argv[*k + 1] : NULL;
    if (o->kind == NAME_OR_NOTHING && (!value || (!equals && value[0] == '-')))
        return set_action(o->name, o->action, cli, err);
    if (!equals) ++*k;
    return take_value(o, value, cli, err);
}

static int check_options(const struct nb6_cli *cli, struct nbc_error *err)
{
    if (cli->markdown && cli->action != NB6_ACTION_HELP_INPUT)
        return nbc_fail(err, NBC_BAD_INPUT, "--markdown: belongs to --help-input");
    if (cli->action == NB6_ACTION_STATUS && cli->input)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: --status takes one folder, or the name of one run", cli->input);
    if (cli->action != NB6_ACTION_RESUME) return NBC_OK;
    if ((cli->dynamics_only && !cli->input) || cli->precision || cli->walk)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: cannot be changed with --resume",
                        cli->precision ? "--precision"
                        : cli->walk    ? "--walk"
                                       : "--dynamics-only");
    return NBC_OK;
}

int nb6_cli_parse(int argc, char **argv, struct nb6_cli *cli, struct nbc_error *err)
{
    *cli = (struct nb6_cli){.action = NB6_ACTION_RUN};
    int only_files = 0;
    for (int k = 1; k < argc; k++) {
        int status = NBC_OK;
        if (!only_files && strcmp(argv[k], "--") == 0)
            only_files = 1;
        else if (!only_files && argv[k][0] == '-' && argv[k][1])
            status = take_option(argc, argv, &k, cli, err);
        else if (cli->input)
            status =
                nbc_fail(err, NBC_BAD_INPUT, "%s: one input file at a time; %s was given before", argv[k], cli->input);
        else
            cli->input = argv[k];
        if (status != NBC_OK) return status;
    }
    return check_options(cli, err);
}
