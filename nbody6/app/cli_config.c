#include "nbody6/app/cli_config.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/app/cli.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"

#include <stdio.h>
#include <string.h>

void nb6_cli_set_name(const struct nb6_cli *cli, struct nb6_config *config)
{
    const char *from = cli->out;
    if (!from && strcmp(cli->input, "-") == 0) from = "nbody6";
    const char *slash = from ? NULL : strrchr(cli->input, '/');
    const char *base = from ? from : slash ? slash + 1 : cli->input;
    snprintf(config->run.name, sizeof config->run.name, "%s", base);
    char *dot = from ? NULL : strrchr(config->run.name, '.');
    if (dot && dot != config->run.name) *dot = '\0';
}

static int set_text(char *field, size_t size, const char *option, const char *value, struct nbc_error *err)
{
    if (!value) return NBC_OK;
    if (strlen(value) >= size)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the name is longer than %zu characters", option, size - 1);
    strcpy(field, value);
    return NBC_OK;
}

int nb6_cli_override(const struct nb6_cli *cli, struct nb6_config *config, struct nbc_error *err)
{
    struct nb6_run_config *r = &config->run;
    if (cli->t_crit > 0) {
        r->t_crit = cli->t_crit;
        r->t_crit_open = 0;
    }
    if (cli->wall_limit_s > 0) r->wall_limit_s = cli->wall_limit_s;
    if (cli->set_checkpoint_interval) r->checkpoint_interval_s = cli->checkpoint_interval_s;
    if (cli->force_check) r->force_check = 1;
    int status = set_text(r->device, sizeof r->device, "--device", cli->device, err);
    if (status == NBC_OK)
        status = set_text(r->irr_backend, sizeof r->irr_backend, "--irr-backend", cli->irr_backend, err);
    if (status == NBC_OK && cli->engine) status = nb6_input_set(config, "ENGINE", cli->engine, err);
    if (status == NBC_OK && cli->on_device_loss) status = nb6_input_set(config, "DEVLOSS", cli->on_device_loss, err);
    if (status == NBC_OK && cli->precision) status = nb6_input_set(config, "PREC", cli->precision, err);
    if (status == NBC_OK && cli->walk) status = nb6_input_set(config, "WALK", cli->walk, err);
    if (status == NBC_OK && cli->out && strlen(cli->out) >= sizeof r->name)
        status = nbc_fail(err, NBC_BAD_INPUT, "--out: the name is longer than %zu characters", sizeof r->name - 1);
    if (status != NBC_OK) return status;
    nb6_cli_set_name(cli, config);
    return nb6_config_check(config, err);
}

int nb6_cli_find_checkpoint(struct nb6_cli *cli, char path[NB6_NAME_BYTES], struct nbc_error *err)
{
    static const char ending[] = ".ckpt.h5";
    const char *given = cli->checkpoint, *dot = given ? strrchr(given, '.') : NULL;
    if (!given || nbc_file_exists(given)) return NBC_OK;
    const int has_dot = dot && dot[1] == '\0'; /* as shells complete the names of several files */
    if (nbc_file_name(path, NB6_NAME_BYTES, given, ending + has_dot))
        return nbc_fail(err, NBC_BAD_INPUT, "--resume: the name of the checkpoint is too long");
    if (nbc_file_exists(path)) {
        cli->checkpoint = path;
        return NBC_OK;
    }
    if (dot && strcmp(dot, ".h5") == 0) return NBC_OK; /* its reader knows whether the other one is there */
    return nbc_fail(
        err, NBC_FILE,
        "--resume %s: there is no such checkpoint, nor %s; `nbody6 --status` shows the runs in a folder and "
        "how to continue them",
        given, path);
}
