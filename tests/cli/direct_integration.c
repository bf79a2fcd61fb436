/* Stars in the field of a galaxy, integrated directly, to compare nbody6 with: shares no code with it, neither method
 * nor field. All bodies have one step, which is extrapolated (Bulirsch & Stoer 1966, Numer. Math. 8, 1, with the
 * midpoint rule of Gragg 1965, SIAM J. Numer. Anal. 2, 384, and 2, 4, ..., 16 parts of a step), in long double. Nothing
 * is regularized: a step follows the closest pair.
 *
 * usage: direct_integration TOLERANCE OTHER_TOLERANCE EVALUATIONS < SET-UP
 *
 * The set-up has one thing in each line, in N-body units: a part of the field with its parameters, as `parse` has them;
 * `times` and at last `stars`. It is integrated twice, with each tolerance, which is that of a place in a step. For
 * each time at which both agree within 1e-10 a row `t` with the time, then rows `x y z into` of all stars: `into` is
 * the star with which this one has merged, or itself. The first row that does not agree, or the number of evaluations
 * of all forces, ends it. Two stars merge where they touch, or have passed a pericentre within the sum of their radii.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_TIMES = 1024, LEVELS = 8, SIZE = 6 * (MOST + 1) };
typedef long double real;

static const real AGREE = 1e-10L, WHILE = 0.0625L;

/* Parts of a field that are 0 are not there. */
static struct {
    real tide_x, tide_z, coriolis;              /* linearised, in a frame that turns */
    real point_mass;                            /* galaxy */
    real bulge_mass, bulge_length, bulge_slope; /* Dehnen 1993 */
    real disk_mass, disk_length, disk_height;   /* Miyamoto & Nagai 1975 */
    real halo_v, halo_r2;                       /* logarithmic */
    real cut_scale, cut_length, cut_slope;      /* power law with a Gaussian end */
    real nfw_scale, nfw_length;                 /* Navarro, Frenk & White 1997 */
    real gas_mass, gas_length, gas_rate, gas_delay;
    int moves; /* the origin follows an orbit */
} field;

static struct star {
    real mass, radius;
    int into; /* itself, or the star with which it has merged */
} begin[MOST], star[MOST];

/* In the order of time. */
static struct merger {
    real t;
    int stays, gone;
} merger[MOST];

static int n_stars, n_times, n_mergers;
static const struct merger *wrong;
static real met[MOST][MOST]; /* when two stars passed such a pericentre first */
static real first_state[SIZE], times[MOST_TIMES], rows[2][MOST_TIMES][3 * MOST];
static int into[2][MOST_TIMES][MOST];
static long evaluations, most_evaluations;

/* ---- Fields */

/* x^-s times the lower incomplete gamma function of s, by its series. */
static real gamma_below(real s, real x)
{
    real term = 1 / s, sum = term;
    for (int k = 1; k < 2000 && term > 1e-21L * sum; k++) {
        term *= x / (s + (real)k);
        sum += term;
    }
    return expl(-x) * sum;
}

static real cut_bulge_inside(real r)
{
    const real s = (3 - field.cut_slope) / 2, u = r / field.cut_length;
    return u > 9 ? tgammal(s) : powl(u, 2 * s) * gamma_below(s, u * u);
}

static real nfw_inside(real r)
{
    const real u = r / field.nfw_length;
    return log1pl(u) - u / (1 + u);
}

