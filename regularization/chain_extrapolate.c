/* Bulirsch-Stoer extrapolation with control of order and step (Bulirsch & Stoer 1966; Deuflhard 1983). Each march of
 * a step makes a new diagonal element of the Aitken-Neville table.
 *
 * The numbers of parts grow almost geometrically. With 2, 4, 6, 8, 10, ... the table would multiply rounding errors
 * of the marches by 10 to 50, with these by less than 2: in the Pythagorean problem the error at t = 60 is 4 times
 * smaller in the KS chain and 10 times in the leapfrog, for a quarter more work.
 *
 * No step can reach an error below the rounding errors of its variables. Where velocities of light bodies are
 * differences of momenta of heavy ones, these are many times the last bit. The truncation error falls ever faster
 * from column to column. An error that does not fall is compared with the effect of a last bit on the same march; if
 * it is no larger, the step is accepted as it is. */
#include "regularization/chain_impl.h"

#include <float.h>
#include <string.h>

enum { COLUMNS = 10, LEAST_TARGET = 3 };

static const int PARTS[COLUMNS] = {2, 4, 6, 8, 12, 16, 24, 32, 48, 64};

/* An error is suspected of being one of rounding if a column leaves this part of the one before. */
static const double STALLED = 0.1;
/* No step with a larger error is accepted, unless the tolerance is larger; and no larger one is suspected. */
static const double LARGEST_ERROR = 1e-9, LARGEST_SUSPECT = 1e-5;
/* An attempt that is shorter by LEAST_SHRINK at least, and yet has this part of the error, shows rounding too:
 * truncation would leave LEAST_SHRINK^7 = 0.08. */
static const double NO_BETTER = 0.5;
/* Directions of last bits that are tried before an error is taken for one of truncation. */
enum { PATTERNS = 3 };
/* Part of an error that remains in a column where even the first one shows nothing but rounding. */
static const double LEAST_PART = 0.01;
/* A step that must become shorter than this fraction of the one that was tried first will not succeed. */
static const double SHORTEST = 1e-10;
static const double SAFETY = 0.94, SAFETY_ERROR = 0.65;
/* A step grows at most by the first factor, and shrinks by a factor between the others. */
static const double MOST_GROWTH = 10, LEAST_SHRINK = 0.7, MOST_SHRINK = 0.1;

struct table {
    int variables;
    double row[COLUMNS][CHAIN_VARS]; /* row[i]: element of column i of the present diagonal */
};

/* Evaluations up to and including a column; the first of each march is shared. */
static double work(int column)
{
    double sum = 1;
    for (int j = 0; j <= column; j++) sum += PARTS[j] - 1;
    return sum;
}

/* Take the march of PARTS[column] into the table: row[column] becomes the best value. */
static void extend(struct table *table, int column, double *d)
{
    for (int i = 0; i < table->variables; i++) {
        double lower = table->row[0][i], value = d[i];
        table->row[0][i] = value;
        for (int j = 1; j <= column; j++) {
            double ratio = (double)PARTS[column] / PARTS[column - j];
            double next = value + (value - lower) / (ratio * ratio - 1);
            lower = table->row[j][i];
            table->row[j][i] = value = next;
        }
    }
}

/* Largest distance of two results of a step in a group over its scale: the size of the group at either end of the step,
 * or of its change, or the least that counts. */
static double distance(const struct chain_groups *groups, const double *y, const double *result, const double *other)
{
    double worst = 0;
    int at = 0;
    for (int g = 0; g < groups->n; at += groups->length[g++]) {
        double error = 0, before = 0, after = 0, change = 0;
        for (int i = at; i < at + groups->length[g]; i++) {
            double d = result[i], e = d - other[i];
            error += e * e;
            before += y[i] * y[i];
            after += (y[i] + d) * (y[i] + d);
            change += d * d;
        }
        if (!isfinite(error) || !isfinite(after)) return HUGE_VAL;
        double scale = fmax(fmax(fmax(before, after), change), groups->least[g] * groups->least[g]);
        if (groups->tested[g] && error > 0) worst = fmax(worst, error / fmax(scale, DBL_MIN));
    }
    return sqrt(worst);
}

