/** Truncated Taylor series in one parameter, of order up to 3: f = c[0] + c[1] s + c[2] s^2 + c[3] s^3. A function
 * evaluated with them for a position along a path yields the derivatives along that path, exactly: a force as a series
 * in time has its jerk in c[1], as a series along a direction its gradient. Private to nbody6/galaxy. */
#ifndef NB6_JET_H
#define NB6_JET_H

#include "common/hd.h"

#ifdef __CUDACC__
#define NB6_STRAIGHT static __host__ __device__ __forceinline__ /**< straight code where it is used */
#define NB6_CALLED static __host__ __device__ __noinline__      /**< on a device there is one copy of the code */
#else
#define NB6_STRAIGHT static inline __attribute__((always_inline))
#define NB6_CALLED static inline
#endif

enum { NB6_JET_TERMS = 4 };

struct nb6_jet {
    double c[NB6_JET_TERMS];
};

/** x + v s */
NBC_HD struct nb6_jet nb6_jet_line(double x, double v)
{
    struct nb6_jet line = {{x, v}};
    return line;
}

NBC_HD struct nb6_jet nb6_jet_of(double c0, double c1, double c2, double c3)
{
    struct nb6_jet jet = {{c0, c1, c2, c3}};
    return jet;
}

/** a + b, of a constant. */
NBC_HD struct nb6_jet nb6_jet_shift(struct nb6_jet a, double b)
{
    a.c[0] += b;
    return a;
}

NBC_HD struct nb6_jet nb6_jet_add(const struct nb6_jet *a, const struct nb6_jet *b, int order)
{
    struct nb6_jet sum = {{0}};
    for (int k = 0; k <= order; k++) sum.c[k] = a->c[k] + b->c[k];
    return sum;
}

NBC_HD struct nb6_jet nb6_jet_scale(double b, const struct nb6_jet *a, int order)
{
    struct nb6_jet product = {{0}};
    for (int k = 0; k <= order; k++) product.c[k] = b * a->c[k];
    return product;
}

NBC_HD struct nb6_jet nb6_jet_multiply(const struct nb6_jet *a, const struct nb6_jet *b, int order)
{
    struct nb6_jet product = {{0}};
    for (int k = 0; k <= order; k++)
        for (int i = 0; i <= k; i++) product.c[k] += a->c[i] * b->c[k - i];
    return product;
}

/* 1/k: a division takes a device longer than all else of a term. */
NBC_HD double nb6_jet_share(int k)
{
    return k == 1 ? 1 : k == 2 ? 0.5 : 1.0 / 3;
}

/** u^power for u > 0, whose value at s = 0 the caller has: u p' = power u' p, term by term.
 *  @param[in] inverse  1/u at s = 0 */
NBC_HD struct nb6_jet nb6_jet_power(const struct nb6_jet *u, double inverse, double power, double value, int order)
{
    struct nb6_jet p = {{value}};
    for (int k = 1; k <= order; k++) {
        double sum = 0;
        for (int j = 1; j <= k; j++) sum += (power * j - (k - j)) * u->c[j] * p.c[k - j];
        p.c[k] = sum * (nb6_jet_share(k) * inverse);
    }
    return p;
}

/** e^u, whose value at s = 0 the caller has. */
NBC_HD struct nb6_jet nb6_jet_exp(const struct nb6_jet *u, double value, int order)
{
    struct nb6_jet e = {{value}};
    for (int k = 1; k <= order; k++) {
        double sum = 0;
        for (int j = 1; j <= k; j++) sum += j * u->c[j] * e.c[k - j];
        e.c[k] = sum * nb6_jet_share(k);
    }
    return e;
}

/** M(r) along the path, whose value at s = 0 the caller has.   @param[in] rate  dM/dr along it */
NBC_HD struct nb6_jet nb6_jet_integral(const struct nb6_jet *rate, const struct nb6_jet *r, double value, int order)
{
    struct nb6_jet m = {{value}};
    for (int k = 1; k <= order; k++) {
        double sum = 0;
        for (int j = 1; j <= k; j++) sum += j * r->c[j] * rate->c[k - j];
        m.c[k] = sum * nb6_jet_share(k);
    }
    return m;
}

#endif
