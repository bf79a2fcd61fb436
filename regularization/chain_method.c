/* Methods by number and by name. */
#include "regularization/chain_impl.h"

#include <string.h>

static const struct chain_formulation *const FORMULATIONS[] = {&chain_ks_formulation, &chain_ar_formulation};

const struct chain_formulation *chain_formulation(int method)
{
    return method == CHAIN_METHOD_KS || method == CHAIN_METHOD_AR ? FORMULATIONS[method] : NULL;
}

const char *chain_method_name(int32_t method)
{
    static const char *const NAMES[CHAIN_METHODS] = {"chain", "ar", "auto"};
    return method >= 0 && method < CHAIN_METHODS ? NAMES[method] : NULL;
}

int chain_method_find(const char *name, int32_t *method, struct nbc_error *err)
{
    for (int32_t k = 0; k < CHAIN_METHODS; k++) {
        if (strcmp(name, chain_method_name(k)) == 0) {
            *method = k;
            return NBC_OK;
        }
    }
    return nbc_fail(err, NBC_BAD_ARGUMENT, "'%.40s' is no method of regularization; there are %s, %s and %s", name,
                    chain_method_name(CHAIN_METHOD_AUTO), chain_method_name(CHAIN_METHOD_KS),
                    chain_method_name(CHAIN_METHOD_AR));
}
