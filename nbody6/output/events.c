#include "nbody6/output/events.h"

#include "common/nbc.h"
#include "nbody6/input/units.h"
#include "nbody6/output/textfile.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/stuck.h"
#include "regularization/chain.h"

#include <math.h>

static void add_number(struct nb6_line *line, const char *key, double value)
{
    if (isfinite(value))
        nb6_line_add(line, ", \"%s\": %.15g", key, value);
    else
        nb6_line_add(line, ", \"%s\": null", key);
}

static void add_numbers(struct nb6_line *line, const char *key, int n, const double value[])
{
    for (int k = 0; k < n; k++) {
        if (k)
            nb6_line_add(line, ", ");
        else
            nb6_line_add(line, ", \"%s\": [", key);
        if (isfinite(value[k]))
            nb6_line_add(line, "%.15g", value[k]);
        else
            nb6_line_add(line, "null");
    }
    nb6_line_add(line, "]");
}

static void add_vector(struct nb6_line *line, const char *key, const double value[3])
{
    add_numbers(line, key, 3, value);
}

static void add_name(struct nb6_line *line, const struct nb6_event *event)
{
    nb6_line_add(line, ", \"name\": %lld", (long long)event->name);
}

static void add_escape(struct nb6_line *line, const struct nb6_event *event)
{
    add_name(line, event);
    add_number(line, "mass", event->mass);
    add_vector(line, "x", event->x);
    add_vector(line, "v", event->v);
    add_number(line, "energy", event->energy);
}

static void add_energy_jump(struct nb6_line *line, const struct nb6_event *event)
{
    add_number(line, "de_cluster", event->value[0]);
    add_number(line, "tolerance", event->value[1]);
}

static void add_energy_escaped(struct nb6_line *line, const struct nb6_event *event)
{
    nb6_line_add(line, ", \"stars\": %.0f", event->value[1]);
    add_number(line, "energy", event->energy);
    add_number(line, "binding", event->value[0]);
}

static void add_stars_changed(struct nb6_line *line, const struct nb6_event *event)
{
    nb6_line_add(line, ", \"added\": %.0f, \"removed\": %.0f", event->value[0], event->value[1]);
    add_number(line, "energy", event->energy);
}

static void add_masses_changed(struct nb6_line *line, const struct nb6_event *event)
{
    nb6_line_add(line, ", \"stars\": %.0f, \"sudden\": %s", event->value[0], event->value[1] != 0 ? "true" : "false");
    if (event->name) add_name(line, event);
    add_number(line, "mass", event->mass);
    add_vector(line, "momentum", event->v);
    add_vector(line, "angular_momentum", event->x);
    add_number(line, "energy", event->energy);
}

static void add_merger(struct nb6_line *line, const struct nb6_event *event)
{
    nb6_line_add(line, ", \"names\": [%lld, %lld]", (long long)event->name, (long long)event->gone);
    add_number(line, "mass", event->mass);
    add_number(line, "mass_gone", event->value[1]);
    add_vector(line, "x", event->x);
    add_vector(line, "v", event->v);
    add_number(line, "r", event->value[2]);
    add_number(line, "radius", event->value[3]);
    add_number(line, "energy", event->energy);
}

static void add_force_check(struct nb6_line *line, const struct nb6_event *event)
{
    add_number(line, "acc_median", event->value[0]);
    add_number(line, "acc_max", event->value[1]);
    add_number(line, "jerk_median", event->value[2]);
    add_number(line, "jerk_max", event->value[3]);
    add_name(line, event);
}

static void add_tree_check(struct nb6_line *line, const struct nb6_event *event)
{
    nb6_line_add(line, ", \"targets\": %lld, \"lists\": %lld", (long long)event->targets, (long long)event->lists);
    add_number(line, "acc_median", event->value[0]);
    add_number(line, "acc_99", event->value[1]);
    add_number(line, "jerk_median", event->value[2]);
    add_number(line, "jerk_99", event->value[3]);
}

