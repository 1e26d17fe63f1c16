#include "config/parameter-reference.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "config/section.h"

/* --- words ------------------------------------------------------------------------------------ */

static const struct {
    struct dimension dimension;
    const char *name;
} dimensions[] = {
    { DIMENSION_MASS, "mass" },
    { DIMENSION_LENGTH, "length" },
    { DIMENSION_TIME, "time" },
    { DIMENSION_VELOCITY, "velocity" },
    { DIMENSION_ACCELERATION, "acceleration" },
    { DIMENSION_ENERGY, "energy" },
    { DIMENSION_POTENTIAL, "energy/mass" },
    { DIMENSION_MOMENTUM, "momentum" },
    { DIMENSION_ANGULAR_MOMENTUM, "angular momentum" },
    { DIMENSION_DENSITY, "mass/volume" },
    { DIMENSION_SURFACE_DENSITY, "mass/area" },
    { DIMENSION_NUMBER_DENSITY, "number/volume" },
};

/* Appends a physical dimension in words, "length" or "mass length^2 time^-1"; nothing for a pure
 * number. */
static void print_dimension(struct dimension d, struct text *text)
{
    for (size_t i = 0; i < COUNT_OF(dimensions); i++)
        if (memcmp(&dimensions[i].dimension, &d, sizeof d) == 0) {
            text_print(text, "%s", dimensions[i].name);
            return;
        }
    const struct {
        const char *name;
        int power;
    } factors[] = { { "mass", d.mass }, { "length", d.length }, { "time", d.time } };
    bool first = true;
    for (size_t i = 0; i < COUNT_OF(factors); i++) {
        if (factors[i].power == 0)
            continue;
        text_print(text, "%s%s", first ? "" : " ", factors[i].name);
        if (factors[i].power != 1)
            text_print(text, "^%d", factors[i].power);
        first = false;
    }
}

/* Appends the default of a key in config syntax, strings in quotation marks; nothing if it has
 * none. */
static void print_default(const struct parameter *parameter, struct text *text)
{
    struct value value = { .parameter = parameter };
    value_default(&value);
    value_print(&value, text);
}

static void print_status(const struct parameter *parameter, struct text *text)
{
    static const char *const words[] = { [PARAMETER_REQUIRED] = "required",
                                         [PARAMETER_UNSET] = "optional",
                                         [PARAMETER_SET] = "default " };
    text_print(text, "%s", words[parameter->default_value.presence]);
    for (size_t k = 0; k < COUNT_OF(parameter->instead) && parameter->instead[k]; k++)
        text_print(text, ", or %s", parameter->instead[k]);
    print_default(parameter, text);
}

static void print_wanted(const struct parameter *parameter, struct text *text)
{
    requirement_print(parameter, text);
    const struct dimension d = parameter->dimension;
    if (d.mass || d.length || d.time) {
        text_print(text, "; ");
        print_dimension(d, text);
    }
}

/* Appends what a key requires: "a number at least 0; length; default 0.05", with "required" or
 * "optional" at the end if there is no default. */
static void print_requirement(const struct parameter *parameter, struct text *text)
{
    print_wanted(parameter, text);
    text_print(text, "; ");
    print_status(parameter, text);
}

static const char *or_empty(const struct text *text)
{
    return text->bytes ? text->bytes : "";
}

/* --- plain text ------------------------------------------------------------------------------- */

enum { MAX_COLUMN = 32 };

void reference_item(const char *indent, const char *name, size_t column, const char *help,
                    struct text *text)
{
    char prefix[MAX_COLUMN + 1];
    column = column < MAX_COLUMN ? column : MAX_COLUMN;
    memset(prefix, ' ', column);
    prefix[column] = '\0';
    const size_t used = strlen(indent) + strlen(name);
    text_print(text, "%s%s", indent, name);
    if (used + 1 > column)
        text_print(text, "\n%s", prefix);
    else
        text_print(text, "%s", prefix + used);
    text_wrap(text, prefix, REFERENCE_WIDTH, help);
    text_print(text, "\n");
}

static void print_choices(const char *indent, const struct parameter *parameter, size_t column,
                          struct text *text)
{
    for (size_t i = 0; parameter->choice_help && parameter->choices[i]; i++)
        reference_item(indent, parameter->choices[i], column, parameter->choice_help[i], text);
}

