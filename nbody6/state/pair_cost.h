/** Cost of an interaction. */
#ifndef NB6_PAIR_COST_H
#define NB6_PAIR_COST_H

/** Nominal nanoseconds of an interaction: never measured at run time, so that the same input gives the same bits. */
struct nb6_pair_cost {
    double irr, reg;
};

#endif
