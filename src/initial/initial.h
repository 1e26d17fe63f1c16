/* The initial conditions, which make the bodies of a run. Each kind has one row in
 * INITIAL_ROWS. */
#ifndef ORRERY_INITIAL_INITIAL_H
#define ORRERY_INITIAL_INITIAL_H

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/interruption.h"
#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"
#include "force/force-options.h"
#include "model/bodies.h"
#include "model/physics.h"

/* Kinds of warnings about a file: it seems to end within a number, or it has a periodic cell that
 * the run does not have. */
enum { INITIAL_CUT, INITIAL_PERIODIC, INITIAL_FILE_WARNINGS };

/* Warnings about bodies that were made: what may be wrong with them, but is no error. */
struct initial_warnings {
    size_t coincident; /* pairs of bodies at the same position, with softening > 0 */
    struct {
        size_t count;    /* number of files that have this warning */
        char words[512]; /* the message about the first one: "stars.csv: ..." */
    } files[INITIAL_FILE_WARNINGS];
};

struct initial_class {
    struct variant variant;
    /* Checks relations between the keys of the section, which the range of a single key cannot
     * express; reports with section_error(). NULL: there are none. */
    void (*check)(const struct section *section, struct error *error);
    /* count() finds the number of bodies of one system from the config or from the file that it
     * names: STATUS_CONFIG, STATUS_DATA, STATUS_NO_INPUT. If it is NULL, the number is always
     * `bodies`. */
    size_t bodies;
    enum status (*count)(const struct section *section, size_t *count, struct error *error);
    /*
     * Fills masses, positions, velocities and ids of one system, whose first body stands at index
     * `first` of the arrays. `seed` decides every bit; system s of an ensemble gets the seed of
     * system 0 plus s.
     */
    enum status (*fill)(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error);
    /* Fills all systems at once, for a class without fill(). May name the species of the bodies
     * (groups of bodies with a name), as fill() may. */
    enum status (*fill_all)(const struct section *section, const struct physics *physics,
                            unsigned long seed, struct bodies *bodies,
                            struct initial_warnings *warnings, struct error *error);
    size_t seeds; /* number of seeds that each system uses; 0: one */
    /* Returns the bytes of memory that are taken beside the bodies while all systems are filled;
     * NULL: none are. */
    double (*bytes)(const struct section *section, size_t systems);
    /* `scales` lists the keys of masses, lengths and velocities whose defaults make sense in N-body
     * units only, with a NULL at the end (`scales` NULL: there are no such keys). In other units a
     * key that uses_scale() says the section makes use of (NULL: every key) must be given. */
    const char *const *scales;
    bool (*uses_scale)(const struct section *section, const struct physics *physics,
                       const char *key);
    /* Checks that the bodies can be given in the units of the run, in the place of `scales` (which
     * is used if check_units is NULL); reports with section_error(). Files are read here only if
     * `error` already has an error, so that the user sees errors in the files too; otherwise
     * count() will find those. */
    enum status (*check_units)(const struct section *section, const struct physics *physics,
                               struct error *error);
};

const struct variant *initial_variant(size_t index);
/* Returns name and keys of initial condition number `index` among those that can be one of the
 * `models` of an encounter; NULL past the last. */
const struct variant *initial_model_variant(size_t index);

/* The keys that all initial conditions share, such as seed, center and virial_ratio: first those of
 * the group `bodies`, then those of the list `models` of an encounter. */
extern const struct parameter initial_parameters[], initial_model_parameters[];
extern const size_t initial_parameter_count, initial_model_parameter_count;

/* Check relations between keys whose own values are valid. initial_check() calls check() of the
 * initial condition that the section chooses. The other two also check keys that many initial
 * conditions have, of the group `bodies` and of one of `models`; they serve as `check` of struct
 * group. */
void initial_check_bodies(const struct section *section, struct error *error);
void initial_check(const struct section *section, struct error *error);
void initial_check_model(const struct section *section, struct error *error);

/* Refuses `models` in a config whose initial condition is not an encounter. STATUS_CONFIG. */
enum status initial_check_use(const struct config *config, struct error *error);

/*
 * Checks that the section can be given in the units of the run. In physical units masses and
 * lengths must be given: nobody means their defaults, mostly 1, in kilograms or metres. Adds its
 * messages to those that `error` may have. STATUS_CONFIG; if `error` had an error before, also the
 * errors of initial_create() about units of files.
 */
enum status initial_check_units(const struct section *section, const struct physics *physics,
                                struct error *error);

/* Counts the bodies of each of `systems` systems. STATUS_CONFIG (also for counts whose arrays no
 * memory could address), STATUS_DATA, STATUS_NO_INPUT, STATUS_IO, STATUS_MEMORY. */
enum status initial_count(const struct section *section, size_t systems, size_t *count,
                          struct error *error);

/* Returns the bytes of memory that initial_create() takes beside the bodies while it fills them. */
double initial_bytes(const struct section *section, size_t systems);

/* Returns the key that decides the number of bodies: "count", "file", "files"; NULL if it follows
 * from the kind of initial condition and its other keys. */
const char *initial_count_name(const struct section *section);

/*
 * Creates the `count` bodies of each of `systems` systems as the section `bodies` of a config
 * describes them: fills them and checks them by check_bodies(). Then, if the section asks for it,
 * moves them to the centre of mass and rescales the velocities to a virial ratio (by the energies
 * that the force method `forces` gives or, if that is NULL, by sums over all pairs), adds `origin`
 * and `origin_velocity`, and takes the names of bodies. STATUS_CONFIG, STATUS_DATA,
 * STATUS_NO_INPUT, STATUS_IO, STATUS_MEMORY, STATUS_STOPPED.
 */
