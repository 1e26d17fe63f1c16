/* The common part of the tests of diagnostics: the moment (the struct from which diagnostics
 * measure) of given bodies, a sink that keeps the rows that a diagnostic puts out, and a check that
 * a second diagnostic goes on from the saved state of a first one. */
#ifndef ORRERY_VALIDATION_OBSERVE_H
#define ORRERY_VALIDATION_OBSERVE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/configuration.h"
#include "diagnostics/diagnostic.h"
#include "model/conserved.h"
#include "unit.h"

/* Bodies, their physics, and everything else to which the pointers of a struct moment may point. */
struct scene {
    struct physics physics;
    struct bodies *bodies;
    struct conserved *conserved, *first; /* [systems] of the present moment, and of step 0 */
    double *phi, *psi;
    struct moment moment;
};

static inline struct scene scene_create(size_t systems, size_t count, double G, double softening)
{
    struct error error = { 0 };
    struct scene scene = { .physics = { .gravitational_constant = G,
                                        .softening = softening,
                                        .boundary = BOUNDARY_OPEN,
                                        .units = units_find("nbody") } };
    assert_int_equal(bodies_create(systems, count, &scene.bodies, &error), STATUS_OK);
    const size_t length = bodies_length(scene.bodies);
    scene.conserved = calloc(systems, sizeof *scene.conserved);
    scene.first = calloc(systems, sizeof *scene.first);
    scene.phi = calloc(length, sizeof *scene.phi);
    scene.psi = calloc(length, sizeof *scene.psi);
    assert_true(scene.conserved && scene.first && scene.phi && scene.psi);
    return scene;
}

static inline void scene_destroy(struct scene *scene)
{
    bodies_destroy(scene->bodies);
    free(scene->conserved);
    free(scene->first);
    free(scene->phi);
    free(scene->psi);
}

static inline void scene_body(struct scene *scene, size_t system, size_t i, double m,
                              const double x[3], const double v[3])
{
    struct bodies *b = scene->bodies;
    const size_t at = system * b->stride + i;
    b->m[at] = m;
    b->x[at] = x[0], b->y[at] = x[1], b->z[at] = x[2];
    b->vx[at] = v[0], b->vy[at] = v[1], b->vz[at] = v[2];
}

/* Computes potentials phi and virial terms psi of the bodies by direct sums, as conserved.h defines
 * them. */
static inline void scene_potentials(struct scene *scene, size_t system)
{
    const struct bodies *b = scene->bodies;
    const double eps2 = scene->physics.softening * scene->physics.softening;
    const size_t first = system * b->stride, end = first + b->count;
    for (size_t i = first; i < end; i++) {
        scene->phi[i] = scene->psi[i] = 0.0;
        for (size_t j = first; j < end; j++) {
            if (j == i)
                continue;
            const double dx = b->x[j] - b->x[i], dy = b->y[j] - b->y[i], dz = b->z[j] - b->z[i];
            const double r2 = dx * dx + dy * dy + dz * dz, s2 = r2 + eps2;
            const double Gm = scene->physics.gravitational_constant * b->m[j];
            scene->phi[i] -= Gm / sqrt(s2);
            scene->psi[i] -= Gm * r2 / (s2 * sqrt(s2));
        }
    }
}

/* Returns the moment of the bodies as they are at step `step`. With `sums` it includes potentials
 * and conserved quantities, which take a sum over all pairs. */
static inline const struct moment *scene_moment(struct scene *scene, uint64_t step, double dt,
                                                bool sums)
{
    for (size_t s = 0; sums && s < scene->bodies->systems; s++) {
        scene_potentials(scene, s);
        conserved_measure(scene->bodies, s, scene->phi, scene->psi, &scene->conserved[s]);
    }
    for (size_t s = 0; step == 0 && s < scene->bodies->systems; s++)
        scene->first[s] = scene->conserved[s];
    scene->moment = (struct moment){ .step = step,
                                     .time = (double)step * dt,
                                     .dt = dt,
                                     .threads = 2,
                                     .physics = &scene->physics,
                                     .bodies = scene->bodies,
                                     .conserved = scene->conserved,
                                     .first = scene->first,
                                     .phi = scene->phi,
                                     .psi = scene->psi };
    return &scene->moment;
}

/* The rows that a diagnostic has put out, one after another: for each its system and the values of
 * its columns. */
struct rows {
    const struct diagnostic *diagnostic;
    size_t count;
    size_t *system;
    double *values;
};

static inline enum status rows_take(void *context, size_t system, const double *values,
                                    struct error *error)
{
    (void)error;
    struct rows *rows = context;
    const size_t columns = rows->diagnostic->column_count;
    rows->system = realloc(rows->system, (rows->count + 1) * sizeof *rows->system);
    rows->values = realloc(rows->values, (rows->count + 1) * columns * sizeof *rows->values);
    assert_true(rows->system && rows->values);
    rows->system[rows->count] = system;
    memcpy(rows->values + rows->count * columns, values, columns * sizeof *values);
    rows->count++;
    return STATUS_OK;
}

static inline void rows_free(struct rows *rows)
{
    free(rows->system);
    free(rows->values);
    *rows = (struct rows){ .diagnostic = rows->diagnostic };
}

