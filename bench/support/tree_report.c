#include "bench/support/tree_report.h"

#include "gpunb/backend.h"
#include "gpunb/tree/tensor.h"

#include <math.h>
#include <stdio.h>

double tree_record_seconds(const struct tree_record *r)
{
    double sum = 0;
    for (int k = 0; k < TREE_MODEL_STAGES; k++) sum += r->seconds[k];
    return sum;
}

void tree_report_constants(const struct tree_model *m)
{
    printf("rates: %.3f TFlop/s, %.1f GB/s, transfers %.1f GB/s; operations of a term %.1f; ",
           1e-12 * m->rates.operations, 1e-9 * m->rates.bytes, 1e-9 * m->transfer, m->n_op);
    if (m->theta > 0)
        printf("factor on the angle of eq. 30: %.3f, with an edge of %.2f: %.3f\n", m->factor, m->edge, m->edge_factor);
    else
        printf("lists of %.0f %+.0f log2 N\n", m->linear[0], m->linear[1]);
    printf("%-9s %12s %22s\n", "stage", "start, us", "slowdown factors");
    for (int k = 0; k < TREE_MODEL_STAGES; k++)
        printf("%-9s %12.2f %10.3f %10.3f\n", tree_model_stage_name(k), 1e6 * m->constant[k][0], m->constant[k][1],
               m->constant[k][2]);
}

static void print_head(const char *what)
{
    printf("%s: milliseconds measured, and predicted over measured\n%9s %6s %7s %6s %6s", what, "N", "n_i", "list",
           "eq.30", "edges");
    for (int k = 0; k < TREE_MODEL_STAGES; k++) printf(" %9s      ", tree_model_stage_name(k));
    printf(" %10s\n", "all");
}

static void print_record(const struct tree_model *m, const struct tree_record *r)
{
    printf("%9.0f %6.0f %7.0f %6.3f %6.3f", r->n, r->n_i, r->n_list, tree_model_eq30(m, r->n, r->n_i) / r->n_list,
           tree_model_list(m, r->n, r->n_i) / r->n_list);
    double predicted = 0;
    for (int k = 0; k < TREE_MODEL_STAGES; k++) {
        const double p = tree_model_seconds(m, k, r->n, r->n_i);
        if (r->seconds[k] > 0)
            printf(" %9.3f %5.2f", 1e3 * r->seconds[k], p / r->seconds[k]);
        else
            printf(" %9s %5s", "-", "");
        predicted += r->seconds[k] > 0 ? p : 0;
    }
    printf(" %10.3f %5.2f\n", 1e3 * tree_record_seconds(r), predicted / tree_record_seconds(r));
}

/* The exponent of N by least squares of logarithms, from the first size of at least 2^20 on, or from the first one. */
void tree_report_exponent(const struct tree_record *record, int sizes)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    int from = 0;
    while (from < sizes && record[from].n < 0x1p20) from++;
    if (sizes - from < 2) from = 0;
    for (int k = from; k < sizes; k++) {
        const double a = log(record[k].n), b = log(tree_record_seconds(&record[k]));
        n++;
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    if (n > 1)
        printf("time grows as N^%.3f from N = %.0f to %.0f\n", (n * xy - x * y) / (n * xx - x * x), record[from].n,
               record[sizes - 1].n);
}

/* Figures 8 and 9: seconds a step against the size of groups. */
void tree_report_steps(const struct tree_model *m)
{
    const double n = 0x1p22;
    printf("figures 8 and 9, 2^22 bodies, ms a step by n_i. The program of the paper by its eq. 31 to 33:\n%-24s",
           "n_i");
    for (double n_i = 64; n_i <= 4096; n_i *= 2) printf(" %8.0f", n_i);
    for (int reuse = 1; reuse <= 16; reuse *= 4) {
        printf("\nreference, reuse %-7d", reuse);
        for (double n_i = 64; n_i <= 4096; n_i *= 2)
            printf(" %8.1f", 1e3 * paper_step(&paper_machines[0], n, n_i, 0.5, reuse));
    }
    for (int k = 1; k < PAPER_MACHINES; k++) {
        printf("\n%-9s reuse 16      ", paper_machines[k].name);
        for (double n_i = 64; n_i <= 4096; n_i *= 2)
            printf(" %8.1f", 1e3 * paper_step(&paper_machines[k], n, n_i, 0.5, 16));
    }
    printf("\nThis program by its constants, each force as a call:\n");
    static const struct {
        const char *name;
        double operations, bytes, transfer;
    } machine[] = {{"this machine", 1, 1, 1},  {"2X", 2, 2, 1},        {"4X", 4, 4, 1},
                   {"arithmetic 2X", 2, 1, 1}, {"memory 2X", 1, 2, 1}, {"link 4X", 1, 1, 4}};
    for (size_t k = 0; k < sizeof machine / sizeof machine[0]; k++) {
        struct tree_model other = *m;
        other.rates.operations *= machine[k].operations;
        other.rates.bytes *= machine[k].bytes;
        other.transfer *= machine[k].transfer;
        printf("%-24s", machine[k].name);
        for (double n_i = 64; n_i <= 4096; n_i *= 2) printf(" %8.1f", 1e3 * tree_model_force(&other, n, n_i, 1));
        printf("\n");
    }
}

