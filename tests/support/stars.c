#include "tests/support/stars.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

struct stellar_model *stars_model(char level, double z, const char *changes)
{
    struct stellar_options options;
    struct stellar_model *model = NULL;
    struct nbc_error err = {0};
    char text[200], *rest = text, *word;
    assert_int_equal(stellar_options_level(level, &options, &err), NBC_OK);
    snprintf(text, sizeof text, "%s", changes);
    while ((word = strtok_r(rest, " ", &rest))) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (stellar_options_set(&options, word, value, &err)) fail_msg("%s", err.text);
    }
    if (stellar_create(z, &options, &model, &err)) fail_msg("%s", err.text);
    return model;
}

struct stellar_view stars_at(const struct stellar_model *model, double mass, double time_myr,
                             struct stellar_events *events)
{
    struct stellar_star star;
    struct stellar_view view;
    struct nbc_error err = {0};
    if (stellar_birth(model, 1, mass, 0, &star, &err)) fail_msg("%s", err.text);
    if (stellar_evolve(model, &star, time_myr, &view, events, &err)) fail_msg("%g Msun: %s", mass, err.text);
    return view;
}

const struct stellar_event *stars_event(const struct stellar_events *events, int type_after)
{
    for (int k = 0; k < events->n; k++)
        if (events->event[k].type_after == type_after) return &events->event[k];
    fail_msg("no star of type %d has come to be", type_after);
    return NULL;
}
