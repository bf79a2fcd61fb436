#include "nbody6/hdf5/hdf5_util.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_driver.h"
#include "nbody6/hdf5/hdf5_stored.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 8 << 20 };

/* Memory that libhdf5 takes for its tables and caches, and for the pieces of a large dataset, at most. It ends the
 * program in some of the places where it gets no memory. */
enum { LIBRARY_BYTES = 32 << 20 };

/* Until leave() */
static void enter(struct nb6_hdf5 *file)
{
    nb6_hdf5_enter();
    H5Eget_auto2(H5E_DEFAULT, &file->report, &file->report_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

int nb6_hdf5_fail(struct nb6_hdf5 *file, int status, const char *text)
{
    if (!file->status) file->status = nbc_fail(file->err, status, "%s: %s", file->path, text);
    return file->status;
}

static herr_t is_of_memory(unsigned n, const H5E_error2_t *error, void *found)
{
    (void)n;
    if (error->maj_num == H5E_RESOURCE) *(int *)found = 1;
    return 0;
}

hid_t nb6_hdf5_check(struct nb6_hdf5 *file, hid_t result, const char *what, const char *name)
{
    int of_memory = 0;
    if (result >= 0 || file->status) return result;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, is_of_memory, &of_memory);
    /* A damaged file may ask for any amount. */
    const int no_memory =
        file->sink.first_errno == ENOMEM || (of_memory && (file->temporary[0] || !nbc_has_memory(LIBRARY_BYTES)));
    file->status =
        nbc_fail(file->err, no_memory ? NBC_NO_MEMORY : NBC_FILE, "%s: HDF5 failed to %s %s", file->path, what, name);
    return result;
}

/* ---- files ---- */

/* The same layout whatever HDF5's version and environment: earliest format, no times. */
static void create_in_sink(struct nb6_hdf5 *file, size_t user_block)
{
    hid_t access = nb6_hdf5_check(file, nb6_hdf5_sink_access(&file->sink), "prepare", "the file");
    hid_t create = nb6_hdf5_check(file, H5Pcreate(H5P_FILE_CREATE), "prepare", "the file");
    if (!file->status) {
        H5Pset_userblock(create, user_block);
        file->file = H5Fcreate(file->temporary, H5F_ACC_TRUNC, create, access);
        nb6_hdf5_check(file, file->file, "create", "the file");
    }
    if (create >= 0) H5Pclose(create);
    if (access >= 0) H5Pclose(access);
}

int nb6_hdf5_create(struct nb6_hdf5 *file, const char *path, size_t user_block, struct nbc_error *err)
{
    *file = (struct nb6_hdf5){.sink.fd = -1, .file = -1, .err = err};
    enter(file);
    if (nbc_file_name(file->path, sizeof file->path, path, ""))
        return nb6_hdf5_fail(file, NBC_FILE, "the file name is too long");
    if (!nbc_has_memory(LIBRARY_BYTES)) return nb6_hdf5_fail(file, NBC_NO_MEMORY, "no memory to write it");
    file->status = nbc_file_make_temporary(path, file->temporary, sizeof file->temporary, &file->sink.fd, err);
    if (!file->status) create_in_sink(file, user_block);
    return file->status;
}

int nb6_hdf5_finish(struct nb6_hdf5 *file)
{
    if (file->file >= 0) nb6_hdf5_check(file, H5Fclose(file->file), "finish", "the file");
    file->file = -1;
    if (file->sink.first_errno) { /* any other failure is a consequence of this one */
        file->status = nbc_fail(file->err, nbc_file_status(file->sink.first_errno), "%s: cannot write: %s", file->path,
                                strerror(file->sink.first_errno));
        file->sink.first_errno = 0;
    }
    return file->status;
}

/* Close the descriptor, restore error reporting and release the library, also after a failure. */
static int leave(struct nb6_hdf5 *file)
{
    if (file->sink.fd >= 0 && close(file->sink.fd) && file->temporary[0] && !file->status)
        file->status = nbc_fail(file->err, nbc_file_status(errno), "%s: cannot write: %s", file->path, strerror(errno));
    file->sink.fd = -1;
    H5Eset_auto2(H5E_DEFAULT, file->report, file->report_data);
    nb6_hdf5_exit();
    return file->status;
}

int nb6_hdf5_commit(struct nb6_hdf5 *file, const char *keep_as)
{
    nb6_hdf5_finish(file);
    if (!file->status && fsync(file->sink.fd))
        file->status = nbc_fail(file->err, nbc_file_status(errno), "%s: cannot write: %s", file->path, strerror(errno));
    leave(file);
    if (!file->status) file->status = nbc_file_replace(file->temporary, file->path, keep_as, file->err);
    if (file->status && file->temporary[0]) unlink(file->temporary);
    return file->status;
}

int nb6_hdf5_place(struct nb6_hdf5 *file)
{
    nb6_hdf5_finish(file);
    leave(file);
    if (!file->status) file->status = nbc_file_place(file->temporary, file->path, file->err);
    if (file->status && file->temporary[0]) unlink(file->temporary);
    return file->status;
}

int nb6_hdf5_open(struct nb6_hdf5 *file, const char *path, struct nbc_error *err)
{
    *file = (struct nb6_hdf5){.sink.fd = -1, .file = -1, .err = err};
    enter(file);
    if (nbc_file_name(file->path, sizeof file->path, path, ""))
        return nb6_hdf5_fail(file, NBC_FILE, "the file name is too long");
    file->status = nbc_file_refuse_special(path, err);
    if (file->status) return file->status;
    if (!nbc_has_memory(LIBRARY_BYTES)) return nb6_hdf5_fail(file, NBC_NO_MEMORY, "no memory to read it");
    file->sink.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->sink.fd < 0) return nb6_hdf5_fail(file, nbc_file_status(errno), strerror(errno));
    hid_t access = nb6_hdf5_check(file, nb6_hdf5_sink_access(&file->sink), "prepare", "the file");
    if (access >= 0) {
        file->file = nb6_hdf5_check(file, H5Fopen(path, H5F_ACC_RDONLY, access), "open", "the file");
        H5Pclose(access);
    }
    return file->status;
}