static void add_change(struct nb6_line *line, const struct nb6_event *event, double energy_change)
{
    add_number(line, "energy_change", energy_change);
    nb6_line_add(line, ", \"channel\": \"%s\"", nb6_channel_names[event->channel]);
}

static void add_pair(struct nb6_line *line, const struct nb6_event *event)
{
    static const char *const reasons[] = {"encounter", "primordial", "separated", "perturbed", "dissolved", "collision",
                                          "escaped",   "chain",      "hierarchy", "unstable",  "merged",    "remade"};
    const struct nb6_event_pair *pair = &event->pair;
    nb6_line_add(line, ", \"reason\": \"%s\", \"names\": [%lld, %lld], \"name\": %lld", reasons[pair->reason],
                 (long long)pair->name[0], (long long)pair->name[1], (long long)event->name);
    nb6_line_add(line, ", \"masses\": [%.15g, %.15g]", pair->mass[0], pair->mass[1]);
    add_vector(line, "x", event->x);
    add_vector(line, "v", event->v);
    add_number(line, "a", pair->a);
    add_number(line, "e", pair->e);
    add_number(line, "period", pair->period);
    add_number(line, "r", pair->r);
    add_number(line, "binding", pair->binding);
    add_number(line, "gamma", pair->gamma);
    add_change(line, event, pair->energy_change);
    if (event->kind != NB6_EVENT_PAIR_ENDED) return;
    add_number(line, "t_formed", pair->t_formed);
    add_number(line, "gamma_max", pair->gamma_max);
    nb6_line_add(line, ", \"ks_steps\": %llu", (unsigned long long)pair->ks_steps);
}

static void add_names(struct nb6_line *line, const char *key, int n, const int64_t *name)
{
    nb6_line_add(line, ", \"%s\": [", key);
    for (int k = 0; k < n; k++) nb6_line_add(line, k ? ", %lld" : "%lld", (long long)name[k]);
    nb6_line_add(line, "]");
}

static void add_chain(struct nb6_line *line, const struct nb6_event *event)
{
    const struct nb6_event_chain *chain = &event->chain;
    add_names(line, "names", chain->n, chain->name);
    add_name(line, event);
    if (chain->n_moved > 0)
        add_names(line, event->kind <= NB6_EVENT_CHAIN_JOINED ? "came" : "left", chain->n_moved, chain->moved);
    add_number(line, "mass", event->mass);
    add_vector(line, "x", event->x);
    add_vector(line, "v", event->v);
    add_number(line, "binding", chain->binding);
    add_number(line, "size", chain->size);
    add_number(line, "a", chain->a > 0 ? chain->a : NAN);
    add_number(line, "period", chain->a > 0 ? chain->period : NAN);
    add_change(line, event, chain->energy_change);
    add_number(line, "t_formed", chain->t_formed);
    add_number(line, "error", chain->error);
    nb6_line_add(line, ", \"most\": %d, \"steps\": %llu, \"forces\": %llu, \"unreached\": %llu", chain->most,
                 (unsigned long long)chain->steps, (unsigned long long)chain->forces,
                 (unsigned long long)chain->unreached);
}

/* The system that keeps the run busy, and its tightest orbit as the reason. */
static void add_busy(struct nb6_line *line, const struct nb6_event *event)
{
    const struct nb6_event_pair *pair = &event->pair;
    const struct nb6_event_chain *chain = &event->chain;
    if (chain->n > 0)
        add_names(line, "names", chain->n, chain->name);
    else
        add_names(line, "names", 2, pair->name);
    add_name(line, event);
    add_number(line, "share", event->value[1]);
    add_number(line, "pair_forces", event->value[0]);
    add_number(line, "a", chain->n > 0 ? chain->a : pair->a);
    add_number(line, "period", chain->n > 0 ? chain->period : pair->period);
    if (chain->n > 0) add_number(line, "size", chain->size);
    nb6_line_add(line, ", \"steps\": %llu", (unsigned long long)(chain->n > 0 ? chain->steps : pair->ks_steps));
}

