/*
 * The bodies: one structure of arrays for `systems` independent systems of `count` bodies each.
 * One system is an ensemble of one.
 */
#ifndef ORRERY_MODEL_BODIES_H
#define ORRERY_MODEL_BODIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every system is padded to a multiple of this with bodies of zero mass, at rest at the origin. */
enum { BODIES_PADDING = 16 };

/* A species: bodies of one kind or origin, or a single body that has a name. In every system its
 * bodies are those whose numbers, from 0, are less than `end` and not less than the `end` of the
 * species before it (the first species: from 0 on). */
enum { SPECIES_MOST = 64, SPECIES_NAME_SIZE = 32 };
struct species {
    char name[SPECIES_NAME_SIZE]; /* a word without blanks */
    size_t end;
};

/*
 * The bodies of all systems. Body i of system s stands at index s * stride + i of every array.
 * Reals are always fp64, in the units of the config. The arrays are 64-byte aligned, and so is
 * every system's part of them. ax, ay, az belong to the backend: they are the accelerations that it
 * evaluated last.
 */
struct bodies {
    size_t systems;
    size_t count;  /* bodies in each system */
    size_t stride; /* count, rounded up to BODIES_PADDING */
    double *m;
    double *x, *y, *z;
    double *vx, *vy, *vz;
    double *ax, *ay, *az;
    int64_t *id; /* unique within a system; 1, 2, 3 ... unless the input says otherwise */
    size_t species_count;
    struct species species[SPECIES_MOST]; /* ascending by `end`; the same in every system */
};

/* Creates bodies whose numbers are all zero but for the ids, which are 1 ... `count` in every
 * system. STATUS_MEMORY. */
enum status bodies_create(size_t systems, size_t count, struct bodies **bodies,
                          struct error *error);
void bodies_destroy(struct bodies *bodies);

/* Return the number of elements of each array for `systems` systems of `count` bodies, padding
 * included, and the bytes of all arrays together. */
double bodies_length_of(double systems, double count);
double bodies_bytes(double systems, double count);

/* Returns the system that begins at index `first` as bodies of one system; its arrays are parts of
 * those of `bodies`, and stay theirs. */
struct bodies bodies_alone(const struct bodies *bodies, size_t first);

/* Returns the number, from 0, of the species of the body at index i of the arrays; species_count if
 * it has none. */
size_t bodies_species(const struct bodies *bodies, size_t i);

/* Returns the name of the species of the body at index i of the arrays; "X" if it has none. */
const char *bodies_species_name(const struct bodies *bodies, size_t i);

/* Tells whether `name` can be the name of a species: a word of UTF-8 of less than SPECIES_NAME_SIZE
 * bytes, without blanks, without the signs " \ = , that separate words in files, and without
 * characters that a terminal obeys. */
bool bodies_is_species(const char *name);

/* Appends a species of this name, whose bodies are those from the end of the last species up to
 * number `end` - 1. Returns false if there are SPECIES_MOST already. */
bool bodies_add_species(struct bodies *bodies, const char *name, size_t end);

/* Notes that body number `body` (from 0) of a system is of species `name`; all bodies before it
 * must have been noted. "" stands for "X", no species. Returns false if there are SPECIES_MOST
 * species already, if `name` cannot be that of a species, or if the body of this number is of
 * another species in system 0. */
bool bodies_note_species(struct bodies *bodies, size_t system, size_t body, const char *name);

/* Writes into `buffer` what users call the body with this id, and returns `buffer`: the name of its
 * species if that species is this single body in every system, otherwise "body 3". */
enum { BODIES_NAME_SIZE = SPECIES_NAME_SIZE };
const char *bodies_name(const struct bodies *bodies, int64_t id, char buffer[BODIES_NAME_SIZE]);

/* Writes into `buffer` what users call two bodies, and returns `buffer`: "Sun and Jupiter", "Sun
 * and body 3", or "bodies 3 and 7". */
enum { BODIES_PAIR_SIZE = 2 * BODIES_NAME_SIZE + 8 };
const char *bodies_pair(const struct bodies *bodies, int64_t id_1, int64_t id_2,
                        char buffer[BODIES_PAIR_SIZE]);

/* Copies the bodies for whose number (from 0 within the system) takes() is true, of the system that
 * begins at index `first` of the arrays, into a new system. Species are left out. *selected is NULL
 * if takes() is true for none. STATUS_MEMORY. */
enum status bodies_select(const struct bodies *bodies, size_t first,
                          bool (*takes)(const void *context, size_t number), const void *context,
                          struct bodies **selected, struct error *error);

/* Copies masses, positions and velocities of `count` bodies from index `source` of the arrays of
 * `from` to index `first` of those of `to`. */
void bodies_copy_part(struct bodies *to, size_t first, const struct bodies *from, size_t source,
                      size_t count);

/* Copies, into system `system` of `to`, the species and the masses, positions, velocities and ids
 * of the first to->count bodies of system `source` of `from`, which must have no fewer. */
void bodies_copy_system(struct bodies *to, size_t system, const struct bodies *from, size_t source);

/* Puts the arrays of reals, m, x, y, z, vx, ... az in this order, into `arrays`, for code that
 * treats them alike. */
enum { BODIES_REALS = 10 };
void bodies_reals(const struct bodies *bodies, double *arrays[BODIES_REALS]);

/* Returns the number of elements of each array: systems x stride. */
size_t bodies_length(const struct bodies *bodies);

/* Tells whether the position and the velocity of the body at index i are finite. */
bool bodies_finite(const struct bodies *bodies, size_t i);

/* Returns the index in [first, last) of the body that a message should name because its position or
 * velocity is not finite: the first infinite one, since it makes others NaN, or else the first that
 * is NaN; `last` if all are finite. */
size_t bodies_not_finite(const struct bodies *bodies, size_t first, size_t last);

/* Fails with STATUS_NUMERICAL and a message that shows the position and the velocity of the body at
 * index i; `when` stands behind the body's name: " at step 12", or "". */
enum status bodies_report(const struct bodies *bodies, size_t i, const char *when,
                          struct error *error);

#ifdef __cplusplus
}
#endif

/* --- changes of one system -------------------------------------------------------------------- */

/* The functions below change one whole system, whose first body stands at index `first` of the
 * arrays. */

/* Moves the centre of mass to the origin and brings it to rest. The total mass must not be 0. */
void bodies_center(struct bodies *bodies, size_t first);

/* Multiplies all positions by the factor `positions` and all velocities by the factor
 * `velocities`. */
void bodies_scale(struct bodies *bodies, size_t first, double positions, double velocities);

/* Multiplies velocities relative to V by `factor`: v becomes V + factor (v - V). */
void bodies_scale_velocities(struct bodies *bodies, size_t first, const double V[3], double factor);

#endif
