#include "nbody6/app/profile_table.h"

#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"

/* Stages of a block; the other ones are between blocks. */
enum { BLOCK_STAGES = NB6_STAGE_COMMIT + 1 };

typedef void (*row_printer)(FILE *out, const struct nb6_profile *profile, const struct nb6_profile_row *row);

static double rest(const struct nb6_profile_row *row)
{
    double rest = row->wall_s;
    for (int k = 0; k < BLOCK_STAGES; k++) rest -= row->stage_s[k];
    return rest;
}

static void print_times(FILE *out, const struct nb6_profile *profile, const struct nb6_profile_row *row)
{
    const double us = 1e6 / (double)row->blocks;
    (void)profile;
    fprintf(out, " %9.1f", us * row->wall_s);
    for (int k = 0; k < BLOCK_STAGES; k++) fprintf(out, " %9.1f", us * row->stage_s[k]);
    fprintf(out, " %7.1f\n", us * rest(row));
}

static void print_regions(FILE *out, const struct nb6_profile *profile, double regions)
{
    if (profile->counter->sees_regions)
        fprintf(out, " %8.2f", regions);
    else
        fprintf(out, " %8s", "?");
}

static void print_calls(FILE *out, const struct nb6_profile *profile, const struct nb6_profile_row *row)
{
    const double a_block = row->blocks ? 1 / (double)row->blocks : 1, kib = a_block / 1024;
    fprintf(out, " %8.2f %11.1f %8.2f %11.1f", a_block * (double)row->calls.allocations,
            kib * (double)row->calls.bytes_cleared, a_block * (double)row->calls.mallocs,
            kib * (double)row->calls.bytes_malloc);
    print_regions(out, profile, a_block * (double)row->calls.regions);
    fprintf(out, " %11.1f %11.1f\n", kib * (double)row->bytes_sent, kib * (double)row->bytes_received);
}

static void print_rows(FILE *out, const struct nb6_profile *profile, row_printer print)
{
    const struct nb6_profile_row sum = nb6_profile_sum(profile);
    for (int regular = 0; regular < 2; regular++)
        for (int size = 0; size < NB6_PROFILE_SIZES; size++) {
            const struct nb6_profile_row *row = &profile->block[regular][size];
            uint64_t least, most;
            char members[24];
            if (row->blocks == 0) continue;
            nb6_profile_range(size, &least, &most);
            if (most == 0)
                snprintf(members, sizeof members, "%llu-", (unsigned long long)least);
            else if (most == least)
                snprintf(members, sizeof members, "%llu", (unsigned long long)least);
            else
                snprintf(members, sizeof members, "%llu-%llu", (unsigned long long)least, (unsigned long long)most);
            fprintf(out, "  %-9s %-3s %8llu", members, regular ? "yes" : "no", (unsigned long long)row->blocks);
            print(out, profile, row);
        }
    if (sum.blocks == 0) return;
    fprintf(out, "  %-13s %8llu", "all", (unsigned long long)sum.blocks);
    print(out, profile, &sum);
}

void nb6_profile_print(FILE *out, const struct nb6_profile *profile)
{
    const struct nb6_profile_row *between = &profile->between;
    fprintf(out, "  microseconds a block, by its members; reg: some of them end a regular step\n");
    fprintf(out, "  %-9s %-3s %8s %9s", "members", "reg", "blocks", "wall");
    for (int k = 0; k < BLOCK_STAGES; k++) fprintf(out, " %9s", nb6_stage_names[k]);
    fprintf(out, " %7s\n", "rest");
    print_rows(out, profile, print_times);
    fprintf(out, "  calls a block: nbc_alloc, malloc and their KiB, parallel regions; KiB to and from devices\n");
    fprintf(out, "  %-9s %-3s %8s %8s %11s %8s %11s %8s %11s %11s\n", "members", "reg", "blocks", "allocs",
            "KiB cleared", "mallocs", "KiB malloc", "regions", "KiB sent", "KiB back");
    print_rows(out, profile, print_calls);
    fprintf(out, "  %-22s", "between blocks, in all");
    print_calls(out, profile, between);
    fprintf(
        out,
        "  between blocks: %.3f s, of which adjust %.3f s, output %.3f s, blocks on a device %.3f s, moves %.3f s\n",
        between->wall_s, between->stage_s[NB6_STAGE_ADJUST], between->stage_s[NB6_STAGE_OUTPUT],
        between->stage_s[NB6_STAGE_DEVICE], between->stage_s[NB6_STAGE_MOVE]);
    fprintf(
        out,
        "  moves of the whole state to and from a device: %llu, of what had changed: %llu; changes of masses: %llu\n",
        (unsigned long long)profile->moves, (unsigned long long)profile->part_moves,
        (unsigned long long)profile->mass_changes);
}
