/* Diagnostics measure the bodies at chosen steps, the events. Each has one row of the table at the
 * end of this file. A diagnostic makes rows of numbers from the bodies at one moment; the run
 * writes the rows to the file <name>.csv and shows them to the acceptance criteria. */
#ifndef ORRERY_DIAGNOSTICS_DIAGNOSTIC_H
#define ORRERY_DIAGNOSTICS_DIAGNOSTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"
#include "model/bodies.h"
#include "model/conserved.h"
#include "model/physics.h"
#include "simulation/simulation.h"

/* --- drawing ---------------------------------------------------------------------------------- */

/* How a report draws a diagnostic: a struct drawing for each figure. The report knows nothing else
 * about a diagnostic; if a diagnostic has no drawing, the report draws every column, the columns of
 * one unit in one figure. */

enum curve_kind {
    CURVE_LINE,   /* y over x */
    CURVE_DASHED, /* a dashed line: a reference or a bound; left out where it lies upon a line */
    CURVE_PATH,   /* a path through the plane, in the order of its points */
    CURVE_POINTS, /* a few measured points */
    CURVE_DISCS,  /* hundreds of points */
    CURVE_DOTS,   /* thousands of points */
    CURVE_FIT,    /* a dashed line through points, in their colour */
    CURVE_BAND,   /* the room between two lines */
    CURVE_STARTS, /* circles in the colour of text: where paths begin */
    CURVE_FOCUS,  /* a cross in the colour of text: the centre of paths, or a result */
    CURVE_RING    /* a ring in the colour of text about a chosen point */
};

/* The value that is drawn for a column. */
enum drawn_value {
    DRAWN_VALUE,
    DRAWN_MAGNITUDE, /* |value| */
    DRAWN_CHANGE     /* |v - v0|, v the vector in <column>_x, _y and _z, v0 its first value */
};

/* A curve, or the curves, of a figure. */
struct drawn_curve {
    const char *column; /* "radius_*": each such column, labelled by the rest of its name */
    /* Its label, or for "radius_*" the text behind the rest of each name; NULL: the label is the
     * time of the event. */
    const char *label;
    enum curve_kind kind;
    enum drawn_value value;
    /* Label of |v - v0| / |v0|, which is drawn in the place of the |v - v0| of DRAWN_CHANGE unless
     * v0 is a rounding error; NULL: never. */
    const char *relative;
    bool first;    /* for a table: draws the rows of the first event, else of the last */
    const char *x; /* column of x; NULL: the time or, in a table, the first column */
};

/* The scale of the y axis. In the figure of a table, x is logarithmic if y is. */
enum drawing_scale {
    SCALE_LINEAR,
    SCALE_LOGARITHMIC,
    SCALE_BY_RANGE, /* logarithmic if no value is negative and a curve spans decades */
    SCALE_SIGNED    /* logarithmic on both sides of 0, for curves of very different sizes */
};

enum drawing_space { ANY_SPACE, OPEN_SPACE, PERIODIC_SPACE };

enum { DRAWING_CURVES = 10 };

/* A figure of a diagnostic. */
struct drawing {
    const char *name; /* name of the files of the figure */
    const char *title, *y_label;
    const char *caption; /* a sentence on what the figure shows */
    enum drawing_scale scale;
    enum drawing_space space; /* drawn only for runs with this boundary */
    bool equal_axes;          /* x and y have the same scale; only the first system is drawn */
    const char *focus;        /* for paths: name of what is at (0, 0); starts of paths are marked */
    bool comparative;         /* drawn if runs are compared; for one run only on request */
    const char *compared;     /* column that is drawn if runs are compared; NULL: the first */
    struct drawn_curve curves[DRAWING_CURVES]; /* if there are fewer, the next `column` is NULL */
};

/* --- diagnostics ------------------------------------------------------------------------------ */

/* The quantities of a moment that an observer (a diagnostic or an output) needs, or-ed. The run
 * gets them from the backend once for all observers. */
enum need {
    NEED_STATE = 1,        /* positions and velocities of `bodies` */
    NEED_CONSERVED = 2,    /* `conserved`, `first`: energies, momenta */
    NEED_POTENTIALS = 4,   /* `phi` and `psi` of every body */
    NEED_ACCELERATIONS = 8 /* accelerations of `bodies` */
};

/* The `step` of bodies from a file that does not name it. */
#define MOMENT_NO_STEP UINT64_MAX

/* The bodies at one instant, borrowed during a call. Masses and ids are always valid, all else only
 * if it was asked for (enum need). */
struct moment {
    uint64_t step;
    double time; /* NaN if the file does not name it */
    double dt;   /* length of a step of the run */
    int threads; /* number of threads that an observer may use */
    const struct physics *physics;
    const struct bodies *bodies;
    const struct conserved *conserved; /* [systems] */
    const struct conserved *first;     /* [systems], at step 0; valid with `conserved` */
    /* The potential of each body at its index, and its share of the virial, both over its mass. */
    const double *phi, *psi;
    const struct simulation *simulation; /* simulation of the bodies; NULL for bodies of a file */
};

