#include "nbody6/input/config.h"

#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"
#include "regularization/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_initial(struct nb6_config *config, const struct nb6_input_variable *v)
{
    char *field = (char *)config + nb6_input_offset(v);
    double number = strtod(v->initial, NULL);
    switch (v->target) {
    case NB6_TO_DOUBLE:
    case NB6_TO_NUMBER:
        memcpy(field, &number, sizeof number);
        break;
    case NB6_TO_INT64:
        memcpy(field, &(int64_t){(int64_t)number}, sizeof(int64_t));
        break;
    case NB6_TO_UINT64:
        memcpy(field, &(uint64_t){(uint64_t)number}, sizeof(uint64_t));
        break;
    case NB6_TO_INT:
        memcpy(field, &(int){(int)number}, sizeof(int));
        break;
    case NB6_TO_TEXT: /* 'text': without the quotes */
        memcpy(field, v->initial + 1, strlen(v->initial) - 2);
        break;
    case NB6_TO_NONE:
        break;
    }
}

void nb6_config_init(struct nb6_config *config)
{
    memset(config, 0, sizeof *config);
    strcpy(config->run.name, "nbody6");
    config->model.kind = NB6_MODEL_PLUMMER;
    config->pair.chain_method = CHAIN_METHOD_AUTO;
    config->run.engine = NB6_ENGINE_AUTO;
    config->run.t_crit_open = 1;
    for (int k = 0; k < nb6_input_variable_count; k++) set_initial(config, &nb6_input_variables[k]);
    for (int k = 0; k < NB6_KZ_COUNT; k++)
        nb6_input_apply_option(config, nb6_input_options_table[k].number, nb6_input_options_table[k].initial);
}

/* That of the table. A program that sets t_crit itself has replaced it. */
static const double T_CRIT_INITIAL = 10;

/* Whether TCRIT counts beside TCRTP0. */
static int has_t_crit(const struct nb6_run_config *r)
{
    return r->t_crit > 0 && r->t_crit < NB6_T_MAX && !(r->t_crit_open && r->t_crit == T_CRIT_INITIAL);
}

double nb6_config_end(const struct nb6_config *config, double time_myr)
{
    const struct nb6_run_config *r = &config->run;
    if (!(r->t_crit_myr > 0)) return r->t_crit;
    return fmin(has_t_crit(r) ? r->t_crit : NB6_T_MAX, r->t_crit_myr / time_myr);
}

void nb6_config_settle_end(struct nb6_config *config, double time_myr)
{
    config->run.t_crit = nb6_config_end(config, time_myr);
    config->run.t_crit_myr = 0;
    config->run.t_crit_open = 0;
}

void nb6_config_settle_intervals(struct nb6_config *config, double time_myr)
{
    struct nb6_run_config *r = &config->run;
    if (r->dt_adjust_myr > 0) r->dt_adjust = r->dt_adjust_myr / time_myr;
    if (r->dt_output_myr > 0) r->dt_output = r->dt_output_myr / time_myr;
}

int nb6_config_check_intervals(const struct nb6_config *config, double time_myr, struct nbc_error *err)
{
    const struct {
        const char *name;
        double myr;
    } interval[] = {{"DTADJ_MYR", config->run.dt_adjust_myr}, {"DTOUT_MYR", config->run.dt_output_myr}};
    for (int k = 0; k < 2; k++) {
        const double t = interval[k].myr / time_myr;
        if (!(interval[k].myr > 0) || (t >= NB6_LEAST_INTERVAL && t <= NB6_T_MAX)) continue;
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: %g Myr is no interval of a run whose unit of time is %.6g Myr; give %.3g to %.3g Myr",
                        interval[k].name, interval[k].myr, time_myr, NB6_LEAST_INTERVAL * time_myr,
                        NB6_T_MAX * time_myr);
    }
    return NBC_OK;
}

int nb6_config_tell_end(const struct nb6_config *config, double time_myr, char text[NB6_END_TEXT])
{
    const struct nb6_run_config *r = &config->run;
    const double by_myr = r->t_crit_myr / time_myr;
    text[0] = 0;
    if (!(r->t_crit_myr > 0)) return 0;
    if (has_t_crit(r))
        snprintf(
            text, NB6_END_TEXT,
            "TCRIT = %.10g (%.6g Myr) and TCRTP0 = %.6g Myr (t = %.10g) are given; the earlier one, %s, is the end",
            r->t_crit, r->t_crit * time_myr, r->t_crit_myr, by_myr, by_myr < r->t_crit ? "TCRTP0" : "TCRIT");
    else if (by_myr > NB6_T_MAX)
        snprintf(text, NB6_END_TEXT,
                 "TCRTP0 = %.6g Myr is t = %.10g, beyond the latest time: the end is %.10g (%.6g Myr)", r->t_crit_myr,
                 by_myr, NB6_T_MAX, NB6_T_MAX * time_myr);
    return text[0] != 0;
}

/* So few stars gain nothing from a second polynomial: all are neighbours of all. */
enum { ALL_ARE_NEIGHBOURS_BELOW = 64 };

/* Nor do light bodies around a heavy one: where it enters and leaves a list at a regular step, nearly all of the force
 * changes sides, and steps may become too short to get on. */
enum { AROUND_ONE_BELOW = 1024 };

static const double HEAVY_ONE = 0.9;

/* The legacy code's means, 36 at 8k and 37 at 16k, and those of NA12 table 2, 46 at 32k to 83 at 256k, whose weights
 * are the steps, grow like this power; it begins with the first and is 15 percent above the table. A run with an
 * automatic neighbour number soon replaces it by the one of least work. */
double nb6_radius_initial_mean(const struct nb6_config *config, int64_t n, double heaviest)
{
    double others = (double)(n - 1);
    if (config->integration.nnb_opt > 0) return fmin((double)config->integration.nnb_opt, others);
    if (heaviest > HEAVY_ONE && n <= AROUND_ONE_BELOW) return others;
    return n <= ALL_ARE_NEIGHBOURS_BELOW ? others : 2.9 * pow((double)n, 0.28);
}