/* Effect of a last bit of each variable, in some direction, on the result of the last march. */
static double last_bits(struct chain_system *s, const struct table *table, const struct chain_groups *groups,
                        const double *y, double h, int column, int pattern)
{
    const struct chain_formulation *method = chain_formulation(s->method);
    double moved[CHAIN_VARS], f[CHAIN_VARS], d[CHAIN_VARS];
    for (int i = 0; i < table->variables; i++) {
        uint32_t mixed = (uint32_t)(CHAIN_VARS * pattern + i) * 2654435761u >> 16; /* Knuth's multiplicative hash */
        moved[i] = y[i] == 0 ? 0 : nextafter(y[i], mixed & 1 ? HUGE_VAL : -HUGE_VAL);
    }
    method->begin(s, moved, f);
    method->march(s, moved, f, h, PARTS[column], d);
    return distance(groups, y, d, table->row[0]);
}

/* Smallest significant error, or less if `error` is below that already. */
static double rounding(struct chain_system *s, const struct table *table, const struct chain_groups *groups,
                       const double *y, double h, int column, double error)
{
    double most = 0;
    for (int pattern = 0; pattern < PATTERNS && most < error && !s->field_status; pattern++)
        most = fmax(most, last_bits(s, table, groups, y, h, column, pattern));
    return most;
}

/* Factor by which a step may grow so that its error in this column is the tolerance. */
static double growth(double error, int column)
{
    return SAFETY * pow(SAFETY_ERROR / fmax(error, 1e-30), 1.0 / (2 * column + 1));
}

static void accept(const struct table *table, int column, double *y, double *y_low)
{
    for (int i = 0; i < table->variables; i++) {
        double d = table->row[column][i] + y_low[i], sum = y[i] + d;
        /* Exact remainder whichever of the two is larger (Knuth). */
        double part = sum - y[i];
        y_low[i] = (y[i] - (sum - part)) + (d - part);
        y[i] = sum;
    }
}

/* The order and step with the least work per length, after a step of h that converged in `column`; after a rejection
 * neither may grow, or the next step would be rejected again. */
static void plan(struct chain_step *step, const double *factor, double h, int first, int column, int was_rejected)
{
    const double most = was_rejected ? 1 : step->longest / h;
    int best = column;
    double least = HUGE_VAL;
    for (int j = first; j <= column; j++) {
        double cost = work(j) / fmin(factor[j], most);
        if (cost < 0.95 * least) {
            least = cost;
            best = j;
        }
    }
    step->step = h * fmin(fmin(factor[best], most), MOST_GROWTH);
    step->column = best;
    /* Perhaps one column more pays: it does if the last one brought more than its work. */
    if (!was_rejected && best == column && best > first && best + 1 < COLUMNS - 1 && step->step < step->longest &&
        work(best) / factor[best] < 0.9 * work(best - 1) / factor[best - 1]) {
        step->column = best + 1;
        step->step *= work(best + 1) / work(best);
    }
}

/* An attempt of a step, and its result. */
struct attempt {
    double h, tolerance;
    int target;             /* the column in which it should converge; one more is allowed */
    int column;             /* the last one made */
    double error[COLUMNS];  /* of each column from 1 on */
    double allowed;         /* the tolerance, or what rounding leaves */
    double stalled;         /* error, if it is suspected to be one of rounding; else 0 */
    int lost;               /* it is due to rounding, and too large */
    double factor[COLUMNS]; /* by which the step may grow in each column */
};

