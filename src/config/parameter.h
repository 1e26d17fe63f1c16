/*
 * The parameter table: every key of a configuration is described once, by a row. Rows belong to a
 * variant (one initial condition, one diagnostic, ...) or to a group (the braces of the config
 * file). From the rows come parsing, checks, the echo of a config, `orrery info`, orrery.cfg(5) and
 * the suggestions for misspelt keys.
 */
#ifndef ORRERY_CONFIG_PARAMETER_H
#define ORRERY_CONFIG_PARAMETER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct section; /* see config/configuration.h */
struct error;   /* see base/status.h */

#ifdef __cplusplus
extern "C" {
#endif

/* The physical dimension of a number: exponents of mass, length and time. */
struct dimension {
    signed char mass, length, time;
};

/* clang-format off */
#define DIMENSION_NONE             { 0, 0, 0 }
#define DIMENSION_MASS             { 1, 0, 0 }
#define DIMENSION_LENGTH           { 0, 1, 0 }
#define DIMENSION_TIME             { 0, 0, 1 }
#define DIMENSION_VELOCITY         { 0, 1, -1 }
#define DIMENSION_ACCELERATION     { 0, 1, -2 }
#define DIMENSION_ENERGY           { 1, 2, -2 }
#define DIMENSION_POTENTIAL        { 0, 2, -2 } /* energy per mass */
#define DIMENSION_MOMENTUM         { 1, 1, -1 }
#define DIMENSION_ANGULAR_MOMENTUM { 1, 2, -1 }
#define DIMENSION_DENSITY          { 1, -3, 0 } /* mass density */
#define DIMENSION_SURFACE_DENSITY  { 1, -2, 0 } /* mass over area */
#define DIMENSION_NUMBER_DENSITY   { 0, -3, 0 }
#define DIMENSION_VOLUME           { 0, 3, 0 }
#define DIMENSION_PER_LENGTH       { 0, -1, 0 }
#define DIMENSION_G                { -1, 3, -2 } /* gravitational constant */
/* clang-format on */

enum parameter_type {
    PARAMETER_FLAG,    /* true or false */
    PARAMETER_INTEGER, /* 64 bits; 1.9 is refused, 1e6 is accepted, being whole */
    PARAMETER_REAL,    /* finite; an integer is accepted */
    PARAMETER_STRING,
    PARAMETER_CHOICE, /* one of `choices` */
    PARAMETER_PATH,   /* a file, given relative to the config file; its path after reading */
    PARAMETER_PATHS,  /* files, or one file; patterns of glob(7) are expanded on reading */
    PARAMETER_REALS,  /* an array or list of reals */
    PARAMETER_VALUES  /* an array or list of scalars of any type, or of lists (sweep.values) */
};

/* The bounds of a range that do not belong to the range themselves, or-ed; OPEN_NONE: both belong
 * to it. */
enum parameter_open { OPEN_NONE = 0, OPEN_MINIMUM = 1, OPEN_MAXIMUM = 2 };

/* The value of a key. The type of its row tells which member of the union counts. */
struct parameter_value {
    enum parameter_presence {
        PARAMETER_REQUIRED, /* for a default only: there is none, the key must be given */
        PARAMETER_UNSET,    /* there is no value, and none is needed */
        PARAMETER_SET
    } presence;
    union {
        bool flag;
        int64_t integer;
        double real;
        const char *string; /* for STRING, CHOICE and PATH */
        const double *reals;
        const char *const *values; /* [count]: VALUES in config syntax; PATHS of files */
    };
    size_t count; /* number of reals or values; for a CHOICE that was read, its index */
};

/* Defaults for macros that make a row, such as INITIAL_COUNT(DEFAULT_NONE). In a row that is
 * written out, BY_DEFAULT(REAL, 0.05) or OPTIONAL stands for them; without either the key is
 * required. */
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

/* The ranges that a row may allow for its values. */
#define BETWEEN(least_, most_) .minimum = (least_), .maximum = (most_)
#define AT_LEAST(least_) BETWEEN(least_, INFINITY)
#define NOT_NEGATIVE AT_LEAST(0)
#define POSITIVE_TO(most_) BETWEEN(0, most_), .open = OPEN_MINIMUM
#define POSITIVE POSITIVE_TO(INFINITY)

/* The place of the value of a key in a struct of the code that reads the section: section_read()
 * writes it there. */
struct parameter_member {
    size_t offset, size; /* in bytes; size 0: no member gets the value */
};

/* The key and the type of a row: `{ KEY(REAL, step), POSITIVE, .help = ... }`. */
#define KEY(type_, name_) .key = #name_, .type = PARAMETER_##type_

/*
 * The key, the type and the member of a row, if the member has the name of the key: `{ BIND(REAL,
 * struct orbit, eccentricity), .help = ... }`. Members are bool; double; const char *; an integer
 * of 4 or 8 bytes; of a CHOICE an enum, or a const char * for its name; of REALS an array of
 * `length` doubles. A section is read into one struct: either the rows of a variant are bound, or
 * those that its group shares.
 */
#define BIND(type_, struct_, name_)                                                                \
    KEY(type_, name_), .member = { offsetof(struct_, name_), sizeof(((struct_ *)0)->name_) }

struct parameter {
    const char *key; /* the key within its group: "step" of time.step */
    enum parameter_type type;
    struct parameter_value default_value;
    struct parameter_member member; /* member that gets the value; set by BIND() */
    /* Range of an INTEGER, a REAL or each of REALS; both 0: any finite value; maximum < minimum or
     * INFINITY: no upper bound. */
    double minimum, maximum;
    unsigned open;                  /* the bounds that are excluded: enum parameter_open, or-ed */
    size_t length;                  /* for REALS: how many there must be; 0: any number */
    const char *const *choices;     /* for a CHOICE: its names; the last is NULL */
    const char *const *choice_help; /* a sentence for each of `choices`; NULL: `help` says it all */
    struct dimension dimension;     /* physical dimension of the value */
    /* Keys of the section of which one may be given instead of this key, which is otherwise
     * required; and the words by which an error proposes the first of them. NULL: there are
     * none. */
    const char *instead[2], *instead_help;
    const char *help; /* one sentence: the meaning, not the type or range */
};

/* A variant of a group: one initial condition, one integrator, one backend, one diagnostic, ... */
struct variant {
    const char *name; /* as the config file spells it */
    const char *help; /* one sentence */
    /* The keys of this variant, in addition to those that its group shares; a row with the key of a
     * shared row replaces that row for this variant (with another default, say). */
    const struct parameter *parameters;
    size_t parameter_count;
};

/* A group of the config file, `time = { ... };`, or a list of groups, `outputs = ( { ... } );`. */
struct group {
    const char *name; /* "" for the keys at the top level */
    const char *help;
    bool list;                          /* a config has a list of groups of this name */
    const struct parameter *parameters; /* the keys that all variants share */
    size_t parameter_count;
    const char *variant_key;     /* the key that chooses the variant ("initial", "type"), or NULL */
    const char *variant_default; /* the variant chosen by default; NULL: it must be given */
    const char *variant_help;    /* help of `variant_key` */
    const struct variant *(*variant)(size_t index); /* NULL past the last variant */
    bool variants_elsewhere; /* another group has the same variants, and describes them */
    /* Checks relations between values, which no single row can see (a box without a length), and
     * reports errors by section_error(). It is called only if every value of the section alone is
     * good. NULL: nothing to check. */
    void (*check)(const struct section *section, struct error *error);
    /* The bytes of the memory that section_kept() returns, for the results of `check`; it lives as
     * long as the config. 0: none. */
    size_t kept_size;
};

/* Returns variant number `index` of the group, or NULL past the last one; always NULL if another
 * group describes the variants. */
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
