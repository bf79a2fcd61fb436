/* From namelist text to a configuration. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist_value.h"
#include "nbody6/input/words/words.h"

#include "gpunb/gpunb.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct nb6_config read_text(const char *text)
{
    struct nb6_config config;
    struct nbc_error err = {0};
    if (nb6_input_read_text("t.inp", text, strlen(text), NULL, &config, &err) != NBC_OK) fail_msg("%s", err.text);
    return config;
}

static void test_defaults(void **state)
{
    (void)state;
    struct nb6_config config, from_file = read_text("&ININPUT /");
    nb6_config_init(&config);
    assert_int_equal(nb6_config_check(&config, NULL), NBC_OK);
    assert_int_equal(config.model.n, 1000);
    assert_int_equal(config.model.kind, NB6_MODEL_PLUMMER);
    assert_int_equal(config.model.imf, NB6_IMF_EQUAL);
    assert_int_equal(config.model.seed, 1);
    assert_int_equal(config.run.snapshots, 1);
    assert_string_equal(config.model.data_path, "dat.10");
    assert_string_equal(config.run.device, "auto");
    assert_true(config.integration.eta_irr == 0.02 && config.integration.eta_reg == 0.02);
    assert_true(config.integration.dt_max == 1 && config.run.t_crit == 10 && config.run.energy_tol == 2e-4);
    assert_true(config.model.virial_ratio == 0.5 && config.run.checkpoint_interval_s == 600);
    strcpy(config.run.input_path, "t.inp");
    assert_memory_equal(&config, &from_file, sizeof config);
}

/* Groups in an unusual order, lower case, comments, values of every kind */
static void test_values(void **state)
{
    (void)state;
    struct nb6_config c =
        read_text("&inscale q=0.4, vxrot=1.5, vzrot=0.5 /\n"
                  "&INRUN NNBMAX=100 CKPT=5 DEVICE='ref' IRR='ref' PREC=double DTFIXI=0.25 DTFIXR=0.5\n"
                  "NBFIX=1 FCHECK=1 /\n"
                  "&ININPUT N=50, NFIX=2, NCRIT=5, NRAND=77, NNBOPT=10, ETAI=0.01, ETAR=0.03, RS0=0.2,\n"
                  "DTADJ=0.5 DELTAT=2 TCRIT=30 QE=1e-3 RBAR=2 ZMBAR=0.6 SMAX=0.5 DTMIN=1e-4, RMIN=1e-3\n"
                  "KZ=50*0, KZ(2)=1 KZ(3)=0 KZ(7)=2 KZ(14)=2 KZ(20)=6 KZ(22)=1 KZ(23)=3 KZ(39)=2,1 /\n"
                  "&INNBODY6 KSTART=1 TCOMP=100 TCRTP0=50 /\n"
                  "&INDATA ALPHAS=2.35 BODY1=20 BODYN=0.2 /\n"
                  "&INXTRNL0 GMG=1e11 RG0=8 /\n"
                  "&INMODEL MODEL='King' W0=7 /\n");
    assert_true(c.model.virial_ratio == 0.4 && c.model.rotation_xy == 1.5 && c.model.rotation_z == 0.5);
    assert_int_equal(c.integration.nnb_max, 100);
    assert_true(c.run.checkpoint_interval_s == 5);
    assert_string_equal(c.run.device, "ref");
    assert_string_equal(c.run.irr_backend, "ref");
    assert_int_equal(c.run.precision, GPUNB_DOUBLE);
    assert_true(c.integration.dt_fixed_irr == 0.25 && c.integration.dt_fixed_reg == 0.5);
    assert_int_equal(c.integration.fixed_nnb, 1);
    assert_int_equal(c.run.force_check, 1);
    assert_int_equal(c.model.n, 50);
    assert_int_equal(c.run.n_fix, 2);
    assert_int_equal(c.run.n_crit, 5);
    assert_int_equal(c.model.seed, 77);
    assert_int_equal(c.integration.nnb_opt, 10);
    assert_true(c.integration.eta_irr == 0.01 && c.integration.eta_reg == 0.03 && c.integration.r_nb_init == 0.2);
    assert_true(c.run.dt_adjust == 0.5 && c.run.dt_output == 2 && c.run.t_crit == 30 && c.run.energy_tol == 1e-3);
    assert_true(c.rbar_pc == 2 && c.zmbar_msun == 0.6 && c.integration.dt_max == 0.5);
    assert_true(c.pair.dt_min == 1e-4 && c.pair.r_min == 1e-3 && c.run.wall_limit_s == 100 && c.run.t_crit_myr == 50);
    assert_int_equal(c.run.checkpoint_at_output, 1);
    assert_int_equal(c.run.snapshots, 0);
    assert_int_equal(c.run.lagrangian_mass, NB6_LAGR_INITIAL_MASS);
    assert_int_equal(c.tide.kind, NB6_TIDE_POINT_MASS);
    assert_true(c.tide.galaxy_mass_msun == 1e11 && c.tide.galaxy_distance_kpc == 8);
    assert_int_equal(c.model.imf, NB6_IMF_KROUPA2001);
    assert_true(c.model.imf_alpha == 2.35 && c.model.mass_max_msun == 20 && c.model.mass_min_msun == 0.2);
    assert_int_equal(c.run.write_data_table, 1);
    assert_int_equal(c.escape, NB6_ESCAPE_CUT_OFF);
    assert_int_equal(c.write_escapers, 1);
    assert_int_equal(c.integration.mass_weighted_nb, 1);
    assert_int_equal(c.integration.initial_fpoly2, 1);
    assert_int_equal(c.model.kind, NB6_MODEL_KING);
    assert_true(c.model.king_w0 == 7);
}