int nb6_hdf5_close(struct nb6_hdf5 *file)
{
    if (file->file >= 0) H5Fclose(file->file);
    file->file = -1;
    return leave(file);
}

/* ---- groups and attributes ---- */

hid_t nb6_hdf5_make_group(struct nb6_hdf5 *file, hid_t parent, const char *name)
{
    if (file->status) return -1;
    return nb6_hdf5_check(file, H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "make group", name);
}

hid_t nb6_hdf5_open_group(struct nb6_hdf5 *file, hid_t parent, const char *name)
{
    if (file->status) return -1;
    return nb6_hdf5_check(file, H5Gopen2(parent, name, H5P_DEFAULT), "find group", name);
}

void nb6_hdf5_close_object(hid_t object)
{
    if (object >= 0) H5Oclose(object);
}

hid_t nb6_hdf5_file_type(hid_t memory)
{
    if (H5Tequal(memory, H5T_NATIVE_DOUBLE) > 0) return H5T_IEEE_F64LE;
    if (H5Tequal(memory, H5T_NATIVE_INT64) > 0) return H5T_STD_I64LE;
    if (H5Tequal(memory, H5T_NATIVE_UINT64) > 0) return H5T_STD_U64LE;
    if (H5Tequal(memory, H5T_NATIVE_INT32) > 0) return H5T_STD_I32LE;
    if (H5Tequal(memory, H5T_NATIVE_UINT32) > 0) return H5T_STD_U32LE;
    if (H5Tequal(memory, H5T_NATIVE_INT8) > 0) return H5T_STD_I8LE;
    return memory;
}

static void put(struct nb6_hdf5 *file, hid_t object, const char *name, hid_t type, hid_t space, const void *value)
{
    hid_t attribute = H5Acreate2(object, name, nb6_hdf5_file_type(type), space, H5P_DEFAULT, H5P_DEFAULT);
    if (nb6_hdf5_check(file, attribute, "write attribute", name) < 0) return;
    nb6_hdf5_check(file, H5Awrite(attribute, type, value), "write attribute", name);
    H5Aclose(attribute);
}

void nb6_hdf5_put(struct nb6_hdf5 *file, hid_t object, const char *name, hid_t type, size_t count, const void *value)
{
    if (file->status) return;
    hsize_t length = count;
    hid_t space = count ? H5Screate_simple(1, &length, NULL) : H5Screate(H5S_SCALAR);
    if (nb6_hdf5_check(file, space, "write attribute", name) < 0) return;
    put(file, object, name, type, space, value);
    H5Sclose(space);
}

void nb6_hdf5_put_double(struct nb6_hdf5 *file, hid_t object, const char *name, double value)
{
    nb6_hdf5_put(file, object, name, H5T_NATIVE_DOUBLE, 0, &value);
}

