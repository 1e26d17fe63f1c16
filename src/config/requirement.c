#include "config/parameter-reference.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* A bound beyond this is near the end of the range of 64-bit integers, and stands for no bound. */
#define NO_BOUND 9e18

static bool bounded(const struct parameter *p)
{
    return p->minimum != 0.0 || p->maximum != 0.0 || p->open;
}

static bool bounded_below(const struct parameter *p)
{
    return bounded(p) && p->minimum > -NO_BOUND;
}

static bool bounded_above(const struct parameter *p)
{
    const bool absent = p->minimum == 0.0 && p->maximum == 0.0 && !(p->open & OPEN_MAXIMUM);
    return bounded(p) && !absent && p->maximum >= p->minimum && p->maximum < NO_BOUND;
}

bool requirement_holds(const struct parameter *p, double value)
{
    if (!isfinite(value))
        return false;
    if (bounded_below(p) && (p->open & OPEN_MINIMUM ? value <= p->minimum : value < p->minimum))
        return false;
    if (bounded_above(p) && (p->open & OPEN_MAXIMUM ? value >= p->maximum : value > p->maximum))
        return false;
    return true;
}

void requirement_range(const struct parameter *p, struct text *text)
{
    const bool below = bounded_below(p), above = bounded_above(p);
    if (below)
        text_print(text, "%s %.15g", p->open & OPEN_MINIMUM ? "greater than" : "at least",
                   p->minimum);
    if (above)
        text_print(text, "%s%s %.15g", below ? " and " : "",
                   p->open & OPEN_MAXIMUM ? "less than" : "at most", p->maximum);
}

static const char *const kinds[] = {
    [PARAMETER_FLAG] = "true or false",
    [PARAMETER_INTEGER] = "a whole number",
    [PARAMETER_REAL] = "a number",
    [PARAMETER_STRING] = "a string in quotation marks",
    [PARAMETER_PATH] = "the name of a file in quotation marks",
    [PARAMETER_PATHS] = "a list of names of files in quotation marks",
    [PARAMETER_REALS] = "a list of numbers",
    [PARAMETER_VALUES] = "a list of values",
};

void requirement_print(const struct parameter *p, struct text *text)
{
    if (p->type == PARAMETER_CHOICE) {
        text_print(text, "one of ");
        text_names(text, p->choices);
        return;
    }
    if (p->type == PARAMETER_REALS && p->length)
        text_print(text, "a list of %zu numbers", p->length);
    else
        text_print(text, "%s", kinds[p->type]);
    if (p->type == PARAMETER_INTEGER || p->type == PARAMETER_REAL || p->type == PARAMETER_REALS) {
        struct text range = { 0 };
        requirement_range(p, &range);
        if (range.length)
            text_print(text, "%s%s", p->type == PARAMETER_REALS ? ", each " : " ", range.bytes);
        text_free(&range);
    }
}

/* --- values as people write them who come from other languages -------------------------------- */

enum { SLIP_SIZE = 120 }; /* bytes, with the NUL; a longer value is never taken for a slip */

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

/* Reads a finite decimal number and moves *p behind it; returns false for any other text, also for
 * hexadecimal numbers and infinities. */
static bool take_number(const char **p, double *value)
{
    const char *start = *p + (**p == '+' || **p == '-');
    char *end;
    if (!isdigit((unsigned char)*start) && !(*start == '.' && isdigit((unsigned char)start[1])))
        return false;
    if (*start == '0' && (start[1] == 'x' || start[1] == 'X'))
        return false;
    *value = strtod(*p, &end);
    *p = end;
    return isfinite(*value);
}

static bool is_number(const char *bytes)
{
    double value;
    return take_number(&bytes, &value) && *bytes == '\0';
}

/* --- sums and products ------------------------------------------------------------------------ */

struct formula {
    const char *next;
    int depth, operators;
};

static bool take_sum(struct formula *formula, double *value);

static bool starts_with_pi(const char *bytes)
{
    return strncmp(bytes, "pi", 2) == 0 || strncmp(bytes, "\u03c0", 2) == 0;
}

