/* The nbody6-collisionless command: softened forces and a leapfrog, from the inputs and with the outputs of nbody6. */
#include "common/nbc.h"
#include "nbody6/app/cli.h"
#include "nbody6/app/cli_config.h"
#include "nbody6/app/collisionless/on_ranks.h"
#include "nbody6/app/collisionless/run.h"
#include "nbody6/app/run.h"
#include "nbody6/app/screen.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/input/input_text.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/world/launch.h"
#include "nbody6/world/world.h"

#include <omp.h>
#include <stdio.h>

static const char USAGE[] =
    "usage: nbody6-collisionless [options] INPUT.inp\n"
    "       nbody6-collisionless --resume NAME.ckpt.h5 [options] [CHANGES.inp]\n"
    "Integrates a collisionless system: softened forces by direct sums or a tree, a leapfrog with shared or block "
    "steps.\n"
    "INPUT.inp: an input of nbody6 with &INCOLLISIONLESS SOFTENING=, DT=, ETA=, FORCE_ERROR= /\n"
    "(nbody6 --help-input INCOLLISIONLESS). Writes NAME.log.csv, NAME.snap.*.h5 and NAME.ckpt.h5, as nbody6 does.\n\n"
    "  --check                  read input and bodies, say what a run would do, and end\n"
    "  --out NAME               begin the names of all output files with NAME (else: the input file's name)\n"
    "  --overwrite              remove the files of an earlier run of this name\n"
    "  --resume FILE            continue from a checkpoint, NAME.ckpt.h5 or NAME, bit for bit, or with the changes of "
    "an input file: of "
    "TCRIT, QE,\n"
    "                           DTADJ, DELTAT and other times and outputs\n"
    "  --tcrit T                end at N-body time T, a multiple of DT (*)\n"
    "  --wall-limit S           end with a checkpoint after S seconds (*)\n"
    "  --checkpoint-interval S  a checkpoint every S seconds; 0: only at the end (*)\n"
    "  --device NAME            backend of the forces: auto, cpu, one of nbody6 --list-devices, or cuda:0,1 (*)\n"
    "  --engine WORD            engine with the bodies: host, device (the GPUs that make the forces), emulated (the "
    "same "
    "in C),\n"
    "                           auto (*)\n"
    "  --precision WORD         float, twofloat, double (default: the backend's choice)\n"
    "  --walk WORD              with a tree: auto, hybrid, treecode, groups, fmm, single, one-by-one-i, one-by-one-j\n"
    "                           (WALK of &INCOLLISIONLESS)\n"
    "  --threads N              use N threads; results do not depend on it\n"
    "  --profile                at the end, show times of the forces, of a tree by stage, and its terms (*)\n"
    "  --quiet                  print nothing but warnings and errors, on standard error\n"
    "  --dynamics-only          turn off stellar evolution, tides and relativity where the input asks for them\n"
    "  --help, --version        this text; the version\n\n"
    "(*) may be changed with --resume, as may --out, --threads and --quiet.\n"
    "`touch STOP` in the working directory, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 and SIGUSR2 end a run with a\n"
    "checkpoint, at a multiple of DT.\n"
    "mpirun -n 8 nbody6-collisionless ...: the bodies are divided among 8 processes.\n"
    "Exit codes: 0 done, 1 internal error, 2 bad input, 3 energy tolerance exceeded, 4 file error, 5 device error,\n6 "
    "not "
    "enough memory.\n";

/* Options of nbody6 that mean nothing here. */
static int check_options(const struct nb6_cli *cli, struct nbc_error *err)
{
    const struct {
        int given;
        const char *name;
    } unknown[] = {
        {cli->action == NB6_ACTION_INIT_ONLY, "--init-only"},
        {cli->action == NB6_ACTION_TO_NAMELIST, "--to-namelist"},
        {cli->action == NB6_ACTION_STATUS, "--status"},
        {cli->action == NB6_ACTION_HELP_INPUT, "--help-input"},
        {cli->action == NB6_ACTION_LIST_DEVICES, "--list-devices"},
        {cli->irr_backend != NULL, "--irr-backend"},
        {cli->on_device_loss != NULL, "--on-device-loss"},
        {cli->force_check, "--force-check"},
    };
    for (size_t k = 0; k < sizeof unknown / sizeof unknown[0]; k++)
        if (unknown[k].given)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: is an option of nbody6; `nbody6-collisionless --help` lists those of this program",
                            unknown[k].name);
    if (cli->action != NB6_ACTION_RESUME && !cli->input)
        return nbc_fail(err, NBC_BAD_INPUT, "no input is given; `nbody6-collisionless --help` says how");
    return NBC_OK;
}

