#include "nbody6/app/run_names.h"

#include "common/file.h"
#include "common/nbc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int nb6_run_names_set(struct nb6_run_names *names, const char *prefix, struct nbc_error *err)
{
    const struct {
        char *to;
        const char *ending;
    } all[] = {{names->prefix, ""},           {names->log, ".log.csv"},        {names->events, ".events.jsonl"},
               {names->escapers, ".esc.csv"}, {names->checkpoint, ".ckpt.h5"}, {names->previous, ".ckpt.prev.h5"},
               {names->fault, ".fault.h5"},   {names->retry, ".retry.h5"},     {names->table, ".dat10"},
               {names->initial, ".init.h5"},  {names->stop, ".STOP"},          {names->lock, ".lock"}};
    size_t length = strlen(prefix);
    if (length == 0 || prefix[length - 1] == '/')
        return nbc_fail(err, NBC_BAD_INPUT, "--out \"%s\": the name of the output files is missing", prefix);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (nbc_file_name(all[k].to, NB6_NAME_BYTES - 64, prefix, all[k].ending))
            return nbc_fail(err, NBC_BAD_INPUT, "--out: the name of the output files has %zu bytes, too many", length);
    return NBC_OK;
}

int nb6_run_names_of_checkpoint(const char *checkpoint, char prefix[NB6_NAME_BYTES])
{
    static const char *const endings[] = {".ckpt.h5", ".ckpt.prev.h5", ".fault.h5"};
    size_t length = strlen(checkpoint);
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
        size_t ending = strlen(endings[k]);
        if (length <= ending || length - ending >= NB6_NAME_BYTES) continue;
        if (strcmp(checkpoint + length - ending, endings[k]) != 0 || checkpoint[length - ending - 1] == '/') continue;
        memcpy(prefix, checkpoint, length - ending);
        prefix[length - ending] = 0;
        return 1;
    }
    return 0;
}

void nb6_run_names_snapshot(const struct nb6_run_names *names, int64_t number, char path[NB6_NAME_BYTES + 40])
{
    snprintf(path, NB6_NAME_BYTES + 40, "%s.snap.%05lld.h5", names->prefix, (long long)number);
}

/* 1 for "NAME.snap.00012.h5", name without folder */
static int is_snapshot(const char *file, const char *name)
{
    static const char middle[] = ".snap.";
    size_t length = strlen(name);
    if (strncmp(file, name, length) != 0 || strncmp(file + length, middle, sizeof middle - 1) != 0) return 0;
    const char *digits = file + length + sizeof middle - 1, *end = digits;
    while (isdigit((unsigned char)*end)) end++;
    return end - digits >= 5 && strcmp(end, ".h5") == 0;
}

static void split(const char *prefix, char folder[NB6_NAME_BYTES], const char **name)
{
    const char *slash = strrchr(prefix, '/');
    *name = slash ? slash + 1 : prefix;
    if (slash)
        snprintf(folder, NB6_NAME_BYTES, "%.*s", slash == prefix ? 1 : (int)(slash - prefix), prefix);
    else
        snprintf(folder, NB6_NAME_BYTES, ".");
}

int nb6_run_names_each_snapshot(const struct nb6_run_names *names, int (*visit)(void *context, const char *path),
                                void *context, struct nbc_error *err)
{
    char folder[NB6_NAME_BYTES], path[2 * NB6_NAME_BYTES];
    const char *name;
    split(names->prefix, folder, &name);
    DIR *directory = opendir(folder);
    if (!directory)
        return nbc_fail(err, nbc_file_status(errno), "%s: cannot list the folder: %s", folder, strerror(errno));
    const struct dirent *entry;
    int status = NBC_OK;
    while (!status && (entry = readdir(directory))) {
        if (!is_snapshot(entry->d_name, name)) continue;
        snprintf(path, sizeof path, "%s%s", names->prefix, entry->d_name + strlen(name));
        status = visit(context, path);
    }
    closedir(directory);
    return status;
}

/* Work on existing files: gather their names in `found`, or remove them. */
struct visit {
    int remove, count;
    char found[600];
    struct nbc_error *err;
};

static int visit_file(void *context, const char *path)
{
    struct visit *visit = context;
    if (!nbc_file_exists(path)) return NBC_OK;
    if (visit->remove) {
        if (unlink(path))
            return nbc_fail(visit->err, nbc_file_status(errno), "%s: cannot remove: %s", path, strerror(errno));
        return NBC_OK;
    }
    size_t used = strlen(visit->found);
    if (visit->count++ < 4) snprintf(visit->found + used, sizeof visit->found - used, "%s%s", used ? ", " : "", path);
    return NBC_OK;
}

int nb6_run_names_check(const struct nb6_run_names *names, int overwrite, struct nbc_error *err)
{
    const char *const files[] = {names->log,      names->events, names->escapers, names->checkpoint,
                                 names->previous, names->fault,  names->retry};
    struct visit visit = {.remove = overwrite, .err = err};
    char folder[NB6_NAME_BYTES];
    const char *name;
    int status = NBC_OK;
    split(names->prefix, folder, &name);
    if (access(folder, W_OK | X_OK))
        return nbc_fail(err, NBC_FILE, "%s: cannot write to this folder: %s; --out PATH/NAME puts the files elsewhere",
                        folder, strerror(errno));
    for (size_t k = 0; k < sizeof files / sizeof files[0] && !status; k++) status = visit_file(&visit, files[k]);
    if (!status) status = nb6_run_names_each_snapshot(names, visit_file, &visit, err);
    if (status || !visit.count) return status;
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "there are files of an earlier run: %s%s; --out NAME gives this one another name, --overwrite removes "
        "them, and --resume %s would continue the earlier run",
        visit.found, visit.count > 4 ? ", ..." : "", names->checkpoint);
}
