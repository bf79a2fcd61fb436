/** The command line of nbody6, parsed. */
#ifndef NB6_CLI_H
#define NB6_CLI_H

#include "common/nbc.h"

#include <stdio.h>

enum nb6_action {
    NB6_ACTION_RUN,
    NB6_ACTION_CHECK,
    NB6_ACTION_INIT_ONLY,
    NB6_ACTION_TO_NAMELIST,
    NB6_ACTION_RESUME,
    NB6_ACTION_STATUS,
    NB6_ACTION_HELP,
    NB6_ACTION_HELP_INPUT,
    NB6_ACTION_VERSION,
    NB6_ACTION_LIST_DEVICES
};

/** Zero or NULL: not given. */
struct nb6_cli {
    enum nb6_action action;
    const char *input; /**< NULL: none named */
    const char *checkpoint, *out, *help_name, *status_of, *device, *irr_backend, *engine, *on_device_loss, *precision,
        *walk;
    int check; /**< 1: --check with --resume: show how the run would go on */
    int markdown, dynamics_only, quiet, overwrite, force_check, profile, set_checkpoint_interval;
    int threads;
    double t_crit, wall_limit_s, checkpoint_interval_s;
};

/** @return NBC_OK; NBC_BAD_INPUT (unknown or contradictory options: names them and similar ones) */
int nb6_cli_parse(int argc, char **argv, struct nb6_cli *cli, struct nbc_error *err);

/** Usage and options. */
void nb6_cli_usage(FILE *out);

#endif
