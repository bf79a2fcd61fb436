/* Stars of Z = 0.001 that age: each is asked when it says that it will have changed, until nothing happens to it any
 * more. Prints its types, and the kick of what is left.
 *
 *   cc -std=c11 stars.c -o stars $(pkg-config --cflags --libs libstellar) -lm
 */
#include <stellar/stellar.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int status, const struct nbc_error *err)
{
    if (status == NBC_OK) return;
    fprintf(stderr, "stars: %s\n", err->text);
    exit(nbc_status_exit_code(status));
}

static void print_event(const struct stellar_event *event)
{
    const double *v = event->kick_kms;
    printf("%10.4f Myr  %8.4f Msun  %s\n", event->time_myr, event->mass_after, stellar_type_text(event->type_after));
    if (event->kind != STELLAR_CHANGE)
        printf("%29skick of %.2f km/s, fallback %.3f\n", "", sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]),
               event->fallback);
}

/* From birth to the remnant. The name decides the random numbers, whatever the order of the stars. */
static void live(const struct stellar_model *model, long long name, double mass)
{
    struct stellar_star star;
    struct stellar_view view;
    struct stellar_events events;
    struct nbc_error err;
    int asked = 0;
    check(stellar_birth(model, name, mass, 0, &star, &err), &err);
    printf("A star of %g Msun\n", mass);
    for (double time = 0; isfinite(time); time = view.ask_again_myr) {
        check(stellar_evolve(model, &star, time, &view, &events, &err), &err);
        for (int k = 0; k < events.n; k++) print_event(&events.event[k]);
        asked++;
    }
    printf("%29sasked %d times\n", "", asked);
}

int main(void)
{
    static const double MASS[] = {0.9, 5, 12, 40};
    struct stellar_options options;
    struct stellar_model *model;
    struct nbc_error err;
    check(stellar_options_level('B', &options, &err), &err);
    check(stellar_options_set(&options, "NSFLAG", "delayed", &err), &err);
    check(stellar_create(0.001, &options, &model, &err), &err);
    for (int k = 0; k < 4; k++) live(model, k, MASS[k]);
    stellar_free(model);
    return 0;
}
