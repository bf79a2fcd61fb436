#include "gpuirr/store.h"

#include "gpuirr/pair.h"

#include <math.h>

struct gpuirr_record *gpuirr_records_grow(struct gpuirr_record *old, size_t n_old, size_t n_max)
{
    struct gpuirr_record *body = nbc_realloc(old, n_old, n_max, sizeof *body);
    for (size_t i = n_old; body && i < n_max; i++) body[i].s.t0 = NAN;
    return body;
}

static void predict(const struct gpuirr_state *body, double t, double x[3], double v[3])
{
    double s = t - body->t0;
    for (int d = 0; d < 3; d++) {
        double acc = body->acc[d], jerk = body->jerk[d];
        x[d] = body->x[d] + s * body->v[d] + s * s / 2 * acc + s * s * s / 6 * jerk;
        v[d] = body->v[d] + s * acc + s * s / 2 * jerk;
    }
}

void gpuirr_exact_begin(const struct gpuirr_record *body, double t, struct gpuirr_exact *sum)
{
    *sum = (struct gpuirr_exact){.r2_min = INFINITY, .nearest = -1};
    predict(&body->s, t, sum->x, sum->v);
    sum->from_origin = sqrt(gpuirr_square(sum->x));
}

void gpuirr_exact_add(const struct gpuirr_record *body, int32_t j, double t, struct gpuirr_exact *sum)
{
    double dx[3], dv[3], r2 = 0, rv = 0;
    predict(&body->s, t, dx, dv);
    for (int d = 0; d < 3; d++) {
        dx[d] -= sum->x[d];
        dv[d] -= sum->v[d];
        r2 += dx[d] * dx[d];
        rv += dx[d] * dv[d];
    }
    if (r2 < sum->r2_min) {
        sum->r2_min = r2;
        sum->nearest = j;
    }
    if (r2 == 0) {
        sum->coincident++;
        return;
    }
    double m_r3 = body->s.mass / (r2 * sqrt(r2)), alpha = 3 * rv / r2;
    for (int d = 0; d < 3; d++) {
        sum->acc[d] += m_r3 * dx[d];
        sum->jerk[d] += m_r3 * (dv[d] - alpha * dx[d]);
    }
    sum->noise += gpuirr_noise_at_distance(body->s.mass, r2, sum->from_origin);
}
