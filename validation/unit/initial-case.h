/* The common part of the tests of initial conditions: bodies made from the text of a config
 * file. */
#ifndef ORRERY_VALIDATION_UNIT_INITIAL_CASE_H
#define ORRERY_VALIDATION_UNIT_INITIAL_CASE_H

#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "force/direct/reference.h"
#include "initial/initial.h"
#include "model/conserved.h"

static inline char *initial_directory(void)
{
    static char directory[] = "/tmp/orrery-initial-XXXXXX";
    return directory;
}

static inline int make_directory(void **state)
{
    (void)state;
    return mkdtemp(initial_directory()) && chdir(initial_directory()) == 0 ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", initial_directory());
    return chdir("/") + system(command);
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Creates the bodies of a config with the group `bodies = { <keys> };`. */
static inline enum status create(const char *keys, const struct physics *physics, size_t systems,
                                 struct bodies **bodies, struct initial_warnings *warnings,
                                 struct error *error)
{
    const struct group group = { .name = "bodies",
                                 .parameters = initial_parameters,
                                 .parameter_count = initial_parameter_count,
                                 .variant_key = "initial",
                                 .variant = initial_variant,
                                 .check = initial_check };
    const struct schema schema = { &group, 1 };
    const struct config_source source = { .path = "run.cfg" };
    struct config *config;
    char text[4096];
    snprintf(text, sizeof text, "bodies = { %s };\n", keys);
    write_file("run.cfg", text);
    error_clear(error);
    *bodies = NULL;
    if (config_load(&source, &schema, &config, error) != STATUS_OK)
        return error->status;
    const struct section *section = config_section(config, "bodies");
    size_t count;
    enum status status = initial_count(section, systems, &count, error);
    if (!status)
        status = initial_create(section, physics, NULL, systems, count, bodies, warnings, error);
    config_free(config);
    return status;
}

static inline struct bodies *make_systems(const char *keys, const struct physics *physics,
                                          size_t systems)
{
    struct bodies *bodies;
    struct error error = { 0 };
    struct initial_warnings warnings;
    if (create(keys, physics, systems, &bodies, &warnings, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(bodies->systems, systems);
    assert_int_equal(warnings.coincident, 0);
    for (size_t k = 0; k < INITIAL_FILE_WARNINGS; k++)
        assert_string_equal(warnings.files[k].words, "");
    return bodies;
}

static inline struct bodies *make(const char *keys, const struct physics *physics)
{
    return make_systems(keys, physics, 1);
}

static inline void refuse(const char *keys, const struct physics *physics, size_t systems,
                          enum status expected, const char *message)
{
    struct bodies *bodies;
    struct error error = { 0 };
    struct initial_warnings warnings;
    const enum status status = create(keys, physics, systems, &bodies, &warnings, &error);
    assert_null(bodies);
    assert_string_equal(error.text, message);
    assert_int_equal(status, expected);
}

/* Returns energies and the other conserved quantities of a system, with potentials by direct sums
 * (force/direct/reference.h). */
static inline struct conserved measure(const struct bodies *b, size_t system,
                                       const struct physics *physics)
{
    struct conserved conserved;
    double *phi = calloc(bodies_length(b), sizeof *phi), *psi = calloc(bodies_length(b), 8);
    assert_true(phi && psi);
    reference_potentials(physics, b, phi, psi);
    conserved_measure(b, system, phi, psi, &conserved);
    free(phi);
    free(psi);
    return conserved;
}

static inline double radius(const struct bodies *b, size_t i)
{
    return sqrt(b->x[i] * b->x[i] + b->y[i] * b->y[i] + b->z[i] * b->z[i]);
}

static inline int compare_reals(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Returns the distances of the first system's bodies from the origin, in ascending order; the
 * caller frees them. */
static inline double *sorted_radii(const struct bodies *b)
{
    double *r = calloc(b->count, sizeof *r);
    assert_non_null(r);
    for (size_t i = 0; i < b->count; i++)
        r[i] = radius(b, i);
    qsort(r, b->count, sizeof *r, compare_reals);
    return r;
}

/* Tells whether ids, masses, positions and velocities of all systems have the same bits. */
static inline bool same_bodies(const struct bodies *a, const struct bodies *b)
{
    const size_t size = bodies_length(a) * sizeof(double);
    const double *const left[] = { a->m, a->x, a->y, a->z, a->vx, a->vy, a->vz };
    const double *const right[] = { b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz };
    bool same = bodies_length(a) == bodies_length(b) && memcmp(a->id, b->id, size) == 0;
    for (size_t k = 0; k < COUNT_OF(left) && same; k++)
        same = memcmp(left[k], right[k], size) == 0;
    return same;
}

#endif
