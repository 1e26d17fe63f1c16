/* The table of initial conditions, and what their source files share. */
#ifndef ORRERY_INITIAL_INITIAL_TABLE_H
#define ORRERY_INITIAL_INITIAL_TABLE_H

#include <gsl/gsl_rng.h>

#include "base/interruption.h"
#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"
#include "model/bodies.h"
#include "model/physics.h"

struct initial_class;
struct initial_warnings;

/* The starts, in the order of the lists that users see; the source file of each defines
 * initial_NAME. The last one is no model of an encounter. */
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
