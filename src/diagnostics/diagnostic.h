/*
 * Diagnostics: what is measured on the bodies at chosen steps. Each has one source file and one row
 * of the table. A diagnostic turns a moment into rows of numbers; the run writes the rows to
 * <name>.csv and shows them to the acceptance criteria.
 */
#ifndef ORRERY_DIAGNOSTICS_DIAGNOSTIC_H
#define ORRERY_DIAGNOSTICS_DIAGNOSTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dimension.h"
#include "base/memory.h"
#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"
#include "model/bodies.h"
#include "model/conserved.h"
#include "model/physics.h"
#include "simulation/simulation.h"

/* --- drawing ---------------------------------------------------------------------------------- */

/*
 * The drawing of a diagnostic in a report: hints that stand beside its columns, one for each
 * figure. The report knows nothing else of a diagnostic; for one without hints it draws every
 * column, those of one unit in one figure.
 */

enum curve_kind {
    CURVE_LINE,   /* y over x; thinned to what the eye can see */
    CURVE_DASHED, /* the same, dashed: a reference or a bound */
    CURVE_PATH,   /* a path through the plane, in the order of its points */
    CURVE_POINTS, /* a few measured points */
    CURVE_DISCS,  /* hundreds of points */
    CURVE_DOTS,   /* thousands of points */
    CURVE_FIT,    /* a dashed line through points, in their colour */
    CURVE_BAND,   /* the room between two lines */
    CURVE_STARTS, /* circles in the colour of text: where paths begin */
    CURVE_FOCUS,  /* a cross in the colour of text: the centre of paths */
    CURVE_RING    /* a ring in the colour of text about a chosen point */
};

/* The value of a column that is drawn. */
enum drawn_value {
    DRAWN_VALUE,
    DRAWN_MAGNITUDE, /* |value| */
    DRAWN_CHANGE     /* |v - v0| of the vector in the columns <column>_x, <column>_y, <column>_z */
};

struct drawn_curve {
    const char *column; /* "radius_*": all columns that begin so, labelled by their ends */
    const char *label;  /* in the figure's key, behind such an end; NULL: the time of the event */
    enum curve_kind kind;
    enum drawn_value value;
    const char
        *relative; /* label of |v - v0| / |v0|, drawn where v0 is no rounding error; or NULL */
    bool first;    /* of a table: the rows of the first event, otherwise those of the last */
    const char *x; /* column along x; NULL: the time, or in a table the first column */
};

/* The scale of the y axis; in figures of a table, x is logarithmic if y is. */
enum drawing_scale {
    SCALE_LINEAR,
    SCALE_LOGARITHMIC,
    SCALE_BY_RANGE, /* logarithmic if no value is negative and one curve spans decades */
    SCALE_SIGNED    /* logarithmic on both sides of 0, for curves that differ much in size */
};

enum drawing_space { ANY_SPACE, OPEN_SPACE, PERIODIC_SPACE };

enum { DRAWING_CURVES = 10 };

struct drawing {
    const char *name; /* of the figure's files */
    const char *title, *y_label;
    const char *caption; /* what is drawn */
    enum drawing_scale scale;
    enum drawing_space space; /* the boundary with which it is drawn */
    bool equal_axes;          /* x and y have one scale; only the first system is drawn */
    const char *focus; /* of paths: the name of what lies at 0, 0; starts of paths are marked too */
    bool comparative;  /* drawn if runs are compared; of one run only if asked for */
    const char *compared; /* column drawn for each of several runs; NULL: the first */
    struct drawn_curve curves[DRAWING_CURVES]; /* fewer end with a column of NULL */
};

/* --- diagnostics ------------------------------------------------------------------------------ */

/* The quantities that an observer needs in a moment, or-ed. The run gets them from the backend once
 * for all observers. */
enum need {
    NEED_STATE = 1,        /* positions and velocities of `bodies` */
    NEED_CONSERVED = 2,    /* `conserved` */
    NEED_POTENTIALS = 4,   /* `phi` and `psi` */
    NEED_ACCELERATIONS = 8 /* accelerations of `bodies` */
};

/* The `step` of bodies that come from a file which does not say it. */
#define MOMENT_NO_STEP UINT64_MAX

/* The bodies at one instant, borrowed during a call. Only what was needed (enum need) is valid, and
 * always masses and ids. */
struct moment {
    uint64_t step;
    double time; /* NaN where a file does not say it */
    double dt;
    int threads; /* that an observer may use */
    const struct physics *physics;
    const struct bodies *bodies;
    const struct conserved *conserved;   /* one per system */
    const struct conserved *first;       /* the same at step 0; valid with `conserved` */
    const double *phi, *psi;             /* laid out like the bodies */
    const struct simulation *simulation; /* whose moment it is; NULL for bodies of a file */
};

struct column {
    const char *name; /* a word of the field, lower_case; the CSV header adds the unit */
    struct dimension dimension;
    const char *help; /* the definition, for the manual */
};

/* Takes the rows that a diagnostic makes: one value per column, NaN where undefined (an empty
 * cell). The run puts [system,] step and time before them. */
struct row_sink {
    enum status (*row)(void *context, size_t system, const double *values, struct error *error);
    void *context;
};
extern const struct row_sink row_sink_nowhere; /* drops them: the state of the diagnostic is all */

struct diagnostic_class;

/* The part that every diagnostic begins with; it is filled from the class, and init() may change
 * it: columns and rows may depend on parameters. */
