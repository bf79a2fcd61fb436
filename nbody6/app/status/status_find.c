#include "nbody6/app/status/status_find.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/app/run_lock.h"
#include "nbody6/app/run_names.h"
#include "nbody6/output/run_id.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int has_log(const char *log)
{
    char id[NB6_RUN_ID_BYTES];
    int64_t bytes;
    return nb6_run_id_of_text(log, id, &bytes, NULL) == NBC_OK && id[0];
}

/* Other programs have files of this ending as well. */
static int has_lock(const char *lock)
{
    char holder[NB6_HOLDER_BYTES];
    return nb6_run_lock_look(lock, holder) != NB6_LOCK_NONE && strncmp(holder, "process ", 8) == 0;
}

static int is_run(const struct nb6_run_names *names)
{
    return nbc_file_exists(names->checkpoint) || nbc_file_exists(names->previous) || has_log(names->log) ||
           has_lock(names->lock);
}

static int append(struct nb6_found_runs *found, const char *prefix, struct nbc_error *err)
{
    if (found->count == found->room) {
        const size_t room = 2 * found->room + 4;
        void *more = nbc_realloc(found->prefix, found->room, room, sizeof *found->prefix);
        if (!more) return nbc_fail(err, NBC_NO_MEMORY, "not enough memory for the names of %zu runs", room);
        found->prefix = more;
        found->room = room;
    }
    snprintf(found->prefix[found->count++], sizeof found->prefix[0], "%s", prefix);
    return NBC_OK;
}

/* @return 1: a file of this name may be that of a run with a name that it begins with */
static int name_of_run(const char *file, char name[NB6_NAME_BYTES])
{
    static const char *const endings[] = {".log.csv", ".ckpt.h5", ".ckpt.prev.h5", ".lock"};
    snprintf(name, NB6_NAME_BYTES, "%s", file);
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
        const size_t length = strlen(name), ending = strlen(endings[k]);
        if (length <= ending || strcmp(name + length - ending, endings[k]) != 0) continue;
        name[length - ending] = 0;
        return 1;
    }
    return 0;
}

static int is_known(const struct nb6_found_runs *found, const char *prefix)
{
    for (size_t k = 0; k < found->count; k++)
        if (strcmp(found->prefix[k], prefix) == 0) return 1;
    return 0;
}

static int take(struct nb6_found_runs *found, const char *prefix, struct nbc_error *err)
{
    struct nb6_run_names names;
    if (is_known(found, prefix) || nb6_run_names_set(&names, prefix, NULL) || !is_run(&names)) return NBC_OK;
    return append(found, prefix, err);
}

static int list(const char *folder, struct nb6_found_runs *found, struct nbc_error *err)
{
    char name[NB6_NAME_BYTES], prefix[2 * NB6_NAME_BYTES];
    const char *between = strcmp(folder, ".") == 0 ? "" : folder[strlen(folder) - 1] == '/' ? folder : NULL;
    DIR *directory = opendir(folder);
    if (!directory)
        return nbc_fail(err, nbc_file_status(errno), "%s: cannot list the folder: %s", folder, strerror(errno));
    const struct dirent *entry;
    int status = NBC_OK;
    while (!status && (entry = readdir(directory))) {
        if (!name_of_run(entry->d_name, name)) continue;
        if (between)
            snprintf(prefix, sizeof prefix, "%s%s", between, name);
        else
            snprintf(prefix, sizeof prefix, "%s/%s", folder, name);
        status = take(found, prefix, err);
    }
    closedir(directory);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

int nb6_status_find(const char *where, struct nb6_found_runs *found, struct nbc_error *err)
{
    struct stat about;
    const int is_folder = stat(where, &about) == 0 && S_ISDIR(about.st_mode);
    *found = (struct nb6_found_runs){0};
    int status = is_folder ? list(where, found, err) : take(found, where, err);
    if (!status && found->count == 0)
        status = nbc_fail(err, NBC_BAD_INPUT,
                          is_folder ? "--status: %s: no run in this folder: no NAME.log.csv, NAME.ckpt.h5 or NAME.lock"
                                    : "--status: %s: there is no such folder, and no run of this name",
                          where);
    if (status) {
        nbc_free(found->prefix);
        found->prefix = NULL;
        return status;
    }
    qsort(found->prefix, found->count, sizeof *found->prefix, by_name);
    return NBC_OK;
}
