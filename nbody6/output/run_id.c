#include "nbody6/output/run_id.h"

#include "common/file.h"
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_stored.h"
#include "nbody6/hdf5/hdf5_trial.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/properties.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_seal.h"
#include "nbody6/output/checkpoint_state.h"
#include "nbody6/run/nbody6.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The id is in the first three lines, which are as long as nb6_line has room. */
enum { HEAD_LINES = 3, HEAD_BYTES = HEAD_LINES * 8192 };

static void print_id(uint64_t crc, char id[NB6_RUN_ID_BYTES])
{
    snprintf(id, NB6_RUN_ID_BYTES, "%016" PRIx64, crc);
}

/* ---- a new one ---- */

/* Fields of the configuration that do not change results: names, ends, checkpoints; and those that the origin, or
 * another field, has in their final form: the file of the stars, the backends, the engine, intervals in Myr. */
static int is_left_out(const char *name)
{
    static const char *const left_out[] = {"name",
                                           "input_path",
                                           "t_crit",
                                           "t_crit_myr",
                                           "t_crit_open",
                                           "dt_adjust_myr",
                                           "dt_output_myr",
                                           "wall_limit_s",
                                           "n_crit",
                                           "checkpoint_at_output",
                                           "energy_retries",
                                           "checkpoint_interval_s",
                                           "write_data_table",
                                           "device",
                                           "irr_backend",
                                           "engine",
                                           "on_device_loss",
                                           "data_path"};
    for (size_t k = 0; k < sizeof left_out / sizeof left_out[0]; k++)
        if (strcmp(name, left_out[k]) == 0) return 1;
    return 0;
}

/* A flag that is younger than others: it is left out while it is 0, so that ids stay. */
static int is_young_and_off(const char *name, const char *value)
{
    static const int off = 0;
    return strcmp(name, "collide") == 0 && memcmp(value, &off, sizeof off) == 0;
}

static uint64_t add_text(uint64_t crc, const char *text)
{
    return nb6_crc64(crc, text, strlen(text) + 1);
}

static uint64_t add_group(uint64_t crc, const struct nb6_field_group *group, const struct nb6_config *config)
{
    const char *base = (const char *)config + (group->offset - offsetof(struct nb6_checkpoint_state, run.config));
    crc = add_text(crc, group->name);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        if (is_left_out(f->name) || is_young_and_off(f->name, base + f->offset)) continue;
        crc = add_text(crc, f->name);
        crc = f->type == NB6_FIELD_TEXT ? add_text(crc, base + f->offset)
                                        : nb6_crc64(crc, base + f->offset, f->count * nb6_state_field_bytes(f->type));
    }
    return crc;
}

/* A variable that has its default is left out, so that ids stay when the table gets a new one. */
static uint64_t add_numbers(uint64_t crc, const struct nb6_config *config)
{
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        if (v->target != NB6_TO_NUMBER) continue;
        const double number = nb6_input_number(config, v);
        if (number == strtod(v->initial, NULL)) continue;
        crc = nb6_crc64(add_text(add_text(crc, v->group), v->name), &number, sizeof number);
    }
    return crc;
}

/* Nothing is added where there are none. */
static uint64_t add_properties(uint64_t crc, const struct nb6_properties *p)
{
    for (int k = 0; p && k < p->count; k++) {
        crc = add_text(add_text(crc, p->column[k].name), p->column[k].unit);
        crc = nb6_crc64(crc, p->value[k], (size_t)p->n * sizeof *p->value[k]);
    }
    return nb6_radii_act(p) ? add_text(crc, "radii act") : crc;
}

/* The bytes of all rows, one column after the other. */
static uint64_t add_rows(uint64_t crc, const struct nb6_body_rows *rows, int64_t n)
{
    static const struct {
        enum nb6_body_column column;
        size_t bytes;
    } columns[] = {{NB6_ROWS_NAME, sizeof(int64_t)},
                   {NB6_ROWS_MASS, sizeof(double)},
                   {NB6_ROWS_X, 3 * sizeof(double)},
                   {NB6_ROWS_V, 3 * sizeof(double)}};
    enum { AT_ONCE = 4096 };
    double row[AT_ONCE][3];
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        for (int64_t first = 0; first < n; first += AT_ONCE) {
            const int64_t count = n - first < AT_ONCE ? n - first : AT_ONCE;
            rows->get(rows->context, columns[c].column, first, count, row);
            crc = nb6_crc64(crc, row, (size_t)count * columns[c].bytes);
        }
    return crc;
}

