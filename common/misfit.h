/** The first inconsistent member of a struct that was read from a file. */
#ifndef NBC_MISFIT_H
#define NBC_MISFIT_H

/** The first member that is inconsistent with the others. */
struct nbc_misfit {
    const char *member;  /**< name as in C: "now.r"; NULL: all are consistent */
    double value;        /**< its value */
    const char *must_be; /**< the required value, in words */
};

/** Record an inconsistent member, unless an earlier one is recorded. */
static inline void nbc_unless(int holds, struct nbc_misfit *misfit, const char *member, double value,
                              const char *must_be)
{
    if (!holds && !misfit->member) *misfit = (struct nbc_misfit){member, value, must_be};
}

#endif
