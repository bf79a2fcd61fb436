#include "nbody6/input/positional/table.h"

#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000000 };

/* One mark for each code, so that the records of either can be read down the list. */
#define NBODY6 NB6_CODE_NBODY6
#define NBODY6PP NB6_CODE_NBODY6PP
#define BOTH NB6_CODE_BOTH
#define MADE                                                                                                           \
    {                                                                                                                  \
        22, 0, 1, 0                                                                                                    \
    }

const struct nb6_record nb6_records[] = {
    {NBODY6, "INNBODY6", "KSTART TCOMP", {{0}}, 0, 0},
    {NBODY6PP, "INNBODY6", "KSTART TCOMP TCRTP0 ISERNB ISERREG ISERKS?", {{0}}, 0, 0},
    {NBODY6, "ININPUT", "N NFIX NCRIT NRAND INRUN.NNBMAX NRUN", {{0}}, 0, 0},
    {NBODY6PP, "ININPUT", "N NFIX NCRIT NRAND NNBOPT NRUN NCOMM?", {{0}}, 0, 0},
    {BOTH, "ININPUT", "ETAI ETAR RS0 DTADJ DELTAT TCRIT QE RBAR ZMBAR", {{0}}, 0, 0},
    {BOTH, "ININPUT", "KZ*50", {{0}}, 0, 0},
    {NBODY6, "ININPUT", "DTMIN RMIN ETAU ECLOSE GMIN GMAX", {{0}}, 0, 0},
    {NBODY6PP, "ININPUT", "DTMIN RMIN ETAU ECLOSE GMIN GMAX SMAX?", {{0}}, 0, 0},
    {BOTH, "INDATA", "ALPHAS BODY1 BODYN NBIN0 NHI0 ZMET EPOCH0 DTPLOT", {{0}}, 0, 0},
    {BOTH, "INSETUP", "APO ECC N2 SCALE", {{5, 2, 2, 0}, MADE}, 0, 0},
    {BOTH, "INSETUP", "APO ECC SCALE", {{5, 3, 3, 0}, MADE}, 0, 0},
    {BOTH, "INSETUP", "SEMI ECC ZM1 ZM2", {{5, 4, 4, 0}, MADE}, 0, 0},
    {BOTH, "INSETUP", "ZMH RCUT", {{5, 6, MANY, 0}, {24, -MANY, -1, 0}, MADE}, 0, 0},
    {NBODY6, "INSCALE", "Q VXROT VZROT RTIDE ININPUT.SMAX?", {{0}}, 0, 0},
    {NBODY6PP, "INSCALE", "Q VXROT VZROT RTIDE", {{0}}, 0, 0},
    {NBODY6, "", ".SEMI .ECC .BODY1 .BODY2", {{11, 1, MANY, 0}}, 0, 0},
    {NBODY6, "", ".M .X*3 .V*3", {{11, 2, MANY, 0}}, 11, 1},
    {NBODY6, "", ".M .X*3 .V*3", {{24, 1, MANY, 0}}, 24, 0},
    {BOTH, "INXTRNL0", "GMG RG0", {{14, 2, 2, 0}}, 0, 0},
    {NBODY6, "INXTRNL0", "GMG DISK A B VCIRC RCIRC GMB? AR? GAM?", {{14, 3, 3, 0}}, 0, 0},
    {NBODY6, "INXTRNL0", "RG*3 VG*3", {{14, 3, 3, 0}}, 0, 0},
    {NBODY6PP, "INXTRNL0", "GMG DISK A B VCIRC RCIRC GMB AR GAM RG*3 VG*3", {{14, 3, 3, 0}}, 0, 0},
    {BOTH, "INXTRNL0", "MP AP2 MPDOT TDELAY", {{14, 3, 4, 0}}, 0, 0},
    {NBODY6PP, "INXTRNL0", "RG*3 VG*3", {{14, 5, 5, 0}}, 0, 0},
    {NBODY6, "", ".SIGMA0", {{29, 1, MANY, 0}}, 0, 0},
    {NBODY6, "INBINPOP", "SEMI0 ECC0 RATIO RANGE NSKIP IDORM .ICIRC?", {{8, 1, MANY, 2}}, 0, 0},
    {NBODY6PP, "INBINPOP", "SEMI0 ECC0 RATIO RANGE NSKIP IDORM", {{8, 1, MANY, 2}}, 0, 0},
    {BOTH, "INHIPOP", "SEMI0 ECC0 RATIO RANGE", {{8, 1, MANY, 0}, {18, 2, MANY, 0}}, 0, 0},
};

const struct nb6_record nb6_restart_records[2] = {
    {BOTH, "ININPUT", "DTADJ DELTAT .TADJ .TNEXT TCRIT QE .J .KZ(J)", {{0}}, 0, 0},
    {BOTH, "ININPUT", "ETAI ETAR ETAU DTMIN RMIN NCRIT", {{0}}, 0, 0},
};