static void test_null_values_keep_defaults(void **state)
{
    (void)state;
    struct nb6_config c = read_text("&ININPUT N=,ETAI=,TCRIT=5,KZ(1:5)=5*, /");
    assert_int_equal(c.model.n, 1000);
    assert_true(c.integration.eta_irr == 0.02 && c.run.t_crit == 5);
}

static void test_data_files(void **state)
{
    (void)state;
    struct nb6_config c = read_text("&ININPUT KZ(22)=2 /");
    assert_int_equal(c.model.kind, NB6_MODEL_FILE);
    assert_int_equal(c.model.file_units, NB6_FILE_NBODY);
    assert_int_equal(c.model.n, 0); /* all lines */
    assert_string_equal(c.model.data_path, "dat.10");
    c = read_text(
        "&ININPUT N=5 KZ(22)=6 KZ(5)=2 KZ(20)=4 / &INMODEL DATA='a b.txt' /"); /* KZ(5), KZ(20): no model is made */
    assert_int_equal(c.model.file_units, NB6_FILE_NBODY_SCALED);
    assert_int_equal(c.model.n, 5);
    assert_string_equal(c.model.data_path, "a b.txt");
    c = read_text("&ININPUT KZ(22)=10 / &INMODEL MODEL='file' /");
    assert_int_equal(c.model.file_units, NB6_FILE_PHYSICAL);
    c = read_text("&INMODEL DATA='x' /");
    assert_int_equal(c.model.kind, NB6_MODEL_FILE);
    assert_int_equal(c.model.file_units, NB6_FILE_UNSTATED);
    assert_true(c.data.length_unit_open && c.data.mass_unit_open);
    c = read_text("&ININPUT RBAR=2 / &INMODEL DATA='x' UNITS='g AU m/s' COLUMNS='7 6 5 4 3 2 1' /");
    assert_int_equal(c.model.file_units, NB6_FILE_PHYSICAL);
    assert_true(fabs(c.data.msun * 1.98841e33 - 1) < 1e-4 && c.data.kms == 1e-3); /* CODATA's G: four digits */
    assert_true(fabs(c.data.pc * 206264.806247096 - 1) < 1e-12);
    assert_true(!c.data.length_unit_open && c.data.mass_unit_open);
    c = read_text("&ININPUT KZ(5)=0 /");
    assert_int_equal(c.model.kind, NB6_MODEL_UNIFORM);
}

static void test_masses(void **state)
{
    (void)state;
    assert_int_equal(read_text("&INDATA ALPHAS=1, BODY1=10, BODYN=0.1 /").model.imf, NB6_IMF_EQUAL);
    assert_int_equal(read_text("&INDATA ALPHAS=2.35, BODY1=1, BODYN=1 /").model.imf, NB6_IMF_EQUAL);
    assert_int_equal(read_text("&INDATA ALPHAS=2.35, BODY1=10, BODYN=0.1 /").model.imf, NB6_IMF_POWER_LAW);
    assert_int_equal(read_text("&ININPUT KZ(20)=6 /").model.imf, NB6_IMF_KROUPA2001);
}

static void test_adjustments(void **state)
{
    (void)state;
    assert_true(read_text("&ININPUT SMAX=0.3 /").integration.dt_max == 0.25);
    assert_true(read_text("&ININPUT SMAX=0.25 /").integration.dt_max == 0.25);
    assert_true(read_text("&ININPUT SMAX=4 /").integration.dt_max == 1);
    assert_int_equal(read_text("&ININPUT N=100 NNBOPT=80 /").integration.nnb_opt, 80);
    assert_int_equal(read_text("&ININPUT N=10 NNBOPT=80 /").integration.nnb_opt, 9);
}

