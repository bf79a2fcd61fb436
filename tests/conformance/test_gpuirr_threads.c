/* The legacy calls of GPUIRR from several threads at once, for different bodies, with lists that have to be mended:
 * stored data are those sent, and the count of repairs is exact. Plain threads: the thread sanitizer knows all their
 * synchronisation. */
#include "common/nbc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void gpuirr_open_(const int *n_max, const int *l_max);
void gpuirr_close_(void);
void gpuirr_set_jp_(const int *addr, const double pos[3], const double vel[3], const double acc2[3],
                    const double jrk6[3], const double *mass, const double *time);
void gpuirr_set_list_(const int *addr, const int *nblist);
void gpuirr_get_list_(const int *addr, int *nblist);
void gpuirr_pred_all_(const int *first, const int *last, const double *time);
void gpuirr_firr_vec_(const int *n_act, const int *addr, double (*acc)[3], double (*jerk)[3]);

enum { N = 600, LMAX = 120, THREADS = 4, ROUNDS = 30 };

/* A list of body i in a round, as it should be stored. */
static void make_list(int i, int round, int list[LMAX])
{
    list[0] = (i * 7 + round * 13) % 100;
    for (int k = 1, j = 1 + i % 50; k <= list[0]; k++, j += 1 + k % 4) {
        if (j == i) j++;
        list[k] = j;
    }
}

/* The same with the body itself, and with an entry twice if there is one. */
static void spoil(int i, const int list[LMAX], int spoilt[LMAX])
{
    memcpy(spoilt, list, LMAX * sizeof *spoilt);
    spoilt[++spoilt[0]] = i;
    if (list[0] == 0) return;
    spoilt[0]++;
    spoilt[spoilt[0]] = list[1 + i % list[0]];
}

static void send(int i, int round)
{
    int list[LMAX], spoilt[LMAX];
    const double number = i, x[3] = {0.01 * number, 1.0 / number, 0.3}, v[3] = {0.1, -0.2, 0.3 / number};
    const double none[3] = {0, 0, 0}, mass = 1.0 / N, t0 = 0.25;
    make_list(i, round, list);
    spoil(i, list, spoilt);
    gpuirr_set_jp_(&i, x, v, none, none, &mass, &t0);
    gpuirr_set_list_(&i, spoilt);
}

static pthread_barrier_t barrier;

/* In each round the bodies are shared in another way; between rounds all wait. */
static void *send_share(void *argument)
{
    const int thread = *(const int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 1; i <= N; i++)
            if ((i + round * (i / THREADS)) % THREADS == thread) send(i, round);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void send_all_together(void)
{
    pthread_t thread[THREADS];
    int number[THREADS];
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int k = 0; k < THREADS; k++) {
        number[k] = k;
        assert_int_equal(pthread_create(&thread[k], NULL, send_share, &number[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
}

static void forces(double acc[N][3], double jerk[N][3])
{
    int addr[N];
    const int first = 1, n = N;
    const double t = 0.25;
    for (int k = 0; k < N; k++) addr[k] = k + 1;
    gpuirr_pred_all_(&first, &n, &t);
    gpuirr_firr_vec_(&n, addr, acc, jerk);
}

/* Message of the library on stderr when it is closed. */
static void close_and_listen(char *text, size_t size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    gpuirr_close_();
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void lists_from_several_threads(void **state)
{
    (void)state;
    static double acc[N][3], jerk[N][3], alone_acc[N][3], alone_jerk[N][3];
    const int n_max = N, l_max = LMAX;
    char said[1000], expected[1000];
    int list[LMAX], stored[LMAX], empty = 0;
    setenv("NBC_QUIET", "1", 1);
    gpuirr_open_(&n_max, &l_max);
    send_all_together();
    for (int i = 1; i <= N; i++) {
        make_list(i, ROUNDS - 1, list);
        gpuirr_get_list_(&i, stored);
        assert_memory_equal(stored, list, ((size_t)list[0] + 1) * sizeof *list);
    }
    forces(acc, jerk);
    for (int i = 1; i <= N; i++)
        for (int round = 0; round < ROUNDS; round++) {
            make_list(i, round, list);
            empty += list[0] == 0;
        }
    snprintf(expected, sizeof expected,
             "gpuirr: lists were mended: %d times the body itself was left out, %d times a second entry\n", N * ROUNDS,
             N * ROUNDS - empty);
    close_and_listen(said, sizeof said);
    assert_string_equal(said, expected);
    gpuirr_open_(&n_max, &l_max);
    for (int i = 1; i <= N; i++) send(i, ROUNDS - 1);
    forces(alone_acc, alone_jerk);
    gpuirr_close_();
    assert_memory_equal(acc, alone_acc, sizeof acc);
    assert_memory_equal(jerk, alone_jerk, sizeof jerk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_from_several_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
