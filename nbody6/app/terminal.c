#include "nbody6/app/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80 };

int nb6_terminal_width(void)
{
    struct winsize size = {0};
    if (!isatty(STDOUT_FILENO)) return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_WIDTH;
}
