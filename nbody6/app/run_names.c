#include "nbody6/app/run_names.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/app/shell_word.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

/* A file without its folder: 1 if it is to be visited. */
typedef int chooser(const struct nb6_run_names *names, const char *file, const char *name);

static int is_snapshot_of(const struct nb6_run_names *names, const char *file, const char *name)
{
    (void)names;
    return is_snapshot(file, name);
}

static int each_file(const struct nb6_run_names *names, chooser *chosen, int (*visit)(void *context, const char *path),
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
        if (!chosen(names, entry->d_name, name)) continue;
        snprintf(path, sizeof path, "%s%s", names->prefix, entry->d_name + strlen(name));
        status = visit(context, path);
    }
    closedir(directory);
    return status;
}

int nb6_run_names_refuse_folder(const struct nb6_run_names *names, struct nbc_error *err)
{
    char folder[NB6_NAME_BYTES], word[NB6_SHELL_WORD];
    const char *name;
    struct stat status;
    split(names->prefix, folder, &name);
    if (stat(folder, &status) == 0 || errno != ENOENT) return NBC_OK; /* other reasons show when it is used */
    return nbc_fail(err, NBC_FILE, "%s: there is no such folder for the files of this run; `mkdir -p %s` makes it",
                    folder, nb6_shell_word(folder, word));
}

int nb6_run_names_each_snapshot(const struct nb6_run_names *names, int (*visit)(void *context, const char *path),
                                void *context, struct nbc_error *err)
{
    return each_file(names, is_snapshot_of, visit, context, err);
}

/* ---- files left by a killed process ---- */

static int is_temporary_of(const struct nb6_run_names *names, const char *file, const char *name)
{
    const char *const files[] = {names->checkpoint, names->previous, names->fault,
                                 names->retry,      names->table,    names->initial};
    const size_t length = nbc_file_of_temporary(file), folder = strlen(names->prefix) - strlen(name);
    char whole[NB6_NAME_BYTES];
    if (length == 0 || length >= sizeof whole) return 0;
    memcpy(whole, file, length);
    whole[length] = 0;
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++)
        if (strcmp(whole, files[k] + folder) == 0) return 1;
    return is_snapshot(whole, name);
}

static int remove_temporary(void *context, const char *path)
{
    struct stat status;
    (void)context;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) unlink(path);
    return NBC_OK;
}

void nb6_run_names_sweep(const struct nb6_run_names *names)
{
    each_file(names, is_temporary_of, remove_temporary, NULL, NULL);
}

/* ---- files of an earlier run ---- */

enum { FILES = 7 };

/* The files of a session of a run, but snapshots. */
static void list_files(const struct nb6_run_names *names, const char *files[FILES])
{
    const char *const all[FILES] = {names->log,      names->events, names->escapers, names->checkpoint,
                                    names->previous, names->fault,  names->retry};
    memcpy(files, all, sizeof all);
}

static int refuse_special(void *context, const char *path)
{
    return nbc_file_refuse_special(path, context);
}

int nb6_run_names_refuse_special(const struct nb6_run_names *names, struct nbc_error *err)
{
    const char *files[FILES];
    int status = NBC_OK;
    list_files(names, files);
    for (int k = 0; k < FILES && !status; k++) status = nbc_file_refuse_special(files[k], err);
    return status ? status : each_file(names, is_snapshot_of, refuse_special, err, err);
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
    const char *files[FILES];
    struct visit visit = {.remove = overwrite, .err = err};
    char folder[NB6_NAME_BYTES];
    const char *name;
    int status = NBC_OK;
    split(names->prefix, folder, &name);
    if (access(folder, W_OK | X_OK))
        return nbc_fail(err, NBC_FILE, "%s: cannot write to this folder: %s; --out PATH/NAME puts the files elsewhere",
                        folder, strerror(errno));
    list_files(names, files);
    for (int k = 0; k < FILES && !status; k++) status = visit_file(&visit, files[k]);
    if (!status) status = nb6_run_names_each_snapshot(names, visit_file, &visit, err);
    if (status || !visit.count) return status;
    char word[NB6_SHELL_WORD];
    const int goes_on = nbc_file_exists(names->checkpoint);
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "there are files of an earlier run: %s%s; --out NAME gives this one another name, --overwrite removes "
        "them%s%s%s",
        visit.found, visit.count > 4 ? ", ..." : "", goes_on ? ", and --resume " : "",
        goes_on ? nb6_shell_word(names->checkpoint, word) : "", goes_on ? " would continue the earlier run" : "");
}
