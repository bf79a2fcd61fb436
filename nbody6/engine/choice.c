#include "nbody6/engine/choice.h"

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/image.h"
#include "nbody6/input/config.h"
#include "nbody6/state/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct nb6_engine *nb6_engine_of(enum nb6_engine_choice choice)
{
    if (choice == NB6_ENGINE_DEVICE) return nb6_device_engine;
    return choice == NB6_ENGINE_EMULATED ? &nb6_emulated_engine : &nb6_host_engine;
}

static const char *const names[] = {
    [NB6_ENGINE_HOST] = "host", [NB6_ENGINE_DEVICE] = "device", [NB6_ENGINE_EMULATED] = "emulated"};

const char *nb6_engine_choice_name(enum nb6_engine_choice choice)
{
    return names[choice];
}

int nb6_engine_named(const char *name)
{
    for (int k = 0; k < NB6_ENGINE_AUTO; k++)
        if (strcmp(name, names[k]) == 0) return k;
    return -1;
}

/* ---- auto */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* The regular backend that is asked for, and by what.   @return whether it leaves all GPUs out */
static int names_no_gpu(const struct nb6_config *config, const char **reg, const char **option)
{
    *reg = config->run.device;
    *option = "--device";
    if (strcmp(*reg, "auto") == 0) {
        *reg = variable("GPUNB_BACKEND");
        *option = "GPUNB_BACKEND";
    }
    return strcmp(*reg, "") != 0 && strcmp(*reg, "auto") != 0 && strncmp(*reg, "cuda", 4) != 0;
}

/* An explicit CPU backend disables the device engine. Backends on GPUs leave the choice open: the engine takes those
 * GPUs. */
static int names_backends(const struct nb6_config *config, char *why)
{
    const char *reg, *option, *irr = config->run.irr_backend;
    if (names_no_gpu(config, &reg, &option))
        snprintf(why, NB6_ENGINE_WHY, "%.64s asks for %.64s", option, reg);
    else if (strcmp(irr, "auto") != 0)
        snprintf(why, NB6_ENGINE_WHY, "--irr-backend asks for %.64s", irr);
    else
        return 0;
    return 1;
}

static enum nb6_engine_choice choose(const struct nb6_config *config, int64_t n, char *why)
{
    struct nbc_error err = {0};
    const char *unknown = nb6_dev_unsupported(config);
    const int worth = config->binaries.n > 0 ? NB6_DEVICE_WORTH_WITH_BINARIES : NB6_DEVICE_WORTH;
    if (!nb6_device_engine)
        snprintf(why, NB6_ENGINE_WHY, "this program was built without CUDA");
    else if (n < worth)
        snprintf(why, NB6_ENGINE_WHY, "a device is worth it from %d stars on%s", worth,
                 worth > NB6_DEVICE_WORTH ? " where there are binaries" : "");
    else if (unknown)
        snprintf(why, NB6_ENGINE_WHY, "%s", unknown);
    else if (names_backends(config, why))
        return NB6_ENGINE_HOST;
    else if (nb6_device_engine->check(&err))
        snprintf(why, NB6_ENGINE_WHY, "%.250s", err.text);
    else {
        snprintf(why, NB6_ENGINE_WHY, "%d stars or more, and a GPU", worth);
        return NB6_ENGINE_DEVICE;
    }
    return NB6_ENGINE_HOST;
}

void nb6_engine_wake(const struct nb6_config *config, int64_t n)
{
    char why[NB6_ENGINE_WHY];
    const int is_auto = config->run.engine == NB6_ENGINE_AUTO;
    if (nb6_device_engine && is_auto && n >= NB6_DEVICE_WORTH && !nb6_dev_unsupported(config) &&
        !names_backends(config, why))
        (void)nb6_device_engine->check(NULL); /* the choice of the engine checks again, and reports what is wrong */
}

int nb6_engine_is_here(enum nb6_engine_choice choice, char why_not[NB6_ENGINE_WHY])
{
    struct nbc_error why = {0};
    const struct nb6_engine *engine = nb6_engine_of(choice);
    if (engine && (!engine->check || engine->check(&why) == NBC_OK)) return 1;
    snprintf(why_not, NB6_ENGINE_WHY, "%.250s", engine ? why.text : "this program was built without CUDA");
    return 0;
}

enum nb6_engine_choice nb6_engine_choose(const struct nb6_config *config, int64_t n, char why[NB6_ENGINE_WHY])
{
    const enum nb6_engine_choice choice = (enum nb6_engine_choice)config->run.engine;
    if (choice == NB6_ENGINE_AUTO) return choose(config, n, why);
    if (!nb6_engine_is_here(choice, why)) return choice;
    const char *reg, *option;
    if (choice == NB6_ENGINE_DEVICE && names_no_gpu(config, &reg, &option))
        snprintf(why, NB6_ENGINE_WHY, "asked for; it takes the first GPU, since %.64s %.64s names none", option, reg);
    else
        snprintf(why, NB6_ENGINE_WHY, "asked for");
    return choice;
}

/* ---- the engine of a run */

static int check_engine(enum nb6_engine_choice choice, struct nbc_error *err)
{
    char why[NB6_ENGINE_WHY];
    if (nb6_engine_is_here(choice, why)) return NBC_OK;
    return nbc_fail(err, NBC_UNAVAILABLE,
                    "ENGINE: the device engine cannot run: %.200s; --engine host does the same run", why);
}

int nb6_engine_check(const struct nb6_config *config, struct nbc_error *err)
{
    return config->run.engine == NB6_ENGINE_AUTO ? NBC_OK
                                                 : check_engine((enum nb6_engine_choice)config->run.engine, err);
}

int nb6_engine_settle(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = nb6_engine_check(&sim->run.config, err);
    if (!status) sim->engine = (int)nb6_engine_choose(&sim->run.config, sim->n, sim->engine_why);
    return status;
}

int nb6_engine_resume(struct nb6_sim *sim, int asked, struct nbc_error *err)
{
    if (asked || check_engine((enum nb6_engine_choice)sim->engine, NULL)) return nb6_engine_settle(sim, err);
    snprintf(sim->engine_why, sizeof sim->engine_why, "as in the checkpoint");
    return NBC_OK;
}
