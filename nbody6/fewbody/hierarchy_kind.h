/** A pair of which a member is a frozen pair as a kind of few-body system. */
#ifndef NB6_HIERARCHY_KIND_H
#define NB6_HIERARCHY_KIND_H

#include "nbody6/fewbody/kind.h"

extern const struct nb6_kind nb6_hierarchy_kind;

#endif