/* Acceleration of the galaxy, seen from its centre. */
static void galaxy(const real x[3], real acc[3])
{
    const real plane2 = x[0] * x[0] + x[1] * x[1], r2 = plane2 + x[2] * x[2], r = sqrtl(r2);
    real central = field.point_mass / (r2 * r);
    if (field.bulge_mass > 0)
        central += field.bulge_mass * powl(r / (r + field.bulge_length), 3 - field.bulge_slope) / (r2 * r);
    if (field.halo_v > 0) central += field.halo_v * field.halo_v / (r2 + field.halo_r2);
    if (field.cut_scale > 0) central += field.cut_scale * cut_bulge_inside(r) / (r2 * r);
    if (field.nfw_scale > 0) central += field.nfw_scale * nfw_inside(r) / (r2 * r);
    for (int d = 0; d < 3; d++) acc[d] = -central * x[d];
    if (field.disk_mass > 0) {
        const real root = sqrtl(x[2] * x[2] + field.disk_height * field.disk_height), up = field.disk_length + root;
        const real q = plane2 + up * up, factor = field.disk_mass / (q * sqrtl(q));
        acc[0] -= factor * x[0];
        acc[1] -= factor * x[1];
        acc[2] -= factor * x[2] * up / root;
    }
}

static real circular_v2(real r)
{
    const real x[3] = {r, 0, 0};
    real acc[3];
    galaxy(x, acc);
    return -acc[0] * r;
}

/* The halo adds to all others what is missing of the circular velocity v at r, and has v far out. */
static void set_halo(real v, real r)
{
    const real others = circular_v2(r);
    field.halo_v = v;
    field.halo_r2 = r * r * others / (v * v - others);
}

/* Bovy 2015, table 1: shares of the force at r, where the circular velocity is v. */
static void set_milky_way(real v, real r, real kpc)
{
    field.cut_length = 1.9L * kpc;
    field.cut_slope = 1.8L;
    field.disk_length = 3 * kpc;
    field.disk_height = 0.28L * kpc;
    field.nfw_length = 16 * kpc;
    const real q = r * r + powl(field.disk_length + field.disk_height, 2);
    field.cut_scale = 0.05L * v * v * r / cut_bulge_inside(r);
    field.disk_mass = 0.6L * v * v * q * sqrtl(q) / (r * r);
    field.nfw_scale = 0.35L * v * v * r / nfw_inside(r);
}

static real gas_mass(real t)
{
    return t > field.gas_delay ? field.gas_mass / (1 + field.gas_rate * (t - field.gas_delay)) : field.gas_mass;
}

static void add_field(real t, const real origin[3], const real *x, const real *v, real *acc)
{
    acc[0] += field.tide_x * x[0] + field.coriolis * v[1];
    acc[1] -= field.coriolis * v[0];
    acc[2] += field.tide_z * x[2];
    if (field.gas_mass > 0) {
        const real q = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + field.gas_length * field.gas_length;
        for (int d = 0; d < 3; d++) acc[d] -= gas_mass(t) * x[d] / (q * sqrtl(q));
    }
    if (field.moves) {
        real place[3], there[3], here[3];
        for (int d = 0; d < 3; d++) place[d] = origin[d] + x[d];
        galaxy(place, there);
        galaxy(origin, here);
        for (int d = 0; d < 3; d++) acc[d] += there[d] - here[d];
    }
}

/* ---- Motion. A state has place and velocity of the origin in the galaxy, then those of each star from there. */

static void add_pair(const real *a, const real *b, real mass_a, real mass_b, real *da, real *db)
{
    const real x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2], r2 = x * x + y * y + z * z, f = 1 / (r2 * sqrtl(r2));
    const real dx[3] = {f * x, f * y, f * z};
    for (int d = 0; d < 3; d++) {
        da[3 + d] += mass_b * dx[d];
        db[3 + d] -= mass_a * dx[d];
    }
}

static void rate(real t, const real *y, real *dy)
{
    evaluations++;
    for (int k = 0; k <= n_stars; k++)
        for (int d = 0; d < 3; d++) {
            dy[6 * k + d] = y[6 * k + 3 + d];
            dy[6 * k + 3 + d] = 0;
        }
    if (field.moves) galaxy(y, dy + 3);
    for (int i = 0; i < n_stars; i++) {
        if (star[i].into != i) continue;
        const real *a = y + 6 * (i + 1);
        add_field(t, y, a, a + 3, dy + 6 * (i + 1) + 3);
        for (int j = 0; j < i; j++)
            if (star[j].into == j)
                add_pair(a, y + 6 * (j + 1), star[i].mass, star[j].mass, dy + 6 * (i + 1), dy + 6 * (j + 1));
    }
}

