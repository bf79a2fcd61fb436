#include "nbody6/input/positional/translate.h"

#include "nbody6/input/input_table.h"
#include "nbody6/input/positional/list.h"
#include "nbody6/input/positional/positional.h"
#include "nbody6/input/positional/table.h"
#include "nbody6/input/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

__attribute__((format(printf, 2, 3))) static void note(const struct nb6_positional *input, const char *format, ...)
{
    if (!input->notes) return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(input->notes, "note: ");
    vfprintf(input->notes, format, arguments);
    fprintf(input->notes, "\n");
    va_end(arguments);
}

static int is_zero(const struct nb6_positional *input, const char *group, const char *name)
{
    double x;
    return nb6_positional_number(input, group, name, &x) && x == 0;
}

/* Masses are equal for this index, or this range. */
static int has_equal_masses(const struct nb6_positional *input)
{
    double alphas, body1, bodyn;
    if (nb6_positional_number(input, "INDATA", "ALPHAS", &alphas) && alphas == 1) return 1;
    return nb6_positional_number(input, "INDATA", "BODY1", &body1) &&
           nb6_positional_number(input, "INDATA", "BODYN", &bodyn) && body1 == bodyn;
}

static int has_binaries(const struct nb6_positional *input)
{
    double n;
    return nb6_positional_number(input, "INDATA", "NBIN0", &n) && n > 0;
}

static int reads_model(const struct nb6_positional *input)
{
    return input->kz[21] > 1 || input->kz[21] < 0;
}

static void set_option(struct nb6_positional *input, int number, int value, const char *why)
{
    nb6_positional_set_option(input, number, value);
    note(input, "KZ(%d)=%d of NBODY6 is KZ(%d)=%d here: %s", number, input->kz[number - 1], number, value, why);
}

/* The table of options that mean something else. */
static void translate_options(struct nb6_positional *input)
{
    for (int number = 1; number <= NB6_KZ_COUNT; number++) {
        const struct nb6_foreign_option *option = nb6_find_foreign_option(number, input->kz[number - 1]);
        if (!option) continue;
        if (option->choice.status >= NB6_MISSING_STELLAR)
            input->choice[number - 1] = &option->choice;
        else
            set_option(input, number, option->becomes, option->choice.meaning);
    }
}

/* Minutes of a processor there, seconds on the clock here. */
static void translate_time(struct nb6_positional *input)
{
    char text[32];
    double minutes;
    if (!nb6_positional_number(input, "INNBODY6", "TCOMP", &minutes)) return;
    snprintf(text, sizeof text, "%.17g", 60 * minutes);
    nb6_positional_set(input, "INNBODY6", "TCOMP", NULL, text);
    note(input, "TCOMP=%g minutes of NBODY6 are TCOMP=%g seconds here", minutes, 60 * minutes);
}

/* NBODY6 has the longest list, and options that steer the mean towards a part of it. */
static void translate_neighbours(struct nb6_positional *input)
{
    char text[32];
    double longest;
    int control = input->kz[39];
    if (control < 1 || !nb6_positional_number(input, "INRUN", "NNBMAX", &longest) || longest < 10) return;
    if (longest > INT32_MAX) return; /* which is refused */
    long mean = (long)(longest / (control == 1 ? 2 : 5));
    snprintf(text, sizeof text, "%ld", mean);
    nb6_positional_set(input, "ININPUT", "NNBOPT", "N", text);
    note(input, "NNBMAX=%g with KZ(40)=%d of NBODY6 is NNBOPT=%ld here", longest, control, mean);
}

/* In NBODY6 a binary of two stars of the mass function takes two of the N stars; here N counts systems. */
static void translate_number(struct nb6_positional *input)
{
    char text[32];
    double n, binaries, ratio;
    if (reads_model(input) || input->kz[7] < 1 || input->kz[7] == 2 || input->kz[19] > 1) return;
    if (!nb6_positional_number(input, "INBINPOP", "RATIO", &ratio) || ratio != 1) return;
    if (!nb6_positional_number(input, "ININPUT", "N", &n) ||
        !nb6_positional_number(input, "INDATA", "NBIN0", &binaries))
        return;
    if (n != floor(n) || binaries != floor(binaries) || binaries < 1 || n - binaries < 2 || n > 1e9) return;
    snprintf(text, sizeof text, "%.0f", n - binaries);
    nb6_positional_set(input, "ININPUT", "N", NULL, text);
    note(input, "N=%.0f counts stars in NBODY6, where RATIO=1 and KZ(20) < 2; N=%.0f systems here", n, n - binaries);
}

static void translate_binaries(struct nb6_positional *input)
{
    if (input->kz[7] == 4) {
        nb6_positional_set_option(input, 42, 4);
        note(input, "KZ(42)=4: periods of Kroupa 1995, as KZ(8)=4 of NBODY6 asks for");
    }
    if ((input->kz[21] == 4 || input->kz[21] == -1) && input->kz[7] == 0 && has_binaries(input)) {
        nb6_positional_set_option(input, 8, 2);
        note(input, "KZ(8)=2: the first 2 NBIN0 stars of the data are pairs, as KZ(22)=%d of NBODY6 says",
             input->kz[21]);
    }
    if (input->icirc <= 0) return;
    nb6_positional_set_option(input, 41, input->icirc);
    note(input, "ICIRC=%d of NBODY6, eigenevolution of binaries, is KZ(41)=%d here", input->icirc, input->icirc);
}