static uint64_t add_bodies(uint64_t crc, const struct nb6_run_origin *origin)
{
    const size_t n = (size_t)origin->n;
    if (origin->rows.get) return add_rows(crc, &origin->rows, origin->n);
    if (origin->name) crc = nb6_crc64(crc, origin->name, n * sizeof *origin->name);
    crc = nb6_crc64(crc, origin->mass, n * sizeof *origin->mass);
    crc = nb6_crc64(crc, origin->x, n * sizeof *origin->x);
    return nb6_crc64(crc, origin->v, n * sizeof *origin->v);
}

void nb6_run_id_make(const struct nb6_config *config, const struct nb6_run_origin *origin, char id[NB6_RUN_ID_BYTES])
{
    const struct nb6_field_group *group;
    uint64_t crc = add_text(0, NB6_VERSION);
    for (int k = 0; (group = nb6_state_group(k)); k++)
        if (strncmp(group->name, "config", 6) == 0) crc = add_group(crc, group, config);
    crc = add_numbers(crc, config);
    crc = add_text(crc, origin->gpunb_backend);
    crc = add_text(crc, origin->gpuirr_backend);
    crc = add_text(crc, origin->engine);
    crc = nb6_crc64(crc, &origin->n, sizeof origin->n);
    print_id(add_properties(add_bodies(crc, origin), origin->properties), id);
}

/* ---- those of files ---- */

static int cannot_read(const char *path, struct nbc_error *err)
{
    return nbc_fail(err, nbc_file_status(errno), "%s: cannot read: %s", path, strerror(errno));
}

int nb6_run_id_of_seal(const char *path, char id[NB6_RUN_ID_BYTES], struct nbc_error *err)
{
    char seal[NB6_SEAL_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file) return cannot_read(path, err);
    size_t got = fread(seal, 1, sizeof seal, file);
    fclose(file);
    if (got != sizeof seal) return nbc_fail(err, NBC_FILE, "%s: truncated", path);
    print_id(nb6_crc64(0, seal, sizeof seal), id);
    return NBC_OK;
}

/* "# run: ID" or {"t": .., "event": "run", "id": "ID"} */
static int find_in_line(const char *line, char id[NB6_RUN_ID_BYTES])
{
    int length = 0;
    if (sscanf(line, "# run: %16[0-9a-f]%n", id, &length) == 1 && line[length] == 0) return 1;
    if (sscanf(line, "{\"t\": %*f, \"event\": \"run\", \"id\": \"%16[0-9a-f]%n", id, &length) == 1 &&
        strcmp(line + length, "\"}") == 0)
        return 1;
    id[0] = 0;
    return 0;
}

/* Lines that are not closed do not count. */
static void find_in_head(char *head, char id[NB6_RUN_ID_BYTES])
{
    char *line = head, *end;
    for (int k = 0; k < HEAD_LINES && (end = strchr(line, '\n')); k++, line = end + 1) {
        *end = 0;
        if (find_in_line(line, id)) return;
    }
}

int nb6_run_id_of_text(const char *path, char id[NB6_RUN_ID_BYTES], int64_t *bytes, struct nbc_error *err)
{
    id[0] = 0;
    *bytes = 0;
    const int special = nbc_file_refuse_special(path, err);
    if (special) return special;
    FILE *file = fopen(path, "rb");
    if (!file) return errno == ENOENT ? NBC_OK : cannot_read(path, err);
    char *head = nbc_alloc(HEAD_BYTES + 1, 1);
    int status = head ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "not enough memory to read %s", path);
    if (!status) {
        size_t got = fread(head, 1, HEAD_BYTES, file);
        if (ferror(file)) status = cannot_read(path, err);
        head[got] = 0;
        *bytes = (int64_t)got;
        find_in_head(head, id);
    }
    nbc_free(head);
    fclose(file);
    return status;
}

int nb6_run_id_try(const char *path, void (*read)(void *context), void *context, struct nbc_error *err)
{
    return nb6_hdf5_try(path, 0, read, context, err);
}

int nb6_run_id_of_snapshot(const char *path, char id[NB6_RUN_ID_BYTES], struct nbc_error *err)
{
    struct nb6_hdf5 file;
    id[0] = 0;
    nb6_hdf5_open(&file, path, err);
    hid_t group = nb6_hdf5_open_group(&file, file.file, "nbody6");
    if (nb6_hdf5_has_attribute(&file, group, "run")) nb6_hdf5_get_text(&file, group, "run", NB6_RUN_ID_BYTES, id);
    nb6_hdf5_close_object(group);
    return nb6_hdf5_close(&file);
}