void nb6_hdf5_put_int(struct nb6_hdf5 *file, hid_t object, const char *name, int value)
{
    nb6_hdf5_put(file, object, name, H5T_NATIVE_INT32, 0, &value);
}

/* Fixed length with a closing zero: read by every HDF5 tool, and part of the object itself. */
void nb6_hdf5_put_text(struct nb6_hdf5 *file, hid_t object, const char *name, const char *value)
{
    if (file->status) return;
    hid_t type = H5Tcopy(H5T_C_S1);
    if (nb6_hdf5_check(file, type, "write attribute", name) < 0) return;
    H5Tset_size(type, strlen(value) + 1);
    nb6_hdf5_put(file, object, name, type, 0, value);
    H5Tclose(type);
}

static hid_t open_attribute(struct nb6_hdf5 *file, hid_t object, const char *name)
{
    if (file->status) return -1;
    return nb6_hdf5_check(file, H5Aopen(object, name, H5P_DEFAULT), "find attribute", name);
}

/* Values of an attribute of numbers; 0: it is none, has no values or too many. */
static hsize_t numbers_of(hid_t attribute)
{
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const hssize_t found =
        space >= 0 && type >= 0 && nb6_hdf5_is_number(type) ? H5Sget_simple_extent_npoints(space) : 0;
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return found > 0 ? (hsize_t)found : 0;
}

void nb6_hdf5_get(struct nb6_hdf5 *file, hid_t object, const char *name, hid_t type, size_t count, void *value)
{
    hid_t attribute = open_attribute(file, object, name);
    if (attribute < 0) return;
    if (numbers_of(attribute) != (count ? count : 1))
        nb6_hdf5_check(file, -1, "find all values of attribute", name);
    else
        nb6_hdf5_check(file, H5Aread(attribute, type, value), "read attribute", name);
    H5Aclose(attribute);
}

size_t nb6_hdf5_get_row(struct nb6_hdf5 *file, hid_t object, const char *name, hid_t type, size_t most, void *value)
{
    hid_t attribute = open_attribute(file, object, name);
    if (attribute < 0) return 0;
    const hsize_t count = numbers_of(attribute);
    if (count == 0 || count > most)
        nb6_hdf5_check(file, -1, "find a row of numbers in attribute", name);
    else
        nb6_hdf5_check(file, H5Aread(attribute, type, value), "read attribute", name);
    H5Aclose(attribute);
    return file->status ? 0 : (size_t)count;
}

/* One text of fixed length that has room for its closing zero. */
static int is_text(hid_t attribute, hid_t type, size_t size)
{
    const hid_t space = H5Aget_space(attribute);
    const hssize_t found = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    if (space >= 0) H5Sclose(space);
    return found == 1 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && H5Tget_size(type) > 0 &&
           H5Tget_size(type) <= size;
}

void nb6_hdf5_get_text(struct nb6_hdf5 *file, hid_t object, const char *name, size_t size, char *value)
{
    hid_t attribute = open_attribute(file, object, name);
    if (attribute < 0) return;
    hid_t type = H5Aget_type(attribute);
    if (type < 0 || !is_text(attribute, type, size))
        nb6_hdf5_check(file, -1, "find a text of the right length in attribute", name);
    else if (nb6_hdf5_check(file, H5Aread(attribute, type, value), "read attribute", name) >= 0)
        value[H5Tget_size(type) - 1] = 0;
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
}

/* ---- datasets ---- */

/* One pass over the rows of a dataset in pieces. */
struct transfer {
    hid_t dataset, space, type;
    int64_t rows, columns;
    int64_t unit; /* a piece is a multiple of so many rows: HDF5 takes whole chunks out of the file */
    int writing;
    nb6_hdf5_rows copy;
    void *context;
};

static int move_piece(struct nb6_hdf5 *file, const struct transfer *t, int64_t first, int64_t count, void *buffer)
{
    hsize_t start[2] = {(hsize_t)first, 0}, size[2] = {(hsize_t)count, (hsize_t)t->columns};
    int status = t->writing ? t->copy(t->context, first, count, buffer) : NBC_OK;
    if (status) return nb6_hdf5_fail(file, status, "the data to write are not in order");
    hid_t memory = H5Screate_simple(2, size, NULL);
    H5Sselect_hyperslab(t->space, H5S_SELECT_SET, start, NULL, size, NULL);
    herr_t done = t->writing ? H5Dwrite(t->dataset, t->type, memory, t->space, H5P_DEFAULT, buffer)
                             : H5Dread(t->dataset, t->type, memory, t->space, H5P_DEFAULT, buffer);
    H5Sclose(memory);
    if (nb6_hdf5_check(file, done, t->writing ? "write" : "read", "a dataset") < 0) return file->status;
    if (!t->writing && t->copy(t->context, first, count, buffer))
        return nb6_hdf5_fail(file, NBC_FILE, "a value is out of range");
    return file->sink.first_errno ? NBC_FILE : NBC_OK;
}