static void test_dynamics_only(void **state)
{
    (void)state;
    const char *text = "&ININPUT KZ(19)=3 KZ(12)=1 KZ(23)=2 LEVEL='C' ZMBAR=1 /";
    char notes[4096] = "";
    FILE *file = fmemopen(notes, sizeof notes, "w");
    const struct nb6_input_options options = {.dynamics_only = 1, .notes = file};
    struct nb6_config config, plain = read_text("&ININPUT KZ(23)=2 ZMBAR=1 /");
    struct nbc_error err = {0};
    assert_int_equal(nb6_input_read_text("t.inp", text, strlen(text), NULL, &config, &err), NBC_OK);
    assert_true(config.stellar.evolve && config.stellar.level == 3);
    assert_int_equal(nb6_input_read_text("t.inp", text, strlen(text), &options, &config, &err), NBC_OK);
    fclose(file);
    assert_memory_equal(&config, &plain, sizeof config); /* exactly these are off */
    const char *const said[] = {"KZ(19)=3", "KZ(19)=0", "KZ(12)=1", "LEVEL='C'", "LEVEL='0'"};
    for (size_t k = 0; k < sizeof said / sizeof said[0]; k++) assert_non_null(strstr(notes, said[k]));
    /* a variable that describes another cluster stays refused */
    const char *galaxy = "&ININPUT KZ(14)=9 KZ(19)=3 /";
    assert_int_equal(nb6_input_read_text("t.inp", galaxy, strlen(galaxy), &options, &config, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "KZ(14)=9"));
    assert_null(strstr(err.text, "KZ(19)"));
}

/* The message lists everything, even if everything is wrong at once. */
static void test_all_missing_options_are_listed(void **state)
{
    (void)state;
    char text[4096] = "&ININPUT KZ(8)=1 KZ(18)=2\n";
    int count = 0;
    for (int number = 1; number <= NB6_KZ_COUNT; number++)
        for (int k = nb6_input_choice_count - 1; k >= 0; k--) {
            const struct nb6_input_choice *c = &nb6_input_choices[k];
            if (c->number != number || c->status < NB6_MISSING_STELLAR) continue;
            sprintf(text + strlen(text), "KZ(%d)=%d\n", number, c->high < 100 ? c->high : c->low);
            count++;
            break;
        }
    strcat(text, "/\n&INNBODY6 KSTART=2 /\n&INDATA NHI0=2 /\n&INBINPOP IDORM=1 /");
    count += 2; /* KSTART and IDORM */
    char expected[64];
    snprintf(expected, sizeof expected, "%d settings ask", count);
    struct nb6_config config;
    struct nbc_error err = {0};
    assert_int_equal(nb6_input_read_text("t.inp", text, strlen(text), NULL, &config, &err), NBC_BAD_INPUT);
    if (!strstr(err.text, expected)) fail_msg("not \"%s\": %s", expected, err.text);
    int lines = 0;
    for (const char *p = err.text; (p = strstr(p, "; set ")); p++) lines++;
    assert_int_equal(lines, count);
    assert_non_null(strstr(err.text, "--dynamics-only turns off")); /* the end of the message is there */
}

static void test_failure_leaves_configuration(void **state)
{
    (void)state;
    struct nb6_config config, before;
    memset(&config, 0x5a, sizeof config);
    before = config;
    const char *text = "&ININPUT N=50 ETAI=7 /";
    struct nbc_error err = {0};
    assert_int_equal(nb6_input_read_text("t.inp", text, strlen(text), NULL, &config, &err), NBC_BAD_INPUT);
    assert_memory_equal(&config, &before, sizeof config);
    assert_int_equal(nb6_input_read("no/such/file", NULL, &config, NULL), NBC_BAD_INPUT);
    assert_memory_equal(&config, &before, sizeof config);
}

