/* Which bodies are neighbours in the chain: its construction, and its re-selection when distances have changed
 * (Mikkola & Aarseth 1993). New chain vectors are sums of old ones, so that no small distance is a difference of large
 * ones. */
#include "regularization/chain_impl.h"

#include <stdlib.h>
#include <string.h>

/* A distance outside the chain must be shorter than this times the link that it would replace: two distances that stay
 * nearly equal do not have the chain laid anew at each step, which would cost the last bits each time. */
static const double MUCH_SHORTER = 0.9;

/* Distances of all pairs; in the order of the bodies. */
static void distances(int n, const struct chain_body body[], double r[][CHAIN_MAX])
{
    for (int i = 0; i < n; i++) {
        r[i][i] = 0;
        for (int j = i + 1; j < n; j++) {
            double d[3];
            chain_between(&body[i], &body[j], d);
            r[i][j] = r[j][i] = chain_norm(d);
        }
    }
}

/* The chain begins with the shortest distance and grows at the end that has the nearer neighbour. */
static void lay(int n, const double r[][CHAIN_MAX], int32_t order[])
{
    int taken[CHAIN_MAX] = {0}, first = 0, second = 1, length = 2;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (r[i][j] < r[first][second]) {
                first = i;
                second = j;
            }
    order[0] = first;
    order[1] = second;
    taken[first] = taken[second] = 1;
    for (; length < n; length++) {
        int next = -1, at_front = 0;
        double nearest = HUGE_VAL;
        for (int i = 0; i < n; i++) {
            for (int front = 0; front < 2; front++) {
                double d = r[i][order[front ? 0 : length - 1]];
                if (taken[i] || (next >= 0 && !(d < nearest))) continue;
                next = i;
                nearest = d;
                at_front = front;
            }
        }
        taken[next] = 1;
        if (at_front) memmove(order + 1, order, (size_t)length * sizeof *order);
        order[at_front ? 0 : length] = next;
    }
}

void chain_first_order(struct chain *c, const struct chain_body body[])
{
    double r[CHAIN_MAX][CHAIN_MAX];
    distances(c->n, body, r);
    lay(c->n, (const double(*)[CHAIN_MAX])r, c->order);
}

/* Distances by sums of chain vectors; in the order of the chain. */
static void chain_distances(const struct chain_system *s, const struct chain_links *links, double r[][CHAIN_MAX])
{
    for (int i = 0; i < s->n; i++) {
        double d[3] = {0};
        r[i][i] = 0;
        for (int j = i + 1; j < s->n; j++) {
            for (int c = 0; c < 3; c++) d[c] += links->x[j - 1][c];
            r[i][j] = r[j][i] = chain_norm(d);
        }
    }
}

/* Is a pair that is no link closer than the links that it should replace? */
static int outdated(int n, const double r[][CHAIN_MAX])
{
    for (int i = 0; i + 2 < n; i++) {
        for (int j = i + 2; j < n; j++) {
            double least = fmin(r[i][i + 1], r[j - 1][j]);
            if (j == i + 2) least = fmax(r[i][i + 1], r[i + 1][j]);
            if (i > 0) least = fmin(least, j == i + 2 ? least : r[i - 1][i]);
            if (j + 1 < n && j > i + 2) least = fmin(least, r[j][j + 1]);
            if (r[i][j] < MUCH_SHORTER * least) return 1;
        }
    }
    return 0;
}

/* The vector from place a to place b of the old chain. */
static void between(const double link[][3], int a, int b, double out[3])
{
    int low = a < b ? a : b, high = a < b ? b : a;
    for (int c = 0; c < 3; c++) {
        double sum = 0;
        for (int k = low; k < high; k++) sum += link[k][c];
        out[c] = a < b ? sum : -sum;
    }
}

/* Are the places k and k + 1 of the old chain neighbours in the new one? */
static int is_link(const int32_t order[], int n, int k)
{
    for (int i = 0; i + 1 < n; i++)
        if (order[i] + order[i + 1] == 2 * k + 1 && abs(order[i] - order[i + 1]) == 1) return 1;
    return 0;
}

int chain_reselect(struct chain *c, const struct chain_system *s, const struct chain_links *links)
{
    double r[CHAIN_MAX][CHAIN_MAX], kappa[CHAIN_LINKS];
    int32_t order[CHAIN_MAX], member[CHAIN_MAX];
    struct chain_links fresh, ended;
    chain_distances(s, links, r);
    if (!outdated(c->n, (const double(*)[CHAIN_MAX])r)) return 0;
    lay(c->n, (const double(*)[CHAIN_MAX])r, order);
    int same = 1, reverse = 1;
    for (int i = 0; i < c->n; i++) {
        same &= order[i] == i;
        reverse &= order[i] == c->n - 1 - i;
    }
    if (same || reverse) return 0;
    for (int k = 0; k < s->links; k++) {
        if (s->kappa[k] == 1 || is_link(order, c->n, k)) continue;
        chain_slow_end(c);
        chain_get_links(c, &ended);
        links = &ended;
        break;
    }
    for (int k = 0; k < s->links; k++) {
        between(links->x, order[k], order[k + 1], fresh.x[k]);
        between(links->v, order[k], order[k + 1], fresh.v[k]);
        int low = order[k] < order[k + 1] ? order[k] : order[k + 1];
        kappa[k] = abs(order[k] - order[k + 1]) == 1 ? c->kappa[low] : 1;
    }
    for (int i = 0; i < c->n; i++) member[i] = c->order[order[i]];
    memcpy(c->order, member, (size_t)c->n * sizeof *member);
    memcpy(c->kappa, kappa, (size_t)s->links * sizeof *kappa);
    chain_set_links(c, &fresh);
    c->switches++;
    return 1;
}