static inline void rows_measure(struct rows *rows, struct diagnostic *diagnostic,
                                const struct moment *now)
{
    struct error error = { 0 };
    rows->diagnostic = diagnostic;
    const struct row_sink sink = { .row = rows_take, .context = rows };
    if (diagnostic_measure(diagnostic, now, &sink, &error) != STATUS_OK)
        fail_msg("measure: %s", error.text);
}

/* Returns the value of a column in row number `row`; the test fails for an unknown name. */
static inline double rows_value(const struct rows *rows, size_t row, const char *column)
{
    const struct diagnostic *d = rows->diagnostic;
    assert_true(row < rows->count);
    for (size_t c = 0; c < d->column_count; c++)
        if (strcmp(d->columns[c].name, column) == 0)
            return rows->values[row * d->column_count + c];
    fail_msg("no column '%s'", column);
    return NAN;
}

/* Checks that all rows of a and b have the same bits. */
static inline void assert_rows_equal(const struct rows *a, const struct rows *b)
{
    assert_int_equal(a->count, b->count);
    const size_t length = a->count * a->diagnostic->column_count;
    assert_memory_equal(a->values, b->values, length * sizeof(double));
    assert_memory_equal(a->system, b->system, a->count * sizeof *a->system);
}

/* Returns the config that has this text; the caller frees it. */
static inline struct config *config_from(const struct schema *schema, const char *text)
{
    char name[] = "/tmp/orrery-observe-XXXXXX";
    const int file = mkstemp(name);
    assert_true(file >= 0);
    assert_true(dprintf(file, "%s\n", text) > 0);
    close(file);
    struct error error = { 0 };
    struct config *config;
    const struct config_source source = { .path = name };
    const enum status status = config_load(&source, schema, &config, &error);
    unlink(name);
    if (status != STATUS_OK)
        fail_msg("%s", error.text);
    return config;
}

/* Returns the config with this text as its only diagnostic: `diagnostics = ( { <text> } );`. The
 * caller frees it. */
static inline struct config *config_of(const char *text)
{
    static struct group groups[] = {
        { .name = "" },
        { .name = "diagnostics",
          .list = true,
          .parameters = diagnostic_parameters,
          .variant_key = "type",
          .variant = diagnostic_variant },
    };
    static const struct schema schema = { groups, COUNT_OF(groups) };
    groups[1].parameter_count = diagnostic_parameter_count;
    char whole[1024];
    snprintf(whole, sizeof whole, "diagnostics = ( { %s } );", text);
    return config_from(&schema, whole);
}

/* Creates a diagnostic by a section of a config; NULL: with the defaults of all its keys. */
static inline struct diagnostic *diagnostic_make(const struct diagnostic_class *class_,
                                                 const struct section *section,
                                                 const struct moment *start)
{
    struct error error = { 0 };
    struct diagnostic *diagnostic;
    struct config *defaults = NULL;
    if (!section) {
        char text[64];
        snprintf(text, sizeof text, "type = \"%s\";", class_->variant.name);
        defaults = config_of(text);
        section = config_item(defaults, "diagnostics", 0);
    }
    if (diagnostic_create_as(class_, section, start, &diagnostic, &error) != STATUS_OK)
        fail_msg("create: %s", error.text);
    config_free(defaults);
    return diagnostic;
}

/* A diagnostic, the scene that it measures and the rows that it has put out. */
struct bench {
    struct scene scene;
    struct config *config;
    struct diagnostic *diagnostic;
    struct rows rows;
};

/* Creates the diagnostic that `text` configures, and measures once; `sums` as in scene_moment(). */
static inline void bench_measure(struct bench *bench, const char *text, bool sums)
{
    bench->config = config_of(text);
    const struct section *section = config_item(bench->config, "diagnostics", 0);
    const struct moment *now = scene_moment(&bench->scene, 0, 0.01, sums);
    struct error error = { 0 };
    if (diagnostic_create(section, now, &bench->diagnostic, &error) != STATUS_OK)
        fail_msg("create: %s", error.text);
    rows_measure(&bench->rows, bench->diagnostic, now);
}

static inline void bench_clear(struct bench *bench)
{
    rows_free(&bench->rows);
    diagnostic_destroy(bench->diagnostic);
    config_free(bench->config);
    bench->diagnostic = NULL;
    bench->config = NULL;
}

/*
 * Checks a restart: a second diagnostic, created at the present moment with a copy of the first
 * one's state, must put out the rows that the first one puts out now, and come to the same state.
 */
static inline void assert_continues(struct diagnostic *first, const struct section *section,
                                    const struct moment *now)
{
    struct diagnostic *second = diagnostic_make(first->class_, section, now);
    assert_int_equal(second->state_count, first->state_count);
    memcpy(second->state, first->state, first->state_count * sizeof *first->state);
    struct rows a = { 0 }, b = { 0 };
    rows_measure(&a, first, now);
    rows_measure(&b, second, now);
    assert_rows_equal(&a, &b);
    assert_memory_equal(first->state, second->state, first->state_count * sizeof(double));
    rows_free(&a);
    rows_free(&b);
    diagnostic_destroy(second);
}

#endif