/* March and extrapolate until the tolerance is reached, or cannot be in the columns allowed. */
static void make_columns(struct chain_system *s, const double *y, const double *f, struct table *table,
                         const struct chain_groups *groups, struct attempt *a)
{
    double d[CHAIN_VARS];
    for (int column = 0; column <= a->target + 1; column++) {
        chain_formulation(s->method)->march(s, y, f, a->h, PARTS[column], d);
        if (s->field_status) return;
        extend(table, column, d);
        a->column = column;
        if (column == 0) continue;
        a->error[column] = distance(groups, y, table->row[column], table->row[column - 1]);
        const double error = a->error[column] / a->tolerance;
        if (error <= 1 && column >= a->target - 1) return;
        double gain = 1; /* by which the error can still shrink up to the last column allowed */
        for (int j = column + 1; j <= a->target + 1; j++) gain *= (double)PARTS[j] / PARTS[0];
        if (column >= a->target && error > gain * gain) return;
    }
}

/* Growth of the step in each column. In columns spoilt by rounding, the truncation error is taken as at most the
 * part of the error of the column before that remained in the last one that shows it. */
static void find_factors(struct attempt *a)
{
    double error = HUGE_VAL, part = LEAST_PART;
    for (int j = 1; j <= a->column; j++) {
        if (a->stalled > 0 && error <= a->allowed) {
            error *= part;
        } else {
            if (j > 1) part = fmin(a->error[j] / error, STALLED);
            error = a->error[j];
        }
        a->factor[j] = growth(error / a->allowed, j);
    }
}

/* `before`: the attempt that was rejected, NULL if this is the first one.   @return 1 if the step is accepted */
static int try_step(struct chain_system *s, const double *y, const double *f, struct table *table,
                    const struct chain_groups *groups, const struct attempt *before, struct attempt *a)
{
    make_columns(s, y, f, table, groups, a);
    if (s->field_status) return 0;
    const double error = a->error[a->column];
    a->allowed = a->tolerance;
    const int falls = error <= STALLED * fmax(a->error[a->column - 1], a->tolerance);
    a->stalled = error <= LARGEST_SUSPECT && !falls ? error : 0;
    if (a->stalled > 0) {
        a->allowed = fmax(a->tolerance, rounding(s, table, groups, y, a->h, a->column, error));
        if (before && before->stalled > 0 && error > NO_BETTER * before->stalled) a->allowed = fmax(a->allowed, error);
    }
    find_factors(a);
    a->lost = error <= a->allowed && error > fmax(LARGEST_ERROR, a->tolerance);
    return error <= a->allowed && !a->lost;
}

int chain_extrapolate(struct chain_system *s, double tolerance, double *y, double *y_low, struct chain_step *step)
{
    const struct chain_formulation *method = chain_formulation(s->method);
    const int target = step->column < LEAST_TARGET  ? LEAST_TARGET
                       : step->column > COLUMNS - 2 ? COLUMNS - 2
                                                    : step->column;
    struct table table = {.variables = method->variables(s->n)};
    struct chain_groups groups;
    struct attempt a, before;
    double f[CHAIN_VARS], h = step->step;
    int again = 0, too_long = 0;
    method->groups(s, &groups);
    method->begin(s, y, f);
    while (!s->field_status) {
        a = (struct attempt){.h = h, .tolerance = tolerance, .target = target};
        if (try_step(s, y, f, &table, &groups, again ? &before : NULL, &a)) {
            plan(step, a.factor, fabs(h), target - 1, a.column, too_long);
            accept(&table, a.column, y, y_low);
            step->error = a.error[a.column];
            step->done = h;
            return NBC_OK;
        }
        step->rejected++;
        if (again && a.lost && before.lost) return CHAIN_NO_STEP;
        too_long |= !(a.stalled > 0);
        again = 1;
        before = a;
        h *= fmin(fmax(growth(a.error[a.column] / tolerance, a.column), MOST_SHRINK), LEAST_SHRINK);
        if (!(fabs(h) > SHORTEST * fabs(step->step))) return isfinite(table.row[0][0]) ? CHAIN_NO_STEP : CHAIN_INFINITE;
    }
    return s->field_status;
}
