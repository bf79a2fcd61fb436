/** The first member of a struct from elsewhere that does not fit. */
#ifndef NBC_MISFIT_H
#define NBC_MISFIT_H

/** The first member that does not fit the others. */
struct nbc_misfit {
    const char *member;  /**< as in C: "now.r"; NULL: all fit */
    double value;        /**< that it has */
    const char *must_be; /**< what it must be, to stand after these words */
};

/** Note a member that does not fit, unless an earlier one did not. */
static inline void nbc_unless(int holds, struct nbc_misfit *misfit, const char *member, double value,
                              const char *must_be)
{
    if (!holds && !misfit->member) *misfit = (struct nbc_misfit){member, value, must_be};
}

#endif
