#include "nbody6/input/positional/help.h"

#include "nbody6/input/input_table.h"
#include "nbody6/input/positional/table.h"

#include <stdio.h>
#include <string.h>

enum { UNLIMITED = 1000000 };

/* "KZ(8) > 0, not 2"; "always" */
static void print_conditions(FILE *out, const struct nb6_record *record)
{
    if (!record->when[0].option) fprintf(out, "always");
    for (int k = 0; k < NB6_CONDITIONS && record->when[k].option; k++) {
        const struct nb6_condition *c = &record->when[k];
        fprintf(out, "%sKZ(%d) ", k ? " and " : "", c->option);
        if (c->low <= -UNLIMITED)
            fprintf(out, "< %d", c->high + 1);
        else if (c->high >= UNLIMITED)
            fprintf(out, "> %d", c->low - 1);
        else if (c->low == c->high)
            fprintf(out, "= %d", c->low);
        else
            fprintf(out, "= %d to %d", c->low, c->high);
        if (c->except) fprintf(out, ", not %d", c->except);
    }
    if (record->lines_option)
        fprintf(out, record->lines_less ? "; KZ(%d) - %d records" : "; KZ(%d) records", record->lines_option,
                record->lines_less);
}

/* "1 `KSTART`, 2 `TCOMP`" */
static void print_fields(FILE *out, const struct nb6_record *record, const char *quote)
{
    struct nb6_record_field field;
    int position = 1;
    for (int i = 0; nb6_record_field(record, i, &field); i++, position += field.count) {
        fprintf(out, "%s%d", i ? ", " : "", position);
        if (field.count > 1) fprintf(out, " to %d", position + field.count - 1);
        fprintf(out, " %s%s%s", quote, field.name, quote);
        if (field.group[0] && strcmp(field.group, record->group) != 0) fprintf(out, " of &%s", field.group);
        if (field.optional) fprintf(out, " or nothing");
        if (!field.group[0] && record->group[0]) fprintf(out, " (no variable here)");
    }
}

static const char *code_name(int codes)
{
    return codes == NB6_CODE_BOTH ? "both" : codes == NB6_CODE_NBODY6 ? "NBODY6" : "NBODY6++";
}

static void print_records(FILE *out, int markdown)
{
    fprintf(out, markdown ? "| code | read if | group | values, in this order |\n|---|---|---|---|\n" : "\n");
    for (int k = 0; k < nb6_record_count; k++) {
        const struct nb6_record *record = &nb6_records[k];
        const char *group = record->group[0] ? record->group : "not used";
        fprintf(out, markdown ? "| %s | " : "  %-9s", code_name(record->codes));
        print_conditions(out, record);
        fprintf(out, markdown ? " | %s%s | " : ": %s%s: ", record->group[0] ? "&" : "", group);
        print_fields(out, record, markdown ? "`" : "");
        fprintf(out, markdown ? " |\n" : "\n");
    }
}

static void print_restart_records(FILE *out, int markdown)
{
    static const char *const starts[2] = {"KSTART = 3, 5", "KSTART = 4, 5"};
    fprintf(out, markdown ? "| read if | values, in this order |\n|---|---|\n" : "\n");
    for (int k = 0; k < 2; k++) {
        fprintf(out, markdown ? "| %s | " : "  %s: ", starts[k]);
        print_fields(out, &nb6_restart_records[k], markdown ? "`" : "");
        fprintf(out, markdown ? " |\n" : "\n");
    }
}

static void print_options(FILE *out, int markdown)
{
    fprintf(out, markdown ? "| KZ | value in NBODY6 | meaning in NBODY6 | here |\n|---|---|---|---|\n" : "\n");
    for (int k = 0; k < nb6_foreign_option_count; k++) {
        const struct nb6_input_choice *choice = &nb6_foreign_options[k].choice;
        char values[32], here[32];
        nb6_input_describe_choice(choice, values, sizeof values);
        snprintf(here, sizeof here, "%d", nb6_foreign_options[k].becomes);
        fprintf(out, markdown ? "| %d | %s | %s | %s |\n" : "  KZ(%d)  %-8s %s; here: %s\n", choice->number, values,
                choice->meaning,
                choice->status == NB6_MISSING           ? "refused"
                : choice->status == NB6_MISSING_STELLAR ? "refused; `--dynamics-only` turns it off"
                                                        : here);
    }
}

static const char introduction[] =
    "A file whose first word is a number is an input of NBODY6, or of NBODY6++ before it had namelists: records of "
    "bare\n"
    "numbers, whose place says what they are. NBODY6++ has five or six numbers in the first line, NBODY6 fewer. "
    "Values\n"
    "are read as Fortran reads them: a record takes as many lines as it needs, the rest of its last line is ignored,\n"
    "`5*0` is five zeros, nothing between two commas keeps the default (of an option: 0), `/` ends a record, `1.0D-3` "
    "is\n"
    "a number. Beyond Fortran, `!` begins a comment. Text after the last record is ignored. Stars of X.input are "
    "read\n"
    "from X.dat.10, X.fort.10, X.input.dat.10 or X.input.fort.10 beside it, as McLuster writes them, if there is such "
    "a\n"
    "file. `nbody6 --to-namelist FILE` writes the namelist that says the same.\n";

static const char translations[] =
    "Also in files of NBODY6: `TCOMP` is in minutes; the fifth number of the second record is `NNBMAX`, the longest "
    "list,\n"
    "from which KZ(40) makes `NNBOPT`; KZ(8) = 4 sets KZ(42) = 4; with KZ(22) = 4 and -1 the first 2 NBIN0 stars are\n"
    "pairs (KZ(8) = 2); N counts stars, not systems, of binaries with RATIO = 1 and KZ(20) < 2; KZ(22) = 2 with a "
    "mass\n"
    "function (KZ(20) > 0) is KZ(22) = 9; masses are equal (KZ(20) = 0) where ALPHAS = 1 or BODY1 = BODYN; `ICIRC` is\n"
    "KZ(41); the data file is `fort.10`; with KZ(20) = 6 and 7 masses lie between 0.01 and 100 Msun. In both codes "
    "RBAR = 0,\n"
    "ZMBAR = 0 and NRAND = 0 stand for 1, and KZ(20) = 3 and 5 are KZ(20) = -3 and -5. The program reports each\n"
    "translation when it reads the file.\n";

void nb6_positional_help(FILE *out, int markdown)
{
    const char *gap = markdown ? "\n" : "";
    if (markdown) fprintf(out, "\n## Positional input of NBODY6 and older NBODY6++\n\n");
    fprintf(out, "%s%s", introduction, gap);
    print_records(out, markdown);
    fprintf(out,
            "\nWith KSTART = 2 to 5 a run continues, and only these follow the first record; values that are not\n"
            "above 0 change nothing, TADJ and TNEXT have to be 0:\n%s",
            gap);
    print_restart_records(out, markdown);
    fprintf(out, "\nOptions of NBODY6 that mean something else in NBODY6++ and here:\n%s", gap);
    print_options(out, markdown);
    fprintf(out, "\n%s", translations);
}
