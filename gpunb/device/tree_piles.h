/** Sums over piles of terms and of bodies, which all targets of a team meet. */
#ifndef GPUNB_DEVICE_TREE_PILES_H
#define GPUNB_DEVICE_TREE_PILES_H

#include "gpunb/device/tree_group.h"

/* After TREE_FN */
#include "gpunb/device/float_term.h"

/* Coefficients of a term that are loaded four at a time, into registers: those up to a low order. */
enum { TREE_LOW_ORDER = 4, TREE_IN_REGISTERS = 44 };

/** The target of each own lane, from the centre of the group. */
struct tree_targets {
    float x[TREE_OWN][3];
};

struct tree_four {
    NBC_ALIGNED(16) float of[4];
};

/** Targets at places [first, first + w->n), at most DEVICE_TREE_MOST_TARGETS: lanes share the list of each. */
TREE_FN void tree_place_targets(struct tree_group_walk *w, int32_t first, struct tree_targets *t)
{
    const struct device_tree_walk *job = w->job;
    w->bits = 0;
    while (1 << w->bits < w->n) w->bits++;
    w->row = 1 << w->bits;
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int lane = TREE_LANE_OF(l), i = lane & (w->row - 1);
        const int32_t target = tree_target_at(job, first + (i < w->n ? i : w->n - 1));
        struct tree_four low;
        for (int k = 0; k < 3; k++) {
            const double d = tree_target_x(job, target, k) - w->centre[k];
            t->x[l][k] = nbc_rounded(d);
            low.of[k] = nbc_rounded(d - (double)t->x[l][k]);
        }
        const int32_t self = tree_leaves_out(job) ? job->self[target] : -1;
        low.of[3] = nbc_float_of_bits(self >= 0 ? (uint32_t)job->tree.place[self] : ~0u);
        *(struct tree_four *)w->memory->target_low[lane] = low;
        for (int q = 0; q < TREE_WALK_SUMS; q++) w->memory->sum[lane][q] = 0;
    }
}

/* Whether this share of the list meets the next pile. */
TREE_FN int tree_meets(struct tree_group_walk *w)
{
    return w->job->shares == 1 || w->piles++ % w->job->shares == w->share;
}

/* The sums of a pile onto those in double. */
TREE_FN void tree_keep(const struct tree_group_walk *w, int l, const float sum[TREE_WALK_SUMS], const int want_pot)
{
    double *to = w->memory->sum[TREE_LANE_OF(l)];
    TREE_UNROLL
    for (int q = 0; q < (want_pot ? 4 : 3); q++) to[q] += (double)sum[q];
}

/* ---- bodies */

/* One body on one target at d from it. */
TREE_FN void tree_add_pair(const float d[3], float mass, float softening2, int is_own, const int want_pot,
                           float sum[TREE_WALK_SUMS])
{
    const float r2 = TERM_FMA(d[2], d[2], TERM_FMA(d[1], d[1], TERM_FMA(d[0], d[0], softening2)));
    const float y = nbc_inverse_root(r2), my = mass * y, w = my * (y * y);
    if (want_pot) sum[3] += is_own ? 0 : my;
    sum[0] = TERM_FMA(w, d[0], sum[0]);
    sum[1] = TERM_FMA(w, d[1], sum[1]);
    sum[2] = TERM_FMA(w, d[2], sum[2]);
}

/* Bodies without mass up to a multiple of the lanes of a target: then no body is asked whether it is there.
 * @return the turns that all of them take */
TREE_FN int tree_fill_pile(float (*pile)[4], float (*low)[4], int n, int step)
{
    const int turns = (n + step - 1) / step, full = turns * step;
    struct tree_four nothing;
    for (int k = 0; k < 4; k++) nothing.of[k] = 0;
    TREE_EACH_ROLLED(q, full - n)
    {
        *(struct tree_four *)pile[n + q] = nothing;
        if (low) *(struct tree_four *)low[n + q] = nothing;
    }
    tree_sync();
    return turns;
}

TREE_FN void tree_sum_far(struct tree_group_walk *w, const struct tree_targets *t, const int want_pot)
{
    const struct tree_walk_memory *m = w->memory;
    const int step = TREE_TEAM >> w->bits, turns = tree_fill_pile(w->memory->far, 0, w->n_far, step);
    float sum[TREE_OWN][TREE_WALK_SUMS] = {{0}};
    w->n_far = 0;
    if (tree_meets(w)) {
        TREE_UNROLL_BY(8)
        for (int turn = 0; turn < turns; turn++) {
            TREE_UNROLL
            for (int l = 0; l < TREE_OWN; l++) {
                const struct tree_four b =
                    *(const struct tree_four *)m->far[turn * step + (TREE_LANE_OF(l) >> w->bits)];
                const float d[3] = {b.of[0] - t->x[l][0], b.of[1] - t->x[l][1], b.of[2] - t->x[l][2]};
                tree_add_pair(d, b.of[3], w->softening2, 0, want_pot, sum[l]);
            }
        }
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) tree_keep(w, l, sum[l], want_pot);
    }
    tree_sync();
}

