/* Which stars a file in the GADGET layout has, and all files of its snapshot. */
#include "nbody6/model/particles_files.h"

#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_stored.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/particles_header.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTICLE_TYPES = 6, FIRST_USER_BLOCK = 512, MOST_FILES = 500 };

/* The signature stands at the beginning, or after a user block of 512, 1024, ... bytes. */
int nb6_particles_is_hdf5(const char *path)
{
    static const char signature[] = "\211HDF\r\n\032\n";
    char found[sizeof signature - 1];
    struct stat status;
    int is_one = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
    if (fd < 0) return 0;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        for (off_t at = 0; at < status.st_size && !is_one; at = at ? 2 * at : FIRST_USER_BLOCK)
            is_one = pread(fd, found, sizeof found, at) == (ssize_t)sizeof found &&
                     memcmp(found, signature, sizeof found) == 0;
    close(fd);
    return is_one;
}

/* ---- which stars ---- */

/* Rows of a dataset [n][3]; 0: it is not there, or has another shape. */
static int64_t places_in(struct nb6_hdf5 *file, const char *group)
{
    hsize_t shape[2] = {0, 0};
    if (!nb6_hdf5_has(file, file->file, group)) return 0;
    const hid_t object = H5Gopen2(file->file, group, H5P_DEFAULT);
    const int there = object >= 0 && nb6_hdf5_has(file, object, "Coordinates");
    const hid_t dataset = there ? H5Dopen2(object, "Coordinates", H5P_DEFAULT) : H5I_INVALID_HID;
    if (dataset >= 0) {
        const hid_t space = H5Dget_space(dataset);
        if (H5Sget_simple_extent_ndims(space) == 2) H5Sget_simple_extent_dims(space, shape, NULL);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    nb6_hdf5_close_object(object);
    return shape[1] == 3 && shape[0] <= INT32_MAX ? (int64_t)shape[0] : 0;
}

/* The group that COLUMNS names, or the only one that has particles. */
static int choose_group(struct nb6_hdf5 *file, const struct nb6_columns *columns, struct nb6_parts *s,
                        struct nbc_error *err)
{
    const char *path = file->path;
    char *name = s->name, others[80] = "";
    s->type = -1;
    if (columns->count > 1)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: a HDF5 file has no columns that COLUMNS could name; give it the group of "
                        "the stars, such as COLUMNS='PartType4', or remove it",
                        path);
    for (int k = 0; k < PARTICLE_TYPES; k++) {
        char group[24];
        snprintf(group, sizeof group, "PartType%d", k);
        if (columns->count == 1 ? strcmp(columns->name[0], group) != 0 : places_in(file, group) == 0) continue;
        if (name[0]) snprintf(others + strlen(others), sizeof others - strlen(others), " and %s", group);
        if (!name[0]) strcpy(name, group);
        s->type = k;
    }
    if (columns->count == 1) strcpy(name, columns->name[0]);
    if (file->status) return file->status;
    if (others[0])
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: %s%s have particles; say which are the stars, for instance with "
                        "COLUMNS='%s' in &INMODEL",
                        path, name, others, name);
    if (name[0] && places_in(file, name) > 0) return NBC_OK;
    if (file->status) return file->status;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: no stars in the GADGET layout%s%s: a group /PartType0 to /PartType5 with Coordinates [N][3], "
                    "Velocities and Masses is needed; a checkpoint of nbody6 is continued by `nbody6 --resume`",
                    path, name[0] ? " in group " : "", name);
}

/* ---- in which files ---- */

/* The stars of an open file. Rows that are not stored ask for no memory. */
static int find_stars(const struct nb6_parts *s, struct nb6_part *part, struct nb6_particles_count *count,
                      struct nbc_error *err)
{
    struct nb6_hdf5 *file = &part->file;
    *count = (struct nb6_particles_count){1, -1};
    part->n = places_in(file, s->name);
    if (part->n > 0) {
        part->group = nb6_hdf5_open_group(file, file->file, s->name);
        const hid_t dataset = file->status ? H5I_INVALID_HID : H5Dopen2(part->group, "Coordinates", H5P_DEFAULT);
        nb6_hdf5_check_stored(file, nb6_hdf5_check(file, dataset, "open dataset", "Coordinates"), "Coordinates");
        if (dataset >= 0) H5Dclose(dataset);
    }
    return file->status || s->type < 0 ? file->status : nb6_particles_count(file, s->type, part->n, count, err);
}

int nb6_part_open(const char *path, struct nb6_part *part, struct nbc_error *err)
{
    *part = (struct nb6_part){.group = -1};
    return nb6_hdf5_open(&part->file, path, err);
}

static void close_part(struct nb6_part *part)
{
    nb6_hdf5_close_object(part->group);
    nb6_hdf5_close(&part->file);
}

