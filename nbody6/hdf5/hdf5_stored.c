#include "nbody6/hdf5/hdf5_stored.h"

#include "common/nbc.h"

#include <stdio.h>
#include <sys/stat.h>

enum { LARGEST_CHUNK = 1 << 30 };

/* No damage that another copy of the file would not have. */
static void refuse_dataset(struct nb6_hdf5 *file, const char *name, const char *what)
{
    if (!file->status) file->status = nbc_fail(file->err, NBC_BAD_INPUT, "%s: %s %s", file->path, name, what);
}

static htri_t tell_damage(struct nb6_hdf5 *file, htri_t found, const char *what, const char *name)
{
    if (found < 0 && !file->status)
        file->status = nbc_fail(file->err, NBC_FILE, "%s: HDF5 failed to look for %s%s", file->path, what, name);
    return found;
}

int nb6_hdf5_has(struct nb6_hdf5 *file, hid_t group, const char *name)
{
    H5L_info_t link;
    if (file->status) return 0;
    const htri_t found = H5Lexists(group, name, H5P_DEFAULT);
    if (tell_damage(file, found, "", name) <= 0) return 0;
    if (tell_damage(file, H5Lget_info(group, name, &link, H5P_DEFAULT), "", name) < 0) return 0;
    if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT) {
        refuse_dataset(file, name,
                       "is a link into another file, which is not followed; copy what it leads to into this one");
        return 0;
    }
    return link.type == H5L_TYPE_HARD || H5Oexists_by_name(group, name, H5P_DEFAULT) > 0;
}

int nb6_hdf5_has_attribute(struct nb6_hdf5 *file, hid_t object, const char *name)
{
    return !file->status && tell_damage(file, H5Aexists(object, name), "attribute ", name) > 0;
}

int nb6_hdf5_is_number(hid_t type)
{
    const hid_t known[] = {H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_STD_I64LE, H5T_STD_U64LE, H5T_STD_I32LE,  H5T_STD_U32LE,
                           H5T_STD_I16LE,  H5T_STD_U16LE,  H5T_STD_I8LE,  H5T_STD_U8LE,  H5T_IEEE_F64BE, H5T_IEEE_F32BE,
                           H5T_STD_I64BE,  H5T_STD_U64BE,  H5T_STD_I32BE, H5T_STD_U32BE, H5T_STD_I16BE,  H5T_STD_U16BE};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (H5Tequal(type, known[k]) > 0) return 1;
    return 0;
}

static int has_foreign_filter(hid_t create)
{
    const int filters = H5Pget_nfilters(create);
    for (int k = 0; k < filters; k++) {
        unsigned flags, settings;
        size_t values = 0;
        const H5Z_filter_t filter = H5Pget_filter2(create, (unsigned)k, &flags, &values, NULL, 0, NULL, &settings);
        if (filter < H5Z_FILTER_DEFLATE || filter > H5Z_FILTER_SCALEOFFSET) return 1;
    }
    return filters < 0;
}

/* HDF5 takes whole chunks into memory. */
static int has_huge_chunk(hid_t create, hid_t type)
{
    hsize_t chunk[H5S_MAX_RANK], bytes = H5Tget_size(type);
    const int rank = H5Pget_chunk(create, H5S_MAX_RANK, chunk);
    for (int d = 0; d < rank; d++) {
        if (chunk[d] == 0 || chunk[d] > (hsize_t)LARGEST_CHUNK / bytes) return 1;
        bytes *= chunk[d];
    }
    return rank <= 0;
}

/* Values that follow each other, in the file or in the heading of the dataset. */
static int is_short(const struct nb6_hdf5 *file, hid_t dataset, H5D_layout_t layout, hsize_t bytes)
{
    struct stat status;
    const hsize_t stored = H5Dget_storage_size(dataset);
    if (stored < bytes) return 1;
    if (layout == H5D_COMPACT || bytes == 0) return 0;
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF || fstat(file->sink.fd, &status)) return 1;
    return offset > (haddr_t)status.st_size || stored > (haddr_t)status.st_size - offset;
}

/* A chunk that was never written is read as zeros. HDF5's own function counts bytes, and is wrong for compressed
 * ones. */
static int has_all_chunks(hid_t dataset, hid_t space, hid_t create)
{
    hsize_t chunk[H5S_MAX_RANK], shape[H5S_MAX_RANK], wanted = 1, found = 0;
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    if (rank != H5Pget_chunk(create, H5S_MAX_RANK, chunk)) return 0;
    for (int d = 0; d < rank; d++) wanted *= shape[d] / chunk[d] + (shape[d] % chunk[d] != 0);
#if H5_VERSION_GE(1, 10, 5)
    return H5Dget_num_chunks(dataset, space, &found) >= 0 && found == wanted;
#else
    (void)found;
    return H5Dget_storage_size(dataset) > 0;
#endif
}

static int is_allocated(hid_t dataset, hid_t space, hid_t create)
{
    H5D_space_status_t allocated;
    if (H5Pget_layout(create) == H5D_CHUNKED) return has_all_chunks(dataset, space, create);
    return H5Dget_space_status(dataset, &allocated) >= 0 && allocated == H5D_SPACE_STATUS_ALLOCATED;
}

static const char *what_is_wrong(const struct nb6_hdf5 *file, hid_t dataset, hid_t type, hid_t space, hid_t create)
{
    const hssize_t values = H5Sget_simple_extent_npoints(space);
    const H5D_layout_t layout = H5Pget_layout(create);
    if (!nb6_hdf5_is_number(type)) return "holds something else than numbers of a usual kind";
    if (values < 0 || values > INT64_MAX / 8) return "has no shape";
    if (layout == H5D_VIRTUAL) return "is virtual: its values are in other files; h5repack makes one file of them";
    if (H5Pget_external_count(create) != 0) return "has its values in other files; h5repack makes one file of them";
    if (layout == H5D_CHUNKED && has_foreign_filter(create))
        return "is compressed by a filter that is no part of HDF5; h5repack -f GZIP=1 compresses it by one that is";
    if (layout == H5D_CHUNKED && has_huge_chunk(create, type)) return "is stored in pieces of more than 1 GiB";
    if (values && !is_allocated(dataset, space, create)) return "is not stored as a whole: values are missing";
    if (layout != H5D_CHUNKED && is_short(file, dataset, layout, (hsize_t)values * H5Tget_size(type)))
        return "is not stored as a whole: the file ends before it, or it is shorter than its shape says";
    return NULL;
}

void nb6_hdf5_check_stored(struct nb6_hdf5 *file, hid_t dataset, const char *name)
{
    if (file->status) return;
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset), create = H5Dget_create_plist(dataset);
    const char *wrong =
        type < 0 || space < 0 || create < 0 ? "cannot be read" : what_is_wrong(file, dataset, type, space, create);
    if (wrong) refuse_dataset(file, name, wrong);
    if (create >= 0) H5Pclose(create);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
}