TREE_FN void tree_sum_near(struct tree_group_walk *w, const struct tree_targets *t, const int want_pot)
{
    const struct tree_walk_memory *m = w->memory;
    const int step = TREE_TEAM >> w->bits, turns = tree_fill_pile(w->memory->near, w->memory->low, w->n_near, step);
    w->n_near = 0;
    const int meets = tree_meets(w);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN && meets; l++) {
        const struct tree_four own = *(const struct tree_four *)m->target_low[TREE_LANE_OF(l)];
        float sum[TREE_WALK_SUMS] = {0};
        TREE_UNROLL_BY(4)
        for (int turn = 0; turn < turns; turn++) {
            const int j = turn * step + (TREE_LANE_OF(l) >> w->bits);
            const struct tree_four b = *(const struct tree_four *)m->near[j],
                                   low = *(const struct tree_four *)m->low[j];
            float d[3];
            for (int k = 0; k < 3; k++) d[k] = (b.of[k] - t->x[l][k]) + (low.of[k] - own.of[k]);
            const int is_own = want_pot && nbc_bits_of_float(low.of[3]) == nbc_bits_of_float(own.of[3]);
            tree_add_pair(d, b.of[3], w->softening2, is_own, want_pot, sum);
        }
        tree_keep(w, l, sum, want_pot);
    }
    tree_sync();
}

TREE_FN void tree_load_body(const struct tree_group_walk *w, int32_t place, int at, const int is_near)
{
    struct tree_walk_memory *m = w->memory;
    const struct tree_view *view = &w->job->tree.view;
    struct tree_four high, low;
    for (int k = 0; k < 3; k++) {
        const double d = view->x[place][k] - w->centre[k];
        high.of[k] = nbc_rounded(d);
        low.of[k] = is_near ? nbc_rounded(d - (double)high.of[k]) : 0;
    }
    high.of[3] = (float)view->mass[place];
    low.of[3] = nbc_float_of_bits((uint32_t)place);
    *(struct tree_four *)(is_near ? m->near[at] : m->far[at]) = high;
    if (is_near) *(struct tree_four *)m->low[at] = low;
}

/* The lane of whose bodies the one with this number is. */
TREE_FN int tree_lane_with(const int32_t before[TREE_TEAM], int32_t number)
{
    int lane = 0;
    TREE_UNROLL
    for (int half = TREE_TEAM / 2; half > 0; half /= 2)
        if (before[lane + half] <= number) lane += half;
    return lane;
}

/* The bodies of the cells of one kind; at the end those that are left. */
TREE_FN void tree_pile_bodies(struct tree_group_walk *w, const struct tree_targets *t,
                              const struct tree_slot slot[TREE_OWN], const struct tree_found *found, int is_end,
                              const int is_near, const int want_pot)
{
    struct tree_walk_memory *m = w->memory;
    int *piled = is_near ? &w->n_near : &w->n_far;
    const int most = is_near ? TREE_NEAR_PILE : TREE_PILE;
    const int32_t all = is_near ? found->all_near : found->all_far;
    int32_t done = 0;
    if (all == 0 && !is_end) return;
    w->listed_bodies += (unsigned)all;
    if (w->job->sample) return;
    tree_sync();
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        m->before[TREE_LANE_OF(l)] = is_near ? found->near[l] : found->far[l];
        m->first[TREE_LANE_OF(l)] = slot[l].first;
    }
    tree_sync();
    do {
        const int32_t room = most - *piled, take = all - done < room ? all - done : room;
        TREE_EACH_ROLLED(q, take)
        {
            const int from = tree_lane_with(m->before, done + q);
            tree_load_body(w, m->first[from] + done + q - m->before[from], *piled + q, is_near);
        }
        *piled += take;
        done += take;
        if (*piled < most && !is_end) continue;
        tree_sync();
        if (is_near)
            tree_sum_near(w, t, want_pot);
        else
            tree_sum_far(w, t, want_pot);
    } while (done < all);
}

/* ---- terms */

/* Cells whose terms are summed together: as many as there is memory for their coefficients. */
NBC_HD int tree_terms_at_a_time(int stride)
{
    const int most = stride > 0 ? TREE_TERM_FLOATS / stride : TREE_TERM_PILE;
    return most < TREE_TERM_PILE ? most : TREE_TERM_PILE;
}