static void midpoint(real t, real h, int parts, const real *y, real *out)
{
    static real before[SIZE], now[SIZE], dy[SIZE];
    const int size = 6 * (n_stars + 1);
    const real part = h / (real)parts;
    rate(t, y, dy);
    for (int k = 0; k < size; k++) {
        before[k] = y[k];
        now[k] = y[k] + part * dy[k];
    }
    for (int m = 1; m < parts; m++) {
        rate(t + (real)m * part, now, dy);
        for (int k = 0; k < size; k++) {
            const real next = before[k] + 2 * part * dy[k];
            before[k] = now[k];
            now[k] = next;
        }
    }
    rate(t + h, now, dy);
    for (int k = 0; k < size; k++) out[k] = (before[k] + now[k] + part * dy[k]) / 2;
}

/* The state after h; returns the largest error: of places, and of velocities as far as they are large. That of the
 * origin counts by its distance from the centre of the galaxy, because the tide depends on that. */
static real step(real t, real h, const real *y, real *out)
{
    static real table[LEVELS][SIZE];
    const int size = 6 * (n_stars + 1);
    real worst = 0;
    for (int k = 0; k < LEVELS; k++) {
        midpoint(t, h, 2 * (k + 1), y, table[k]);
        for (int j = k - 1; j >= 0; j--) { /* table[j]: of parts j to k */
            const real ratio = (real)(k + 1) / (real)(j + 1), factor = 1 / (ratio * ratio - 1);
            for (int m = 0; m < size; m++) {
                const real better = table[j + 1][m] + factor * (table[j + 1][m] - table[j][m]);
                const int last = k == LEVELS - 1 && j == 0;
                if (last) out[m] = better;
                table[j][m] = last ? better - table[1][m] : better;
            }
        }
    }
    for (int m = 0; m < size; m++) {
        const real scale = m < 3 || m % 6 > 2 ? 1 + fabsl(y[m]) : 1;
        worst = fmaxl(worst, fabsl(table[0][m]) / scale);
    }
    return worst;
}

/* ---- Mergers */

static real radial(const real *y, int i, int j)
{
    real sum = 0;
    for (int d = 0; d < 3; d++) {
        const int a = 6 * (i + 1) + d, b = 6 * (j + 1) + d;
        sum += (y[a] - y[b]) * (y[a + 3] - y[b + 3]);
    }
    return sum;
}

/* The orbit of two stars about each other. */
struct orbit {
    real r, pericentre, inverse_a;
};

static struct orbit orbit_of(const real *y, int i, int j)
{
    const real mass = star[i].mass + star[j].mass, rv = radial(y, i, j);
    real r2 = 0, v2 = 0;
    for (int d = 0; d < 3; d++) {
        r2 += powl(y[6 * (i + 1) + d] - y[6 * (j + 1) + d], 2);
        v2 += powl(y[6 * (i + 1) + 3 + d] - y[6 * (j + 1) + 3 + d], 2);
    }
    const real r = sqrtl(r2), parameter = (r2 * v2 - rv * rv) / mass, inverse_a = 2 / r - v2 / mass;
    return (struct orbit){r, parameter / (1 + sqrtl(fmaxl(0, 1 - parameter * inverse_a))), inverse_a};
}

static void merge(real *y, int i, int j)
{
    const real mass = star[i].mass + star[j].mass;
    for (int d = 0; d < 6; d++) {
        real *a = y + 6 * (i + 1) + d;
        *a = (star[i].mass * *a + star[j].mass * y[6 * (j + 1) + d]) / mass;
    }
    star[i].mass = mass;
    star[i].radius = cbrtl(powl(star[i].radius, 3) + powl(star[j].radius, 3));
    for (int k = 0; k < n_stars; k++)
        if (star[k].into == j) star[k].into = i;
}