struct diagnostic {
    const struct diagnostic_class *class_;
    const char *name; /* of its file, <name>.csv: that of the class, or the key `name` */
    const struct column *columns;
    size_t column_count;
    size_t row_count; /* of one event and system: 1 unless it makes a table each time */
    unsigned needs;   /* enum need, or-ed */
    /*
     * All that must survive a restart, as plain numbers; the checkpoint saves and restores it. Its
     * length follows from the parameters and the counts alone. It has also what a diagnostic keeps
     * of its first moment: a diagnostic that is created at any moment, and whose state is then
     * restored, goes on as if nothing had happened.
     */
    double *state;
    size_t state_count;
    double *row; /* room for one row, [column_count] */
};

struct diagnostic_class {
    struct variant variant; /* its name is also the file's, unless `name` is given: <name>.csv */
    size_t size;     /* of its own struct, which begins with a struct diagnostic; 0: that alone */
    unsigned needs;  /* enum need, or-ed */
    bool open_space; /* it has a centre, which means nothing in a periodic box */
    size_t state_reals; /* numbers of state for each system ... */
    /* ... unless their number follows from the parameters. Optional: returns the number for
     * `systems` systems. */
    size_t (*state_count)(const struct diagnostic *diagnostic, size_t systems);
    /* Optional: completes a diagnostic whose bound parameters are read and whose state is zero.
     * `start` is the moment of step 0 with STATE and CONSERVED valid; not kept. */
    enum status (*init)(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error);
    /* Optional: finds what all systems of a moment share, before the first is measured. */
    void (*prepare)(struct diagnostic *diagnostic, const struct moment *now);
    /* One of the next two. measure_system() fills the row of one system, in which all is NaN;
     * measure_rows() shows the sink all rows of one system, `row_count` of them. */
    enum status (*measure_system)(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error);
    enum status (*measure_rows)(struct diagnostic *diagnostic, const struct moment *now,
                                size_t system, const struct row_sink *sink, struct error *error);
    void (*clear)(struct diagnostic *diagnostic); /* optional: frees what init() has allocated */
    /* The columns with default parameters, for the manual and `orrery info`. */
    const struct column *columns;
    size_t column_count;
    /* The figures of a report. Without any, it draws every column, those of one unit in one
     * figure. */
    const struct drawing *drawings;
    size_t drawing_count;
    /* The key of the config that asks for the diagnostic; NULL: an entry of the list
     * `diagnostics`. */
    const char *asked_by;
    bool table; /* it makes a table at each event, otherwise one row */
    /* The rows of a table: the key that gives their number, and the number of first columns that
     * tell the bin of a row and are the same in all systems and at all events. */
    const char *rows_key;
    size_t bin_columns;
    /* The most memory that it takes. While it measures a system it borrows `body_bytes` bytes for
     * each body of the system, and `thread_reals` numbers for each thread and row of a table. For
     * each system it keeps `system_reals` numbers beside `state_reals`, times the value of the key
     * `system_reals_key` (NULL: once). */
    size_t body_bytes, thread_reals, system_reals;
    const char *system_reals_key;
    bool pairwise; /* its time grows as the pairs of bodies; otherwise as the bodies */
};

/* The members of a class for its columns and its drawings, which must be arrays, no pointers. */
#define DIAGNOSTIC_COLUMNS(array) .columns = (array), .column_count = COUNT_OF(array)
#define DIAGNOSTIC_DRAWINGS(array) .drawings = (array), .drawing_count = COUNT_OF(array)

/* Return number `index` of the diagnostics of the list, or NULL past the last one. */
const struct diagnostic_class *diagnostic_at(size_t index);
const struct variant *diagnostic_variant(size_t index);
/* Returns those of the list, and behind them those that a group of their own asks for. */
const struct diagnostic_class *diagnostic_measured(size_t index);

/*
 * The keys that all diagnostics share. `every`: a class that costs more replaces its row by one
 * with another default, DIAGNOSTIC_EVERY. `name` distinguishes several diagnostics of a type (two
 * pairs, two ranges): it is the name of the file <name>.csv and, before a dot, of the columns in
 * `expect` ("jupiter.period"). Unset, it is the type; no two diagnostics of a run may have the same
 * name.
 */
/* clang-format off */
#define DIAGNOSTIC_EVERY(steps)                                                                    \
    { KEY(INTEGER, every), BY_DEFAULT(INTEGER, steps), AT_LEAST(1),                                \
      .help = "Steps between two measurements; the first and the last step are always measured." }
/* clang-format on */
extern const struct parameter diagnostic_parameters[];
extern const size_t diagnostic_parameter_count;

/* Creates the diagnostic that a section of the list `diagnostics` describes, under its name. The
 * errors are those of diagnostic_create_as(). */
enum status diagnostic_create(const struct section *section, const struct moment *start,
                              struct diagnostic **diagnostic, struct error *error);

/* Creates a diagnostic of a class that another section of the config asks for. STATUS_CONFIG,
 * STATUS_MEMORY, or the errors of init(). */
enum status diagnostic_create_as(const struct diagnostic_class *class_,
                                 const struct section *section, const struct moment *start,
                                 struct diagnostic **diagnostic, struct error *error);
void diagnostic_destroy(struct diagnostic *diagnostic); /* accepts NULL */

/* Shows the sink the rows of every system, in the order of the systems. */
enum status diagnostic_measure(struct diagnostic *diagnostic, const struct moment *now,
                               const struct row_sink *sink, struct error *error);

#endif