static void print_row(const struct parameter *parameter, struct text *text)
{
    struct text wanted = { 0 };
    print_requirement(parameter, &wanted);
    reference_item("  ", parameter->key, 18, or_empty(&wanted), text);
    reference_item("", "", 18, parameter->help, text);
    print_choices("                    ", parameter, 32, text);
    text_free(&wanted);
}

/* Tells whether the variant has a row of its own for the key of `shared`, a row of its group, which
 * it then replaces. */
static bool replaced(const struct variant *variant, const struct parameter *shared)
{
    return variant && variant->parameter_count > 0 &&
           suggest_find(variant->parameters, variant->parameter_count, shared->key);
}

static void print_shared(const struct group *group, const struct variant *variant,
                         struct text *text)
{
    for (size_t i = 0; i < group->parameter_count; i++)
        if (!replaced(variant, &group->parameters[i]))
            print_row(&group->parameters[i], text);
}

static void print_heading(const char *indent, const char *help, struct text *text)
{
    text_print(text, "%s", indent);
    text_wrap(text, indent, REFERENCE_WIDTH, help);
    text_print(text, "\n");
}

void reference_variant(const struct group *group, const struct variant *variant, struct text *text)
{
    text_print(text,
               group->list ? "%s = ( { %s = \"%s\"; ... } );\n" : "%s = { %s = \"%s\"; ... };\n",
               group->name, group->variant_key, variant->name);
    print_heading("  ", variant->help, text);
    if (variant->parameter_count + group->parameter_count)
        text_print(text, "\n");
    for (size_t i = 0; i < variant->parameter_count; i++)
        print_row(&variant->parameters[i], text);
    print_shared(group, variant, text);
}

void reference_group(const struct group *group, struct text *text)
{
    if (*group->name)
        text_print(text, group->list ? "%s = ( { ... }, { ... } );\n" : "%s = { ... };\n",
                   group->name);
    if (group->help)
        print_heading("  ", group->help, text);
    text_print(text, "\n");
    struct variant_row room;
    if (group->variant_key)
        print_row(section_variant_row(group, &room), text);
    print_shared(group, NULL, text);
}

/* Tells whether `name` is the key or the path ("step", "time.step") of a row; if so, appends path,
 * help and requirement of the row, and the variant it belongs to: "bodies.count  (initial =
 * "plummer")". */
static bool print_if_named(const struct group *group, const struct variant *variant,
                           const struct parameter *parameter, const char *name, bool more,
                           struct text *text)
{
    const size_t length = strlen(group->name);
    const bool of_group = length && strncmp(name, group->name, length) == 0 && name[length] == '.';
    if (strcmp(of_group ? name + length + 1 : name, parameter->key) != 0)
        return false;
    text_print(text, "%s%s%s%s", more ? "\n" : "", group->name, length ? "." : "", parameter->key);
    if (variant)
        text_print(text, "  (%s = \"%s\")", group->variant_key, variant->name);
    text_print(text, "\n");
    struct text wanted = { 0 };
    print_requirement(parameter, &wanted);
    print_heading("  ", parameter->help, text);
    print_heading("  ", or_empty(&wanted), text);
    print_choices("    ", parameter, 18, text);
    text_free(&wanted);
    return true;
}

/* Appends the choice `name` of a key, if the key has it and explains it. Returns true in this case,
 * otherwise `more`. */
static bool print_if_chosen(const struct group *group, const struct parameter *parameter,
                            const char *name, bool more, struct text *text)
{
    for (size_t c = 0; parameter->choice_help && parameter->choices[c]; c++) {
        if (strcmp(parameter->choices[c], name) != 0)
            continue;
        text_print(text, "%s%s = { %s = \"%s\"; ... };\n", more ? "\n" : "", group->name,
                   parameter->key, name);
        print_heading("  ", parameter->choice_help[c], text);
        more = true;
    }
    return more;
}

/* Tells whether a parameter before number k of variant v of the group has the same explained
 * choices, which are then printed already. */
static bool has_explained(const struct group *group, size_t v, size_t k)
{
    const char *const *const help = group->variant(v)->parameters[k].choice_help;
    for (size_t u = 0; u <= v; u++)
        for (size_t i = 0; i < (u < v ? group->variant(u)->parameter_count : k); i++)
            if (group->variant(u)->parameters[i].choice_help == help)
                return true;
    return false;
}

