/* Vector forms of the instruction sets that can run here against scalar forms of one number, bit for bit. */
#include "common/curve.h"
#include "common/predictor.h"
#include "gpunb/backend.h"
#include "gpunb/cpu/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

static uint64_t state = 1;

/* -1 .. 1 */
static double some_number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)state * 0x1p-63;
}

/* Calls a test with the kernels of each instruction set that can run here.   @return their number */
static int for_each_set(void (*test)(const struct gpunb_cpu_kernels *kernels))
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
    int n = 0;
    for (int k = 0; k < gpunb_backend_count(); k++)
        for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
            const struct gpunb_backend *row = gpunb_backend_row(k);
            if (strcmp(row->name, names[m]) != 0 || row->why_unavailable()[0] != '\0') continue;
            print_message("%s\n", row->name);
            state = 1;
            test(row->method);
            n++;
        }
    return n;
}

/* The map of gpunb/cpu/kernel_curve.h. */
static uint32_t cube_of(float x, float centre, const struct gpunb_curve *curve)
{
    const float s = (x - centre) * curve->per_scale, bounded = fmaxf(-1e6f, fminf(s, 1e6f));
    return (uint32_t)((bounded / (1.0f + fabsf(bounded)) + 1.0f) * curve->half_cubes);
}

static void compare_places(const struct gpunb_cpu_kernels *kernels)
{
    for (int n = 0; n < 4000; n++) {
        const int bits = 1 + n % NBC_HILBERT_BITS_32;
        const struct gpunb_curve curve = {.centre = {0.5f, -3.0f, 1e-3f},
                                          .per_scale = n % 7 == 0 ? 1e30f : 2.5f,
                                          .half_cubes = 0.499999f * (float)(1 << bits),
                                          .bits = bits};
        struct gpunb_cell cell;
        uint32_t place[CPU_CELL];
        memset(&cell, 0, sizeof cell);
        for (int l = 0; l < CPU_CELL; l++) {
            cell.xh[l] = (float)(some_number() * pow(10, 15 * some_number()));
            cell.yh[l] = (float)(4 * some_number());
            cell.zh[l] = (float)some_number();
        }
        kernels->curve(&cell, &curve, place);
        for (int l = 0; l < CPU_CELL; l++)
            assert_int_equal(place[l], nbc_hilbert_key64(cube_of(cell.xh[l], curve.centre[0], &curve),
                                                         cube_of(cell.yh[l], curve.centre[1], &curve),
                                                         cube_of(cell.zh[l], curve.centre[2], &curve), bits));
    }
}

static void places_on_curve(void **unused)
{
    (void)unused;
    assert_true(for_each_set(compare_places) > 0);
}

/* The formula of the predictor, an operation a line. */
static double plain_place(double s, double x0, double v0, double acc, double jerk)
{
    const double half = 0.5 * acc, sixth = jerk * (1.0 / 6.0);
    const double of_jerk = s * sixth;
    const double curvature = half + of_jerk;
    const double of_curvature = s * curvature;
    const double slope = v0 + of_curvature;
    const double way = s * slope;
    return x0 + way;
}

static double plain_velocity(double s, double v0, double acc, double jerk)
{
    const double of_jerk = s * (0.5 * jerk);
    const double slope = acc + of_jerk;
    const double change = s * slope;
    return v0 + change;
}

/* In half of the states what is predicted is nothing, or the rounding error of an operation that was fused or made in
 * another order: floats show it, too. */
static struct gpunb_jp some_predictor(double t)
{
    struct gpunb_jp jp = {.mass = some_number(), .t0 = t - 0.03 * fabs(some_number())};
    const double s = t - jp.t0;
    const int is_nothing = some_number() > 0;
    for (int k = 0; k < 3; k++) {
        jp.acc[k] = 8 * some_number();
        jp.jerk[k] = 64 * some_number();
        jp.v[k] = is_nothing ? -plain_velocity(s, 0, jp.acc[k], jp.jerk[k]) : some_number();
        jp.x[k] = is_nothing ? -plain_place(s, 0, jp.v[k], jp.acc[k], jp.jerk[k]) : some_number();
    }
    return jp;
}

