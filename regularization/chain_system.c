/* Input of the equations of motion that is constant during a step: masses in the order of the chain, their products,
 * coefficients of the kinetic energy, and the external forces. */
#include "common/sum.h"
#include "regularization/chain_impl.h"

#include <string.h>

/* Pairs whose product of masses is below this fraction of the largest one count in the time transformation of the
 * leapfrog as if they had that fraction, squared: the potential does not feel their encounters (Mikkola & Merritt
 * 2008). */
static const double SMALL_PRODUCT = 1e-3;

/* Kinetic energy by the momenta W_k of the chain vectors, p_k = W_(k-1) - W_k. A slowed link takes the part
 * (1 - 1/kappa) of the kinetic energy of its relative motion away, whose momentum is
 * W_s - (m_a W_(s+1) + m_b W_(s-1))/(m_a + m_b). */
static void kinetic_coefficients(struct chain_system *s)
{
    const double *m = s->mass;
    for (int k = 0; k < s->links; k++) {
        s->diag[k] = 0.5 * (1 / m[k] + 1 / m[k + 1]);
        s->off1[k] = -1 / m[k + 1];
        s->off2[k] = 0;
    }
    for (int k = 0; k < s->links; k++) {
        if (s->kappa[k] == 1) continue;
        double total = m[k] + m[k + 1], away = 1 - 1 / s->kappa[k];
        s->diag[k] /= s->kappa[k];
        if (k + 1 < s->links) {
            s->diag[k + 1] -= away * m[k] / (2 * m[k + 1] * total);
            s->off1[k] /= s->kappa[k];
        }
        if (k > 0) {
            s->diag[k - 1] -= away * m[k + 1] / (2 * m[k] * total);
            s->off1[k - 1] /= s->kappa[k];
        }
        if (k > 0 && k + 1 < s->links) s->off2[k - 1] = -away / total;
    }
}

static void time_weights(struct chain_system *s)
{
    double largest = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = i + 1; j < s->n; j++) largest = fmax(largest, s->mass[i] * s->mass[j]);
    for (int i = 0; i < s->n; i++) {
        for (int j = i + 1; j < s->n; j++) {
            int small = s->mass[i] * s->mass[j] < SMALL_PRODUCT * largest;
            s->omega[i][j] = small ? SMALL_PRODUCT * SMALL_PRODUCT * largest : 0;
            s->has_omega |= small;
        }
    }
}

void chain_system_make(const struct chain *c, const struct chain_field *field, struct chain_system *s)
{
    s->n = c->n;
    s->links = c->n - 1;
    s->method = c->method;
    s->pn = c->options.pn;
    s->c_light = c->options.c_light;
    s->field = field;
    s->t = c->t;
    s->total = 0;
    s->evaluations = 0;
    s->field_status = 0;
    s->has_omega = 0;
    for (int i = 0; i < s->n; i++) {
        s->member[i] = c->order[i];
        s->mass[i] = c->mass[c->order[i]];
        s->total += s->mass[i];
    }
    for (int k = 0; k < s->links; k++) s->kappa[k] = c->kappa[k];
    for (int i = 0; i < s->n; i++)
        for (int j = i + 1; j < s->n; j++) s->pair[i][j] = s->mass[i] * s->mass[j] / (j == i + 1 ? s->kappa[i] : 1);
    kinetic_coefficients(s);
    if (s->method == CHAIN_METHOD_AR) time_weights(s);
}

void chain_places(const struct chain_system *s, const double link[][3], double place[][3])
{
    double mean[3] = {0};
    for (int c = 0; c < 3; c++) {
        place[0][c] = 0;
        for (int k = 0; k < s->links; k++) {
            place[k + 1][c] = place[k][c] + link[k][c];
            mean[c] += s->mass[k + 1] * place[k + 1][c];
        }
        mean[c] /= s->total;
        for (int i = 0; i < s->n; i++) place[i][c] -= mean[c];
    }
}

void chain_places_exactly(const struct chain_system *s, const double link[][3], double place[][3], double low[][3])
{
    chain_places(s, link, place);
    for (int c = 0; c < 3; c++) {
        low[0][c] = 0; /* a shift of all, which contains their common rounding error */
        for (int k = 0; k < s->links; k++) {
            place[k + 1][c] = place[k][c];
            low[k + 1][c] = low[k][c];
            nbc_add_exactly(&place[k + 1][c], &low[k + 1][c], link[k][c]);
        }
    }
}

int chain_external_field(struct chain_system *s, double t, const double cm[3], const double x[][3], const double v[][3],
                         double acc[][3], double mean[3])
{
    memset(mean, 0, 3 * sizeof *mean);
    memset(acc, 0, (size_t)s->n * sizeof *acc);
    if (!s->field || s->field_status) return 0;
    const int by_velocity = s->field->by_velocity;
    double mass[CHAIN_MAX], at[CHAIN_MAX][3], speed[CHAIN_MAX][3], a[CHAIN_MAX][3];
    for (int i = 0; i < s->n; i++) {
        mass[s->member[i]] = s->mass[i];
        memcpy(at[s->member[i]], x[i], sizeof at[0]);
        if (by_velocity) memcpy(speed[s->member[i]], v[i], sizeof speed[0]);
    }
    memset(a, 0, sizeof a);
    s->field_status = s->field->acceleration(s->field->context, s->t + t, s->n, mass, cm, (const double(*)[3])at,
                                             by_velocity ? (const double(*)[3])speed : NULL, a);
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < 3; c++) mean[c] += s->mass[i] * a[s->member[i]][c] / s->total;
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < 3; c++) acc[i][c] = a[s->member[i]][c] - mean[c];
    return 1;
}

int chain_external(struct chain_system *s, double t, const double cm[3], const double x[][3], const double v[][3],
                   double acc[][3], double mean[3])
{
    int any = chain_external_field(s, t, cm, x, v, acc, mean);
    if (s->pn) chain_pn_add(s, x, v, acc);
    return any || s->pn;
}

void chain_groups_make(const struct chain_system *s, int length, struct chain_groups *g)
{
    static const int LENGTH[4] = {1, 1, 3, 3}, TESTED[4] = {1, 0, 1, 1};
    const double least[4] = {0, 0, s->size, s->speed};
    const int links = 2 * s->links;
    g->n = links + 4;
    for (int k = 0; k < links; k++) {
        g->length[k] = length;
        g->tested[k] = 1;
        g->least[k] = 0;
    }
    for (int k = 0; k < 4; k++) {
        g->length[links + k] = LENGTH[k];
        g->tested[links + k] = TESTED[k];
        g->least[links + k] = least[k];
    }
}
