/*
 * The parameter table: every configuration key lives once, in a row. Rows are grouped by variant
 * (one initial condition, one diagnostic, ...) and by group (the braces of the config file). The
 * rows drive parsing, validation, the resolved echo, `orrery info`, orrery.cfg(5) and the
 * spelling suggestions.
 */
#ifndef ORRERY_CONFIG_PARAMETER_H
#define ORRERY_CONFIG_PARAMETER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dimension.h"

struct section; /* config/configuration.h */
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
    PARAMETER_PATHS, /* an array or list of files, or one of them; patterns of glob(7) stand for the
                        files that there are on reading */
    PARAMETER_REALS, /* an array or list of reals */
    PARAMETER_VALUES /* an array or list of scalars of any type (sweep.values) */
};

/* The bounds, or-ed in `open`, that do not belong to the range themselves; by default both do. */
enum parameter_open { OPEN_NONE = 0, OPEN_MINIMUM = 1, OPEN_MAXIMUM = 2 };

/* The value of a key. The type of its row tells which member of the union counts. */
struct parameter_value {
    enum parameter_presence {
        PARAMETER_REQUIRED, /* of a default: there is none, the key must be given */
        PARAMETER_UNSET,    /* no value is set, and none is needed */
        PARAMETER_SET
    } presence;
    union {
        bool flag;
        int64_t integer;
        double real;
        const char *string; /* also CHOICE and PATH */
        const double *reals;
        const char *const *values; /* each in config syntax; of PATHS, names of files */
    };
    size_t count; /* number of reals, values or paths; of a CHOICE that was read, its index */
};

/* Defaults to give to macros that make a row, such as INITIAL_COUNT(DEFAULT_NONE). A row that is
 * written out has BY_DEFAULT(REAL, 0.05) or OPTIONAL; without either the key is required. */
/* clang-format off */
#define DEFAULT_NONE { .presence = PARAMETER_REQUIRED }
#define DEFAULT_UNSET { .presence = PARAMETER_UNSET }
#define DEFAULT_FLAG(value) { .presence = PARAMETER_SET, .flag = (value) }
#define DEFAULT_INTEGER(value) { .presence = PARAMETER_SET, .integer = (value) }
#define DEFAULT_REAL(value) { .presence = PARAMETER_SET, .real = (value) }
#define DEFAULT_STRING(value) { .presence = PARAMETER_SET, .string = (value) }
#define DEFAULT_REALS(...)                                                                         \
    { .presence = PARAMETER_SET, .reals = (const double[]){ __VA_ARGS__ },                         \
      .count = sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double) }
/* clang-format on */
#define BY_DEFAULT(type_, ...) .default_value = DEFAULT_##type_(__VA_ARGS__)
#define OPTIONAL .default_value = DEFAULT_UNSET

/* The ranges that a row may give to its values. */
#define BETWEEN(least_, most_) .minimum = (least_), .maximum = (most_)
#define AT_LEAST(least_) BETWEEN(least_, INFINITY)
#define NOT_NEGATIVE AT_LEAST(0)
#define POSITIVE_TO(most_) BETWEEN(0, most_), .open = OPEN_MINIMUM
#define POSITIVE POSITIVE_TO(INFINITY)

/* The member for the value of a key in a struct of the code that reads the section; section_read()
 * fills it. */
struct parameter_member {
    size_t offset, size; /* in bytes; size 0: there is no member */
};

/* The key and the type of a row: `{ KEY(REAL, step), POSITIVE, .help = ... }`. */
#define KEY(type_, name_) .key = #name_, .type = PARAMETER_##type_

/*
 * The key, the type and the member of a row, where key and member have one name: `{ BIND(REAL,
 * struct orbit, eccentricity), .help = ... }`. Members are bool; double; const char *; an integer
 * of 4 or 8 bytes; of a CHOICE an enum, or a const char * for its name; of REALS an array of
 * `length` doubles. A section is read into one struct: either the rows of a variant are bound, or
 * those that its group shares.
 */
#define BIND(type_, struct_, name_)                                                                \
    KEY(type_, name_), .member = { offsetof(struct_, name_), sizeof(((struct_ *)0)->name_) }

struct parameter {
    const char *key; /* within its group: "step" of time.step */
    enum parameter_type type;
    struct parameter_value default_value;
    struct parameter_member member; /* set by BIND() */
    double minimum, maximum;    /* of an INTEGER, a REAL, each of REALS; both 0: any finite value;
                                   maximum < minimum or INFINITY: no upper bound */
    unsigned open;              /* enum parameter_open, or-ed */
    size_t length;              /* of REALS: their exact number; 0: any number of them */
    const char *const *choices; /* NULL-terminated */
    const char *const *choice_help; /* a sentence for each of `choices`; NULL: `help` says it all */
    struct dimension dimension;
    /* Other keys of the section, one of which may be given in the place of this required one, and
     * the words by which an error proposes the first of them. NULL: there are none. */
    const char *instead[2], *instead_help;
    const char *help; /* one sentence: the meaning, not the type or range */
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

/* A group of the config file, `time = { ... };`, or a list of groups, `outputs = ( { ... } );`. */
struct group {
    const char *name; /* "" for the keys at the top level */
    const char *help;
    bool list;
    const struct parameter *parameters; /* shared by all variants */
    size_t parameter_count;
    const char *variant_key;     /* the key that chooses the variant ("initial", "type"), or NULL */
    const char *variant_default; /* NULL: must be given */
    const char *variant_help;
    const struct variant *(*variant)(size_t index); /* NULL past the last one */
    bool variants_elsewhere; /* another group has the same variants, and describes them */
    /* Checks relations that no single row can see (a box without a length), and reports with
     * section_error(). Called only if all values of the section are good. Or NULL. */
    void (*check)(const struct section *section, struct error *error);
    /* Bytes for what `check` makes of the section, kept as long as the config: see
     * section_kept(). */
    size_t kept_size;
};

/* Returns variant number `index` of those that the reference describes with this group, or NULL
 * past the last one. */
static inline const struct variant *group_described(const struct group *group, size_t index)
{
    return group->variant && !group->variants_elsewhere ? group->variant(index) : NULL;
}

struct schema {
    const struct group *groups;
    size_t group_count;
};

#ifdef __cplusplus
}
#endif

#endif
