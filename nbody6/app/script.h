/** libnbody6 for languages that share no structs with C: the package `nbody6` of Python calls it by ctypes. Events and
 * rows are passed as the text of NAME.events.jsonl and NAME.log.csv; all else is opaque pointers, numbers and arrays.
 *
 *  A script begins with the default configuration. It becomes a simulation by one of nb6_script_make,
 *  nb6_script_set_bodies and nb6_script_restore; nb6_script_sim is then the argument of the functions of nbody6.h.
 * Units are N-body units. Every int returned is a status of nbc.h. Nothing prints, nothing exits; one thread at a
 * time. */
#ifndef NB6_SCRIPT_H
#define NB6_SCRIPT_H

#include "common/nbc.h"

#include <stddef.h>
#include <stdint.h>

struct nb6_config;
struct nb6_script;
struct nb6_sim;

/** Events for a listener. */
enum nb6_script_news {
    NB6_SCRIPT_EVENT,  /**< text: an event, a line of NAME.events.jsonl */
    NB6_SCRIPT_ROW,    /**< text: an adjust, a row of NAME.log.csv */
    NB6_SCRIPT_OUTPUT, /**< an output time; text is empty */
    NB6_SCRIPT_POLL    /**< nothing but that some 20 ms have gone by; text is empty */
};
/** @return 0; else nb6_evolve ends at the next state that can be gone on from, as if it had been asked by poll */
typedef int nb6_script_listener(void *context, int news, const char *text);

/** NULL without memory. */
struct nb6_script *nb6_script_create(void);
void nb6_script_free(struct nb6_script *script);
/** The configuration, for nb6_input_set, nb6_input_read and nb6_input_read_text: before there are stars. */
struct nb6_config *nb6_script_config(struct nb6_script *script);

/** Stars that the configuration describes, as the command makes them: the same bits.   @return as nb6_model_make,
 *  nb6_create, nb6_set_bodies; NBC_BAD_STATE: there are stars already */
int nb6_script_make(struct nb6_script *script, struct nbc_error *err);
/** Stars of the caller, see nb6_set_bodies.   @param[in] name  [n] or NULL; mass [n]; x, v [n][3] */
int nb6_script_set_bodies(struct nb6_script *script, int64_t n, const int64_t *name, const double *mass,
                          const double (*x)[3], const double (*v)[3], struct nbc_error *err);
/** Continue from a checkpoint, see nb6_restore; one of the command has the id of its run. */
int nb6_script_restore(struct nb6_script *script, const char *path, struct nbc_error *err);

/** NULL: there are no stars yet. It belongs to the script. */
struct nb6_sim *nb6_script_sim(struct nb6_script *script);
void nb6_script_listen(struct nb6_script *script, nb6_script_listener *listener, void *context);

/** TCRIT, and pc, Msun, km/s and Myr in an N-body unit. */
double nb6_script_end(const struct nb6_script *script);
void nb6_script_units(const struct nb6_script *script, double units[4]);
/** 16 hexadecimal digits. */
const char *nb6_script_id(const struct nb6_script *script);

enum { NB6_SCRIPT_PAIR = 8 };
/** Regularized pairs now.   @param[out] n  how many   @param[out] names [capacity][2]
 *  @param[out] values  [capacity][8]: a, e, period, binding, gamma, both masses, time of formation
 *  @return NBC_OK also if n > capacity: then nothing else is written */
int nb6_script_pairs(struct nb6_script *script, int64_t capacity, int64_t *n, int64_t (*names)[2],
                     double (*values)[NB6_SCRIPT_PAIR], struct nbc_error *err);
/** A snapshot, as the command writes it; they are counted from 0.   @return as nb6_snapshot_write */
int nb6_script_snapshot(struct nb6_script *script, const char *path, struct nbc_error *err);

#endif
