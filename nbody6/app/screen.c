#include "nbody6/app/screen.h"

#include "common/nbc.h"
#include "nbody6/app/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *name = "nbody6";
static int was_closed; /* standard output, at the start */
static int is_lost;    /* part of the output is lost */
static int is_told;

void nb6_screen_open(const char *program)
{
    name = program;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        was_closed |= fd == STDOUT_FILENO;
        if (open("/dev/null", O_RDWR) != fd) _exit(nbc_status_exit_code(NBC_FILE)); /* no stream to report on */
    }
    nb6_signals_ignore();
}

/* @return 0: all has been written; else the reason why not, EIO if it is not known */
static int flush(void)
{
    errno = 0;
    const int failed = fflush(stdout) != 0;
    return failed || ferror(stdout) ? errno ? errno : EIO : 0;
}

void nb6_screen_flush(void)
{
    const int reason = flush();
    is_lost |= reason != 0;
    if (!reason || is_told) return;
    is_told = 1;
    fprintf(
        stderr,
        "%s: warning: standard output cannot be written: %s; the run continues with its files, and the exit code will "
        "be %d\n",
        name, strerror(reason), nbc_status_exit_code(NBC_FILE));
}

/* Some file systems report a full disk at the close only. */
static int close_copy(void)
{
    const int copy = dup(STDOUT_FILENO);
    return copy >= 0 && close(copy) ? errno : 0;
}

int nb6_screen_end(int status, int is_product, const struct nbc_error *err)
{
    int reason = flush();
    if (!reason) reason = close_copy();
    if (!reason && is_product && was_closed) reason = EBADF;
    if (status)
        fprintf(stderr, "%s: %s%s\n", name, nbc_status_prefix(status),
                err->text[0] ? err->text : nbc_status_text(status));
    else if (reason && !is_told)
        fprintf(stderr, "%s: standard output cannot be written: %s\n", name, strerror(reason));
    if (!status && (reason || is_lost)) status = NBC_FILE;
    return nbc_status_exit_code(status);
}
