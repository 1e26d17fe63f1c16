#include "config/requirement.h"

#include <math.h>

/* Bounds of the whole range of a type mean no bound at all. */
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
