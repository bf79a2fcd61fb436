/* A model of 300 stars that lose a part of their mass in winds, up to t = 1; then one of them explodes: most of its
 * mass goes at once, and what is left is kicked. The energy that leaves is told, and is no part of the error.
 *
 *   cc -std=c11 explosion.c -o explosion $(pkg-config --cflags --libs libnbody6)
 */
#include <nbody6/adjust_row.h>
#include <nbody6/model.h>
#include <nbody6/nbody6.h>

#include <stdio.h>
#include <stdlib.h>

enum { STARS = 300, WINDS = 8 };

static void check(int status, const struct nbc_error *err)
{
    if (status == NBC_OK) return;
    fprintf(stderr, "explosion: %s\n", err->text);
    exit(nbc_status_exit_code(status));
}

static int print_row(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    (void)context;
    (void)sim;
    (void)err;
    printf("t = %5.3f  mass %.4f  r_half %.3f  E = %.8f  of it by masses %.8f  dE/E = %9.2e\n", row->t,
           row->energy.mass, row->r_half, row->energy.total, row->e_stars, row->de_cluster);
    return NBC_OK;
}

static nb6_t *make_cluster(const struct nb6_observer *observer, struct nbc_error *err)
{
    struct nb6_config config;
    struct nb6_model model;
    nb6_t *sim = NULL;
    nb6_config_init(&config);
    config.model.n = STARS;
    config.run.t_crit = 2;
    config.run.dt_adjust = 0.5;
    check(nb6_model_make(&config, &model, err), err);
    check(nb6_create(&sim, &config, err), err);
    nb6_set_observer(sim, observer);
    check(nb6_set_bodies(sim, model.n, model.name, model.mass, (const double(*)[3])model.x, (const double(*)[3])model.v,
                         err),
          err);
    nb6_model_free(&model);
    return sim;
}

/* All stars lose a hundredth: pairs among them, if there are any, widen. */
static void let_winds_blow(nb6_t *sim, struct nbc_error *err)
{
    int64_t name[STARS];
    double mass[STARS];
    check(nb6_get_bodies(sim, STARS, name, mass, NULL, NULL, err), err);
    for (int i = 0; i < STARS; i++) mass[i] *= 0.99;
    check(nb6_set_masses(sim, STARS, name, mass, NULL, NB6_MASS_SLOW, err), err);
}

static void let_one_explode(nb6_t *sim, struct nbc_error *err)
{
    int64_t name[STARS];
    double mass[STARS], v[STARS][3];
    check(nb6_get_bodies(sim, STARS, name, mass, NULL, v, err), err);
    int k = 0;
    for (int i = 1; i < STARS; i++)
        if (mass[i] > mass[k]) k = i;
    const double left = 0.2 * mass[k], kicked[1][3] = {{v[k][0] + 3, v[k][1], v[k][2]}};
    check(nb6_set_masses(sim, 1, &name[k], &left, kicked, NB6_MASS_SUDDEN, err), err);
    printf("t = %5.3f  star %lld explodes: %.4f of %.4f is left, and is kicked\n", nb6_time_now(sim),
           (long long)name[k], left, mass[k]);
}

static void print_field(nb6_t *sim, struct nbc_error *err)
{
    const double x[2][3] = {{0, 0, 0}, {2, 0, 0}};
    double potential[2], acc[2][3];
    check(nb6_get_field(sim, 2, x, potential, acc, NULL, NULL, err), err);
    for (int k = 0; k < 2; k++)
        printf("at x = %g: potential %.4f, acceleration %.4f %.4f %.4f\n", x[k][0], potential[k], acc[k][0], acc[k][1],
               acc[k][2]);
}

int main(void)
{
    static const struct nb6_observer observer = {.adjust = print_row};
    struct nbc_error err = {0};
    nb6_t *sim = make_cluster(&observer, &err);
    for (int k = 1; k <= WINDS; k++) {
        check(nb6_evolve(sim, (double)k / WINDS, &err), &err);
        let_winds_blow(sim, &err);
    }
    let_one_explode(sim, &err);
    check(nb6_evolve(sim, 2, &err), &err);
    print_field(sim, &err);
    nb6_free(sim);
    return 0;
}
