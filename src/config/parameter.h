/*
 * The parameter table: every configuration key lives once, in a row. Rows are grouped by variant
 * (one initial condition, one diagnostic, ...) and by group (the braces of the config file). The
 * rows drive parsing, validation, the resolved echo, `orrery info`, orrery.cfg(5) and the
 * spelling suggestions.
 */
#ifndef ORRERY_CONFIG_PARAMETER_H
#define ORRERY_CONFIG_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/dimension.h"

struct section; /* config/config.h */
struct error;   /* base/status.h */

#ifdef __cplusplus
extern "C" {
#endif

enum parameter_type {
    PARAMETER_FLAG,    /* true or false */
    PARAMETER_INTEGER, /* 64 bits; 1.9 is refused, 1e6 is accepted when it is whole */
    PARAMETER_REAL,    /* finite; an integer is accepted */
    PARAMETER_STRING,
    PARAMETER_CHOICE, /* one of `choices` */
    PARAMETER_PATH,   /* a file; relative to the config file it stands in, resolved on reading */
    PARAMETER_REALS,  /* an array or list of reals */
    PARAMETER_VALUES  /* an array or list of scalars of any type (sweep.values) */
};

/* Bounds for `minimum` and `maximum`; both are inclusive unless `open` says otherwise. */
enum parameter_open { OPEN_NONE = 0, OPEN_MINIMUM = 1, OPEN_MAXIMUM = 2 };

struct parameter {
    const char *key; /* within its group: "step" of time.step */
    enum parameter_type type;
    const char *standard; /* the default, in config syntax; NULL: must be given; "": may be unset */
    double minimum, maximum;    /* of an INTEGER, a REAL, each of REALS; both 0: any finite value;
                                   maximum < minimum or INFINITY: no upper bound */
    unsigned open;              /* enum parameter_open, or-ed */
    size_t length;              /* of REALS: exactly so many; 0: any number of them */
    const char *const *choices; /* NULL-terminated */
    const char *const *choice_help; /* a sentence for each of `choices`; NULL: `help` says it all */
    struct dimension dimension;
    const char *help; /* one sentence; says what it means, not its type or range */
};

/* One member of a table (an initial condition, an integrator, a backend, a diagnostic, ...). */
struct variant {
    const char *name; /* as the config file spells it */
    const char *help; /* one sentence */
    /* Its own keys, beside those that its group shares; one with the key of a shared row replaces
     * that row here (another default, say). */
    const struct parameter *parameters;
    size_t parameter_count;
};

/* A brace of the config file: `time = { ... };`, or a list of them: `outputs = ( { ... } );`. */
struct group {
    const char *name; /* "" for the keys at the top level */
    const char *help;
    bool list;
    const struct parameter *parameters; /* shared by all variants */
    size_t parameter_count;
    const char *variant_key; /* the key that chooses the variant ("initial", "type"), or NULL */
    const char *variant_standard; /* its default; NULL: must be given */
    const char *variant_help;
    const struct variant *(*variant)(size_t index); /* NULL past the last one */
    /* What no single row can see (a box without a length): reports with section_error(), once the
     * values of the section are all good. Or NULL. */
    void (*check)(const struct section *section, struct error *error);
};

struct schema {
    const struct group *groups;
    size_t group_count;
};

#ifdef __cplusplus
}
#endif

#endif