static void add_tolerance(struct nb6_line *line, const struct nb6_event *event)
{
    const struct nb6_event_chain *chain = &event->chain;
    add_names(line, "names", chain->n, chain->name);
    add_name(line, event);
    nb6_line_add(line, ", \"unreached\": %llu, \"steps\": %llu", (unsigned long long)chain->unreached,
                 (unsigned long long)chain->steps);
    add_number(line, "worst_error", chain->worst_error);
}

static void add_stuck(struct nb6_line *line, const struct nb6_event *event)
{
    const struct nb6_event_stuck *stuck = &event->stuck;
    add_names(line, "names", stuck->n, stuck->name);
    nb6_line_add(line, ", \"blocks\": %d", NB6_STUCK_BLOCKS);
    add_numbers(line, "steps", stuck->n, stuck->step);
    add_numbers(line, "acc", stuck->n, stuck->acc);
    add_numbers(line, "change", stuck->n, stuck->change);
    add_numbers(line, "noise", stuck->n, stuck->noise);
}

static void add_changed_star(struct nb6_line *line, const struct nb6_event *event)
{
    const struct nb6_event_stellar *s = &event->stellar;
    add_name(line, event);
    add_number(line, "t_myr", s->t_myr);
    nb6_line_add(line, ", \"type_before\": %d, \"type\": %d", s->type_before, s->type_after);
    add_number(line, "mass_before_msun", s->mass_before);
    add_number(line, "mass_msun", s->mass_after);
    if (event->kind == NB6_EVENT_TYPE_CHANGE) return;
    if (event->kind == NB6_EVENT_SUPERNOVA) {
        static const char *const causes[] = {"", "", "collapse", "electron capture", "pair instability", "carbon"};
        nb6_line_add(line, ", \"cause\": \"%s\"", causes[s->kind]);
        add_number(line, "fallback", s->fallback);
    }
    add_vector(line, "kick_kms", s->kick_kms);
}

static void add_near_stars(struct nb6_line *line, const struct nb6_event *event)
{
    const struct nb6_event_stellar *s = &event->stellar;
    nb6_line_add(line, ", \"names\": [%lld, %lld], \"types\": [%d, %d]", (long long)s->name[0], (long long)s->name[1],
                 s->type[0], s->type[1]);
    add_number(line, "t_myr", s->t_myr);
    add_numbers(line, "radii_rsun", 2, s->radius);
    add_numbers(line, "lobes_rsun", 2, s->lobe);
    add_number(line, "a_rsun", s->a);
    add_number(line, "e", s->e);
}

static void add_product(struct nb6_line *line, const struct nb6_event *event)
{
    const struct nb6_event_stellar *s = &event->stellar;
    nb6_line_add(line, ", \"names\": [%lld, %lld], \"types\": [%d, %d]", (long long)s->name[0], (long long)s->name[1],
                 s->type[0], s->type[1]);
    add_number(line, "t_myr", s->t_myr);
    add_numbers(line, "masses_msun", 2, s->mass);
    nb6_line_add(line, ", \"type\": %d", s->type_after);
    add_number(line, "mass_msun", s->mass_after);
}