/* A column of the file of a diagnostic. */
struct column {
    const char *name; /* a term of the field in small letters; the CSV header adds the unit */
    struct dimension dimension;
    const char *help; /* definition of the column, for the manual */
};

/* The receiver of the rows that a diagnostic makes: row() gets one value per column, NaN for an
 * undefined one (an empty cell). The run writes [system,] step and time before them. */
struct row_sink {
    enum status (*row)(void *context, size_t system, const double *values, struct error *error);
    void *context;
};
extern const struct row_sink row_sink_nowhere; /* drops rows; only the state changes */

struct diagnostic_class;

/* The part with which the struct of every diagnostic begins. It is filled from the class; init()
 * may change it, since columns and rows may depend on parameters. */
struct diagnostic {
    const struct diagnostic_class *class_;
    const char *name; /* name of its file, <name>.csv: that of the class, or the key `name` */
    const struct column *columns;
    size_t column_count;
    size_t row_count; /* rows of a system at one event: 1, or more for a table */
    unsigned needs;   /* enum need, or-ed */
    /*
     * All that must survive a restart, as numbers; the checkpoint saves and restores them. Their
     * number follows from the parameters and the numbers of bodies and systems alone. Values of the
     * first moment that the diagnostic needs later are here too: a diagnostic that is created at
     * any moment and then gets the state of a checkpoint goes on as if there had been no restart.
     */
    double *state;
    size_t state_count;
    double *row; /* [column_count]: memory for one row */
};

/* A kind of diagnostic: a constant with its name, its columns and its functions. */
struct diagnostic_class {
    /* Name and keys; <name>.csv is its file, unless the key `name` is given. */
    struct variant variant;
    size_t size;     /* bytes of its struct, which begins with a struct diagnostic; 0: only that */
    unsigned needs;  /* enum need, or-ed */
    bool open_space; /* needs a centre, which a periodic box does not have */
    size_t state_reals;  /* numbers of state for each system */
    size_t shared_reals; /* numbers of state that all systems share */
    /* Optional: returns how many numbers the state has for `systems` systems, if that follows from
     * the parameters; it then replaces both. */
    size_t (*state_count)(const struct diagnostic *diagnostic, size_t systems);
    /* Optional: completes a diagnostic whose parameters are read and whose state is zero. `start`
     * is the moment of step 0 or, at a restart, that of the checkpoint, whose state follows; its
     * positions, velocities and conserved quantities are valid, and it is not kept. */
    enum status (*init)(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error);
    /* Optional, for `orrery check`: appends a sentence to `warnings` if rows that are `every` steps
     * apart are too rare for some columns, as the moment `start` tells. */
    enum status (*warn)(const struct diagnostic *diagnostic, const struct moment *start,
                        uint64_t every, struct text *warnings, struct error *error);
    /* Optional: computes the values that all systems of a moment share, before the first system is
     * measured. */
    void (*prepare)(struct diagnostic *diagnostic, const struct moment *now);
    /* One of these two functions. measure_system() fills the row of one system, in which all values
     * are NaN at first; measure_rows() gives the sink all rows of one system, `row_count` of
     * them. */
    enum status (*measure_system)(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error);
    enum status (*measure_rows)(struct diagnostic *diagnostic, const struct moment *now,
                                size_t system, const struct row_sink *sink, struct error *error);
    void (*clear)(struct diagnostic *diagnostic); /* optional: frees what init() has allocated */
    /* The columns for default parameters, for the manual and `orrery info`. */
    const struct column *columns;
    size_t column_count;
    /* The figures of a report. If there are none, the report draws every column, the columns of one
     * unit in one figure. */
    const struct drawing *drawings;
    size_t drawing_count;
    /* The key of the config that asks for the diagnostic; NULL if users ask for it in the list
     * `diagnostics`. */
    const char *asked_by;
    bool table; /* makes a table at each event, not one row */
    /* For a table: the key that gives the number of its rows, and the number of first columns that
     * say which bin a row is of; they are equal in all systems and at all events. */
    const char *rows_key;
    size_t bin_columns;
    /*
     * The most memory that it takes. While it measures a system: `body_bytes` bytes for each body
     * of the system, and `thread_reals` numbers for each thread and row of a table. As long as it
     * exists: for each system `system_reals` numbers, in addition to `state_reals`, times the value
     * of the key `system_reals_key` (at least 1; NULL: once).
     */
    size_t body_bytes, thread_reals, system_reals;
    const char *system_reals_key;
    bool pairwise; /* takes a time that grows with the number of pairs, not of bodies */
};

/* The members of a class for its columns and its drawings; the argument must be an array, not a
 * pointer. */
#define DIAGNOSTIC_COLUMNS(array) .columns = (array), .column_count = COUNT_OF(array)
#define DIAGNOSTIC_DRAWINGS(array) .drawings = (array), .drawing_count = COUNT_OF(array)

/* Return number `index` of the diagnostics that the list `diagnostics` may name, as a class or a
 * variant; NULL past the last one. */
