#include "bench/support/domain_model.h"

#include <math.h>

static const double PI = 3.141592653589793;

/* Table 3: slowdown factors, and bytes of a particle that acts, an index and a position. */
static const double GATHER = 0.62, CONST_LIST = 19, DC_SORT = 7.7, P2P = 1.0, EPJ = 32, ID = 4, POSITION = 24;

struct domain_model domain_model_of_paper(void)
{
    return (struct domain_model){.machine = &paper_machines[0],
                                 .bytes_per_s = 4.8e9,
                                 .all_s = 1.2e-5,
                                 .one_s = 1.0e-5,
                                 .theta = 0.5,
                                 .n_i = 250,
                                 .reuse = 16,
                                 .divisions = 16,
                                 .samples = 30};
}

double domain_model_close(double theta, double processes)
{
    const double near = 1 / theta + 1;
    return fmax(fmin(6 * near + 3 * PI * near * near + 4 * PI / 3 * near * near * near, processes - 1), 0);
}

double domain_model_near_items(double theta, double n, double processes)
{
    const double levels = log2(fmax(theta / 2.8 * (cbrt(n * processes) - cbrt(n)), 1));
    if (processes < 2) return 0;
    return 14 * cbrt(n * n) / theta + 21 * PI * cbrt(n) / (theta * theta) +
           28 * PI / (3 * theta * theta * theta) * levels;
}

/* Cells of domains by their angle: the list of eq. 30 for one of so many points, less those that are close. */
static double far_tops(const struct domain_model *m, double processes)
{
    const double close = domain_model_close(m->theta, processes), all = processes - 1 - close;
    if (m->tops == DOMAIN_TOPS_OF_ALL) return all;
    return fmin(all, fmax(tree_work_list_length(processes, 1, m->theta) - 1 - close, 0));
}

double domain_model_items(const struct domain_model *m, double n, double processes)
{
    return domain_model_near_items(m->theta, n, processes) + far_tops(m, processes);
}

/* With a tree of domains multipoles go up, to eighths of as many processes on each level, which share the messages with
 * those that are close to their common cell, and what came goes down again. */
static double seconds_of_tops(const struct domain_model *m, double processes)
{
    if (m->tops == DOMAIN_TOPS_OF_ALL)
        return pow(processes, 0.25) * m->all_s + processes * GATHER * EPJ / m->bytes_per_s;
    double messages = 2 * log2(processes);
    for (double members = 8; members < 8 * processes; members *= 8)
        messages += ceil(domain_model_close(m->theta, processes / members) / members);
    return messages * m->one_s + far_tops(m, processes) * P2P * EPJ / m->bytes_per_s;
}

struct domain_times domain_model_times(const struct domain_model *m, double n, double processes)
{
    const double close = domain_model_close(m->theta, processes), root = pow(processes, 2.0 / 3);
    const double items = domain_model_items(m, n, processes), sent = domain_model_near_items(m->theta, n, processes);
    struct domain_times t = {.single = paper_step_among(m->machine, n, processes > 1 ? items : 0,
                                                        tree_work_list_length(n * processes, m->n_i, m->theta), m->n_i,
                                                        m->reuse)};
    if (processes > 1) {
        t.divide = (pow(processes, 1.0 / 6) * m->all_s + m->samples * root * GATHER * POSITION / m->bytes_per_s +
                    m->samples * root * log2(pow(m->samples, 3) * pow(processes, 5.0 / 3)) * DC_SORT * POSITION /
                        m->machine->host) /
                   m->divisions;
        t.construct = sent * CONST_LIST * ID / m->machine->host / m->reuse;
        t.tops = seconds_of_tops(m, processes);
        t.trees = close * m->one_s + 2 * sent * P2P * EPJ / m->bytes_per_s;
    }
    t.all = t.single + t.divide + t.construct + t.tops + t.trees;
    return t;
}
