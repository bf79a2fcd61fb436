#include "nbody6/app/progress.h"

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/app/progress_table.h"
#include "nbody6/app/screen.h"
#include "nbody6/app/terminal.h"
#include "nbody6/input/units.h"
#include "nbody6/output/textfile.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_PER_HEADER = 20 };

static const double DRAW_INTERVAL_S = 0.5, SAMPLE_INTERVAL_S = 2;

/* Weight of the newest sample in the speed: the estimate follows the last half minute or so. */
static const double SAMPLE_WEIGHT = 0.15;

void nb6_progress_begin(struct nb6_progress *progress, const char *program, int quiet, double t, double t_end,
                        const struct nb6_units *units)
{
    double now = nbc_wtime();
    *progress = (struct nb6_progress){.program = program,
                                      .live = !quiet && nb6_terminal_width() > 0,
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

static void show(struct nb6_progress *progress)
{
    printf("\r\033[K%s", progress->line);
    nb6_screen_flush();
    progress->shown = 1;
}

void nb6_progress_note(struct nb6_progress *progress, const char *format, ...)
{
    va_list args;
    if (progress->quiet) return;
    wipe(progress);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    nb6_screen_flush();
}

__attribute__((format(printf, 3, 0))) static void say(struct nb6_progress *progress, FILE *to, const char *format,
                                                      va_list args)
{
    wipe(progress);
    fflush(stdout);
    if (to == stderr) fprintf(to, "%s: ", progress->program);
    vfprintf(to, format, args);
    putc('\n', to);
    if (to == stdout) nb6_screen_flush();
}

void nb6_progress_watch(struct nb6_progress *progress, struct nb6_textfile *file)
{
    if (nb6_textfile_was_moved(file))
        nb6_progress_warn(progress,
                          "warning: %s was removed or renamed: the run still writes to the file that had this name; "
                          "one that was renamed can be put back before the run is resumed",
                          file->path);
}

void nb6_progress_warn(struct nb6_progress *progress, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(progress, progress->quiet ? stderr : stdout, format, args);
    va_end(args);
}

void nb6_progress_alarm(struct nb6_progress *progress, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(progress, stderr, format, args);
    va_end(args);
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

/* Parts of the live line, from left to right, and the order in which they are dropped if it does not fit. */
enum piece { TIME, SHARE, SPEED, LEFT, ERROR, STARS, PIECES };
static const enum piece goes_first[] = {SPEED, STARS, ERROR, SHARE, LEFT};

static void print_pieces(const struct nb6_progress *progress, double t, int64_t n, char piece[PIECES][64])
{
    const double speed = progress->speed, end = progress->t_end;
    char left[32] = "?";
    if (speed > 0) say_duration((end - t) / speed, left);
    snprintf(piece[TIME], 64, "t = %.5g of %.5g", t, end);
    snprintf(piece[SHARE], 64, "%.1f %%", end > 0 ? 100 * t / end : 100);
    snprintf(piece[SPEED], 64, "%.3g /%s", speed < 1 ? speed * 3600 : speed * 60, speed < 1 ? "h" : "min");
    snprintf(piece[LEFT], 64, "%s left", left);
    snprintf(piece[ERROR], 64, "dE/E %.1e", progress->last.de_cluster);
    snprintf(piece[STARS], 64, "N %lld", (long long)n);
}

/* The pieces, two blanks apart, in at most `width` characters. */
static void join(char piece[PIECES][64], int width, char line[NB6_LINE_TEXT])
{
    size_t used = 0, length = 0, room = width > 0 ? (size_t)width : 0;
    for (int k = 0; k < PIECES; k++) length += strlen(piece[k]) + (k ? 2 : 0);
    for (size_t k = 0; k < sizeof goes_first / sizeof goes_first[0] && length > room; k++) {
        length -= strlen(piece[goes_first[k]]) + 2;
        piece[goes_first[k]][0] = 0;
    }
    for (int k = 0; k < PIECES; k++)
        if (piece[k][0])
            used += (size_t)snprintf(line + used, NB6_LINE_TEXT - used, "%s%s", used ? "  " : "", piece[k]);
    if (used > room) line[room] = 0;
}

/* In the last place of a line some terminals begin the next one: it stays free. */
static void draw(struct nb6_progress *progress, double t, int64_t n)
{
    char piece[PIECES][64];
    print_pieces(progress, t, n, piece);
    join(piece, nb6_terminal_width() - 1, progress->line);
    show(progress);
}

void nb6_progress_step(struct nb6_progress *progress, double t, int64_t n)
{
    if (!progress->live) return;
    double now = nbc_wtime();
    if (now - progress->drawn_s < DRAW_INTERVAL_S) return;
    progress->drawn_s = now;
    sample_speed(progress, t, now);
    draw(progress, t, n);
}

void nb6_progress_row(struct nb6_progress *progress, const struct nb6_adjust_row *row)
{
    const int width = progress->live ? nb6_terminal_width() : 0, columns = nb6_table_columns(width);
    const int again = progress->shown;
    char text[NB6_TABLE_TEXT];
    progress->last = *row;
    if (progress->quiet) return;
    wipe(progress);
    if (progress->rows++ % ROWS_PER_HEADER == 0 || columns != progress->columns) {
        nb6_table_header(columns, text);
        puts(text);
        progress->rows = 1;
        progress->columns = columns;
    }
    nb6_table_row(row, progress->time_myr, columns, text);
    puts(text);
    if (again) draw(progress, row->t, row->n);
    nb6_screen_flush();
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
    const struct nb6_counters *counters = &sim->run.counters;
    double t = nb6_time_to_double(sim->ti_reached), wall = nbc_wtime() - sim->run.wall_start_s;
    if (progress->quiet) return;
    wipe(progress);
    printf("  t = %.10g (%.6g Myr), N = %lld", t, t * progress->time_myr, (long long)sim->n);
    if (counters->escapers) printf(", %llu escaped", (unsigned long long)counters->escapers);
    if (progress->last.n)
        printf("; accumulated energy error dE/E = %.3g at t = %.10g", progress->last.de_cluster, progress->last.t);
    if (progress->last.n && progress->last.e_galaxy != 0)
        printf("\n  work of the external field so far: %.4g, which is part of E and no error", progress->last.e_galaxy);
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
    if (counters->mergers)
        printf("  %llu collisions of two stars, of which one goes on\n", (unsigned long long)counters->mergers);
    if (counters->type_changes)
        printf("  %llu stars became of another type; %llu supernovae, %llu remnants\n",
               (unsigned long long)counters->type_changes, (unsigned long long)counters->supernovae,
               (unsigned long long)counters->remnants);
    if (counters->contacts)
        printf("  %llu overflows and contacts of stars in pairs, whose exchange of mass is not computed yet\n",
               (unsigned long long)counters->contacts);
    printf("  wall time %.3g s", wall);
    if (sim->run.book.wall_used_s > 0) printf(", %.3g s with earlier sessions", wall + sim->run.book.wall_used_s);
    putchar('\n');
    say_stages(sim);
    nb6_screen_flush();
}