/* Notes the stars that have passed a pericentre within the sum of their radii in a step. Two stars that others turn
 * round in the outer half of their orbit come no nearer than they are. */
static void look(real t, const real *before, const real *y)
{
    for (int i = 0; i < n_stars; i++)
        for (int j = 0; j < i; j++) {
            const real touch = star[i].radius + star[j].radius;
            if (star[i].into != i || star[j].into != j || !(touch > 0) || met[i][j] > 0) continue;
            if (!(radial(before, i, j) < 0 && radial(y, i, j) >= 0)) continue;
            const struct orbit orbit = orbit_of(y, i, j);
            if (orbit.pericentre <= touch && orbit.r * orbit.inverse_a < 1) met[i][j] = t;
        }
}

/* The next merger that is due, if its stars are to merge. Elements of an orbit that others disturb vary. */
static int merge_next(const struct merger *m, real *y)
{
    const real touch = star[m->stays].radius + star[m->gone].radius;
    if (star[m->stays].into != m->stays || star[m->gone].into != m->gone) return 0;
    if (orbit_of(y, m->stays, m->gone).pericentre > 1.001L * touch) {
        wrong = m;
        return 0;
    }
    merge(y, m->stays, m->gone);
    return 1;
}

/* ---- A run */

/* To the time, or until too much was evaluated: then 0. */
static int advance(real *t, real end, real *h, real tolerance, real *y)
{
    static real next[SIZE];
    while (*t < end) {
        const real left = end - *t, size = *h < left ? *h : left;
        if (evaluations > most_evaluations) return 0;
        const real error = step(*t, size, y, next) / tolerance;
        const real factor = error > 0 ? 0.8L * powl(error, -1.0L / (2 * LEVELS - 1)) : 4;
        if (error <= 1) {
            look(*t, y, next);
            memcpy(y, next, sizeof next);
            *t = size < left ? *t + size : end;
        }
        if (!(error <= 1) || size == *h || factor < 1) *h = size * (factor < 4 ? factor > 0.1L ? factor : 0.1L : 4);
    }
    return 1;
}

/* To the time, with a halt at the begin of the gas's leaving and at each merger. */
static int advance_through(real *t, real end, real *h, real tolerance, real *y, int *next)
{
    const int jumps = field.gas_mass > 0 && *t < field.gas_delay && field.gas_delay < end;
    if (jumps && !advance_through(t, field.gas_delay, h, tolerance, y, next)) return 0;
    while (*next < n_mergers && merger[*next].t <= end) {
        if (!advance(t, merger[*next].t, h, tolerance, y) || !merge_next(&merger[*next], y)) return 0;
        ++*next;
    }
    return advance(t, end, h, tolerance, y);
}

/* Writes rows of all times that are reached; returns their number. */
static int integrate(int which, real tolerance)
{
    static real y[SIZE];
    real t = 0, h = 1e-4L;
    int next = 0;
    memcpy(y, first_state, sizeof y);
    memcpy(star, begin, sizeof star);
    memset(met, 0, sizeof met);
    evaluations = 0;
    for (int k = 0; k < n_times; k++) {
        if (!advance_through(&t, times[k], &h, tolerance, y, &next)) return k;
        for (int i = 0; i < n_stars; i++) {
            into[which][k][i] = star[i].into;
            for (int d = 0; d < 3; d++) rows[which][k][3 * i + d] = y[6 * (star[i].into + 1) + d];
        }
    }
    return n_times;
}

/* ---- What is read and written */

