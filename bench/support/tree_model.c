#include "bench/support/tree_model.h"

#include <math.h>
#include <string.h>

/* Bytes of what stages move: a body (mass and position), a key with its number, a place of a list. */
static const double BODY = 32, KEY = 16, PLACE = 4, SORT_PASSES = 24;
/* Of a target to a device and back: position and number, acceleration. Sources are sent before. */
static const double SENT = 28 + 24;

const char *tree_model_stage_name(int stage)
{
    static const char *const names[] = {"key", "sort", "link", "moments", "lists", "kernel", "transfer"};
    return names[stage];
}

/* Factors of the constants of a stage. */
static void columns_of(const struct tree_model *m, int stage, double n, double n_i, double n_list,
                       double column[TREE_MODEL_CONSTANTS])
{
    const double b = m->rates.bytes, listed = n * n_list / n_i;
    const double sorted = n * SORT_PASSES * KEY / b;
    column[0] = 1;
    column[1] = column[2] = 0;
    switch (stage) {
    case TREE_MODEL_KEY:
        column[1] = n * (BODY + KEY) / b;
        break;
    case TREE_MODEL_SORT:
        column[1] = sorted;
        break;
    case TREE_MODEL_LINK:
        column[1] = n / 4 * log2(n / 4) * KEY / b;
        column[2] = sorted;
        break;
    case TREE_MODEL_MOMENTS:
        column[1] = n * BODY / b;
        break;
    case TREE_MODEL_LISTS:
        column[1] = listed * PLACE / b;
        break;
    case TREE_MODEL_KERNEL:
        column[1] = n * n_list * m->n_op / m->rates.operations;
        column[2] = listed * (PLACE + BODY) / b;
        break;
    default:
        column[1] = n * SENT / m->transfer;
    }
}

/* ---- fits */

typedef double equations[TREE_MODEL_CONSTANTS][TREE_MODEL_CONSTANTS + 1];

/* The constants that are in use, by Gaussian elimination; the normal equations are positive definite. */
static void solve(const equations normal, const int *in_use, double *constant)
{
    equations a;
    memcpy(a, normal, sizeof a);
    memset(constant, 0, TREE_MODEL_CONSTANTS * sizeof *constant);
    for (int i = 0; i < TREE_MODEL_CONSTANTS; i++) {
        if (!in_use[i]) continue;
        for (int j = i + 1; j < TREE_MODEL_CONSTANTS; j++)
            for (int k = TREE_MODEL_CONSTANTS; k >= i && in_use[j]; k--) a[j][k] -= a[j][i] / a[i][i] * a[i][k];
    }
    for (int i = TREE_MODEL_CONSTANTS - 1; i >= 0; i--) {
        if (!in_use[i]) continue;
        double rest = a[i][TREE_MODEL_CONSTANTS];
        for (int k = i + 1; k < TREE_MODEL_CONSTANTS; k++) rest -= in_use[k] ? a[i][k] * constant[k] : 0;
        constant[i] = rest / a[i][i];
    }
}

/* Leave out the constant that is most below zero, and solve again. */
static void solve_positive(const equations normal, int *in_use, double *constant)
{
    for (int turn = 0; turn < TREE_MODEL_CONSTANTS; turn++) {
        int least = 0;
        solve(normal, in_use, constant);
        for (int i = 1; i < TREE_MODEL_CONSTANTS; i++)
            if (constant[i] * sqrt(normal[i][i]) < constant[least] * sqrt(normal[least][least])) least = i;
        if (constant[least] >= 0) return;
        in_use[least] = 0;
    }
}

static void fit_stage(struct tree_model *m, int stage, const struct tree_record *record, int count)
{
    equations normal = {{0}};
    int in_use[TREE_MODEL_CONSTANTS] = {0}, used = 0;
    for (int r = 0; r < count; r++) {
        double column[TREE_MODEL_CONSTANTS];
        const double measured = record[r].seconds[stage];
        if (!(measured > 0)) continue;
        used++;
        columns_of(m, stage, record[r].n, record[r].n_i, record[r].n_list, column);
        for (int i = 0; i < TREE_MODEL_CONSTANTS; i++) {
            for (int k = 0; k < TREE_MODEL_CONSTANTS; k++) normal[i][k] += column[i] * column[k] / measured / measured;
            normal[i][TREE_MODEL_CONSTANTS] += column[i] / measured;
        }
    }
    /* As many constants as records tell apart: slowdowns before the start. */
    for (int i = 1; i < TREE_MODEL_CONSTANTS; i++) in_use[i] = normal[i][i] > 0 && i <= used;
    in_use[0] = used > 2;
    solve_positive((const double(*)[TREE_MODEL_CONSTANTS + 1]) normal, in_use, m->constant[stage]);
}

static double list_of(double n, double n_i, double theta, double edge)
{
    return tree_work_list_length(n, n_i, theta) / (1 + edge / theta * cbrt(n_i / n));
}

/* The factor on the angle with the least squares of logarithms.   @return their sum */
static double find_factor(const struct tree_record *record, const double *theta, int count, double edge, double *best)
{
    double least = INFINITY;
    for (double factor = 0.5; factor < 2.5; factor += 0.005) {
        double sum = 0;
        for (int r = 0; r < count; r++) {
            const double d = log(record[r].n_list / list_of(record[r].n, record[r].n_i, theta[r] * factor, edge));
            sum += d * d;
        }
        if (sum < least) {
            least = sum;
            *best = factor;
        }
    }
    return least;
}