enum status initial_create(const struct section *section, const struct physics *physics,
                           const struct force_options *forces, size_t systems, size_t count,
                           struct bodies **bodies, struct initial_warnings *warnings,
                           struct error *error);

/* --- the conditions that bodies must satisfy before they move --------------------------------- */

/*
 * Checks the system whose first body stands at index `first`: all numbers finite, no negative mass,
 * some mass (without external fields), no id twice, and no two bodies at one position if the
 * softening is 0; with softening, adds the number of such pairs to *coincident. `source` names the
 * origin of the bodies in messages. O(N log N) time, 16 bytes per body. STATUS_DATA, STATUS_MEMORY.
 */
enum status check_bodies(const struct bodies *bodies, size_t first, const struct physics *physics,
                         const char *source, size_t *coincident, struct error *error);

/* Checks only that no two bodies of the system have the same id. STATUS_DATA, STATUS_MEMORY. */
enum status check_ids(const struct bodies *bodies, size_t first, const char *source,
                      struct error *error);

/* --- for the starts themselves ---------------------------------------------------------------- */

/* The starts, in the order of the lists that users see; a source file defines initial_NAME for
 * each. The last one is no model of an encounter. */
#define INITIAL_ROWS(ROW)                                                                          \
    ROW(cold_sphere)                                                                               \
    ROW(dehnen)                                                                                    \
    ROW(disc)                                                                                      \
    ROW(figure_eight)                                                                              \
    ROW(file)                                                                                      \
    ROW(galaxy)                                                                                    \
    ROW(hernquist)                                                                                 \
    ROW(jaffe)                                                                                     \
    ROW(king)                                                                                      \
    ROW(nfw)                                                                                       \
    ROW(orbits)                                                                                    \
    ROW(outer_solar_system)                                                                        \
    ROW(plummer)                                                                                   \
    ROW(pythagorean)                                                                               \
    ROW(two_body)                                                                                  \
    ROW(uniform_cube)                                                                              \
    ROW(encounter)
#define INITIAL_DECLARED(name) extern const struct initial_class initial_##name;
INITIAL_ROWS(INITIAL_DECLARED)
#undef INITIAL_DECLARED

enum { INITIAL_SPECIES_LENGTH = 15 }; /* most bytes of a value of the key `species` */

/* The work of drawing one body from a model, for interruption_after(): it takes about as long as
 * this many pair interactions. */
enum { INITIAL_DRAW_WORK = 1000 };

/* The most bodies of a system: OVITO, which shows trajectories, reads no more in a frame. */
#define INITIAL_COUNT_MAX 2147483647

/* Rows for the parameter tables of initial conditions. `default_` is one of the macros DEFAULT_...
 * of parameter.h. INITIAL_POSITIVE fills the member `key_` of the `struct keys` of its file. A row
 * INITIAL_CENTER in the table of an initial condition replaces the one that all share, whose
 * default is false. */
/* clang-format off */
#define INITIAL_COUNT(default_, help_)                                                             \
    { KEY(INTEGER, count), .default_value = default_, BETWEEN(1, INITIAL_COUNT_MAX),               \
      .help = (help_) }
#define INITIAL_CENTER(default_)                                                                   \
    { KEY(FLAG, center), BY_DEFAULT(FLAG, default_),                                               \
      .help = "Move the centre of mass to the origin and to rest." }
#define INITIAL_VIRIAL_RATIO                                                                       \
    { KEY(REAL, virial_ratio), OPTIONAL, NOT_NEGATIVE,                                             \
      .help = "Rescale all velocities, about that of the centre of mass, so that 2K/|W| has this " \
              "value (1 is equilibrium; K without the motion of the whole), with the softening "   \
              "and the boundary of the run; takes a sum over all pairs." }
#define INITIAL_POSITIVE(key_, default_, dimension_, help_)                                        \
    { BIND(REAL, struct keys, key_), .default_value = default_, POSITIVE,                          \
      .dimension = dimension_, .help = (help_) }
/* clang-format on */

/* Serves as count() of struct initial_class where the key `count` has the number of bodies. */
enum status initial_count_key(const struct section *section, size_t *count, struct error *error);

/* Checks that `times`, the length of the key `key` divided by that of the key `unit`, is from
 * `least` to `greatest`. STATUS_CONFIG. */
enum status initial_check_times(const struct section *section, const char *key, double times,
                                const char *unit, double least, double greatest,
                                struct error *error);

/* Creates the bodies of a section of `models`, one of the two that meet in an encounter, as
 * initial_create() does those of `bodies`, but without origin, origin_velocity and names. `seed` is
 * that of its first system, unless the model has the key `seed`. A virial ratio is reached by the
 * energies of all pairs. */
enum status initial_create_model(const struct section *model, const struct physics *physics,
                                 unsigned long seed, size_t systems, size_t count,
                                 struct bodies **bodies, struct initial_warnings *warnings,
                                 struct error *error);

/* A body: of a published table, in the units of that table, or drawn from a model, in the units of
 * the run. */
struct initial_body {
    double m, position[3], velocity[3];
};

/* Puts a body at an index of the arrays. */
void initial_set(struct bodies *bodies, size_t index, double m, const double position[3],
                 const double velocity[3]);

/* Fills all systems with bodies that draw() makes from the model one by one; `number` counts the
 * bodies of a system from 0. System s has random numbers of its own, with the seed `seed` + s.
 * STATUS_MEMORY, STATUS_STOPPED. */
enum status initial_draw_systems(void (*draw)(const void *model, gsl_rng *generator, size_t number,
                                              struct initial_body *body),
                                 const void *model, struct interruption *interruption,
                                 unsigned long seed, struct bodies *bodies, struct error *error);

#endif
