/** A folder of its own for the files of a test. */
#ifndef FOLDER_H
#define FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Make it and work in it.   @param[in,out] name  ends with XXXXXX   @return 0, or 1 on failure */
static inline int folder_enter(char *name)
{
    return !mkdtemp(name) || chdir(name);
}

/** Leave it and remove it with all that it holds. */
static inline int folder_remove(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", name);
    return chdir("/") || system(command);
}

/** 1 if a temporary file is left in the folder that is worked in. */
static inline int folder_has_temporary(void)
{
    DIR *here = opendir(".");
    const struct dirent *entry;
    int found = 0;
    while (here && (entry = readdir(here))) found |= strstr(entry->d_name, ".tmp") != NULL;
    if (here) closedir(here);
    return found;
}

#endif
