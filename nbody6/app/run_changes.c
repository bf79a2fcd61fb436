#include "nbody6/app/run_changes.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/app/run.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/output/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int nb6_run_take_changes(const struct nb6_run_options *options, double t, FILE *notes, struct nb6_config *config,
                         struct nb6_changes *changes, struct nbc_error *err)
{
    const struct nb6_input_options input = {.dynamics_only = options->dynamics_only, .notes = notes};
    changes->count = 0;
    return options->changes ? nb6_input_change(options->changes, &input, t, config, changes, err) : NBC_OK;
}

/* The end by the command line stands above that of an input. */
static int set_end(const char *checkpoint, const struct nb6_run_options *options, double t, struct nb6_config *config,
                   struct nbc_error *err)
{
    if (options->t_crit > 0) config->run.t_crit = options->t_crit;
    if (config->run.t_crit >= t) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s %.10g: %s is at t = %.10g already",
                    options->t_crit > 0 ? "--tcrit" : "TCRIT =", config->run.t_crit, checkpoint, t);
}

int nb6_run_show_changes(const char *checkpoint, const struct nb6_run_options *options, struct nbc_error *err)
{
    struct nb6_config config;
    struct nb6_run_state state;
    struct nb6_changes changes;
    int status = nb6_checkpoint_read_config(checkpoint, &config, &state, err);
    if (!status) status = nb6_run_take_changes(options, state.t, stderr, &config, &changes, err);
    if (!status) status = set_end(checkpoint, options, state.t, &config, err);
    if (status) return status;
    printf("%s, t = %.12g, continues to t = %.12g%s\n", checkpoint, state.t, config.run.t_crit,
           changes.count ? "; changes:" : "; nothing changes");
    for (int k = 0; k < changes.count; k++)
        printf("  %-8s %s -> %s\n", changes.change[k].name, changes.change[k].before, changes.change[k].after);
    if (state.t_ended > 0 && state.t_ended >= config.run.t_crit)
        printf("  it has reached its end; --tcrit T takes it further\n");
    return NBC_OK;
}

/* ---- which checkpoint ---- */

static int is_checkpoint(const char *name)
{
    static const char ending[] = ".ckpt.h5";
    const size_t length = strlen(name), bytes = sizeof ending - 1;
    return length > bytes && strcmp(name + length - bytes, ending) == 0;
}

/* Checkpoints in the working directory: how many, and their names as far as there is room. */
static int list_checkpoints(char *names, size_t size, int *count, struct nbc_error *err)
{
    DIR *directory = opendir(".");
    if (!directory)
        return nbc_fail(err, nbc_file_status(errno), "the working directory cannot be listed: %s", strerror(errno));
    const struct dirent *entry;
    size_t used = 0;
    *count = 0;
    names[0] = 0;
    while ((entry = readdir(directory))) {
        if (!is_checkpoint(entry->d_name)) continue;
        const int n = snprintf(names + used, size - used, "%s%s", used ? ", " : "", entry->d_name);
        if (n > 0 && (size_t)n < size - used) used += (size_t)n;
        ++*count;
    }
    closedir(directory);
    return NBC_OK;
}

int nb6_run_find_checkpoint(const char *name, const char *input, char *path, struct nbc_error *err)
{
    char names[512];
    int count = 0;
    if (nbc_file_name(path, NB6_PATH_MAX, name, ".ckpt.h5"))
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the name of the run is too long", input);
    if (nbc_file_exists(path)) return NBC_OK;
    int status = list_checkpoints(names, sizeof names, &count, err);
    if (status) return status;
    if (count == 1 && !nbc_file_name(path, NB6_PATH_MAX, names, "")) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: with KSTART > 1 a run continues from its checkpoint, and there is no %s.ckpt.h5%s%s; name it: "
                    "nbody6 --resume NAME.ckpt.h5 %s",
                    input, name, count ? " but several others: " : " nor another one in the working directory",
                    count ? names : "", input);
}