/* The last n cells that wait, with their coefficients, in memory of all lanes. */
TREE_FN void tree_stage_terms(const struct tree_group_walk *w, int n, const int stride)
{
    struct tree_walk_memory *m = w->memory;
    const struct tree_view *view = &w->job->tree.view;
    const int32_t *cell = m->term + w->n_terms - n;
    const float all = (float)view->cell[0].mass;
    const int quads = stride / 4;
    tree_sync();
    TREE_EACH_ROLLED(i, n)
    {
        const struct tree_node *node = &view->node[cell[i]];
        for (int k = 0; k < 3; k++) m->head[i][k] = (float)(node->centre[k] - w->centre[k]);
        m->head[i][3] = node->mass * all;
        m->radius[i] = node->radius;
    }
    if (quads > 0) TREE_EACH_ROLLED(q, n * quads)
        {
            const int i = q / quads, part = q % quads * 4;
            *(struct tree_four *)&m->coefficient[i * stride + part] =
                *(const struct tree_four *)((const float *)view->coefficient + (size_t)cell[i] * (size_t)stride + part);
        }
    tree_sync();
}

/* A term as all targets meet it: coefficients of low orders in registers, others where they are. */
struct tree_term {
    struct tree_four head, in_registers[TREE_IN_REGISTERS / 4];
    const float *coefficient;
    float radius;
};

/* The i-th of n; past the end one without mass. */
TREE_FN void tree_load_term(const struct tree_walk_memory *m, int number, int n, const int stride,
                            struct tree_term *term)
{
    const int i = number < n ? number : n - 1;
    term->head = *(const struct tree_four *)m->head[i];
    if (number >= n) term->head.of[3] = 0;
    term->radius = m->radius[i];
    term->coefficient = m->coefficient + i * stride;
    TREE_UNROLL
    for (int q = 0; q < stride / 4 && stride <= TREE_IN_REGISTERS; q++)
        term->in_registers[q] = *(const struct tree_four *)(term->coefficient + 4 * q);
}

/* A term on a target at `at`. */
TREE_FN void tree_add_term(const struct tree_term *term, const float at[3], float softening2, const int order,
                           const int stride, const int want_pot, float sum[TREE_WALK_SUMS])
{
    float x[3], u[3], g[3], radial, psi;
    for (int k = 0; k < 3; k++) x[k] = at[k] - term->head.of[k];
    const float r2 = TERM_FMA(x[2], x[2], TERM_FMA(x[1], x[1], TERM_FMA(x[0], x[0], softening2)));
    const float inverse = nbc_inverse_root(r2), mr = term->head.of[3] * inverse, mr2 = mr * inverse;
    for (int k = 0; k < 3; k++) u[k] = x[k] * inverse;
    term_sums(stride <= TREE_IN_REGISTERS ? term->in_registers[0].of : term->coefficient, u, term->radius * inverse,
              order, want_pot, g, &radial, &psi);
    for (int k = 0; k < 3; k++) sum[k] = TERM_FMA(mr2, TERM_FMA(-radial, u[k], g[k]), sum[k]);
    if (want_pot) sum[3] = TERM_FMA(mr, psi, sum[3]);
}

/* The terms from the first on, of which each lane has one. */
TREE_FN void tree_add_terms(const struct tree_group_walk *w, const struct tree_targets *t, int first, int n,
                            const int order, const int stride, const int want_pot, float sum[TREE_OWN][TREE_WALK_SUMS])
{
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        struct tree_term term;
        tree_load_term(w->memory, first + (TREE_LANE_OF(l) >> w->bits), n, stride, &term);
        tree_add_term(&term, t->x[l], w->softening2, order, stride, want_pot, sum[l]);
    }
}

TREE_FN void tree_sum_terms(struct tree_group_walk *w, const struct tree_targets *t, int n, const int order,
                            const int stride, const int want_pot)
{
    if (tree_meets(w)) {
        const int step = TREE_TEAM >> w->bits, turns = (n + step - 1) / step;
        float sum[TREE_OWN][TREE_WALK_SUMS] = {{0}};
        tree_stage_terms(w, n, stride);
        if (order <= TREE_LOW_ORDER) { /* two terms do not wait for each other */
            TREE_UNROLL_BY(2)
            for (int turn = 0; turn < turns; turn++) tree_add_terms(w, t, turn * step, n, order, stride, want_pot, sum);
        } else {
            TREE_UNROLL_BY(1)
            for (int turn = 0; turn < turns; turn++) tree_add_terms(w, t, turn * step, n, order, stride, want_pot, sum);
        }
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) tree_keep(w, l, sum[l], want_pot);
        tree_sync();
    }
    w->n_terms -= n;
}

/* The cells that act as a whole wait for their terms; at the end none waits any longer. */
TREE_FN void tree_pile_terms(struct tree_group_walk *w, const struct tree_targets *t,
                             const struct tree_slot slot[TREE_OWN], const struct tree_found *found, int is_end,
                             const int order, const int stride, const int want_pot)
{
    const int most = tree_terms_at_a_time(stride);
    w->listed_cells += (unsigned)found->all_terms;
    if (w->job->sample) return;
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++)
        if (slot[l].kind == TREE_TERM) w->memory->term[w->n_terms + found->terms[l]] = slot[l].cell;
    w->n_terms += found->all_terms;
    while (w->n_terms >= most || (is_end && w->n_terms > 0))
        tree_sum_terms(w, t, w->n_terms < most ? w->n_terms : most, order, stride, want_pot);
}

#endif
