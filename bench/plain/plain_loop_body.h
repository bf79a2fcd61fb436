/* The loops; PLAIN_LOOP and PLAIN_SOFTENED are their names. */
#include "bench/plain/plain_loop.h"

#include <math.h>

void PLAIN_LOOP(const struct plain_sources *sources, const struct plain_target *target, struct plain_sums *sums)
{
    const float *m = sources->m, *x = sources->x, *y = sources->y, *z = sources->z;
    const float *vx = sources->vx, *vy = sources->vy, *vz = sources->vz;
    const struct plain_target t = *target;
    float ax = 0, ay = 0, az = 0, jx = 0, jy = 0, jz = 0;
    int neighbours = 0;
    for (size_t j = 0; j < sources->n; j++) {
        const float dx = x[j] - t.x[0], dy = y[j] - t.x[1], dz = z[j] - t.x[2];
        const float dvx = vx[j] - t.v[0], dvy = vy[j] - t.v[1], dvz = vz[j] - t.v[2];
        const float r2 = dx * dx + dy * dy + dz * dz, rv = dx * dvx + dy * dvy + dz * dvz;
        const float px = dx + t.dt * dvx, py = dy + t.dt * dvy, pz = dz + t.dt * dvz;
        const float p2 = px * px + py * py + pz * pz;
        const int is_near = (r2 < p2 ? r2 : p2) < t.h2;
        const float rinv = is_near ? 0.0f : 1.0f / sqrtf(r2), rinv2 = rinv * rinv;
        const float mr3 = m[j] * rinv * rinv2, alpha = -3.0f * rv * rinv2;
        neighbours += is_near;
        ax += mr3 * dx;
        ay += mr3 * dy;
        az += mr3 * dz;
        jx += mr3 * (dvx + alpha * dx);
        jy += mr3 * (dvy + alpha * dy);
        jz += mr3 * (dvz + alpha * dz);
    }
    *sums = (struct plain_sums){{ax, ay, az}, {jx, jy, jz}, neighbours};
}

static inline __attribute__((always_inline)) void softened_loop(const struct plain_sources *sources, const float t[3],
                                                                float softening2, const int want_pot, float sums[4])
{
    const float *m = sources->m, *x = sources->x, *y = sources->y, *z = sources->z;
    const float tx = t[0], ty = t[1], tz = t[2];
    float ax = 0, ay = 0, az = 0, pot = 0;
    for (size_t j = 0; j < sources->n; j++) {
        const float dx = x[j] - tx, dy = y[j] - ty, dz = z[j] - tz;
        const float rinv = 1.0f / sqrtf(softening2 + dx * dx + dy * dy + dz * dz);
        const float mr = m[j] * rinv, mr3 = mr * rinv * rinv;
        ax += mr3 * dx;
        ay += mr3 * dy;
        az += mr3 * dz;
        if (want_pot) pot += mr;
    }
    sums[0] = ax;
    sums[1] = ay;
    sums[2] = az;
    sums[3] = pot;
}

void PLAIN_SOFTENED(const struct plain_sources *sources, const float x[3], float softening2, int want_pot,
                    float sums[4])
{
    if (want_pot)
        softened_loop(sources, x, softening2, 1, sums);
    else
        softened_loop(sources, x, softening2, 0, sums);
}
