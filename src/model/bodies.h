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

/* Bodies of one kind or origin, or a single one that has a name: those of a system from the end of
 * the species before to `end`. */
enum { SPECIES_MOST = 64, SPECIES_NAME_SIZE = 32 };
struct species {
    char name[SPECIES_NAME_SIZE]; /* a word without blanks */
    size_t end;
};

/*
 * Body i of system s stands at index s * stride + i of every array. Always fp64, in the units of
 * the config. The arrays are 64-byte aligned, and so is every system's part of them.
 * ax, ay, az belong to the backend: the last forces that it evaluated.
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
    struct species
        species[SPECIES_MOST]; /* the same in every system; none: the start has no parts */
};

/* All zero but for the ids. STATUS_MEMORY. */
enum status bodies_create(size_t systems, size_t count, struct bodies **bodies,
                          struct error *error);
void bodies_destroy(struct bodies *bodies);

/* Return the length that every array of these bodies would have, and the bytes of all arrays. */
double bodies_length_of(double systems, double count);
double bodies_bytes(double systems, double count);

/* The number, from 0, of the species of the body at index i of the arrays; species_count: none. */
size_t bodies_species(const struct bodies *bodies, size_t i);

/* Returns the name of that species; "X": none. */
const char *bodies_species_name(const struct bodies *bodies, size_t i);

/* Tells whether it can name a species: a word of UTF-8 of less than SPECIES_NAME_SIZE bytes,
 * without blanks, the signs " \ = , which separate words in files, and what a terminal obeys. */
bool bodies_is_species(const char *name);

/* Appends bodies up to `end` as a species of this name; false where there are SPECIES_MOST. */
bool bodies_add_species(struct bodies *bodies, const char *name, size_t end);

/* Notes the species of body number `body` of a system, of which those before are noted; "" is "X",
 * no species. False if there are SPECIES_MOST, it is no name, or system 0 has another one there. */
bool bodies_note_species(struct bodies *bodies, size_t system, size_t body, const char *name);

/* Writes what users call the body of an id: its name, if it is a species of its own in all systems,
 * otherwise "body 3". */
enum { BODIES_NAME_SIZE = SPECIES_NAME_SIZE };
const char *bodies_name(const struct bodies *bodies, int64_t id, char buffer[BODIES_NAME_SIZE]);

/* Writes what they call two: "Sun and Jupiter", "Sun and body 3", or "bodies 3 and 7". */
enum { BODIES_PAIR_SIZE = 2 * BODIES_NAME_SIZE + 8 };
const char *bodies_pair(const struct bodies *bodies, int64_t id_1, int64_t id_2,
                        char buffer[BODIES_PAIR_SIZE]);

/* Copies those bodies of a system, the first of which is at index `first`, that takes() chooses by
 * their numbers in it, without their species; NULL if there are none. STATUS_MEMORY. */
enum status bodies_select(const struct bodies *bodies, size_t first,
                          bool (*takes)(const void *context, size_t number), const void *context,
                          struct bodies **selected, struct error *error);

/* Copies masses, positions and velocities of `count` bodies between indices of the arrays. */
void bodies_copy_part(struct bodies *to, size_t first, const struct bodies *from, size_t source,
                      size_t count);

/* Species, masses, positions, velocities and ids of as many bodies as a system of `to` has, from
 * the first ones of a system of `from`, which has no fewer. */
void bodies_copy_system(struct bodies *to, size_t system, const struct bodies *from, size_t source);

/* The arrays of reals, from m to az, for whatever treats them alike. */
enum { BODIES_REALS = 10 };
void bodies_reals(const struct bodies *bodies, double *arrays[BODIES_REALS]);

/* The length of every array: systems x stride. */
size_t bodies_length(const struct bodies *bodies);

/* Are the position and the velocity of the body at index i finite? Whoever asks does so here. */
bool bodies_finite(const struct bodies *bodies, size_t i);

/* Returns the body of indices [first, last) to be named because its position or velocity is not
 * finite: the first infinite one, which makes the others NaN, otherwise the first one; `last`: all
 * are. */
size_t bodies_not_finite(const struct bodies *bodies, size_t first, size_t last);

/* STATUS_NUMERICAL, with the position and the velocity of the body at index i; `when` stands behind
 * its name: " at step 12", or "". */
enum status bodies_report(const struct bodies *bodies, size_t i, const char *when,
                          struct error *error);

#ifdef __cplusplus
}
#endif

/* --- changes of one system -------------------------------------------------------------------- */

/* Changes of one whole system, whose first body stands at index `first` of the arrays. */

/* Moves the centre of mass to the origin and to rest. Some mass is required. */
void bodies_center(struct bodies *bodies, size_t first);

/* Multiplies positions and velocities. */
void bodies_scale(struct bodies *bodies, size_t first, double positions, double velocities);

/* v -> V + factor (v - V). */
void bodies_scale_velocities(struct bodies *bodies, size_t first, const double V[3], double factor);

#endif
