#include "nbody6/app/script.h"

#include "common/nbc.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/new_sim.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/events.h"
#include "nbody6/output/log.h"
#include "nbody6/output/run_snapshot.h"
#include "nbody6/output/textfile.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"

#include <string.h>

/* Between two polls of the listener, s: short for a person who presses Ctrl-C, long against a block step. */
static const double POLL_INTERVAL_S = 0.02;

struct nb6_script {
    struct nb6_config config;
    nb6_t *sim;
    nb6_script_listener *listener;
    void *context;
    int stop_wanted, is_telling, is_freed;
    double polled;
};

struct nb6_script *nb6_script_create(void)
{
    struct nb6_script *script = nbc_alloc(1, sizeof *script);
    if (script) nb6_config_init(&script->config);
    return script;
}

void nb6_script_free(struct nb6_script *script)
{
    if (!script) return;
    nb6_free(script->sim);
    script->sim = NULL;
    script->is_freed = 1;
    if (!script->is_telling) nbc_free(script); /* else `tell` frees it */
}

struct nb6_config *nb6_script_config(struct nb6_script *script)
{
    return script ? &script->config : NULL;
}

struct nb6_sim *nb6_script_sim(struct nb6_script *script)
{
    return script ? script->sim : NULL;
}

/* ---- news ---- */

/* An observer must not fail for a requested stop: the run would not go on from there. So it stops at the next poll.
 * @return 1: the listener has freed the script; the simulation calls no observer any more */
static int tell(struct nb6_script *script, enum nb6_script_news news, const char *text)
{
    script->is_telling++;
    if (script->listener && script->listener(script->context, (int)news, text)) script->stop_wanted = 1;
    script->is_telling--;
    const int is_freed = script->is_freed;
    if (is_freed && !script->is_telling) nbc_free(script);
    return is_freed;
}

static int on_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    struct nb6_line line;
    (void)sim, (void)err;
    nb6_events_text(event, &line);
    (void)tell(context, NB6_SCRIPT_EVENT, line.text);
    return NBC_OK;
}

static int on_adjust(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    struct nb6_line line;
    (void)sim, (void)err;
    nb6_log_row_text(row, &line);
    (void)tell(context, NB6_SCRIPT_ROW, line.text);
    return NBC_OK;
}

static int on_output(void *context, nb6_t *sim, struct nbc_error *err)
{
    (void)sim, (void)err;
    (void)tell(context, NB6_SCRIPT_OUTPUT, "");
    return NBC_OK;
}

static int on_poll(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    struct nb6_script *script = context;
    const double now = nbc_wtime();
    (void)sim, (void)err;
    if (now - script->polled > POLL_INTERVAL_S) {
        script->polled = now;
        if (tell(script, NB6_SCRIPT_POLL, "")) return NBC_OK;
    }
    if (script->stop_wanted) *stop = 1;
    script->stop_wanted = 0;
    return NBC_OK;
}

void nb6_script_listen(struct nb6_script *script, nb6_script_listener *listener, void *context)
{
    if (!script) return;
    script->listener = listener;
    script->context = context;
}

/* ---- a simulation ---- */

static int check_script(const struct nb6_script *script, int needs_stars, struct nbc_error *err)
{
    if (!script) return nbc_fail(err, NBC_BAD_ARGUMENT, "the script is NULL");
    if (needs_stars && !script->sim) return nbc_fail(err, NBC_BAD_STATE, "the simulation has no stars yet");
    if (!needs_stars && script->sim) return nbc_fail(err, NBC_BAD_STATE, "the simulation has its stars already");
    return NBC_OK;
}

/* A simulation that could not be made whole is none. */
static int begin(struct nb6_script *script, int status)
{
    const struct nb6_observer observer = {script, on_event, on_adjust, on_output, on_poll};
    if (status) {
        nb6_free(script->sim);
        script->sim = NULL;
    } else {
        nb6_set_observer(script->sim, &observer);
    }
    return status;
}

int nb6_script_make(struct nb6_script *script, struct nbc_error *err)
{
    struct nb6_config settled;
    struct nb6_model model;
    int status = check_script(script, 0, err);
    if (!status) status = nb6_new_model(&script->config, &settled, &model, err);
    if (status) return status;
    status = begin(script, nb6_new_sim(&settled, &model, &script->sim, err));
    nb6_model_free(&model);
    return status;
}

