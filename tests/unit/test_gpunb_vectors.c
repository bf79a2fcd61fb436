/* Vector forms of the instruction sets that can run here against scalar forms of one number, bit for bit. */
#include "common/curve.h"
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
            assert_int_equal(place[l], nbc_hilbert_key32(cube_of(cell.xh[l], curve.centre[0], &curve),
                                                         cube_of(cell.yh[l], curve.centre[1], &curve),
                                                         cube_of(cell.zh[l], curve.centre[2], &curve), bits));
    }
}

static void places_on_curve(void **unused)
{
    (void)unused;
    assert_true(for_each_set(compare_places) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_on_curve)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