static bool take_factor(struct formula *f, double *value)
{
    enum { DEEPEST = 16 };
    const double sign = *(f->next = skip_blanks(f->next)) == '-' ? -1.0 : 1.0;
    f->next = skip_blanks(f->next + (*f->next == '-' || *f->next == '+'));
    if (*f->next == '(') {
        f->next++;
        if (f->depth++ == DEEPEST || !take_sum(f, value) || *f->next++ != ')')
            return false;
        f->depth--;
        f->operators++;
    } else if (starts_with_pi(f->next)) {
        f->next += 2;
        f->operators++;
        *value = 3.14159265358979323846;
    } else if (*f->next == '-' || *f->next == '+' || !take_number(&f->next, value)) {
        return false;
    }
    f->next = skip_blanks(f->next);
    if (*f->next == '^' || strncmp(f->next, "**", 2) == 0) {
        double power;
        f->next += *f->next == '^' ? 1 : 2;
        f->operators++;
        if (f->depth++ == DEEPEST || !take_factor(f, &power))
            return false;
        f->depth--;
        *value = pow(*value, power);
    }
    *value *= sign;
    return true;
}

static bool take_product(struct formula *f, double *value)
{
    if (!take_factor(f, value))
        return false;
    while (*f->next == '*' || *f->next == '/' || starts_with_pi(f->next)) {
        const char sign = starts_with_pi(f->next) ? '*' : *f->next++; /* 2 pi is a product */
        double factor;
        f->operators++;
        if (!take_factor(f, &factor))
            return false;
        *value = sign == '*' ? *value * factor : *value / factor;
    }
    return true;
}

static bool take_sum(struct formula *f, double *value)
{
    if (!take_product(f, value))
        return false;
    while (*f->next == '+' || *f->next == '-') {
        const double sign = *f->next++ == '-' ? -1.0 : 1.0;
        double term;
        f->operators++;
        if (!take_product(f, &term))
            return false;
        *value += sign * term;
    }
    return true;
}

static bool take_all(const char *text, double *value, int *operators)
{
    struct formula formula = { .next = text };
    const bool whole = take_sum(&formula, value) && *formula.next == '\0' && isfinite(*value);
    *operators = formula.operators;
    return whole;
}

bool requirement_work_out(const char *text, double *value)
{
    int operators;
    return take_all(text, value, &operators);
}

/* --- the slips -------------------------------------------------------------------------------- */

/* Finds quotation marks other than straight double ones, as in 'rk4'. Like each of the functions
 * for slips, it returns whether `raw` is such a slip and, unless `reason` is NULL, appends to it
 * how the value must be written. */
static bool quotes(const char *raw, struct text *reason)
{
    static const char *const marks[] = { "'",      "`",      "\u2018", "\u2019", "\u201a", "\u201c",
                                         "\u201d", "\u201e", "\u00ab", "\u00bb", "\u00b4" };
    const char *start = raw, *end = raw + strlen(raw);
    for (size_t i = 0; i < COUNT_OF(marks) && start == raw; i++)
        if (strncmp(raw, marks[i], strlen(marks[i])) == 0)
            start += strlen(marks[i]);
    if (start == raw)
        return false;
    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        const size_t length = strlen(marks[i]);
        if ((size_t)(end - start) >= length && strncmp(end - length, marks[i], length) == 0) {
            end -= length;
            break;
        }
    }
    if (reason)
        text_print(reason, "strings have straight double quotation marks: write \"%.*s\"",
                   (int)(end - start), start);
    return true;
}

static bool decimal_comma(const char *raw, struct text *reason)
{
    char point[SLIP_SIZE];
    const char *comma = strchr(raw, ',');
    if (!comma || strchr(comma + 1, ',') || strchr(raw, '.') || comma == raw)
        return false;
    strcpy(point, raw);
    point[comma - raw] = '.';
    if (!isdigit((unsigned char)comma[-1]) || !isdigit((unsigned char)comma[1]) ||
        !is_number(point))
        return false;
    const bool thousands = strlen(comma) == 4 && raw[0] != '0' && comma - raw <= 3;
    if (reason)
        text_print(reason, "the decimal sign is a point: write %s", point);
    if (reason && thousands)
        text_print(reason, ", or %.*s%s for thousands", (int)(comma - raw), raw, comma + 1);
    return true;
}

