/** One writer for a name: the kernel's lock on NAME.lock, which ends with the process however that ends. The file
 * itself means nothing: one that is left behind (kill -9, a power failure) does not prevent a run. */
#ifndef NB6_RUN_LOCK_H
#define NB6_RUN_LOCK_H

#include "common/nbc.h"
#include "nbody6/app/run_names.h"

struct nb6_run_lock {
    char path[NB6_NAME_BYTES];
    int fd; /**< -1: not held */
};

/** Take the lock; `path` is NAME.lock. A link, or a file that no run made, is left alone. On a file system without
 * locks there is none, which is no failure: fd is -1.
 *  @return NBC_OK; NBC_BAD_INPUT (another process has it: which one, and where); NBC_FILE (it cannot be made, or is no
 * lock)
 */
int nb6_run_lock_take(struct nb6_run_lock *lock, const char *path, struct nbc_error *err);

/** Remove the file, then let go. Nothing happens when it is not held. */
void nb6_run_lock_release(struct nb6_run_lock *lock);

enum nb6_lock_state {
    NB6_LOCK_NONE, /**< there is no such file, it cannot be read, or is no lock */
    NB6_LOCK_LEFT, /**< a file without a lock: its process ended without removing it */
    NB6_LOCK_HELD
};

enum { NB6_HOLDER_BYTES = 400 };

/** Read the lock of a run and leave it unchanged.   @param[out] holder  "process 123 on HOST"; "": unknown */
enum nb6_lock_state nb6_run_lock_look(const char *path, char holder[NB6_HOLDER_BYTES]);

#endif
