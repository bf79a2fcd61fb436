/* The table of backends, which backends.def lists, and the choice among them. */
#include "gpunb/backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKEND(name) extern const struct gpunb_backend gpunb_backend_##name;
#include "gpunb/backends.def"
#undef BACKEND

static const struct gpunb_backend *const rows[] = {
#define BACKEND(name) &gpunb_backend_##name,
#include "gpunb/backends.def"
#undef BACKEND
};

enum { N_ROWS = (int)(sizeof rows / sizeof rows[0]) };

/* A row is filled when it is first read: to detect a GPU takes a fifth of a second. */
static struct gpunb_backend_info infos[N_ROWS];
static pthread_mutex_t infos_lock = PTHREAD_MUTEX_INITIALIZER;

static void fill_info(int k)
{
    if (infos[k].name) return;
    const char *reason = rows[k]->why_unavailable();
    infos[k] = (struct gpunb_backend_info){
        .name = rows[k]->name,
        .description = rows[k]->description,
        .available = reason[0] == '\0',
        .reason = reason,
        .ns_per_pair = rows[k]->ns_per_pair,
    };
}

int gpunb_backend_count(void)
{
    return N_ROWS;
}

const struct gpunb_backend *gpunb_backend_row(int k)
{
    return rows[k];
}

const struct gpunb_backend_info *gpunb_backend(int k)
{
    if (k < 0 || k >= N_ROWS) return NULL;
    pthread_mutex_lock(&infos_lock);
    fill_info(k);
    pthread_mutex_unlock(&infos_lock);
    return &infos[k];
}

const char *gpunb_backend_name(int k)
{
    return k >= 0 && k < N_ROWS ? rows[k]->name : NULL;
}

static int is_auto(const char *request)
{
    return !request || !request[0] || !strcmp(request, "auto");
}

/* "avx512 avx2 (not on this processor) ...": the backends for a message to the user. */
static void list_names(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < N_ROWS && used < size; k++) {
        const struct gpunb_backend_info *info = gpunb_backend(k);
        int n = info->available ? snprintf(text + used, size - used, " %s", info->name)
                                : snprintf(text + used, size - used, " %s (%s)", info->name, info->reason);
        used += (size_t)n;
    }
}

static int is_preferred(int k, size_t n_j_max)
{
    return n_j_max >= rows[k]->n_worth && gpunb_backend(k)->available;
}

/* "cuda:0,2" -> "cuda" and "0,2" */
static size_t name_length(const char *request, const char **devices)
{
    const char *colon = strchr(request, ':');
    *devices = colon ? colon + 1 : "";
    return colon ? (size_t)(colon - request) : strlen(request);
}

int gpunb_backend_select(const char *request, size_t n_j_max, const char **devices, struct nbc_error *err)
{
    const char *origin = "asked for";
    if (is_auto(request)) {
        request = getenv("GPUNB_BACKEND");
        origin = "in $GPUNB_BACKEND";
    }
    size_t length = name_length(is_auto(request) ? "" : request, devices);
    for (int k = 0; k < N_ROWS; k++) {
        const char *name = rows[k]->name;
        int meant = strlen(name) == length && !strncmp(request ? request : "", name, length);
        if (!(is_auto(request) ? is_preferred(k, n_j_max) : meant)) continue;
        const struct gpunb_backend_info *info = gpunb_backend(k);
        if (info->available && (!(*devices)[0] || rows[k]->takes_devices)) return k;
        nbc_fail(err, NBC_UNAVAILABLE, "gpunb_create: backend '%s' (%s) is not available: %s", request, origin,
                 info->available ? "it takes no list of devices" : info->reason);
        return -1;
    }
    char names[512];
    list_names(names, sizeof names);
    nbc_fail(err, NBC_UNAVAILABLE, "gpunb_create: no backend '%s' (%s); known:%s", request, origin, names);
    return -1;
}
