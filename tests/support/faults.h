/** Calls of the libraries and of the regularization, and allocations, that fail on demand. The linker puts the
 * functions of faults.c between the driver and those: the Makefile names the programs that use them. */
#ifndef NB6_TEST_FAULTS_H
#define NB6_TEST_FAULTS_H

enum fault {
    NO_FAULT,
    REFUSED,           /**< a call fails and does nothing */
    FAILED_AFTERWARDS, /**< a call does all, and fails */
    NOT_A_NUMBER,      /**< a force has a NaN */
    NO_ALLOCATION,     /**< an allocation fails */
    NOT_SENT,          /**< GPUIRR takes no predictor: in a block those are checked before */
    FAULT_KINDS
};

/** Whether this program can make such a fault; says so if not. */
int fault_can_happen(enum fault kind);
/** The k-th call of this kind from now on fails, 0: the next one; once. */
void fault_set(enum fault kind, long k);
/** No call fails from now on.   @return 1 if one has failed */
int fault_clear(void);

#endif