static const struct {
    const char *name;
    void (*add)(struct nb6_line *line, const struct nb6_event *event);
} kinds[] = {
    [NB6_EVENT_ESCAPE] = {"escape", add_escape},
    [NB6_EVENT_ENERGY_JUMP] = {"energy_jump", add_energy_jump},
    [NB6_EVENT_FORCE_CHECK] = {"force_check", add_force_check},
    [NB6_EVENT_TREE_CHECK] = {"tree_check", add_tree_check},
    [NB6_EVENT_MERGER] = {"merger", add_merger},
    [NB6_EVENT_PAIR_FORMED] = {"pair_formed", add_pair},
    [NB6_EVENT_PAIR_ENDED] = {"pair_ended", add_pair},
    [NB6_EVENT_CHAIN_FORMED] = {"chain_formed", add_chain},
    [NB6_EVENT_CHAIN_JOINED] = {"chain_joined", add_chain},
    [NB6_EVENT_CHAIN_LEFT] = {"chain_left", add_chain},
    [NB6_EVENT_CHAIN_ENDED] = {"chain_ended", add_chain},
    [NB6_EVENT_BUSY] = {"busy", add_busy},
    [NB6_EVENT_TOLERANCE] = {"tolerance", add_tolerance},
    [NB6_EVENT_ENERGY_ESCAPED] = {"energy_escaped", add_energy_escaped},
    [NB6_EVENT_STARS_CHANGED] = {"stars_changed", add_stars_changed},
    [NB6_EVENT_MASSES_CHANGED] = {"masses_changed", add_masses_changed},
    [NB6_EVENT_TYPE_CHANGE] = {"type_change", add_changed_star},
    [NB6_EVENT_SUPERNOVA] = {"supernova", add_changed_star},
    [NB6_EVENT_REMNANT] = {"remnant", add_changed_star},
    [NB6_EVENT_OVERFLOW] = {"overflow", add_near_stars},
    [NB6_EVENT_CONTACT] = {"contact", add_near_stars},
    [NB6_EVENT_PRODUCT] = {"product", add_product},
    [NB6_EVENT_STUCK] = {"stuck", add_stuck},
};

int nb6_events_begin(struct nb6_textfile *file, double t, const char *run, struct nbc_error *err)
{
    struct nb6_line line = {0};
    nb6_line_add(&line, "{\"t\": %.12g, \"event\": \"run\", \"id\": \"%s\"}\n", t, run);
    return nb6_textfile_add(file, line.text, err);
}

void nb6_events_text(const struct nb6_event *event, struct nb6_line *line)
{
    *line = (struct nb6_line){0};
    nb6_line_add(line, "{\"t\": %.12g, \"event\": \"%s\"", event->t, kinds[event->kind].name);
    kinds[event->kind].add(line, event);
    nb6_line_add(line, "}");
}

int nb6_events_add(struct nb6_textfile *file, const struct nb6_event *event, struct nbc_error *err)
{
    struct nb6_line line;
    nb6_events_text(event, &line);
    nb6_line_add(&line, "\n");
    return nb6_textfile_add(file, line.text, err);
}

int nb6_escapers_begin(struct nb6_textfile *file, const char *run, int they_age, struct nbc_error *err)
{
    struct nb6_line line = {0};
    nb6_line_add(&line, "t,t_myr,name,mass,mass_msun,x,y,z,vx,vy,vz,energy,v_kms%s\n",
                 they_age ? ",type,radius_rsun,luminosity_lsun,temperature_k" : "");
    nb6_line_add(&line,
                 "# units: time,Myr,1,mass,Msun,length,length,length,velocity,velocity,velocity,velocity^2,km/s%s\n"
                 "# run: %s\n",
                 they_age ? ",1,Rsun,Lsun,K" : "", run);
    return nb6_textfile_add(file, line.text, err);
}

int nb6_escapers_add(struct nb6_textfile *file, const struct nb6_event *event, const struct nb6_units *units,
                     int they_age, struct nbc_error *err)
{
    struct nb6_line line = {0};
    const double *x = event->x, *v = event->v;
    const struct nb6_event_stellar *s = &event->stellar;
    double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    nb6_line_add(&line, "%.12g,%.15g,%lld,%.15g,%.15g", event->t, event->t * units->time_myr, (long long)event->name,
                 event->mass, event->mass * units->mass_msun);
    nb6_line_add(&line, ",%.15g,%.15g,%.15g,%.15g,%.15g,%.15g", x[0], x[1], x[2], v[0], v[1], v[2]);
    nb6_line_add(&line, ",%.15g,%.15g", event->energy, speed * units->velocity_kms);
    if (they_age)
        nb6_line_add(&line, ",%d,%.15g,%.15g,%.15g", s->type_after, s->radius[0], s->luminosity, s->temperature);
    nb6_line_add(&line, "\n");
    return nb6_textfile_add(file, line.text, err);
}
