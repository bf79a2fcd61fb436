#include "nbody6/input/input_gather.h"

#include "common/nbc.h"
#include "nbody6/input/input.h"
#include "nbody6/input/input_text.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/positional.h"

#include <stdio.h>
#include <string.h>

/* More than the Fortran runtime, which reads the values, ever takes: it ends the program if it gets none. */
enum { RUNTIME_BYTES = 1 << 20 };

static int scan(const char *name, const char *text, size_t size, FILE *notes, struct nb6_namelist *list,
                struct nb6_positional *positional, struct nbc_error *err)
{
    if (nb6_positional_is(text, size)) return nb6_positional_scan(name, text, size, notes, list, positional, err);
    return nb6_namelist_scan(name, text, size, list, err);
}

int nb6_input_gather(const char *name, const char *text, size_t size, FILE *notes, struct nb6_input_values *values,
                     struct nb6_input_origin *origin, struct nbc_error *err)
{
    struct nb6_positional positional = {.code = NB6_CODE_NBODY6PP};
    struct nb6_namelist *list = &origin->list;
    if (!nbc_has_memory(RUNTIME_BYTES)) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory to read the input", name);
    int status = scan(name, text, size, notes, list, &positional, err);
    if (status != NBC_OK) return status;
    origin->code = positional.code;
    status = nb6_input_values_create(values, name, err);
    if (status == NBC_OK) {
        memcpy(values->choice, positional.choice, sizeof values->choice);
        status = nb6_input_take_all(values, list, notes, err);
        if (status != NBC_OK) nb6_input_values_free(values);
    }
    if (status == NBC_OK) return NBC_OK;
    status = nb6_positional_locate(list, status, err);
    nb6_namelist_free(list);
    return status;
}

int nb6_input_locate(const struct nb6_input_values *values, int status, struct nbc_error *err)
{
    if (!err || status == NBC_OK) return status;
    char name[NB6_NAMELIST_NAME_MAX] = "", text[sizeof err->text];
    size_t n = strcspn(err->text, ":");
    if (n < sizeof name) memcpy(name, err->text, n);
    int variable = nb6_input_find_variable(NULL, name);
    int line = variable < 0 ? 0 : values->value[values->first[variable]].line, kz = 0;
    if (sscanf(name, "KZ(%d)", &kz) == 1 && kz >= 1 && kz <= NB6_KZ_COUNT) line = nb6_input_kz_line(values, kz);
    memcpy(text, err->text, sizeof text);
    if (line) return nbc_fail(err, status, "%s:%d: %s", values->path, line, text);
    return nbc_fail(err, status, "%s: %s", values->path, text);
}

/* Errors in the text are reported when it is read. */
int nb6_input_kstart(const struct nb6_input_text *text, int *kstart, struct nbc_error *err)
{
    struct nb6_input_values values;
    struct nb6_input_origin origin;
    struct nbc_error why = {0};
    const int status = nb6_input_gather(text->name, text->text, text->size, NULL, &values, &origin, &why);
    if (status == NBC_NO_MEMORY) return nbc_fail(err, status, "%s", why.text);
    *kstart = 1;
    if (status != NBC_OK) return NBC_OK;
    const struct nb6_value *value = nb6_input_get(&values, "INNBODY6", "KSTART");
    if (value->line && value->integer >= 2 && value->integer <= 5) *kstart = (int)value->integer;
    nb6_input_values_free(&values);
    nb6_namelist_free(&origin.list);
    return NBC_OK;
}
