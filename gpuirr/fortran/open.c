/* The line about the backend in use, for programs that choose nothing. */
#include "gpuirr/fortran/common.h"

#include "common/line.h"
#include "gpuirr/backend.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

void gpuirr_fortran_announce(const char *library, int rank, const gpuirr_t *handle)
{
    static struct nbc_line said;
    struct nbc_line line = {.used = 0};
    const struct gpuirr_backend_info *in_use = gpuirr_info(handle), *info;
    if (nbc_is_quiet()) return;
    nbc_line_add(&line, "%s " NBC_VERSION, library);
    if (rank >= 0) nbc_line_add(&line, ", rank %d", rank);
    nbc_line_add(&line, ": backend %s on %s, %d threads, precision %s", in_use->name, gpuirr_place(handle),
                 omp_get_max_threads(), strcmp(in_use->name, "ref") != 0 ? "twofloat" : "double");
    for (int k = 0; (info = gpuirr_backend(k)) && info != in_use; k++) {
        nbc_line_add(&line, "%s%s (", k ? ", " : "; not used: ", info->name);
        if (info->available)
            nbc_line_add(&line, "GPUIRR_BACKEND is %.40s)", nbc_variable("GPUIRR_BACKEND"));
        else
            nbc_line_add(&line, "%s)", info->reason);
    }
    if (!strcmp(line.text, said.text)) return;
    fprintf(stderr, "%s\n", line.text);
    said = line;
}