static void test_set(void **state)
{
    (void)state;
    struct nb6_config config, before;
    struct nbc_error err = {0};
    nb6_config_init(&config);
    assert_int_equal(nb6_input_set(&config, "etai", "0.01", &err), NBC_OK);
    assert_int_equal(nb6_input_set(&config, "N", "500", &err), NBC_OK);
    assert_int_equal(nb6_input_set(&config, "KZ(20)", "6", &err), NBC_OK);
    assert_int_equal(nb6_input_set(&config, "KZ(22:23)", "1 2", &err), NBC_OK);
    assert_int_equal(nb6_input_set(&config, "MODEL", "'king'", &err), NBC_OK);
    assert_true(config.integration.eta_irr == 0.01);
    assert_int_equal(config.model.n, 500);
    assert_int_equal(config.model.imf, NB6_IMF_KROUPA2001);
    assert_int_equal(config.escape, NB6_ESCAPE_RADIUS);
    assert_int_equal(config.model.kind, NB6_MODEL_KING);
    before = config;
    const char *const bad[][2] = {{"ETAI", "1"},  {"ETAI", "x"},       {"ETAI", ""},      {"ETAJ", "1"},
                                  {"", "1"},      {"KZ(51)", "0"},     {"KZ(24)", "2"},   {"KZ(14)", "9"},
                                  {"N", "5 /"},   {"MODEL", "'ring'"}, {"N", "5 ETAI=1"}, {"N", "'"},
                                  {"N=3,N", "4"}, {"N", "5 / &X y=1"}, {"LEVEL", "'X'"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        if (nb6_input_set(&config, bad[k][0], bad[k][1], &err) != NBC_BAD_INPUT)
            fail_msg("%s=%s was accepted", bad[k][0], bad[k][1]);
        assert_memory_equal(&config, &before, sizeof config);
    }
}

/* libgfortran takes the byte 0xff for the end of a record, and after 0xff and ! it takes nothing from the next one. */
static void test_set_after_a_text_that_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"'\xff!'", "'a\xff! b'", "'\xff'", "\xff"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        struct nb6_config config;
        struct nbc_error err = {0};
        nb6_config_init(&config);
        nb6_input_set(&config, "DATA", texts[k], &err);
        if (nb6_input_set(&config, "ETAI", "0.0125", &err) != NBC_OK) fail_msg("%s", err.text);
        assert_true(config.integration.eta_irr == 0.0125);
    }
}

/* Configurations that are made without a file are checked just as well. */
static void test_check(void **state)
{
    (void)state;
    struct nb6_config config;
    struct nbc_error err = {0};
#define REFUSED(member, value, name)                                                                                   \
    do {                                                                                                               \
        nb6_config_init(&config);                                                                                      \
        config.member = value;                                                                                         \
        assert_int_equal(nb6_config_check(&config, &err), NBC_BAD_INPUT);                                              \
        assert_memory_equal(err.text, name ":", strlen(name ":"));                                                     \
    } while (0)
    REFUSED(run.t_crit, NAN, "TCRIT");
    REFUSED(run.t_crit, INFINITY, "TCRIT");
    REFUSED(integration.eta_irr, -0.01, "ETAI");
    REFUSED(integration.dt_max, 0.3, "SMAX");
    REFUSED(integration.dt_fixed_irr, 0x1p-31, "DTFIXI");
    REFUSED(integration.nnb_opt, -1, "NNBOPT");
    REFUSED(model.n, 1, "N");
    REFUSED(model.n, 0, "N");
    REFUSED(model.n, INT32_MAX, "N");
    REFUSED(model.mass_min_msun, NAN, "BODYN");
    REFUSED(tide.kind, NB6_TIDE_POINT_MASS, "GMG");
    REFUSED(run.n_fix, 0, "NFIX");
    REFUSED(run.precision, 7, "PREC");
    REFUSED(run.engine, 4, "ENGINE");
    REFUSED(run.on_device_loss, 2, "DEVLOSS");
    REFUSED(run.device[0], 'x', "DEVICE");
    REFUSED(run.irr_backend[0], 'x', "IRR");
#undef REFUSED
    nb6_config_init(&config);
    config.model.kind = NB6_MODEL_FILE;
    config.model.n = 0;             /* as many as the file has lines */
    config.model.virial_ratio = -1; /* velocities stay as they are */
    assert_int_equal(nb6_config_check(&config, &err), NBC_OK);
    assert_true(nb6_config_memory(&config, 2000) > 1.5 * nb6_config_memory(&config, 1000));
}

/* The table: options complete and in order, choices without overlap, every default admissible, names unique. */
/* A text without a member is the number of its word; checkpoints without it, and run ids, take 0 for the default. */
static void default_word_is_0(const struct nb6_input_variable *v)
{
    char word[32];
    int number = -1;
    snprintf(word, sizeof word, "%.*s", (int)strlen(v->initial) - 2, v->initial + 1);
    assert_true(nb6_input_word_number(v->name, word, &number));
    assert_int_equal(number, 0);
}

