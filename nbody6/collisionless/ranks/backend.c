#include "nbody6/collisionless/ranks/backend.h"

#include "device/device.h"
#include "gpunb/backend.h"
#include "nbody6/world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nb6_rank_backend_asked(const char *asked, int64_t n, char text[NB6_RANK_BACKEND_TEXT], int *is_choice,
                           struct nbc_error *err)
{
    const char *devices;
    const int row = gpunb_backend_select(asked, (size_t)n, &devices, err);
    if (row < 0) return NBC_UNAVAILABLE;
    const struct gpunb_backend *backend = gpunb_backend_row(row);
    const int length = snprintf(text, NB6_RANK_BACKEND_TEXT, "%s%s%s", backend->name, *devices ? ":" : "", devices);
    *is_choice = !asked && backend->takes_devices && !*devices;
    if (length < NB6_RANK_BACKEND_TEXT) return NBC_OK;
    return nbc_fail(err, NBC_UNAVAILABLE, "the list of devices %s is too long for several ranks", devices);
}

/* Of a backend that takes devices. */
static int count_devices(const char *name, const char **why)
{
    return nbd_count(strncmp(name, "cuda", 4) == 0 ? nbd_cuda : nbd_emulated, why);
}

int nb6_rank_backend_has_device(const struct nb6_world *world, const char *asked)
{
    const char *devices, *why;
    return gpunb_backend_select(asked, 1, &devices, NULL) >= 0 &&
           nb6_world_host_rank(world) < count_devices(asked, &why);
}

static int count_commas(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == ',';
    return n;
}

/* The k-th word of a list, which is not empty. */
static const char *word_of(const char *list, int k, int *length)
{
    for (; k > 0; k--) list = strchr(list, ',') + 1;
    *length = (int)strcspn(list, ",");
    return list;
}

int nb6_rank_backend_own(const struct nb6_world *world, const char *asked, char text[NB6_RANK_BACKEND_TEXT],
                         struct nbc_error *err)
{
    const char *devices, *why;
    const int row = gpunb_backend_select(asked, 1, &devices, err), place = nb6_world_host_rank(world);
    if (row < 0) return NBC_UNAVAILABLE;
    const struct gpunb_backend *backend = gpunb_backend_row(row);
    snprintf(text, NB6_RANK_BACKEND_TEXT, "%s", backend->name);
    if (!backend->takes_devices) return NBC_OK;
    if (*devices) {
        int length;
        const char *word = word_of(devices, place % (count_commas(devices) + 1), &length);
        snprintf(text, NB6_RANK_BACKEND_TEXT, "%s:%.*s", backend->name, length, word);
        return NBC_OK;
    }
    const int count = count_devices(backend->name, &why);
    if (count < 1) return nbc_fail(err, NBC_UNAVAILABLE, "backend %s has no devices: %s", backend->name, why);
    snprintf(text, NB6_RANK_BACKEND_TEXT, "%s:%d", backend->name, place % count);
    return NBC_OK;
}

int nb6_rank_backend_device(const char *own)
{
    const char *colon = strchr(own, ':');
    return colon ? atoi(colon + 1) : -1;
}