const int nb6_record_count = sizeof nb6_records / sizeof nb6_records[0];

const struct nb6_foreign_option nb6_foreign_options[] = {
    {{7, 2, 2, NB6_USED, "fractions of the present mass"}, 3},
    {{7, 4, 4, NB6_USED, "fractions of the present mass"}, 5},
    {{8, 3, 3, NB6_USED, "as 1, and a search for soft pairs at adjusts"}, 1},
    {{8, 4, 4, NB6_USED, "NBIN0 binaries with periods of Kroupa 1995: KZ(42)=4"}, 1},
    {{8, 5, MANY, NB6_USED, "as 1, and a search for soft pairs at adjusts"}, 1},
    {{11, -MANY, -1, NB6_MISSING_STELLAR, "post-Newtonian terms, ARchain"}, 0},
    {{11, 1, MANY, NB6_MISSING, "black holes added to the model, with records of their own"}, 0},
    {{12, 2, 2, NB6_USED, "stellar parameters of fort.12 stay with the stars: STELLAR"}, 0},
    {{22, -1, -1, NB6_USED, "read in Msun, pc, km/s"}, 10},
    {{22, 2, 2, NB6_USED, "read, and scaled"}, 6},
    {{22, 3, MANY, NB6_USED, "read, and not scaled"}, 2},
    {{23, 3, MANY, NB6_USED, "as 2, and a tidal tail where KZ(14) = 3"}, 2},
    {{24, 1, MANY, NB6_MISSING, "bodies added to the model, a record each"}, 0},
    {{29, 1, MANY, NB6_MISSING, "hot system in a reflecting boundary"}, 0},
    {{30, -MANY, -2, NB6_USED, "triples and quadruples, no chains; here chains take their place"}, -1},
    {{39, 2, MANY, NB6_USED, "no unique density centre"}, 1},
    {{40, 1, 1, NB6_USED, "control of neighbour numbers, up to NNBMAX/2: NNBOPT"}, 0},
    {{40, 2, MANY, NB6_USED, "control of neighbour numbers, about NNBMAX/5: NNBOPT"}, 0},
    {{42, 1, MANY, NB6_OUTPUT, "diagnostics of Kozai cycles"}, 0},
    {{43, 1, MANY, NB6_MISSING_STELLAR, "kicks and disruption by black holes"}, 0},
    {{44, 1, MANY, NB6_OUTPUT, "file of the cluster's parameters"}, 0},
    {{45, -MANY, MANY, NB6_OUTPUT, "files of black holes"}, 0},
    {{46, 1, MANY, NB6_UNREAD, "reserved"}, 0},
    {{47, 1, MANY, NB6_UNREAD, "reserved"}, 0},
    {{48, 1, MANY, NB6_OUTPUT, "comparison of stability criteria"}, 0},
    {{49, 1, MANY, NB6_MISSING_STELLAR, "post-Newtonian terms of pairs"}, 0},
    {{50, 1, MANY, NB6_UNREAD, "not used"}, 0},
};

const int nb6_foreign_option_count = sizeof nb6_foreign_options / sizeof nb6_foreign_options[0];

/* The word number k of a text. */
static const char *find_word(const char *text, int k, size_t *length)
{
    for (;; k--) {
        text += strspn(text, " ");
        *length = strcspn(text, " ");
        if (*length == 0 || k == 0) return text;
        text += *length;
    }
}

int nb6_record_field(const struct nb6_record *record, int k, struct nb6_record_field *field)
{
    size_t length;
    const char *word = find_word(record->fields, k, &length);
    if (length == 0) return 0;
    const char *dot = memchr(word, '.', length);
    const char *name = dot ? dot + 1 : word;
    size_t letters = strcspn(name, " *?");
    *field = (struct nb6_record_field){.count = name[letters] == '*' ? atoi(name + letters + 1) : 1,
                                       .optional = word[length - 1] == '?'};
    if (dot)
        snprintf(field->group, sizeof field->group, "%.*s", (int)(dot - word), word);
    else
        snprintf(field->group, sizeof field->group, "%s", record->group);
    snprintf(field->name, sizeof field->name, "%.*s", (int)letters, name);
    return 1;
}

int nb6_record_is_read(const struct nb6_record *record, const int *kz)
{
    for (int k = 0; k < NB6_CONDITIONS && record->when[k].option; k++) {
        const struct nb6_condition *c = &record->when[k];
        int value = kz[c->option - 1];
        if (value < c->low || value > c->high || (c->except && value == c->except)) return 0;
    }
    return 1;
}

const struct nb6_foreign_option *nb6_find_foreign_option(int number, int value)
{
    for (int k = 0; value != 0 && k < nb6_foreign_option_count; k++) {
        const struct nb6_input_choice *choice = &nb6_foreign_options[k].choice;
        if (choice->number == number && value >= choice->low && value <= choice->high) return &nb6_foreign_options[k];
    }
    return NULL;
}
