/** A chain of three and more stars as a kind of few-body system. */
#ifndef NB6_CHAIN_KIND_H
#define NB6_CHAIN_KIND_H

#include "nbody6/fewbody/kind.h"

extern const struct nb6_kind nb6_chain_kind;

#endif
