/* The nbody6 command: hands the requests of the command line to libnbody6. */
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/app/cli.h"
#include "nbody6/app/cli_config.h"
#include "nbody6/app/run.h"
#include "nbody6/app/screen.h"
#include "nbody6/app/setup.h"
#include "nbody6/app/status/status.h"
#include "nbody6/app/wrapped_calls.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/input/input_text.h"
#include "nbody6/run/nbody6.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct nb6_run_options run_options(const struct nb6_cli *cli)
{
    return (struct nb6_run_options){.quiet = cli->quiet,
                                    .overwrite = cli->overwrite,
                                    .name = cli->out,
                                    .device = cli->device,
                                    .irr_backend = cli->irr_backend,
                                    .engine = cli->engine,
                                    .on_device_loss = cli->on_device_loss,
                                    .t_crit = cli->t_crit,
                                    .wall_limit_s = cli->wall_limit_s,
                                    .set_checkpoint_interval = cli->set_checkpoint_interval,
                                    .checkpoint_interval_s = cli->checkpoint_interval_s,
                                    .force_check = cli->force_check,
                                    .profile = cli->profile ? &nb6_wrapped_calls : NULL};
}

/* Facts about the input that a namelist cannot hold go into its comments. */
static int to_namelist(const struct nb6_cli *cli, struct nbc_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *notes = open_memstream(&text, &size);
    if (!notes) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the notes on the input");
    const struct nb6_input_options options = {.dynamics_only = cli->dynamics_only, .notes = notes};
    int status = nb6_input_to_namelist(stdout, cli->input, &options, err);
    fclose(notes);
    for (char *line = text ? strtok(text, "\n") : NULL; status == NBC_OK && line; line = strtok(NULL, "\n"))
        printf("! %s\n", line);
    free(text);
    return status;
}

/* A run goes on with the changes of an input that was loaded. */
static int resume_with(const struct nb6_cli *cli, const char *checkpoint, const struct nb6_input_text *text,
                       struct nbc_error *err)
{
    struct nb6_run_options run = run_options(cli);
    run.changes = text;
    run.dynamics_only = cli->dynamics_only;
    if (cli->action == NB6_ACTION_CHECK || cli->check) return nb6_run_show_changes(checkpoint, &run, err);
    return nb6_run_resume(checkpoint, &run, err);
}

/* KSTART > 1: the checkpoint is that of the run that --out or the input names. */
static int restart(const struct nb6_cli *cli, const struct nb6_input_text *text, int kstart, struct nbc_error *err)
{
    struct nb6_config named;
    struct nb6_cli of_the_run = *cli;
    char checkpoint[NB6_PATH_MAX];
    if (cli->action == NB6_ACTION_INIT_ONLY || cli->precision)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: contradicts KSTART > 1, which continues a run",
                        cli->precision ? "--precision" : "--init-only");
    nb6_cli_set_name(cli, &named);
    of_the_run.out = NULL;
    int status = nb6_run_find_checkpoint(named.run.name, text->name, checkpoint, err);
    if (status != NBC_OK) return status;
    fprintf(stderr, "note: %s: KSTART=%d: the run of %s continues\n", text->name, kstart, checkpoint);
    return resume_with(&of_the_run, checkpoint, text, err);
}

static int begin(const struct nb6_cli *cli, const struct nb6_input_text *text, struct nbc_error *err)
{
    const struct nb6_input_options options = {.dynamics_only = cli->dynamics_only, .notes = stderr};
    const struct nb6_run_options run = run_options(cli);
    struct nb6_config config;
    int status = nb6_input_read_loaded(text, &options, &config, err);
    if (status == NBC_OK) status = nb6_cli_override(cli, &config, err);
    if (status == NBC_OK) status = nb6_config_check_collisional(&config, err);
    if (status != NBC_OK) return status;
    if (cli->action == NB6_ACTION_CHECK) return nb6_setup_print(stdout, &config, err);
    if (cli->action == NB6_ACTION_INIT_ONLY) return nb6_run_init_only(&config, &run, err);
    return nb6_run_new(&config, &run, err);
}

/* --check, --init-only, a new run, and --resume with changes: all begin with the input. */
static int with_input(const struct nb6_cli *cli, struct nbc_error *err)
{
    struct nb6_input_text text;
    int kstart, status = nb6_input_load(cli->input, &text, err);
    if (status != NBC_OK) return status;
    if (cli->action == NB6_ACTION_RESUME)
        status = resume_with(cli, cli->checkpoint, &text, err);
    else if ((status = nb6_input_kstart(&text, &kstart, err)) == NBC_OK)
        status = kstart > 1 ? restart(cli, &text, kstart, err) : begin(cli, &text, err);
    nb6_input_unload(&text);
    return status;
}