static int parse(const char *what, const real p[6], int n)
{
    const struct {
        const char *name;
        int n;
        real *to[4];
    } parts[] = {
        {"tide", 3, {&field.tide_x, &field.tide_z, &field.coriolis}},
        {"point", 1, {&field.point_mass}},
        {"bulge", 3, {&field.bulge_mass, &field.bulge_length, &field.bulge_slope}},
        {"disk", 3, {&field.disk_mass, &field.disk_length, &field.disk_height}},
        {"gas", 4, {&field.gas_mass, &field.gas_length, &field.gas_rate, &field.gas_delay}},
    };
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        if (strcmp(what, parts[k].name) != 0 || n != parts[k].n) continue;
        for (int m = 0; m < n; m++) *parts[k].to[m] = p[m];
        return 1;
    }
    if (!strcmp(what, "halo") && n == 2)
        return set_halo(p[0], p[1]), 1; /* circular velocity, there; after the others */
    if (!strcmp(what, "milkyway") && n == 3) return set_milky_way(p[0], p[1], p[2]), 1; /* v, there, a kpc */
    if (!strcmp(what, "orbit") && n == 6) {
        memcpy(first_state, p, 6 * sizeof p[0]);
        return field.moves = 1;
    }
    if (!strcmp(what, "merger") && n == 3 && n_mergers < MOST) { /* time, star that stays, star that is gone */
        merger[n_mergers++] = (struct merger){p[0], (int)p[1], (int)p[2]};
        return p[1] >= 0 && p[1] < MOST && p[2] >= 0 && p[2] < MOST;
    }
    if (!strcmp(what, "times") && n == 2 && p[1] >= 1 && p[1] <= MOST_TIMES) { /* end, number */
        n_times = (int)p[1];
        for (int k = 0; k < n_times; k++) times[k] = p[0] * (real)(k + 1) / (real)n_times;
        return 1;
    }
    return 0;
}

static int read_set_up(void)
{
    char line[1024], what[32];
    while (fgets(line, sizeof line, stdin)) {
        real p[8];
        const int n = sscanf(line, "%31s %Lf %Lf %Lf %Lf %Lf %Lf %Lf %Lf", what, &p[0], &p[1], &p[2], &p[3], &p[4],
                             &p[5], &p[6], &p[7]) -
                      1;
        if (!strcmp(what, "star") && n == 8 && n_stars < MOST) { /* mass, place, velocity, radius */
            memcpy(first_state + 6 * (n_stars + 1), p + 1, 6 * sizeof p[0]);
            begin[n_stars] = (struct star){p[0], p[7], n_stars};
            n_stars++;
        } else if (!parse(what, p, n)) {
            fprintf(stderr, "direct_integration: %s", line);
            return 0;
        }
    }
    return n_stars > 0 && n_times > 0;
}

static int agrees(int k)
{
    for (int i = 0; i < n_stars; i++)
        if (into[0][k][i] != into[1][k][i]) return 0;
    for (int m = 0; m < 3 * n_stars; m++)
        if (!(fabsl(rows[0][k][m] - rows[1][k][m]) <= AGREE)) return 0;
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 4 || !read_set_up()) return 2;
    most_evaluations = atol(argv[3]);
    const int one = integrate(0, strtold(argv[1], NULL)), other = integrate(1, strtold(argv[2], NULL));
    real end = 0;
    for (int k = 0; k < (one < other ? one : other) && agrees(k); k++) {
        printf("t %.17Lg\n", times[k]);
        for (int i = 0; i < n_stars; i++)
            printf("%.17Lg %.17Lg %.17Lg %d\n", rows[1][k][3 * i], rows[1][k][3 * i + 1], rows[1][k][3 * i + 2],
                   into[1][k][i]);
        end = times[k];
    }
    if (wrong && wrong->t <= end + times[0]) printf("wrong %d %d %.17Lg\n", wrong->stays, wrong->gone, wrong->t);
    for (int i = 0; i < n_stars; i++)
        for (int j = 0; j < i; j++)
            if (star[i].into == i && star[j].into == j && met[i][j] > 0 && met[i][j] < end - WHILE)
                printf("missed %d %d %.17Lg\n", i, j, met[i][j]);
    return 0;
}