static struct nb6_run_options run_options(const struct nb6_cli *cli, struct nb6_world *world)
{
    return (struct nb6_run_options){.world = world,
                                    .quiet = cli->quiet,
                                    .overwrite = cli->overwrite,
                                    .name = cli->out,
                                    .device = cli->device,
                                    .engine = cli->engine,
                                    .t_crit = cli->t_crit,
                                    .wall_limit_s = cli->wall_limit_s,
                                    .set_checkpoint_interval = cli->set_checkpoint_interval,
                                    .checkpoint_interval_s = cli->checkpoint_interval_s,
                                    .force_times = cli->profile};
}

static int read_input(const struct nb6_cli *cli, struct nb6_config *config, struct nbc_error *err)
{
    const struct nb6_input_options options = {.dynamics_only = cli->dynamics_only, .notes = stderr};
    struct nb6_input_text text;
    int kstart = 1, status = nb6_input_load(cli->input, &text, err);
    if (status) return status;
    status = nb6_input_kstart(&text, &kstart, err);
    if (kstart > 1)
        status = nbc_fail(err, NBC_BAD_INPUT,
                          "%s: KSTART > 1: a run of this program continues with --resume NAME.ckpt.h5", cli->input);
    else if (!status)
        status = nb6_input_read_loaded(&text, &options, config, err);
    nb6_input_unload(&text);
    return status ? status : nb6_cli_override(cli, config, err);
}

static int resume(const struct nb6_cli *cli, struct nb6_world *world, struct nbc_error *err)
{
    struct nb6_run_options run = run_options(cli, world);
    struct nb6_input_text text;
    if (!cli->input)
        return cli->check ? nb6_run_show_changes(cli->checkpoint, &run, err)
                          : nb6_collisionless_run_resume(cli->checkpoint, &run, err);
    int status = nb6_input_load(cli->input, &text, err);
    if (status) return status;
    run.changes = &text;
    run.dynamics_only = cli->dynamics_only;
    status = cli->check ? nb6_run_show_changes(cli->checkpoint, &run, err)
                        : nb6_collisionless_run_resume(cli->checkpoint, &run, err);
    nb6_input_unload(&text);
    return status;
}

static int act(const struct nb6_cli *cli, struct nb6_world *world, struct nbc_error *err)
{
    struct nb6_config config;
    if (cli->action == NB6_ACTION_HELP) {
        fputs(USAGE, stdout);
        return NBC_OK;
    }
    if (cli->action == NB6_ACTION_VERSION) {
        printf("nbody6-collisionless %s\n", NB6_VERSION);
        return NBC_OK;
    }
    int status = check_options(cli, err);
    if (!status && nbc_isa_check(err)) status = NBC_BAD_INPUT;
    if (status) return status;
    if (cli->action == NB6_ACTION_RESUME) return resume(cli, world, err);
    status = read_input(cli, &config, err);
    if (status) return status;
    if (cli->action == NB6_ACTION_CHECK) return nb6_collisionless_run_check(&config, world, err);
    const struct nb6_run_options run = run_options(cli, world);
    return nb6_collisionless_run_new(&config, &run, err);
}

/* Of the only process, or of the first one. */
static int lead(const struct nb6_cli *cli, int status, struct nb6_world *world, struct nbc_error *err)
{
    const int is_product = cli->check || (cli->action != NB6_ACTION_RUN && cli->action != NB6_ACTION_RESUME);
    if (!status) status = act(cli, world, err);
    const int code = nb6_screen_end(status, is_product, err);
    nb6_ranks_dismiss(world, status);
    nb6_world_close(world);
    return code;
}

int main(int argc, char **argv)
{
    struct nbc_error err = {0};
    struct nb6_cli cli = {0};
    struct nb6_world *world;
    int is_first;
    nb6_screen_open("nbody6-collisionless");
    char checkpoint[NB6_NAME_BYTES];
    int status = nb6_world_open(&world, &is_first, &err);
    if (status && !is_first) {
        nb6_on_ranks_keep_silent();
        return nbc_status_exit_code(status);
    }
    if (!status) status = nb6_cli_parse(argc, argv, &cli, &err);
    if (!status && cli.threads) omp_set_num_threads(cli.threads);
    if (nb6_world_rank(world) > 0) return nb6_on_ranks_serve(world);
    if (!status) status = nb6_cli_find_checkpoint(&cli, checkpoint, &err);
    return lead(&cli, status, world, &err);
}
