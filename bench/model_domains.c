/* Forces by tree on many processes: the model of Iwasawa et al. 2020, PASJ 72, 13, Sec. 6.3 and 7.2.
 *
 * Usage: model_domains
 * Weak scaling with 2^20 bodies a process (their figure 11), strong scaling of 2^30 and 2^40 (figure 12), on their
 * reference machine with the network of the K computer; beside it a tree of domains, and the efficiency with 2048
 * processes of 4 million bodies, of which Yokota & Barba 2012 have 0.72 with 2048 GPUs. All are predictions. */
#include "bench/support/domain_model.h"

#include <math.h>
#include <stdio.h>

static const char HEADING[] =
    "  processes   n_LET  close   step[s]  single  divide  construct     tops    trees  of ideal"
    "  with a tree of domains\n";

/* @param[in] ideal  seconds of perfect scaling */
static void print_row(const struct domain_model *m, double n, double processes, double ideal)
{
    struct domain_model with_tree = *m;
    with_tree.tops = DOMAIN_TOPS_IN_TREES;
    const struct domain_times t = domain_model_times(m, n, processes), u = domain_model_times(&with_tree, n, processes);
    printf("%11.0f %7.0f %6.0f %9.2e %7.1e %7.1e    %7.1e  %7.1e  %7.1e  %8.2f  %9.2e %5.2f\n", processes,
           domain_model_items(m, n, processes), domain_model_close(m->theta, processes), t.all, t.single, t.divide,
           t.construct, t.tops, t.trees, ideal / t.all, u.all, ideal / u.all);
}

static void print_weak(const struct domain_model *m, double n)
{
    const double alone = domain_model_times(m, n, 1).all;
    printf("Weak scaling, %.0f bodies a process\n%s", n, HEADING);
    for (double processes = 1; processes < 2e6; processes *= 10) print_row(m, n, processes, alone);
}

static void print_strong(const struct domain_model *m, int log2_n)
{
    const double all = pow(2, log2_n), first = pow(2, fmax(log2_n - 26, 0));
    const double alone = domain_model_times(m, all / first, first).all * first;
    printf("\nStrong scaling, 2^%d bodies, beside %.0f processes\n%s", log2_n, first, HEADING);
    for (double processes = first; processes <= 0x1p20; processes *= 4)
        print_row(m, all / processes, processes, alone / processes);
}

int main(void)
{
    const struct domain_model m = domain_model_of_paper();
    print_weak(&m, 0x1p20);
    print_strong(&m, 30);
    print_strong(&m, 40);
    printf("\n2048 processes with 4 million bodies each\n%s", HEADING);
    print_row(&m, 4e6, 2048, domain_model_times(&m, 4e6, 1).all);
    return 0;
}
