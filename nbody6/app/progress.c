#include "nbody6/app/progress.h"

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/input/units.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"

#include <stdio.h>
#include <unistd.h>

enum { ROWS_PER_HEADER = 20 };

static const double DRAW_INTERVAL_S = 0.5, SAMPLE_INTERVAL_S = 2;

/* Weight of the newest sample in the speed: the estimate follows the last half minute or so. */
static const double SAMPLE_WEIGHT = 0.15;

void nb6_progress_begin(struct nb6_progress *progress, int quiet, double t, double t_end, const struct nb6_units *units)
{
    double now = nbc_wtime();
    *progress = (struct nb6_progress){.live = !quiet && isatty(STDOUT_FILENO),
                                      .quiet = quiet,
                                      .t_start = t,
                                      .t_end = t_end,
                                      .time_myr = units->time_myr,
                                      .wall_start = now,
                                      .sampled_s = now,
                                      .sampled_t = t};
}

static void wipe(struct nb6_progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stdout);
    progress->shown = 0;
}

void nb6_progress_note(struct nb6_progress *progress, const char *format, ...)
{
    va_list args;
    wipe(progress);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

void nb6_progress_row(struct nb6_progress *progress, const struct nb6_adjust_row *row)
{
    progress->last = *row;
    if (progress->live || progress->quiet) return;
    if (progress->rows++ % ROWS_PER_HEADER == 0)
        printf("%11s %11s %7s %10s %17s %8s %7s %9s %9s %12s\n", "T", "T[Myr]", "Q", "DE", "E", "N", "<NNB>", "RC",
               "RH", "STEPS");
    printf("%11.5g %11.5g %7.4f %10.2e %17.10f %8lld %7.1f %9.5f %9.5f %12llu\n", row->t, row->t * progress->time_myr,
           row->energy.virial_ratio, row->de_cluster, row->energy.total, (long long)row->n, row->nnb_mean, row->r_core,
           row->r_half, (unsigned long long)row->counters.steps_irr);
    fflush(stdout);
}

/* "45 s", "12 min", "3.2 h", "4.1 d" */
static void say_duration(double seconds, char text[32])
{
    if (seconds < 100)
        snprintf(text, 32, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, 32, "%.0f min", seconds / 60);
    else if (seconds < 100 * 3600)
        snprintf(text, 32, "%.1f h", seconds / 3600);
    else
        snprintf(text, 32, "%.1f d", seconds / 86400);
}

static void sample_speed(struct nb6_progress *progress, double t, double now)
{
    double seconds = now - progress->sampled_s;
    if (seconds < SAMPLE_INTERVAL_S && progress->speed > 0) return;
    double speed = (t - progress->sampled_t) / seconds;
    if (seconds < SAMPLE_INTERVAL_S || !(progress->speed > 0))
        progress->speed = (t - progress->t_start) / (now - progress->wall_start);
    else
        progress->speed += SAMPLE_WEIGHT * (speed - progress->speed);
    progress->sampled_s = now;
    progress->sampled_t = t;
}

void nb6_progress_step(struct nb6_progress *progress, double t, int64_t n)
{
    if (!progress->live) return;
    double now = nbc_wtime();
    if (now - progress->drawn_s < DRAW_INTERVAL_S) return;
    progress->drawn_s = now;
    sample_speed(progress, t, now);
    double speed = progress->speed;
    char left[32] = "?";
    if (speed > 0) say_duration((progress->t_end - t) / speed, left);
    printf("\r\033[Kt = %.5g of %.5g  %.1f %%  %.3g /%s  %s left  dE/E %.1e  N %lld", t, progress->t_end,
           progress->t_end > 0 ? 100 * t / progress->t_end : 100, speed < 1 ? speed * 3600 : speed * 60,
           speed < 1 ? "h" : "min", left, progress->last.de_cluster, (long long)n);
    fflush(stdout);
    progress->shown = 1;
}

static void say_stages(const struct nb6_sim *sim)
{
    double total = 0;
    for (int k = 0; k < NB6_STAGE_COUNT; k++) total += sim->stage_s[k];
    if (!(total > 0)) return;
    printf("  where the time went:");
    for (int k = 0; k < NB6_STAGE_COUNT; k++)
        printf("%s %s %.0f %%", k ? "," : "", nb6_stage_names[k], 100 * sim->stage_s[k] / total);
    putchar('\n');
}

void nb6_progress_summary(struct nb6_progress *progress, const struct nb6_sim *sim)
{
    const struct nb6_counters *counters = &sim->counters;
    double t = nb6_time_now(sim), wall = nbc_wtime() - sim->wall_start_s;
    wipe(progress);
    printf("  t = %.10g (%.6g Myr), N = %lld", t, t * progress->time_myr, (long long)sim->n);
    if (counters->escapers) printf(", %llu escaped", (unsigned long long)counters->escapers);
    if (progress->last.n)
        printf("; accumulated energy error dE/E = %.3g at t = %.10g", progress->last.de_cluster, progress->last.t);
    printf("\n  %llu irregular and %llu regular steps in %llu blocks\n", (unsigned long long)counters->steps_irr,
           (unsigned long long)counters->steps_reg, (unsigned long long)counters->blocks);
    if (counters->pairs_formed)
        printf("  %llu pairs regularized, %llu ended; %llu steps of relative motions\n",
               (unsigned long long)counters->pairs_formed, (unsigned long long)counters->pairs_ended,
               (unsigned long long)counters->ks_steps);
    if (counters->chains_formed || counters->hierarchies_formed)
        printf("  %llu chains, %llu steps, %.3g s in them; %llu hierarchies frozen\n",
               (unsigned long long)counters->chains_formed, (unsigned long long)counters->chain_steps, sim->chain_s,
               (unsigned long long)counters->hierarchies_formed);
    printf("  wall time %.3g s", wall);
    if (sim->book.wall_used_s > 0) printf(", %.3g s with earlier sessions", wall + sim->book.wall_used_s);
    putchar('\n');
    say_stages(sim);
    fflush(stdout);
}
