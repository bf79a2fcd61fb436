/* Stars of one's own, a Plummer sphere, into which a small group falls at t = 1; at t = 2 the most distant star is
 * taken out. The energy that this adds and takes is told, and is no part of the error.
 *
 *   cc -std=c11 come_and_go.c -o come_and_go $(pkg-config --cflags --libs libnbody6) -lm
 */
#include <nbody6/adjust_row.h>
#include <nbody6/nbody6.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STARS = 300, GROUP = 5 };

static void check(int status, const struct nbc_error *err)
{
    if (status == NBC_OK) return;
    fprintf(stderr, "come_and_go: %s\n", err->text);
    exit(nbc_status_exit_code(status));
}

static int print_row(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    (void)context;
    (void)sim;
    (void)err;
    printf("t = %5.3f  N = %lld  E = %.8f  of it added %.8f  dE/E = %9.2e\n", row->t, (long long)row->n,
           row->energy.total, row->e_changed, row->de_cluster);
    return NBC_OK;
}

static int print_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    (void)context;
    (void)sim;
    (void)err;
    if (event->kind == NB6_EVENT_STARS_CHANGED)
        printf("t = %5.3f  %.0f stars come, %.0f go: the energy changes by %.8f\n", event->t, event->value[0],
               event->value[1], event->energy);
    return NBC_OK;
}

/* A generator of one's own, from 0 to 1. */
static double next(void)
{
    static unsigned long long state = 20260101;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

static void isotropic(double length, double out[3])
{
    const double z = 2 * next() - 1, angle = 6.283185307179586 * next(), flat = sqrt(1 - z * z);
    out[0] = length * flat * cos(angle);
    out[1] = length * flat * sin(angle);
    out[2] = length * z;
}

/* Plummer's model in N-body units (Aarseth, Henon & Wielen 1974, A&A 37, 183). */
static void plummer(double mass[STARS], double x[STARS][3], double v[STARS][3])
{
    const double scale = 3 * 3.141592653589793 / 16;
    for (int i = 0; i < STARS; i++) {
        double r, q, g;
        do r = 1 / sqrt(pow(next(), -2.0 / 3) - 1);
        while (r > 10);
        do {
            q = next();
            g = 0.1 * next();
        } while (g > q * q * pow(1 - q * q, 3.5));
        mass[i] = 1.0 / STARS;
        isotropic(r * scale, x[i]);
        isotropic(q * sqrt(2) * pow(1 + r * r, -0.25) / sqrt(scale), v[i]);
    }
}

static void let_a_group_come(nb6_t *sim, struct nbc_error *err)
{
    double mass[GROUP], x[GROUP][3], v[GROUP][3];
    for (int i = 0; i < GROUP; i++) {
        mass[i] = 0.01;
        isotropic(0.1 + 0.05 * next(), x[i]);
        x[i][0] += 3;
        v[i][0] = -0.5;
        v[i][1] = v[i][2] = 0;
    }
    check(nb6_add_bodies(sim, GROUP, NULL, mass, (const double(*)[3])x, (const double(*)[3])v, err), err);
}

static void let_the_most_distant_go(nb6_t *sim, struct nbc_error *err)
{
    const int64_t n = nb6_count(sim);
    int64_t *name = malloc((size_t)n * sizeof *name), far = 0;
    double(*x)[3] = malloc((size_t)n * sizeof *x), largest = 0;
    if (!name || !x) exit(1);
    check(nb6_get_bodies(sim, n, name, NULL, x, NULL, err), err);
    for (int64_t i = 0; i < n; i++) {
        const double r2 = x[i][0] * x[i][0] + x[i][1] * x[i][1] + x[i][2] * x[i][2];
        if (r2 > largest) {
            largest = r2;
            far = i;
        }
    }
    check(nb6_remove_bodies(sim, 1, &name[far], err), err);
    free(name);
    free(x);
}

int main(void)
{
    static double mass[STARS], x[STARS][3], v[STARS][3];
    const struct nb6_observer observer = {.adjust = print_row, .event = print_event};
    struct nb6_config config;
    struct nbc_error err = {0};
    nb6_t *sim;
    nb6_config_init(&config);
    config.run.dt_adjust = 0.5;
    config.run.t_crit = 3;
    config.escape = NB6_ESCAPE_KEEP;
    plummer(mass, x, v);
    check(nb6_create(&sim, &config, &err), &err);
    check(nb6_set_bodies(sim, STARS, NULL, mass, (const double(*)[3])x, (const double(*)[3])v, &err), &err);
    nb6_set_observer(sim, &observer);
    check(nb6_evolve(sim, nb6_time_of_change(1), &err), &err);
    let_a_group_come(sim, &err);
    check(nb6_evolve(sim, nb6_time_of_change(2), &err), &err);
    let_the_most_distant_go(sim, &err);
    check(nb6_evolve(sim, 3, &err), &err);
    nb6_free(sim);
    return 0;
}