static int copy_model(struct nb6_model *model, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                      const double (*v)[3], struct nbc_error *err)
{
    const size_t count = (size_t)n;
    model->n = n;
    model->mass = nbc_alloc(count, sizeof *model->mass);
    model->x = nbc_alloc(count, sizeof *model->x);
    model->v = nbc_alloc(count, sizeof *model->v);
    model->name = nbc_alloc(count, sizeof *model->name);
    if (!model->mass || !model->x || !model->v || !model->name)
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld stars", (long long)n);
    memcpy(model->mass, mass, count * sizeof *mass);
    memcpy(model->x, x, count * sizeof *x);
    memcpy(model->v, v, count * sizeof *v);
    for (int64_t i = 0; i < n; i++) model->name[i] = name ? name[i] : i + 1;
    return NBC_OK;
}

int nb6_script_set_bodies(struct nb6_script *script, int64_t n, const int64_t *name, const double *mass,
                          const double (*x)[3], const double (*v)[3], struct nbc_error *err)
{
    struct nb6_model model = {0};
    int status = check_script(script, 0, err);
    if (!status && n < 1) status = nbc_fail(err, NBC_BAD_ARGUMENT, "%lld stars", (long long)n);
    if (!status && (!mass || !x || !v)) status = nbc_fail(err, NBC_BAD_ARGUMENT, "mass, x or v is NULL");
    if (status) return status;
    struct nb6_config settled = script->config;
    settled.model.n = n;
    status = copy_model(&model, n, name, mass, x, v, err);
    if (!status) status = begin(script, nb6_new_sim(&settled, &model, &script->sim, err));
    nb6_model_free(&model);
    return status;
}

int nb6_script_restore(struct nb6_script *script, const char *path, struct nbc_error *err)
{
    struct nb6_run_state state;
    struct nb6_config config;
    int status = check_script(script, 0, err);
    if (!status && !path) status = nbc_fail(err, NBC_BAD_ARGUMENT, "path is NULL");
    if (!status) status = nb6_checkpoint_read_config(path, &config, &state, err);
    if (status) return status;
    status = begin(script, nb6_restore(&script->sim, path, err));
    if (!status) memcpy(script->sim->run.id, state.id, sizeof state.id);
    return status;
}

/* ---- values of the script ---- */

double nb6_script_end(const struct nb6_script *script)
{
    if (!script) return 0;
    return script->sim ? script->sim->run.config.run.t_crit : script->config.run.t_crit;
}

void nb6_script_units(const struct nb6_script *script, double units[4])
{
    const struct nb6_units *u = script && script->sim ? &script->sim->run.units : NULL;
    const double values[4] = {u ? u->length_pc : 0, u ? u->mass_msun : 0, u ? u->velocity_kms : 0, u ? u->time_myr : 0};
    memcpy(units, values, sizeof values);
}

const char *nb6_script_id(const struct nb6_script *script)
{
    return script && script->sim ? script->sim->run.id : "";
}

int nb6_script_pairs(struct nb6_script *script, int64_t capacity, int64_t *n, int64_t (*names)[2],
                     double (*values)[NB6_SCRIPT_PAIR], struct nbc_error *err)
{
    struct nb6_frame frame;
    int status = check_script(script, 1, err);
    if (!status) status = nb6_bring_home(script->sim, err);
    if (!status) status = nb6_frame_make(script->sim, script->sim->ti_reached, 0, &frame, err);
    if (status) return status;
    *n = frame.n_pair;
    for (int64_t k = 0; k < frame.n_pair && frame.n_pair <= capacity; k++) {
        const struct nb6_frame_pair *p = &frame.pair[k];
        const double flat[NB6_SCRIPT_PAIR] = {p->a,     p->e,       p->period,  p->binding,
                                              p->gamma, p->mass[0], p->mass[1], p->t_formed};
        memcpy(names[k], p->star, sizeof p->star);
        memcpy(values[k], flat, sizeof flat);
    }
    nb6_frame_free(&frame);
    return NBC_OK;
}

int nb6_script_snapshot(struct nb6_script *script, const char *path, struct nbc_error *err)
{
    struct nb6_frame frame;
    int status = check_script(script, 1, err);
    if (!status && !path) status = nbc_fail(err, NBC_BAD_ARGUMENT, "path is NULL");
    if (status) return status;
    nb6_t *sim = script->sim;
    status = nb6_bring_home(sim, err);
    if (!status) status = nb6_frame_make(sim, sim->ti_reached, NB6_FRAME_POTENTIAL, &frame, err);
    if (status) return status;
    status = nb6_sim_snapshot_write(path, &frame, sim, 0, err);
    nb6_frame_free(&frame);
    if (!status) sim->run.book.snapshot_count++;
    return status;
}