static void translate_triples(struct nb6_positional *input)
{
    double n;
    if (input->kz[7] < 1 || input->kz[17] < 2 || !nb6_positional_number(input, "INDATA", "NHI0", &n) || n < 1) return;
    note(input, "inner axes of triples are drawn from SEMI0 of &INHIPOP down, as in NBODY6++; NBODY6 begins with the "
                "axis of the outer orbit");
}

static void translate_masses(struct nb6_positional *input)
{
    int equal = has_equal_masses(input), imf = input->kz[19];
    if (!reads_model(input) && imf > 0 && equal) {
        nb6_positional_set_option(input, 20, 0);
        note(input, "KZ(20)=%d has no effect: NBODY6 gives equal masses where ALPHAS=1 or BODY1=BODYN", imf);
    }
    if (input->kz[21] != 2) return;
    if (imf > 0 && !equal) {
        nb6_positional_set_option(input, 22, 9);
        note(input, "KZ(22)=2 with KZ(20)=%d of NBODY6 is KZ(22)=9 here: the data with new masses", imf);
    } else if (equal) {
        note(input, "masses are those of the data; NBODY6 would make them equal (ALPHAS=1 or BODY1=BODYN)");
    }
}

/* NBODY6 and older NBODY6++ have another function of Eggleton than the published one, which NBODY6++GPU uses. Meanings
 * that no option of NBODY6++GPU covers get values of this code's own. */
static void translate_eggleton(struct nb6_positional *input)
{
    const int imf = input->kz[19];
    if (reads_model(input) || (imf != 3 && imf != 5) || has_equal_masses(input)) return;
    nb6_positional_set_option(input, 20, -imf);
    note(input,
         "KZ(20)=%d is KZ(20)=%d here: m = 0.3 X/(1-X)^0.55, as in NBODY6 and older NBODY6++; NBODY6++GPU has "
         "Eggleton's 0.3 (X/(1-X))^0.55, KZ(20)=%d",
         imf, -imf, imf);
}

/* NBODY6 and older NBODY6++ limit masses of Kroupa 2001 to this range, whatever the input has. */
static void translate_kroupa_limits(struct nb6_positional *input)
{
    const int imf = input->kz[19];
    double body1, bodyn;
    if (reads_model(input) || imf < 6 || imf > 8 || has_equal_masses(input)) return;
    if (nb6_positional_number(input, "INDATA", "BODY1", &body1) && body1 > 100) {
        nb6_positional_set(input, "INDATA", "BODY1", NULL, "100");
        note(input, "BODY1=%g is 100 here: KZ(20)=%d has no stars above 100 Msun there", body1, imf);
    }
    if (nb6_positional_number(input, "INDATA", "BODYN", &bodyn) && bodyn > 0 && bodyn < 0.01) {
        nb6_positional_set(input, "INDATA", "BODYN", NULL, "0.01");
        note(input, "BODYN=%g is 0.01 here: KZ(20)=%d has no stars below 0.01 Msun there", bodyn, imf);
    }
}

/* Stellar parameters are in a file beside that of the stars, which are read then. */
static void translate_stellar(struct nb6_positional *input)
{
    if (input->kz[11] != 2 || !reads_model(input)) return;
    nb6_positional_set(input, "INMODEL", "STELLAR", NULL, "'fort.12'");
}

static void translate_nbody6(struct nb6_positional *input)
{
    translate_time(input);
    translate_options(input);
    translate_neighbours(input);
    translate_binaries(input);
    translate_number(input);
    translate_triples(input);
    translate_masses(input);
    translate_kroupa_limits(input);
    translate_stellar(input);
}

/* Of this potential alone NBODY6++ reads velocities in other units. */
static void translate_milky_way(struct nb6_positional *input)
{
    if (input->kz[13] != 5) return;
    nb6_positional_scale(input, "INXTRNL0", "VG", NB6_PC_PER_MYR_KMS);
    note(input, "VG is in pc/Myr in NBODY6++ with KZ(14)=5; here it is in km/s, and multiplied by %.6g",
         NB6_PC_PER_MYR_KMS);
}

/* NBODY6++ has equal masses where ALPHAS=1 or BODY1=BODYN too, but for KZ(20)=6. */
static void translate_nbody6pp(struct nb6_positional *input)
{
    const int imf = input->kz[19];
    translate_milky_way(input);
    if (reads_model(input) || imf == 0 || imf == 6 || !has_equal_masses(input)) return;
    nb6_positional_set_option(input, 20, 0);
    note(input, "KZ(20)=%d has no effect: NBODY6++ gives equal masses where ALPHAS=1 or BODY1=BODYN", imf);
}

/* Zeros that both codes replace. */
static void replace_zeros(struct nb6_positional *input)
{
    static const struct {
        const char *name, *why;
    } ones[] = {{"RBAR", "the unit of length is a parsec"},
                {"ZMBAR", "the mean mass is that of the Sun"},
                {"NRAND", "a seed is a positive number"}};
    for (size_t k = 0; k < sizeof ones / sizeof ones[0]; k++) {
        if (!is_zero(input, "ININPUT", ones[k].name)) continue;
        nb6_positional_set(input, "ININPUT", ones[k].name, NULL, "1");
        note(input, "%s=0 stands for 1: %s", ones[k].name, ones[k].why);
    }
}

void nb6_positional_translate(struct nb6_positional *input)
{
    replace_zeros(input);
    if (input->code == NB6_CODE_NBODY6)
        translate_nbody6(input);
    else
        translate_nbody6pp(input);
    translate_eggleton(input);
}