static void put(const struct gpunb_jp *jp, int lane, struct gpunb_jp_cell *cell)
{
    for (int k = 0; k < 3; k++) {
        cell->row[JP_X + k][lane] = jp->x[k];
        cell->row[JP_V + k][lane] = jp->v[k];
        cell->row[JP_ACC + k][lane] = jp->acc[k];
        cell->row[JP_JERK + k][lane] = jp->jerk[k];
    }
    cell->row[JP_T0][lane] = jp->t0;
    cell->m[lane] = (float)jp->mass;
}

static void compare_lane(const struct gpunb_cell *cell, int l, const double x[3], const double v[3])
{
    const float *const high[3] = {cell->xh, cell->yh, cell->zh}, *const low[3] = {cell->xl, cell->yl, cell->zl},
                       *const velocity[3] = {cell->vx, cell->vy, cell->vz};
    for (int k = 0; k < 3; k++) {
        float x_high, x_low;
        gpunb_split(x[k], &x_high, &x_low);
        assert_int_equal(nbc_bits_of_float(high[k][l]), nbc_bits_of_float(x_high));
        assert_int_equal(nbc_bits_of_float(low[k][l]), nbc_bits_of_float(x_low));
        assert_int_equal(nbc_bits_of_float(velocity[k][l]), nbc_bits_of_float((float)v[k]));
    }
}

static void compare_predictions(const struct gpunb_cpu_kernels *kernels)
{
    for (int n = 0; n < 4000; n++) {
        _Alignas(64) struct gpunb_jp_cell from;
        _Alignas(64) struct gpunb_cell to;
        struct gpunb_jp jp[CPU_CELL];
        const double t = 1 + some_number();
        for (int l = 0; l < CPU_CELL; l++) {
            jp[l] = some_predictor(t);
            put(&jp[l], l, &from);
        }
        assert_true(kernels->predict(&from, t, &to));
        for (int l = 0; l < CPU_CELL; l++) {
            double x[3], v[3];
            gpunb_jp_at(&jp[l], t, x, v);
            compare_lane(&to, l, x, v);
        }
    }
}

static void predictions(void **unused)
{
    (void)unused;
    assert_true(for_each_set(compare_predictions) > 0);
}

#define ASSERT_SAME_BITS(a, b)                                                                                         \
    do {                                                                                                               \
        const double one_ = (a), other_ = (b);                                                                         \
        assert_memory_equal(&one_, &other_, sizeof one_);                                                              \
    } while (0)

/* The scalar form, with what GPUs may round, and the vector form: on a processor all are the formula. */
static void forms_of_predictor(void **unused)
{
    (void)unused;
    typedef double eight __attribute__((vector_size(64)));
    static const enum nbc_rounding roundings[] = {NBC_ROUND_EACH, NBC_ROUND_FUSED, NBC_ROUND_AS_COMPILED};
    for (int n = 0; n < 20000; n++) {
        const double t = 1 + some_number();
        const struct gpunb_jp jp = some_predictor(t);
        const double s = t - jp.t0;
        double x[3], v[3];
        eight x0 = {0}, v0 = {0}, acc = {0}, jerk = {0}, at, with;
        for (int k = 0; k < 3; k++) {
            x0[k] = jp.x[k];
            v0[k] = jp.v[k];
            acc[k] = jp.acc[k];
            jerk[k] = jp.jerk[k];
        }
        at = NBC_PREDICT_PLACES(s, x0, v0, acc, jerk);
        with = NBC_PREDICT_VELOCITIES(s, v0, acc, jerk);
        for (int r = 0; r < 3; r++) {
            nbc_predict(s, jp.x, jp.v, jp.acc, jp.jerk, roundings[r], x, v);
            for (int k = 0; k < 3; k++) {
                ASSERT_SAME_BITS(x[k], plain_place(s, jp.x[k], jp.v[k], jp.acc[k], jp.jerk[k]));
                ASSERT_SAME_BITS(v[k], plain_velocity(s, jp.v[k], jp.acc[k], jp.jerk[k]));
                ASSERT_SAME_BITS(at[k], x[k]);
                ASSERT_SAME_BITS(with[k], v[k]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_on_curve), cmocka_unit_test(predictions),
                                       cmocka_unit_test(forms_of_predictor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