static void test_table(void **state)
{
    (void)state;
    for (int k = 0; k < NB6_KZ_COUNT; k++) {
        const struct nb6_input_option *o = &nb6_input_options_table[k];
        assert_int_equal(o->number, k + 1);
        assert_non_null(nb6_input_find_choice(o->number, o->initial));
        assert_true(nb6_input_find_choice(o->number, o->initial)->status < NB6_MISSING_STELLAR);
        assert_true(nb6_input_find_choice(o->number, o->off)->status < NB6_MISSING_STELLAR);
    }
    for (int k = 1; k < nb6_input_choice_count; k++) {
        const struct nb6_input_choice *a = &nb6_input_choices[k - 1], *b = &nb6_input_choices[k];
        assert_true(a->number < b->number || (a->number == b->number && a->high < b->low));
    }
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        assert_true(nb6_input_find_group(v->group) >= 0);
        assert_int_equal(nb6_input_find_variable(v->group, v->name), k);
        assert_true(v->length <= NB6_NAMELIST_ELEMENTS);
        if (v->target != NB6_TO_NUMBER) continue;
        assert_true(v->length == 1);
        if (v->type == NB6_TEXT) default_word_is_0(v);
        assert_true(nb6_input_offset(v) < offsetof(struct nb6_config, number) + sizeof(double[NB6_NUMBERS_MAX]));
    }
}

/* A member is read as such: the numbers are those of variables without one. */
static void test_numbers(void **state)
{
    (void)state;
    struct nb6_config config;
    nb6_config_init(&config);
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        double number = -1;
        struct nbc_error err = {0};
        const int status = nb6_config_number(&config, v->group, v->name, &number, &err);
        if (v->target == NB6_TO_NUMBER) {
            assert_int_equal(status, NBC_OK);
            assert_true(number == strtod(v->initial, NULL));
        } else {
            assert_int_equal(status, NBC_BAD_ARGUMENT);
            assert_non_null(strstr(err.text, v->name));
            assert_true(number == -1);
        }
    }
}

/* A misspelt name is reported with the likeliest one, and nothing is filled in. */
static void test_numbers_by_wrong_names(void **state)
{
    (void)state;
    const struct {
        const char *group, *name, *wrong, *meant;
    } cases[] = {{"INCOLLISIONLESS", "SOFTNING", "SOFTNING", "did you mean SOFTENING"},
                 {"insetup", "ec", "ec", "did you mean ECC"},
                 {"INSETUPS", "ECC", "INSETUPS", "did you mean INSETUP"},
                 {"INSETUP", "SOFTENING", "SOFTENING", "no such variable"},
                 {"INRUN", "QWERTY", "QWERTY", "no such variable"},
                 {"", "", "", "no such group"}};
    struct nb6_config config;
    nb6_config_init(&config);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double number = -1;
        struct nbc_error err = {0};
        assert_int_equal(nb6_config_number(&config, cases[k].group, cases[k].name, &number, &err), NBC_BAD_ARGUMENT);
        assert_int_equal(err.status, NBC_BAD_ARGUMENT);
        assert_int_equal(strncmp(err.text, cases[k].wrong, strlen(cases[k].wrong)), 0);
        assert_non_null(strstr(err.text, cases[k].meant));
        assert_true(number == -1);
    }
}

static void test_help_knows_every_name(void **state)
{
    (void)state;
    FILE *out = fopen("/dev/null", "w");
    for (int k = 0; k < nb6_input_variable_count; k++)
        assert_int_equal(nb6_input_help(out, nb6_input_variables[k].name, 0, NULL), NBC_OK);
    for (int k = 0; k < nb6_input_group_count; k++)
        assert_int_equal(nb6_input_help(out, nb6_input_groups[k].name, 0, NULL), NBC_OK);
    assert_int_equal(nb6_input_help(out, "KZ(50)", 0, NULL), NBC_OK);
    assert_int_equal(nb6_input_help(out, "kz7", 0, NULL), NBC_OK);
    assert_int_equal(nb6_input_help(out, "KZ(51)", 0, NULL), NBC_BAD_INPUT);
    assert_int_equal(nb6_input_help(out, NULL, 1, NULL), NBC_OK);
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_null_values_keep_defaults),
        cmocka_unit_test(test_data_files),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_adjustments),
        cmocka_unit_test(test_dynamics_only),
        cmocka_unit_test(test_all_missing_options_are_listed),
        cmocka_unit_test(test_failure_leaves_configuration),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_set_after_a_text_that_is_none),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_by_wrong_names),
        cmocka_unit_test(test_help_knows_every_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