static void print_row(const char *name, const char *description, const char *missing)
{
    printf("  %-12s %s%s%s\n", name, description, missing ? ": not available: " : "", missing ? missing : "");
}

static void list_engines(void)
{
    static const char *const engine[][2] = {{"host", "blocks on the processor; a GPU makes regular forces"},
                                            {"device", "all bodies on a GPU"},
                                            {"emulated", "the stages of the device engine in plain C, for tests"}};
    char why[NB6_ENGINE_WHY];
    printf("engine (--engine)\n");
    for (size_t k = 0; k < sizeof engine / sizeof *engine; k++)
        print_row(engine[k][0], engine[k][1], nb6_engine_missing(engine[k][0], why));
}

static void list_devices(void)
{
    printf("regular force (--device)\n");
    for (int k = 0; gpunb_backend(k); k++) {
        const struct gpunb_backend_info *b = gpunb_backend(k);
        print_row(b->name, b->description, b->available ? NULL : b->reason);
    }
    printf("irregular force (--irr-backend)\n");
    for (int k = 0; gpuirr_backend(k); k++) {
        const struct gpuirr_backend_info *b = gpuirr_backend(k);
        print_row(b->name, b->description, b->available ? NULL : b->reason);
    }
    list_engines();
    printf("instruction sets (environment variable NBC_ISA)\n");
    for (int k = NBC_ISA_AVX512; k >= NBC_ISA_BASELINE; k--)
        print_row(nbc_isa_name(k), nbc_isa_text(k), nbc_isa_missing((enum nbc_isa)k));
}

/* Refused before the run, as bad input: for the libraries it is an argument. */
static int check_environment(const struct nb6_cli *cli, struct nbc_error *err)
{
    int no_forces = cli->action == NB6_ACTION_HELP || cli->action == NB6_ACTION_VERSION ||
                    cli->action == NB6_ACTION_HELP_INPUT || cli->action == NB6_ACTION_STATUS;
    return no_forces || nbc_isa_check(err) == NBC_OK ? NBC_OK : NBC_BAD_INPUT;
}

static int act(const struct nb6_cli *cli, struct nbc_error *err)
{
    const struct nb6_run_options run = run_options(cli);
    if (cli->walk) return nbc_fail(err, NBC_BAD_INPUT, "--walk: is an option of nbody6-collisionless");
    int status = check_environment(cli, err);
    if (status != NBC_OK) return status;
    switch (cli->action) {
    case NB6_ACTION_HELP:
        nb6_cli_usage(stdout);
        return NBC_OK;
    case NB6_ACTION_VERSION:
        printf("nbody6 %s\n", NB6_VERSION);
        return NBC_OK;
    case NB6_ACTION_LIST_DEVICES:
        list_devices();
        return NBC_OK;
    case NB6_ACTION_HELP_INPUT:
        return nb6_input_help(stdout, cli->help_name, cli->markdown, err);
    case NB6_ACTION_RESUME:
        if (cli->input) return with_input(cli, err);
        return cli->check ? nb6_run_show_changes(cli->checkpoint, &run, err)
                          : nb6_run_resume(cli->checkpoint, &run, err);
    case NB6_ACTION_STATUS:
        return nb6_status_print(cli->status_of ? cli->status_of : ".", err);
    case NB6_ACTION_TO_NAMELIST:
        return to_namelist(cli, err);
    case NB6_ACTION_RUN:
    case NB6_ACTION_CHECK:
    case NB6_ACTION_INIT_ONLY:
        break;
    }
    return with_input(cli, err);
}

/* The printed text is the product of the command: it is no run with files. */
static int prints_its_product(const struct nb6_cli *cli)
{
    return cli->check ||
           (cli->action != NB6_ACTION_RUN && cli->action != NB6_ACTION_RESUME && cli->action != NB6_ACTION_INIT_ONLY);
}

int main(int argc, char **argv)
{
    struct nbc_error err = {0};
    struct nb6_cli cli;
    nb6_screen_open("nbody6");
    char checkpoint[NB6_NAME_BYTES];
    int status = nb6_cli_parse(argc, argv, &cli, &err);
    if (status == NBC_OK) status = nb6_cli_find_checkpoint(&cli, checkpoint, &err);
    int needs_input = cli.action <= NB6_ACTION_TO_NAMELIST;
    if (status == NBC_OK && needs_input && !cli.input) {
        if (isatty(STDIN_FILENO)) {
            nb6_cli_usage(stderr);
            return nbc_status_exit_code(NBC_BAD_INPUT);
        }
        cli.input = "-";
    }
    if (status == NBC_OK && cli.threads) omp_set_num_threads(cli.threads);
    if (status == NBC_OK) status = act(&cli, &err);
    return nb6_screen_end(status, prints_its_product(&cli), &err);
}