bool reference_choice(const struct schema *schema, const char *name, bool more, struct text *text)
{
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        for (size_t k = 0; k < group->parameter_count; k++)
            more = print_if_chosen(group, &group->parameters[k], name, more, text);
        for (size_t v = 0; group_described(group, v); v++)
            for (size_t k = 0; k < group->variant(v)->parameter_count; k++)
                if (!has_explained(group, v, k))
                    more =
                        print_if_chosen(group, &group->variant(v)->parameters[k], name, more, text);
    }
    return more;
}

bool reference_key(const struct schema *schema, const char *name, bool more, struct text *text)
{
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        struct variant_row room;
        if (group->variant_key)
            more |=
                print_if_named(group, NULL, section_variant_row(group, &room), name, more, text);
        for (size_t k = 0; k < group->parameter_count; k++)
            more |= print_if_named(group, NULL, &group->parameters[k], name, more, text);
        for (size_t v = 0; group_described(group, v); v++)
            for (size_t k = 0; k < group->variant(v)->parameter_count; k++)
                more |= print_if_named(group, group->variant(v), &group->variant(v)->parameters[k],
                                       name, more, text);
    }
    return more;
}

/* --- defaults.cfg ----------------------------------------------------------------------------- */

/* Appends the lines of a key in a config file of comments: "# help", "# [a number at least 0;
 * length]", "#softening = 0.0;". */
static void print_commented_row(const char *indent, const struct parameter *parameter,
                                struct text *text)
{
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%s# ", indent);
    print_heading(prefix, parameter->help, text);
    for (size_t i = 0; parameter->choice_help && parameter->choices[i]; i++) {
        struct text choice = { 0 };
        text_print(&choice, "%s: %s", parameter->choices[i], parameter->choice_help[i]);
        print_heading(prefix, or_empty(&choice), text);
        text_free(&choice);
    }
    struct text wanted = { 0 };
    const enum parameter_presence presence = parameter->default_value.presence;
    text_print(&wanted, "[");
    print_wanted(parameter, &wanted);
    text_print(&wanted, "%s]",
               presence == PARAMETER_SET     ? ""
               : presence == PARAMETER_UNSET ? "; optional"
                                             : "; required");
    print_heading(prefix, or_empty(&wanted), text);
    text_free(&wanted);
    text_print(text, "%s#%s = ", indent, parameter->key);
    print_default(parameter, text);
    if (presence != PARAMETER_SET)
        text_print(text, "...");
    text_print(text, ";\n");
}

/* Appends keys as comments, with an empty line between them; `above` says that text stands above,
 * which an empty line separates too. */
static void print_commented_rows(const char *indent, const struct parameter *parameters,
                                 size_t count, bool above, struct text *text)
{
    for (size_t i = 0; i < count; i++) {
        text_print(text, above || i ? "\n" : "");
        print_commented_row(indent, &parameters[i], text);
    }
}

static void print_commented_variant(const char *indent, const struct group *group,
                                    const struct variant *variant, struct text *text)
{
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%s# ", indent);
    text_print(text, "\n%s# ---- ", indent);
    text_wrap(text, prefix, REFERENCE_WIDTH, variant->help);
    text_print(text, "\n%s#%s = \"%s\";\n", indent, group->variant_key, variant->name);
    print_commented_rows(indent, variant->parameters, variant->parameter_count, true, text);
}

static void print_commented_group(const struct group *group, struct text *text)
{
    text_print(text, "\n# ");
    text_wrap(text, "# ", REFERENCE_WIDTH, group->help);
    text_print(text, "\n%s = %s\n", group->name, group->list ? "(" : "{");
    if (group->list)
        text_print(text, "  #{\n");
    const char *indent = group->list ? "    " : "  ";
    struct variant_row room;
    if (group->variant_key)
        print_commented_row(indent, section_variant_row(group, &room), text);
    print_commented_rows(indent, group->parameters, group->parameter_count, group->variant_key,
                         text);
    for (size_t i = 0; group_described(group, i); i++)
        print_commented_variant(indent, group, group->variant(i), text);
    if (group->list)
        text_print(text, "  #}\n");
    text_print(text, group->list ? ");\n" : "};\n");
}

static const char defaults_start[] =
    "# Every key of a config file. Written by `orrery info --defaults`.\n"
    "#\n"
    "# Lines with a blank after the # explain. Lines without one are settings at\n"
    "# their defaults: take the # away and change them; ... stands for no\n"
    "# default. Dashes start the keys of one variant: they apply only if it is\n"
    "# chosen. A key that stands there once more has another default there.\n";

