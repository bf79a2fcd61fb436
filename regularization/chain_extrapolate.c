/* Bulirsch-Stoer extrapolation with control of order and step (Bulirsch & Stoer 1966; Deuflhard 1983). Each march of a
 * step makes a new diagonal element of the Aitken-Neville table.
 *
 * The numbers of parts grow almost geometrically. With 2, 4, 6, 8, 10, ... the table would multiply what rounding takes
 * from the marches by 10 to 50, with these by less than 2: in the Pythagorean problem the error at t = 60 is 4 times
 * smaller in the KS chain and 10 times in the leapfrog, for a quarter more work. */
#include "chain_impl.h"

#include <float.h>
#include <string.h>

enum { COLUMNS = 10, LEAST_TARGET = 3 };

static const int PARTS[COLUMNS] = {2, 4, 6, 8, 12, 16, 24, 32, 48, 64};

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

/* Largest error of a group over its scale: the size of the group at either end of the step, or of its change, or the
 * least that counts. */
static double error_of(const struct table *table, const struct chain_groups *groups, const double *y, int column)
{
    double worst = 0;
    int at = 0;
    for (int g = 0; g < groups->n; at += groups->length[g++]) {
        double error = 0, before = 0, after = 0, change = 0;
        for (int i = at; i < at + groups->length[g]; i++) {
            double d = table->row[column][i], e = d - table->row[column - 1][i];
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

/* The order and step that promise least work for their length, after a step of h that converged in `column`; after a
 * rejection neither may grow, or the same would happen again at each step. */
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

/* One attempt.   @return column in which it converged, 0 if it did not; *shorter: factor for the next attempt */
static int attempt(struct chain_system *s, double tolerance, const double *y, const double *f, double h, int again,
                   struct chain_step *step, struct table *table, const struct chain_groups *groups, double *shorter)
{
    const struct chain_formulation *method = chain_formulation(s->method);
    double d[CHAIN_VARS], factor[COLUMNS] = {0};
    int target = step->column < LEAST_TARGET ? LEAST_TARGET : step->column > COLUMNS - 2 ? COLUMNS - 2 : step->column;
    for (int column = 0; column <= target + 1; column++) {
        method->march(s, y, f, h, PARTS[column], d);
        if (s->field_status) return 0;
        extend(table, column, d);
        if (column == 0) continue;
        double error = error_of(table, groups, y, column) / tolerance;
        factor[column] = growth(error, column);
        *shorter = factor[column];
        if (error <= 1 && column >= target - 1) {
            plan(step, factor, fabs(h), target - 1, column, again);
            return column;
        }
        double gain = 1; /* by which the error can still shrink up to the last column allowed */
        for (int j = column + 1; j <= target + 1; j++) gain *= (double)PARTS[j] / PARTS[0];
        if (column >= target && error > gain * gain) break;
    }
    *shorter = fmin(fmax(*shorter, MOST_SHRINK), LEAST_SHRINK);
    return 0;
}

int chain_extrapolate(struct chain_system *s, double tolerance, double *y, double *y_low, struct chain_step *step)
{
    const struct chain_formulation *method = chain_formulation(s->method);
    struct table table = {.variables = method->variables(s->n)};
    struct chain_groups groups;
    double f[CHAIN_VARS], h = step->step, first = fabs(h), shorter = 1;
    method->groups(s, &groups);
    method->begin(s, y, f);
    for (int again = 0;; again = 1) {
        if (s->field_status) return s->field_status;
        int column = attempt(s, tolerance, y, f, h, again, step, &table, &groups, &shorter);
        if (s->field_status) return s->field_status;
        if (column) {
            accept(&table, column, y, y_low);
            step->done = h;
            return NBC_OK;
        }
        step->rejected++;
        h *= shorter;
        if (!(fabs(h) > SHORTEST * first)) return isfinite(table.row[0][0]) ? CHAIN_NO_STEP : CHAIN_INFINITE;
    }
}
