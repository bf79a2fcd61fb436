/* Opening for programs that choose nothing: the options of the environment, and the line about the backend in use. */
#include "gpunb/fortran/common.h"

#include "common/line.h"
#include "gpunb/backend.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

/* Whether the backend is left to the library. */
static int is_free_choice(void)
{
    const char *backend = nbc_variable("GPUNB_BACKEND");
    return !*backend || !strcmp(backend, "auto");
}

static enum gpunb_precision wanted_precision(const char *call)
{
    char text[256];
    const char *wanted = nbc_variable("GPUNB_PRECISION");
    if (!*wanted) return GPUNB_PRECISION_DEFAULT;
    for (int p = GPUNB_PRECISION_DEFAULT; p <= GPUNB_DOUBLE; p++)
        if (!strcmp(wanted, gpunb_precision_name((enum gpunb_precision)p))) return (enum gpunb_precision)p;
    snprintf(text, sizeof text,
             "the environment variable GPUNB_PRECISION is '%.40s'; it must be float, twofloat or double, or not be set",
             wanted);
    gpunb_fortran_stop(call, NBC_BAD_ARGUMENT, text);
}

/* GPU_LIST selects the GPUs that it names, for any number of sources, unless GPUNB_BACKEND says otherwise. */
static const char *wanted_backend(const char *call)
{
    char text[512];
    const char *listed = nbc_variable("GPU_LIST");
    const struct gpunb_backend_info *info;
    if (!*listed || !is_free_choice()) return NULL;
    for (int k = 0; (info = gpunb_backend(k)); k++) {
        if (strcmp(info->name, "cuda") != 0 || info->available) continue;
        snprintf(text, sizeof text,
                 "the environment variable GPU_LIST is '%.40s', but there is no GPU to use: %s; to compute on the "
                 "processor, do not set it",
                 listed, info->reason);
        gpunb_fortran_stop(call, NBC_UNAVAILABLE, text);
    }
    return "cuda";
}

gpunb_t *gpunb_fortran_create(const char *call, int n_max)
{
    gpunb_t *made = NULL;
    struct nbc_error err = {0};
    const struct gpunb_options options = {.backend = wanted_backend(call), .precision = wanted_precision(call)};
    int status = gpunb_create(&made, (size_t)n_max, &options, &err);
    if (status != NBC_OK) gpunb_fortran_stop(call, status, err.text);
    return made;
}

/* Better backends than the one in use, each with the reason of its absence. */
static void add_unused(struct nbc_line *line, const struct gpunb_backend_info *in_use)
{
    const struct gpunb_backend_info *info;
    for (int k = 0; (info = gpunb_backend(k)) && info != in_use; k++) {
        nbc_line_add(line, "%s%s (", k ? ", " : "; not used: ", info->name);
        if (!info->available)
            nbc_line_add(line, "%s)", info->reason);
        else if (!is_free_choice())
            nbc_line_add(line, "GPUNB_BACKEND is %.40s)", nbc_variable("GPUNB_BACKEND"));
        else
            nbc_line_add(line, "from %zu sources on)", gpunb_backend_row(k)->n_worth);
    }
}

void gpunb_fortran_announce(const char *library, int rank, const gpunb_t *handle)
{
    static struct nbc_line said;
    struct nbc_line line = {.used = 0};
    char devices[512];
    const struct gpunb_backend_info *info = gpunb_info(handle);
    if (nbc_is_quiet()) return;
    gpunb_device_names(handle, devices, sizeof devices);
    nbc_line_add(&line, "%s " NBC_VERSION, library);
    if (rank >= 0) nbc_line_add(&line, ", rank %d", rank);
    nbc_line_add(&line, ": backend %s on %s, %d threads, precision %s", info->name, devices, omp_get_max_threads(),
                 gpunb_precision_name(gpunb_precision_in_use(handle)));
    add_unused(&line, info);
    if (!strcmp(line.text, said.text)) return;
    fprintf(stderr, "%s\n", line.text);
    said = line;
}
