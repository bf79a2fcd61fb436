#include "common/nbc.h"

#include <errno.h>
#include <stdio.h>

static const struct {
    int status, exit_code;
    const char *name, *text;
} status_table[] = {
#define NBC_STATUS_ROW(name, number, exit_code, text) {number, exit_code, #name, text},
    NBC_STATUS_LIST(NBC_STATUS_ROW)
#undef NBC_STATUS_ROW
};

static int find(int status)
{
    for (int k = 0; k < (int)(sizeof status_table / sizeof status_table[0]); k++)
        if (status_table[k].status == status) return k;
    return -1;
}

const char *nbc_status_name(int status)
{
    int k = find(status);
    return k < 0 ? "NBC_?" : status_table[k].name;
}

const char *nbc_status_text(int status)
{
    int k = find(status);
    return k < 0 ? "unknown status" : status_table[k].text;
}

int nbc_status_exit_code(int status)
{
    int k = find(status);
    return k < 0 ? 1 : status_table[k].exit_code;
}

int nbc_file_status(int reason)
{
    return reason == ENOMEM ? NBC_NO_MEMORY : NBC_FILE;
}

const char *nbc_status_prefix(int status)
{
    return status == NBC_NO_MEMORY ? "not enough memory: " : "";
}

int nbc_fail(struct nbc_error *err, int status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}