const struct diagnostic_class *diagnostic_at(size_t index);
const struct variant *diagnostic_variant(size_t index);
/* Returns number `index` of all diagnostics: first those of diagnostic_at(), then those that other
 * groups of the config ask for; NULL past the last one. */
const struct diagnostic_class *diagnostic_measured(size_t index);

/*
 * The keys that all diagnostics share. `every`: a class that costs much replaces the row by one
 * with another default, DIAGNOSTIC_EVERY. `name` distinguishes several diagnostics of one type (two
 * pairs of bodies, two ranges): it names the file <name>.csv and stands before a dot in the names
 * of columns in `expect` ("jupiter.period"). If unset, it is the type; no two diagnostics of a run
 * may have one name.
 */
/* clang-format off */
#define DIAGNOSTIC_EVERY(steps)                                                                    \
    { KEY(INTEGER, every), BY_DEFAULT(INTEGER, steps), AT_LEAST(1),                                \
      .help = "Steps between two measurements; the first and the last step are always measured." }
/* clang-format on */
extern const struct parameter diagnostic_parameters[];
extern const size_t diagnostic_parameter_count;

/* Refuses a `name` that cannot be that of a file, or cannot stand before a dot in a criterion
 * ("name.column"). */
void diagnostic_check_name(const struct section *section, struct error *error);

/* Creates the diagnostic that a section of the list `diagnostics` describes, with the name that it
 * gives. Errors as diagnostic_create_as(); `start` is that of init(). */
enum status diagnostic_create(const struct section *section, const struct moment *start,
                              struct diagnostic **diagnostic, struct error *error);

/* Creates a diagnostic of this class, whose keys are in `section`. STATUS_CONFIG, STATUS_MEMORY, or
 * the errors of init(). */
enum status diagnostic_create_as(const struct diagnostic_class *class_,
                                 const struct section *section, const struct moment *start,
                                 struct diagnostic **diagnostic, struct error *error);
void diagnostic_destroy(struct diagnostic *diagnostic); /* accepts NULL */

/* Measures all systems, one after the other, and gives the sink their rows. STATUS_STOPPED if the
 * work is interrupted. */
enum status diagnostic_measure(struct diagnostic *diagnostic, const struct moment *now,
                               const struct row_sink *sink, struct error *error);

/* Returns the number n of bodies of equal mass whose total mass has the relative counting noise of
 * some bodies, 1 / sqrt(n): (sum m)^2 / sum m^2; 0 without mass. `squares` is sum m^2. */
double diagnostic_equal_bodies(double mass, double squares);

/* --- the bodies of a species, for diagnostics that measure only a part of the bodies ---------- */

/* The table row that declares the config key `species`, for a struct with a member `species`, a
 * string; NULL there means all bodies. */
/* clang-format off */
#define SPECIES_PARAMETER(struct_)                                                                 \
    { BIND(STRING, struct_, species), OPTIONAL,                                                    \
      .help = "Which bodies are measured: those of this species, and of those whose names begin "  \
              "with it and a hyphen, as the parts of a galaxy of an encounter. Unset: all." }
/* clang-format on */

/* Tells whether the body at index i of the arrays belongs to the species; if `species` is NULL,
 * every body does. */
bool species_has(const char *species, const struct bodies *bodies, size_t i);

/* Refuses a species to which no body belongs. STATUS_CONFIG. */
enum status species_check(const struct section *section, const char *species,
                          const struct bodies *bodies, struct error *error);

/* --- the table -------------------------------------------------------------------------------- */

/* Each row names a diagnostic NAME, which a source file defines as diagnostic_NAME. The diagnostics
 * that users list in `diagnostics` of a config, in the order of the manual. */
#define DIAGNOSTIC_ROWS(ROW)                                                                       \
    ROW(binaries)                                                                                  \
    ROW(bound_mass)                                                                                \
    ROW(close_encounters)                                                                          \
    ROW(conservation)                                                                              \
    ROW(density_profile)                                                                           \
    ROW(density_slope)                                                                             \
    ROW(disc_profile)                                                                              \
    ROW(escapers)                                                                                  \
    ROW(force_error)                                                                               \
    ROW(lagrangian_radii)                                                                          \
    ROW(orbit)                                                                                     \
    ROW(own_steps)                                                                                 \
    ROW(radial_distribution)                                                                       \
    ROW(velocity_dispersion)                                                                       \
    ROW(virial)

/* The diagnostics that other groups of a config ask for (energy_budget, trust);
 * diagnostic_measured() returns these too. */
#define DIAGNOSTIC_GROUP_ROWS(ROW)                                                                 \
    ROW(energy_budget)                                                                             \
    ROW(trust)

#define DIAGNOSTIC_DECLARED(name) extern const struct diagnostic_class diagnostic_##name;
DIAGNOSTIC_ROWS(DIAGNOSTIC_DECLARED)
DIAGNOSTIC_GROUP_ROWS(DIAGNOSTIC_DECLARED)
#undef DIAGNOSTIC_DECLARED

#endif
