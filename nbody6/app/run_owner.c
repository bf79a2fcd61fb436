#include "nbody6/app/run_owner.h"

#include "common/nbc.h"
#include "nbody6/app/run_names.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/run_id.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

struct owner {
    const char *id, *checkpoint;
    struct nbc_error *err;
};

static int compare(const struct owner *owner, const char *path, const char *found)
{
    if (strcmp(found, owner->id) == 0) return NBC_OK;
    return nbc_fail(
        owner->err, NBC_BAD_INPUT,
        "%s belongs to %s%s, but %s to run %s; nothing was changed: put the checkpoint of the same run there, "
        "move the files of the other run away, or let this one go on under another name with --out NAME",
        path, found[0] ? "run " : "no run that is known", found, owner->checkpoint, owner->id);
}

static int check_text(const struct owner *owner, const char *path)
{
    char found[NB6_RUN_ID_BYTES];
    int64_t bytes;
    int status = nb6_run_id_of_text(path, found, &bytes, owner->err);
    return status || bytes == 0 ? status : compare(owner, path, found);
}

static int cannot_be_known(const struct owner *owner, const struct nbc_error *why)
{
    if (why->status == NBC_NO_MEMORY) return nbc_fail(owner->err, NBC_NO_MEMORY, "%s", why->text);
    return nbc_fail(owner->err, NBC_BAD_INPUT,
                    "it cannot be known to which run a snapshot belongs (%s); nothing was changed: move that file away",
                    why->text);
}

static int check_snapshot(void *context, const char *path)
{
    const struct owner *owner = context;
    char found[NB6_RUN_ID_BYTES];
    struct nbc_error why = {0};
    if (nb6_run_id_of_snapshot(path, found, &why) == NBC_OK) return compare(owner, path, found);
    return cannot_be_known(owner, &why);
}

static void read_id(void *path)
{
    char found[NB6_RUN_ID_BYTES];
    nb6_run_id_of_snapshot(path, found, NULL);
}

static int try_and_check_snapshot(void *context, const char *path)
{
    struct nbc_error why = {0};
    if (nb6_run_id_try(path, read_id, (void *)(uintptr_t)path, &why)) return cannot_be_known(context, &why);
    return check_snapshot(context, path);
}

struct snapshots {
    const struct nb6_run_names *names;
    struct owner owner;
};

static void check_all(void *context)
{
    struct snapshots *all = context;
    nb6_run_names_each_snapshot(all->names, check_snapshot, &all->owner, all->owner.err);
}

/* One child process tries all of them, which may be thousands; one for each if that fails, to find the damaged one. */
static int check_snapshots(const struct nb6_run_names *names, struct owner *owner)
{
    struct snapshots all = {names, *owner};
    const int tried = nb6_run_id_try(names->log, check_all, &all, NULL) == NBC_OK;
    return nb6_run_names_each_snapshot(names, tried ? check_snapshot : try_and_check_snapshot, owner, owner->err);
}

static int is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int check_checkpoint(const struct owner *owner, const char *path)
{
    struct nb6_config config;
    struct nb6_run_state state;
    struct nbc_error ignored = {0};
    if (is_same_file(path, owner->checkpoint)) return NBC_OK;
    if (nb6_checkpoint_read_config(path, &config, &state, &ignored)) return NBC_OK;
    return compare(owner, path, state.id);
}

int nb6_run_owner_check(const struct nb6_run_names *names, const char *id, const char *checkpoint,
                        struct nbc_error *err)
{
    const char *const texts[] = {names->log, names->events, names->escapers};
    const char *const checkpoints[] = {names->checkpoint, names->previous, names->fault};
    struct owner owner = {id, checkpoint, err};
    int status = NBC_OK;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0] && !status; k++) status = check_text(&owner, texts[k]);
    if (!status) status = check_snapshots(names, &owner);
    for (size_t k = 0; k < sizeof checkpoints / sizeof checkpoints[0] && !status; k++)
        status = check_checkpoint(&owner, checkpoints[k]);
    return status;
}