/* Finds numbers whose thousands are separated: 1,000,000.0 and 1_000. */
static bool thousands(const char *raw, struct text *reason)
{
    char plain[SLIP_SIZE];
    size_t length = 0;
    for (const char *p = raw; *p; p++)
        if (*p != ',' && *p != '_')
            plain[length++] = *p;
    plain[length] = '\0';
    if (!isdigit((unsigned char)raw[0]) || length == strlen(raw) || !is_number(plain))
        return false;
    if (reason)
        text_print(reason, "no sign separates thousands: write %s", plain);
    return true;
}

/* Finds numbers with the exponents or suffixes of other languages: 1d-3 of Fortran, 1e-3f of C. */
static bool exponent(const char *raw, struct text *reason)
{
    char plain[SLIP_SIZE];
    strcpy(plain, raw);
    char *letter = strpbrk(plain, "dDfF");
    if (!letter || !isdigit((unsigned char)raw[0]))
        return false;
    *letter = *letter == 'd' || *letter == 'D' ? 'e' : '\0';
    if ((*letter == '\0' && raw[letter - plain + 1] != '\0') || !is_number(plain))
        return false;
    if (reason)
        text_print(reason, "an exponent is written with e, and no letter ends a number: write %s",
                   plain);
    return true;
}

static bool percentage(const char *raw, struct text *reason)
{
    double value;
    char plain[TEXT_REAL_SIZE];
    if (!take_number(&raw, &value) || strcmp(skip_blanks(raw), "%") != 0)
        return false;
    if (reason)
        text_print(reason, "there is no percent sign: write %s", text_real(plain, value / 100.0));
    return true;
}

static bool arithmetic(const char *raw, struct text *reason)
{
    double value;
    char plain[TEXT_REAL_SIZE];
    int power, operators, read = 0;
    if (!take_all(raw, &value, &operators) || operators == 0)
        return false;
    const bool of_ten = (sscanf(raw, "10^%d%n", &power, &read) == 1 && !raw[read]) ||
                        (sscanf(raw, "10**%d%n", &power, &read) == 1 && !raw[read]);
    if (reason && of_ten)
        text_print(reason, "a power of ten is written with e: write 1e%d", power);
    else if (reason)
        text_print(reason, "the program does no arithmetic here: write %s",
                   text_real(plain, value));
    return true;
}

/* Finds numbers with a unit behind them: 0.005 yr. */
static bool with_unit(const char *raw, struct text *reason)
{
    const char *p = raw;
    double value;
    if (!take_number(&p, &value))
        return false;
    p = skip_blanks(p);
    if ((!isalpha((unsigned char)*p) && (unsigned char)*p < 0x80) || strcasecmp(p, "e") == 0)
        return false; /* no unit: nothing follows, or a sign, or half of an exponent */
    for (const char *q = p; *q; q++)
        if (!isalnum((unsigned char)*q) && !strchr("/^*_-. ", *q) && (unsigned char)*q < 0x80)
            return false;
    if (reason)
        text_print(reason,
                   "convert %s to the unit that physics.units has for it, and write the number "
                   "alone",
                   raw);
    return true;
}

static bool (*const slips[])(const char *raw, struct text *reason) = { decimal_comma, thousands,
                                                                       exponent,      percentage,
                                                                       arithmetic,    with_unit };

bool slip_print(const char *raw, bool is_text, struct text *reason)
{
    if (strlen(raw) >= SLIP_SIZE)
        return false;
    if (quotes(raw, reason))
        return true;
    for (size_t i = 0; i < COUNT_OF(slips) && !is_text; i++)
        if (slips[i](raw, reason))
            return true;
    return false;
}

size_t slip_length(const char *text)
{
    char raw[SLIP_SIZE];
    size_t length = 0;
    while (length < SLIP_SIZE && text[length] && !strchr(";{}=:\"\r\n#", text[length]) &&
           strncmp(text + length, "//", 2) != 0)
        length++;
    /* An equals sign shows that the next key follows: the semicolon before it is missing. */
    if (text[length] == '=' || text[length] == ':')
        return 0;
    while (length > 0 && strchr(" \t", text[length - 1]))
        length--;
    if (length == 0 || length >= SLIP_SIZE)
        return 0;
    memcpy(raw, text, length);
    raw[length] = '\0';
    return slip_print(raw, false, NULL) ? length : 0;
}