static void move_rows(struct nb6_hdf5 *file, const struct transfer *t)
{
    size_t row_bytes = (size_t)t->columns * H5Tget_size(t->type);
    int64_t piece = (PIECE_BYTES / (int64_t)row_bytes / t->unit + 1) * t->unit;
    if (piece > t->rows) piece = t->rows;
    void *buffer = nbc_alloc((size_t)piece, row_bytes);
    if (!buffer) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory to copy the data");
        return;
    }
    for (int64_t first = 0; first < t->rows; first += piece) {
        int64_t left = t->rows - first;
        if (move_piece(file, t, first, left < piece ? left : piece, buffer)) break;
    }
    nbc_free(buffer);
}

hid_t nb6_hdf5_make_dataset(struct nb6_hdf5 *file, hid_t parent, const char *name, hid_t type, int64_t rows,
                            int64_t columns, nb6_hdf5_rows fill, void *context)
{
    if (file->status) return -1;
    hsize_t shape[2] = {(hsize_t)rows, (hsize_t)columns};
    hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, shape, NULL);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(create, 0);
    hid_t dataset = H5Dcreate2(parent, name, nb6_hdf5_file_type(type), space, H5P_DEFAULT, create, H5P_DEFAULT);
    if (nb6_hdf5_check(file, dataset, "make dataset", name) >= 0)
        move_rows(file, &(struct transfer){dataset, space, type, rows, columns, 1, 1, fill, context});
    H5Pclose(create);
    H5Sclose(space);
    return dataset;
}

/* 1 if the dataset has this shape. */
static int has_shape(hid_t space, int64_t rows, int64_t columns)
{
    hsize_t shape[2] = {0, 1};
    int rank = H5Sget_simple_extent_ndims(space);
    if (rank != (columns > 1 ? 2 : 1)) return 0;
    H5Sget_simple_extent_dims(space, shape, NULL);
    return shape[0] == (hsize_t)rows && shape[1] == (hsize_t)columns;
}

static int64_t rows_of_chunk(hid_t dataset)
{
    hsize_t chunk[H5S_MAX_RANK] = {1};
    const hid_t create = H5Dget_create_plist(dataset);
    if (H5Pget_layout(create) == H5D_CHUNKED) H5Pget_chunk(create, H5S_MAX_RANK, chunk);
    H5Pclose(create);
    return (int64_t)chunk[0];
}

void nb6_hdf5_read_dataset(struct nb6_hdf5 *file, hid_t parent, const char *name, hid_t type, int64_t rows,
                           int64_t columns, nb6_hdf5_rows take, void *context)
{
    if (file->status) return;
    hid_t dataset = H5Dopen2(parent, name, H5P_DEFAULT);
    if (nb6_hdf5_check(file, dataset, "find dataset", name) < 0) return;
    hid_t space = H5Dget_space(dataset);
    if (!has_shape(space, rows, columns)) nb6_hdf5_check(file, -1, "find the right number of rows in", name);
    nb6_hdf5_check_stored(file, dataset, name);
    if (!file->status)
        move_rows(file,
                  &(struct transfer){dataset, space, type, rows, columns, rows_of_chunk(dataset), 0, take, context});
    H5Sclose(space);
    H5Dclose(dataset);
}

int64_t nb6_hdf5_rows_of(struct nb6_hdf5 *file, hid_t parent, const char *name)
{
    if (file->status) return -1;
    hid_t dataset = H5Dopen2(parent, name, H5P_DEFAULT);
    if (nb6_hdf5_check(file, dataset, "find dataset", name) < 0) return -1;
    hid_t space = H5Dget_space(dataset);
    hsize_t rows = 0;
    if (H5Sget_simple_extent_ndims(space) == 1)
        H5Sget_simple_extent_dims(space, &rows, NULL);
    else
        nb6_hdf5_check(file, -1, "find a vector in", name);
    nb6_hdf5_check_stored(file, dataset, name); /* so that there are no more rows than the file has room for */
    H5Sclose(space);
    H5Dclose(dataset);
    return file->status ? -1 : (int64_t)rows;
}