double tree_model_factor(const struct tree_record *record, const double *theta, int count)
{
    double factor = 1;
    find_factor(record, theta, count, 0, &factor);
    return factor;
}

static void fit_lists(struct tree_model *m, const struct tree_record *record, const double *theta, int count)
{
    double least = find_factor(record, theta, count, 0, &m->factor);
    m->edge = 0;
    m->edge_factor = m->factor;
    for (double edge = 0.05; edge < 3 && count > 2; edge += 0.05) {
        double factor = 1;
        const double sum = find_factor(record, theta, count, edge, &factor);
        if (sum >= least) continue;
        least = sum;
        m->edge = edge;
        m->edge_factor = factor;
    }
}

/* Relative deviations from a line in log2 n; with one size it is flat. */
static void fit_line(struct tree_model *m, const struct tree_record *record, int count)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int r = 0; r < count; r++) {
        const double weight = 1 / (record[r].n_list * record[r].n_list), level = log2(record[r].n);
        w += weight;
        x += weight * level;
        y += weight * record[r].n_list;
        xx += weight * level * level;
        xy += weight * level * record[r].n_list;
    }
    const double spread = w * xx - x * x;
    m->linear[1] = spread > 1e-9 * w * xx ? (w * xy - x * y) / spread : 0;
    m->linear[0] = (y - m->linear[1] * x) / w;
}

void tree_model_fit(struct tree_model *m, const struct tree_record *record, int count)
{
    double theta[64] = {0};
    if (count > 64) count = 64;
    m->n_op = 0;
    for (int r = 0; r < count; r++) {
        theta[r] = m->theta;
        m->n_op += record[r].work / record[r].n_list / count;
    }
    if (m->theta > 0)
        fit_lists(m, record, theta, count);
    else
        fit_line(m, record, count);
    for (int stage = 0; stage < TREE_MODEL_STAGES; stage++) fit_stage(m, stage, record, count);
}

/* ---- predictions */

double tree_model_eq30(const struct tree_model *m, double n, double n_i)
{
    return m->theta > 0 ? tree_work_list_length(n, n_i, m->theta * m->factor) : tree_model_list(m, n, n_i);
}

double tree_model_list(const struct tree_model *m, double n, double n_i)
{
    if (m->theta > 0) return list_of(n, n_i, m->theta * m->edge_factor, m->edge);
    return m->linear[0] + m->linear[1] * log2(n);
}

double tree_model_seconds(const struct tree_model *m, int stage, double n, double n_i)
{
    double column[TREE_MODEL_CONSTANTS], sum = 0;
    columns_of(m, stage, n, n_i, tree_model_list(m, n, n_i), column);
    for (int i = 0; i < TREE_MODEL_CONSTANTS; i++) sum += m->constant[stage][i] * column[i];
    return sum;
}

double tree_model_force(const struct tree_model *m, double n, double n_i, int is_new)
{
    double sum = 0;
    for (int stage = is_new ? 0 : TREE_MODEL_MOMENTS; stage < TREE_MODEL_STAGES; stage++)
        sum += tree_model_seconds(m, stage, n, n_i);
    return sum;
}

/* ---- the program of the paper */

const struct paper_machine paper_machines[PAPER_MACHINES] = {{"reference", 10e12, 100e9, 500e9, 10e9},
                                                             {"GPU2X", 20e12, 100e9, 1e12, 10e9},
                                                             {"GPU4X", 40e12, 100e9, 2e12, 10e9},
                                                             {"LINK4X", 10e12, 100e9, 500e9, 40e9},
                                                             {"LINK0.5X", 10e12, 100e9, 500e9, 5e9}};

/* Bytes and operations of table 3, with its slowdown factors, as eq. 33 has them; but of a list's entries in the memory
 * of the GPU 2.7 (b_ID + b_EPJ) = 97 bytes, as the table says: the 440 of eq. 33 would make the kernel of table 2
 * longer than it was. */
double paper_step_among(const struct paper_machine *m, double n, double n_let, double n_list, double n_i, double reuse)
{
    const double per_body = n_list / n_i, all = n + n_let;
    const double kernel = n_list * (39.1 / m->operations + 97 / (n_i * m->memory));
    const double copies =
        68 * all / m->host + (174 * n + 58 * n_let) / m->host + all * fmax(42 / m->host, 16 / m->transfer);
    const double reused = fmax(kernel, fmax(19.2 / m->transfer, 282 / m->host));
    const double constructed = fmax(kernel, fmax((12 + 3.4 * per_body) / m->transfer, (282 + 80 * per_body) / m->host));
    const double links = 54.4 * (n / 4 * log2(n / 4) + all / 4 * log2(all / 4)),
                 build = (1580 * n + 1157 * n_let + links) / m->host;
    return copies + n * reused + (build + n * (constructed - reused)) / reuse;
}

double paper_step(const struct paper_machine *m, double n, double n_i, double theta, int reuse)
{
    return paper_step_among(m, n, 0, tree_work_list_length(n, n_i, theta), n_i, reuse);
}
