#include "bench/support/rank_tables.h"

#include "nbody6/collisionless/ranks/model.h"
#include "nbody6/collisionless/ranks/network.h"

#include <stdio.h>

enum { SOURCE_BYTES = 32 };
static const double ROOM = 0x1p30;

static void print_paper(void)
{
    static const double measured[][2] = {{512, 1.23e-4},  {1024, 2.44e-4},  {2048, 4.85e-4}, {4096, 9.68e-4},
                                         {8192, 1.93e-3}, {16384, 7.03e-3}, {1048576, 28.4}};
    const struct nb6_gpu_model gpu = nb6_gpu_m2090();
    printf("One M2090 (MTM13 Table 3, Sec. 6.1), and eq. 2 to 5\n       N  paper[s]  model[s]\n");
    for (int k = 0; k < 7; k++)
        printf("%8.0f %9.2e %9.2e\n", measured[k][0], measured[k][1],
               nb6_gpu_seconds(&gpu, measured[k][0], measured[k][0]));
    printf("\nTwo streams below 16384 bodies a GPU (eq. 6 to 9): efficiency without waits, and with the longest of the "
           "paper\n    GPUs    without    with\n");
    for (int gpus = 4; gpus <= 256; gpus *= 2)
        printf("%8d %9.2f %8.2f\n", gpus, nb6_two_streams_efficiency(gpus, 1, 0),
               nb6_two_streams_efficiency(gpus, 1, 2));
}

/* MTM13 have 16 bytes a source; of their network a latency of 0.1 ms and 4 GB/s. */
static int print_many_gpus(struct nbc_error *err)
{
    const struct nb6_gpu_model gpu = nb6_gpu_m2090();
    printf("\nM2090s with 2^20 bodies each (paper, 256 of them: 75.0 percent of the peak, efficiency 0.991)\n"
           "    GPUs      model[s]  network[s]  efficiency  part of the peak\n");
    for (int gpus = 4; gpus <= 256; gpus *= 4) {
        const struct nb6_rank_model m = {.gpu = &gpu, .latency_s = 1e-4, .bytes_per_s = 4e9, .source_bytes = 16};
        const double n = 0x1p20 * gpus, model = nb6_rank_seconds(&m, n, gpus, ROOM);
        const double alone = nb6_gpu_seconds(&gpu, 0x1p20, 0x1p20) * gpus;
        double found;
        const int status = nb6_rank_network_seconds(&m, n, gpus, ROOM, &found, err);
        if (status) return status;
        printf("%8d %13.1f %11.1f %11.4f %17.3f\n", gpus, model, found, alone / found,
               26 * n * n / found / (gpus * 1.33e12));
    }
    return NBC_OK;
}

/* A processor of 1e9 pairs a second. */
static int print_networks(struct nbc_error *err)
{
    printf("\nVirtual networks, 10^5 bodies, 1e9 pairs/s a rank: efficiency, and how far the model is off\n"
           "   ranks  latency[s]  ");
    static const double rates[] = {1e8 / 8, 1e9 / 8, 1e10 / 8, 1e11 / 8};
    for (int k = 0; k < 4; k++) printf("    %8.0e bit/s", 8 * rates[k]);
    printf("\n");
    for (int ranks = 2; ranks <= 1024; ranks *= 8)
        for (int l = 0; l < 3; l++) {
            static const double latencies[] = {1e-5, 1e-3, 5e-2};
            printf("%8d %10.0e  ", ranks, latencies[l]);
            for (int k = 0; k < 4; k++) {
                const struct nb6_rank_model m = {.call_s = 1e-5,
                                                 .pair_s = 1e-9,
                                                 .latency_s = latencies[l],
                                                 .bytes_per_s = rates[k],
                                                 .source_bytes = SOURCE_BYTES};
                double found;
                const int status = nb6_rank_network_seconds(&m, 1e5, ranks, ROOM, &found, err);
                if (status) return status;
                printf("   %7.4f %+5.1f %%", 1e10 * m.pair_s / ranks / found,
                       100 * (nb6_rank_seconds(&m, 1e5, ranks, ROOM) / found - 1));
            }
            printf("\n");
        }
    return NBC_OK;
}

int rank_tables_print(struct nbc_error *err)
{
    print_paper();
    const int status = print_many_gpus(err);
    return status ? status : print_networks(err);
}