/* Figure 10: time over that of the reference, by the rates of memory and of the link over its own. */
void tree_report_plane(void)
{
    const double n = 0x1p22, one = paper_step(&paper_machines[0], n, 250, 0.5, 16);
    printf(
        "figure 10, the program of the paper, n_i = 250, reuse 16: time by B_host (right) and B_transfer (down)\n%9s",
        "");
    for (double host = 0.1; host < 11; host *= sqrt(10)) printf(" %7.2f", host);
    for (double transfer = 0.1; transfer < 11; transfer *= sqrt(10)) {
        printf("\n%9.2f", transfer);
        for (double host = 0.1; host < 11; host *= sqrt(10)) {
            struct paper_machine m = paper_machines[0];
            m.host *= host;
            m.transfer *= transfer;
            printf(" %7.2f", paper_step(&m, n, 250, 0.5, 16) / one);
        }
    }
    printf("\n");
}

/* A kernel, and the GFlop/s that memory or arithmetic leave it and that nominal costs say it has. */
static void print_kernel(const struct machine_rates *rates, const char *name, double work, double bytes, double made)
{
    printf("%-26s %10.0f %10.0f %10.1f %10.1f %10.1f\n", name, work, bytes, work / bytes,
           1e-9 * fmin(rates->operations, work / bytes * rates->bytes), made);
}

/* Operations a byte of each kernel, and the rate that memory or arithmetic leave it (002, figure 1). */
void tree_report_roofline(const struct tree_model *m, const struct tree_record *largest,
                          const struct gpunb_tree_costs *costs, int threads)
{
    const struct machine_rates *rates = &m->rates;
    const double targets = 64; /* that meet a body or a cell which was read once */
    const double made = largest->n * largest->n_list * m->n_op / largest->seconds[TREE_MODEL_KERNEL];
    printf("roofline: operations a byte where 64 targets share what is read, the most GFlop/s, and those of nominal "
           "costs (%s)\n%-26s %10s %10s %10s %10s %10s\n",
           costs->machine, "kernel", "operations", "bytes", "a byte", "GFlop/s", "nominal");
    print_kernel(rates, "body on targets", targets * TREE_WORK_PAIR, 32, threads * TREE_WORK_PAIR / costs->body);
    for (int order = 1; order <= GPUNB_MOST_ORDER; order++) {
        char name[32];
        const double work = tree_work_term(order, 0);
        snprintf(name, sizeof name, "cell on targets, order %d", order);
        print_kernel(rates, name, targets * work, tree_work_node_bytes() + tree_work_coefficient_bytes(order),
                     threads * work / costs->term[order - 1]);
    }
    print_kernel(rates, "cell on region, order 4", tree_work_region_cell(4), tree_work_node_bytes() + 4.0 * 80,
                 threads * tree_work_region_cell(4) / costs->local[3]);
    printf("measured, %.0f bodies: %.1f GFlop/s in the kernel, %.1f percent of %.1f\n", largest->n, 1e-9 * made,
           100 * made / rates->operations, 1e-9 * rates->operations);
}

void tree_report_work(void)
{
    printf("order sums sums_pot term term_pot add_cell region_cell\n");
    for (int order = 1; order <= GPUNB_MOST_ORDER; order++)
        printf("%d %.0f %.0f %.0f %.0f %.0f %.0f\n", order, tree_work_sums(order, 0), tree_work_sums(order, 1),
               tree_work_term(order, 0), tree_work_term(order, 1), tree_work_add_cell(order),
               tree_work_region_cell(order));
    printf("region_target %.0f\n", tree_work_region_target());
}

void tree_report_records(const struct tree_model *m, const char *what, const struct tree_record *record, int count)
{
    print_head(what);
    for (int k = 0; k < count; k++) print_record(m, &record[k]);
}

int tree_report_floor(gpunb_t *handle, size_t n, const struct gpunb_tree_counts *work, int forces, double seconds,
                      struct machine_rates rates)
{
    gpunb_tree_t *tree = NULL;
    size_t cells;
    struct gpunb_options used;
    const int status = gpunb_tree_build(handle, &tree);
    if (status) return status;
    gpunb_tree_shape(tree, &cells, NULL, NULL, NULL);
    gpunb_tree_free(tree);
    gpunb_tree_settings(handle, &used);
    if (!(rates.operations > 0 && rates.bytes > 0)) {
        const struct machine_rates machine = machine_rates_of(gpunb_info(handle)->name);
        if (!(rates.operations > 0)) rates.operations = machine.operations;
        if (!(rates.bytes > 0)) rates.bytes = machine.bytes;
    }
    const struct tree_floor f = tree_floor_of(work, forces, n, (double)cells, used.order, 0, &rates);
    printf("         floor %.3f ms, which is %.1f percent of the time: pairs %.3f, cells %.3f, regions %.3f, or bytes "
           "%.3f ms; apart: sort %.3f, walk %.3f, build %.3f; at %.2f TFlop/s, %.0f GB/s\n",
           1e3 * f.sums, 100 * f.sums / seconds, 1e3 * f.pairs, 1e3 * f.cells, 1e3 * f.regions, 1e3 * f.bytes,
           1e3 * f.sort, 1e3 * f.walk, 1e3 * f.build, 1e-12 * rates.operations, 1e-9 * rates.bytes);
    return NBC_OK;
}