/* "X.K.hdf5" is one of X.0.hdf5, X.1.hdf5, ...   @return 1; 0: the name has no such number */
static int name_of_part(const char *path, int k, char name[NB6_HDF5_PATH])
{
    const char *folder = strrchr(path, '/'), *base = folder ? folder + 1 : path, *end = strrchr(base, '.');
    const char *digits = end;
    while (digits && digits > base && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    if (!end || digits == end || digits == base || digits[-1] != '.') return 0;
    const int width = *digits == '0' ? (int)(end - digits) : 1;
    const int length = snprintf(name, NB6_HDF5_PATH, "%.*s%0*d%s", (int)(digits - path), path, width, k, end);
    return length > 0 && length < NB6_HDF5_PATH;
}

/* The message of a file that is not all of its snapshot. */
static int refuse_part(const struct nb6_parts *s, const struct nb6_part *part, const struct nb6_particles_count *count,
                       const char *why, struct nbc_error *err)
{
    char total[40] = "";
    if (count->total >= 0) snprintf(total, sizeof total, " of %lld", (long long)count->total);
    return nbc_fail(err, NBC_BAD_INPUT, "%s: one of %d files of a snapshot, with %lld%s particles of %s: %s",
                    part->file.path, count->files, (long long)part->n, total, s->name, why);
}

static int open_all(const struct nb6_part *lead, const struct nb6_particles_count *all, struct nb6_parts *s,
                    struct nbc_error *err)
{
    char name[NB6_HDF5_PATH], why[NB6_HDF5_PATH + 80];
    struct nb6_particles_count count;
    for (int k = 0; k < all->files; k++) {
        struct nb6_part *part = &s->part[k];
        name_of_part(lead->file.path, k, name);
        if (access(name, F_OK)) {
            snprintf(why, sizeof why, "%s is missing beside it", name);
            return refuse_part(s, lead, all, why, err);
        }
        s->parts = k + 1;
        int status = nb6_part_open(name, part, err);
        if (!status) status = find_stars(s, part, &count, err);
        if (status) return status;
        if (count.files != all->files || count.total != all->total || part->n > INT32_MAX - s->n) {
            snprintf(why, sizeof why, "%s belongs to another one", name);
            return refuse_part(s, lead, all, why, err);
        }
        part->first = s->n;
        s->n += part->n;
    }
    if (all->total < 0 || s->n == all->total) return NBC_OK;
    snprintf(why, sizeof why, "there are %lld in all of them", (long long)s->n);
    return refuse_part(s, lead, all, why, err);
}

/* The file that is named, or all files of its snapshot.   @param[in,out] lead  that file, open */
int nb6_parts_open(struct nb6_part *lead, const struct nb6_columns *columns, struct nb6_parts *s, struct nbc_error *err)
{
    char name[NB6_HDF5_PATH];
    struct nb6_particles_count all;
    int status = choose_group(&lead->file, columns, s, err);
    if (!status) status = find_stars(s, lead, &all, err);
    if (status) return status;
    if (all.total < 0 ? all.files == 1 : all.total == lead->n) {
        s->part = lead;
        s->parts = 1;
        s->n = lead->n;
        return NBC_OK;
    }
    if (all.files == 1) return refuse_part(s, lead, &all, "its header does not know of others", err);
    if (!name_of_part(lead->file.path, 0, name))
        return refuse_part(s, lead, &all, "call them NAME.0.hdf5, NAME.1.hdf5, ..., side by side; all are read then",
                           err);
    if (all.files > MOST_FILES) return refuse_part(s, lead, &all, "join them into at most 500", err);
    s->part = nbc_alloc((size_t)all.files, sizeof *s->part);
    if (!s->part) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for %d files", lead->file.path, all.files);
    return open_all(lead, &all, s, err);
}

/* The last one first: each gives back how HDF5 reported errors before it. */
void nb6_parts_close(struct nb6_part *lead, struct nb6_parts *s)
{
    for (int k = s->parts; k-- > 0;)
        if (&s->part[k] != lead) close_part(&s->part[k]);
    if (s->part != lead) nbc_free(s->part);
    close_part(lead);
}

int nb6_parts_status(const struct nb6_parts *s)
{
    for (int k = 0; k < s->parts; k++)
        if (s->part[k].file.status) return s->part[k].file.status;
    return NBC_OK;
}

/* A file that has stars. */
struct nb6_part *nb6_parts_some(const struct nb6_parts *s)
{
    struct nb6_part *part = s->part;
    while (part->n == 0) part++;
    return part;
}

/* Of the file, or of all existing files of its snapshot. */
int64_t nb6_parts_bytes(const char *path)
{
    char name[NB6_HDF5_PATH];
    struct stat status;
    int64_t bytes = 0;
    for (int k = 0; k < MOST_FILES && name_of_part(path, k, name) && stat(name, &status) == 0; k++)
        bytes += status.st_size;
    return bytes == 0 && stat(path, &status) == 0 ? status.st_size : bytes;
}
