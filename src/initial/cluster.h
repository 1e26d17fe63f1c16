/*
 * The common part of the models of star clusters in equilibrium: a model says where bodies are and
 * how fast they move; cluster.c adds their masses, binaries among them, and the scale in the units
 * of the run.
 */
#ifndef ORRERY_INITIAL_CLUSTER_H
#define ORRERY_INITIAL_CLUSTER_H

#include <gsl/gsl_rng.h>

#include "initial/initial.h"
#include "model/physics.h"

/* The config keys that all models of star clusters have: the number of bodies, their masses,
 * binaries among them, and the scale. */
enum mass_function { IMF_EQUAL, IMF_SALPETER, IMF_KROUPA, IMF_TWO_COMPONENTS };
enum rescale { RESCALE_AUTO, RESCALE_PAIRS, RESCALE_SHELLS, RESCALE_NONE };
enum eccentricities { ECCENTRICITIES_THERMAL, ECCENTRICITIES_CIRCULAR };

/* The values of these keys. A struct of this type is the first member of the `struct keys` into
 * which a model reads its keys. */
struct cluster_keys {
    double mass; /* total mass; NaN: unset */
    enum mass_function masses;
    double star_masses[2]; /* smallest and largest mass of a star, in solar masses */
    double heavy_ratio, heavy_fraction;
    enum rescale rescale;
    double binary_fraction, binary_axes[2];
    enum eccentricities binary_eccentricities;
};

extern const char *const masses_choices[], *const masses_help[]; /* defined in cluster.c */
extern const char *const binaries_eccentricities[];              /* defined in cluster.c */
extern const char *const cluster_rescale_choices[];              /* defined in cluster.c */

/* clang-format off */
/* The rows of these keys for the parameter table of a model; the arguments are the defaults of the
 * keys `center` and `rescale`. */
#define CLUSTER_PARAMETERS(center_, rescale_)                                                      \
    INITIAL_COUNT(DEFAULT_NONE, "Number of bodies, both members of a binary counted."),            \
    INITIAL_CENTER(center_),                                                                       \
    { BIND(REAL, struct cluster_keys, mass), OPTIONAL, POSITIVE, .dimension = DIMENSION_MASS,      \
      .help = "Total mass M; unset: 1, or, for `salpeter` and `kroupa` in units with a solar "     \
              "mass, the sum of the stars' masses." },                                             \
    { BIND(CHOICE, struct cluster_keys, masses), BY_DEFAULT(STRING, "equal"),                      \
      .choices = masses_choices, .choice_help = masses_help,                                       \
      .help = "Distribution of the masses; they do not depend on the position." },                 \
    { BIND(REALS, struct cluster_keys, star_masses), BY_DEFAULT(REALS, 0.08, 100.0), POSITIVE,     \
      .length = 2,                                                                                 \
      .help = "Smallest and largest mass for `salpeter` and `kroupa`, in solar masses." },         \
    { BIND(REAL, struct cluster_keys, heavy_ratio), BY_DEFAULT(REAL, 10.0), POSITIVE,              \
      .help = "Mass of a heavy body over that of a light one, for `two-components`." },            \
    { BIND(REAL, struct cluster_keys, heavy_fraction), BY_DEFAULT(REAL, 0.1), BETWEEN(0, 1),       \
      .help = "Fraction of the bodies that are heavy, for `two-components`." },                    \
    { BIND(CHOICE, struct cluster_keys, rescale), BY_DEFAULT(STRING, rescale_),                    \
      .choices = cluster_rescale_choices,                                                          \
      .help = "Change the unit of length so that the energy is that of the model without "         \
              "softening, binaries as single bodies; from all pairs (exact), from shells (fast, "  \
              "to about 2 sum(m^2)/mass^2, which is 2/count for equal masses), or none; auto: "    \
              "pairs up to 32768 bodies, else shells." },                                          \
    { BIND(REAL, struct cluster_keys, binary_fraction), BY_DEFAULT(REAL, 0.0), BETWEEN(0, 1),      \
      .help = "Number of binaries over that of binaries and single bodies together; the members "  \
              "of binaries come first." },                                                         \
    { BIND(REALS, struct cluster_keys, binary_axes), OPTIONAL, POSITIVE, .length = 2,              \
      .dimension = DIMENSION_LENGTH,                                                               \
      .help = "Smallest and largest semi-major axis of a binary; uniform in ln a." },              \
    { BIND(CHOICE, struct cluster_keys, binary_eccentricities), BY_DEFAULT(STRING, "thermal"),     \
      .choices = binaries_eccentricities,                                                          \
      .help = "thermal: f(e) = 2e; circular: 0." }
/* clang-format on */

/* --- filling ---------------------------------------------------------------------------------- */

/* A model of a sphere of mass M, in units of its own (units of the model), in which positions are
 * of order 1. */
struct cluster {
    /* Draws position and velocity of one body, independent of all others, in the units of the
     * model. */
    void (*draw)(const void *model, gsl_rng *generator, double position[3], double velocity[3]);
    const void *model; /* for draw() */
    double length;     /* the model's unit of length, in the units of the run */
    /* G M in the units of the model. The model's unit of velocity, in the units of the run, is
     * sqrt(G M / (mass * length)), with G and M of the run. */
    double mass;
    /* The energy of the model, in equilibrium and without softening, is number * G M^2 / extent in
     * the units of the run. */
    double number, extent;
};

/* Serve as check() and uses_scale() of struct initial_class in all models of clusters. */
void cluster_check(const struct section *section, struct error *error);
bool cluster_uses_scale(const struct section *section, const struct physics *physics,
                        const char *key);

/* Fills all systems with bodies of the model `cluster`, system s with the seed `seed` + s. All
 * models of clusters call it in their fill_all() of struct initial_class. */
enum status cluster_fill(const struct section *section, const struct physics *physics,
                         const struct cluster_keys *keys, const struct cluster *cluster,
                         unsigned long seed, struct bodies *bodies, struct error *error);

#endif