void reference_defaults(const struct schema *schema, struct text *text)
{
    text_print(text, "%s", defaults_start);
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        if (*group->name)
            print_commented_group(group, text);
        else
            print_commented_rows("", group->parameters, group->parameter_count, true, text);
    }
}

/* --- orrery.cfg(5) ---------------------------------------------------------------------------- */

/* Appends `words` for roff, the language of man pages, and escapes what roff would take for
 * commands: backslashes, dashes, and dots and quotes at the start of a line. */
static void print_roff(const char *words, struct text *text)
{
    struct text lines = { 0 };
    text_wrap(&lines, "", REFERENCE_WIDTH - 4, words);
    bool start = true;
    for (const char *p = or_empty(&lines); *p; p++) {
        if (start && (*p == '.' || *p == '\''))
            text_print(text, "\\&");
        if (*p == '\\')
            text_print(text, "\\e");
        else if (*p == '-')
            text_print(text, "\\-");
        else
            text_append(text, p, 1);
        start = *p == '\n';
    }
    text_print(text, "\n");
    text_free(&lines);
}

static void print_manual_rows(const struct parameter *parameters, size_t count, struct text *text)
{
    for (size_t i = 0; i < count; i++) {
        struct text wanted = { 0 };
        print_requirement(&parameters[i], &wanted);
        text_print(text, ".TP\n.B ");
        print_roff(parameters[i].key, text);
        print_roff(parameters[i].help, text);
        text_print(text, ".br\n");
        print_roff(or_empty(&wanted), text);
        for (size_t c = 0; parameters[i].choice_help && parameters[i].choices[c]; c++) {
            text_print(text, ".br\n.I ");
            print_roff(parameters[i].choices[c], text);
            print_roff(parameters[i].choice_help[c], text);
        }
        text_free(&wanted);
    }
}

static void print_manual_group(const struct group *group, struct text *text)
{
    text_print(text, ".SH ");
    for (const char *p = *group->name ? group->name : "top level"; *p; p++)
        text_print(text, "%c", toupper((unsigned char)*p));
    text_print(text, "\n");
    if (group->help)
        print_roff(group->help, text);
    struct variant_row room;
    if (group->variant_key)
        print_manual_rows(section_variant_row(group, &room), 1, text);
    print_manual_rows(group->parameters, group->parameter_count, text);
    for (size_t i = 0; group_described(group, i); i++) {
        const struct variant *variant = group->variant(i);
        text_print(text, ".SS %s = \\(dq%s\\(dq\n", group->variant_key, variant->name);
        print_roff(variant->help, text);
        print_manual_rows(variant->parameters, variant->parameter_count, text);
    }
}

static const char manual_start[] =
    ".SH NAME\n"
    "orrery.cfg \\- configuration of a gravitational N\\-body experiment\n"
    ".SH DESCRIPTION\n"
    "A config file describes one experiment for\n"
    ".BR orrery (1).\n"
    "Its language is that of libconfig: settings \\(lqkey = value;\\(rq, groups in\n"
    "braces, lists in parentheses, arrays in brackets, strings in quotation marks,\n"
    "and comments after # or //.\n"
    ".PP\n"
    "A line \\(lq@include \\(dqfile\\(dq\\(rq stands for the content of that file, which\n"
    "is looked for beside the including file, in the directory\n"
    ".BR $ORRERY_DATA ,\n"
    "and among the installed presets.\n"
    ".PP\n"
    "On the command line,\n"
    ".BI \\-P\\  path = value\n"
    "sets a key after the file is read: time.step=0.01, outputs.0.every=5.\n"
    "There, strings need no quotation marks.\n"
    ".PP\n"
    "Unknown keys, keys that do not apply to what was chosen, and values of the wrong\n"
    "type or out of range are errors. All of them are reported at once, and nothing\n"
    "is computed.\n"
    ".PP\n"
    "The names of files are relative to the file that holds them.\n"
    ".PP\n"
    "A key is required, optional (then it may be left unset), or has a default.\n";

void reference_manual(const struct schema *schema, struct text *text)
{
    text_print(text, ".\\\" Written by `orrery info --man`.\n.TH ORRERY.CFG 5 \"\" Orrery\n");
    text_print(text, "%s", manual_start);
    for (size_t i = 0; i < schema->group_count; i++)
        print_manual_group(&schema->groups[i], text);
    text_print(text, ".SH SEE ALSO\n.BR orrery (1)\n");
}
