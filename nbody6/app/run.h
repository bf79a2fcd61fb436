/** The run of the command: from a configuration or a checkpoint to files and a table on stdout.
 *
 *  A thin user of nbody6.h: it makes the model, evolves it, and writes through an observer. Here, and only here, the
 *  project prints progress, catches signals and decides when to write a checkpoint. Files, all beside each other:
 *      NAME.log.csv  NAME.events.jsonl  NAME.esc.csv  NAME.snap.00000.h5 ...  NAME.ckpt.h5  NAME.ckpt.prev.h5
 *      NAME.fault.h5 (state before a non-finite quantity)  NAME.dat10 (initial model)  NAME.lock (while it writes)
 *      NAME.retry.h5 (state after the last adjust, with KZ(2) > 1, until the end of the run)
 *  Exit code of the command: nbc_status_exit_code of the status of these functions. */
#ifndef NB6_RUN_H
#define NB6_RUN_H

#include "nbody6/input/config.h"

struct nb6_call_counter;
struct nb6_input_text;
struct nb6_world;

/** Zero-initialise; every zero field means the value of the configuration or the checkpoint. */
struct nb6_run_options {
    int quiet;     /**< 1: nothing on stdout; warnings go to stderr */
    int overwrite; /**< 1: files of an earlier run with this name are removed; 0: they are an error */

    /* Changes at a resume; ignored by the other two functions, which take them from the configuration. */
    const char *name;             /**< --out: prefix of the output files; NULL: those beside the checkpoint go on */
    const char *device;           /**< --device; other backends give other last bits, with a note */
    const char *irr_backend;      /**< --irr-backend */
    const char *engine;           /**< --engine; likewise */
    const char *on_device_loss;   /**< --on-device-loss */
    double t_crit;                /**< --tcrit: > 0: new end, absolute N-body time */
    double wall_limit_s;          /**< --wall-limit: > 0: of this session */
    int set_checkpoint_interval;  /**< 1: checkpoint_interval_s below counts */
    double checkpoint_interval_s; /**< --checkpoint-interval: wall-clock seconds; 0: none */
    int force_check;              /**< --force-check: 1: compare all forces with a direct sum at each adjust */
    const struct nb6_input_text *changes; /**< an input with changes (input.h); NULL: none */
    int dynamics_only;                    /**< --dynamics-only: of that input */

    struct nb6_world *world; /**< of nbody6-collisionless: ranks that the bodies are divided among; NULL: one */
    int force_times;         /**< --profile of nbody6-collisionless: 1: times of the forces, for lines at the end */
    const struct nb6_call_counter
        *profile; /**< --profile: counter of calls, for a table at the end; NULL: no profile */
};

/** Make the model and integrate it to its end.
 *  @return NBC_OK (also when a signal, a STOP file or the wall-clock limit ended it, with a checkpoint);
 *          NBC_BAD_INPUT (model, files of this name exist: names them, or another run writes them); NBC_ENERGY;
 * NBC_FILE; NBC_DEVICE; NBC_NON_FINITE (NAME.fault.h5 has the state before it); NBC_NO_MEMORY */
int nb6_run_new(const struct nb6_config *config, const struct nb6_run_options *options, struct nbc_error *err);

/** Continue from a checkpoint, bit for bit. The log and events files are cut back to their lengths at the time of the
 *  checkpoint. With changes, the run reports each of them, and writes a checkpoint that has them before it goes on; the
 *  command line overrides them.
 *  @return as nb6_run_new; NBC_BAD_INPUT also when files of this name belong to another run; NBC_FILE names the fault
 * of the checkpoint and the one to try instead */
int nb6_run_resume(const char *checkpoint, const struct nb6_run_options *options, struct nbc_error *err);

/** Show the changes by options->changes, and write nothing.   @return NBC_OK; NBC_BAD_INPUT; NBC_FILE */
int nb6_run_show_changes(const char *checkpoint, const struct nb6_run_options *options, struct nbc_error *err);

/** The checkpoint that an input with KSTART > 1 means: NAME.ckpt.h5, or the only one in the working directory.
 *  @param[in]  input  name of the input, for messages
 *  @param[out] path   [NB6_PATH_MAX]
 *  @return NBC_OK; NBC_BAD_INPUT (there is none, or several: names them, and the remedy) */
int nb6_run_find_checkpoint(const char *name, const char *input, char *path, struct nbc_error *err);

/** Make the model only: NAME.init.h5 (snapshot) and NAME.dat10 (7 columns m x y z vx vy vz, read back by KZ(22) = 2).
 */
int nb6_run_init_only(const struct nb6_config *config, const struct nb6_run_options *options, struct nbc_error *err);

#endif
