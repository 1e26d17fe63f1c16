/* Systems of few bodies: every instruction set of this machine against the serial backend. */
#include "unit.h"

#include <string.h>

#include "backend/backend.h"
#include "backend/small.h"
#include "base/memory.h"
#include "motion-case.h"

static const struct physics all_physics[] = {
    { .gravitational_constant = 1.37, .softening = 0.083 },
    { .gravitational_constant = 1.37 },
    { .gravitational_constant = 1.37,
      .softening = 0.083,
      .boundary = BOUNDARY_PERIODIC,
      .box_length = 2.3 },
    { .gravitational_constant = 1.37, .boundary = BOUNDARY_PERIODIC, .box_length = 2.3 },
    { .gravitational_constant = 1.37,
      .softening = 0.083,
      .boundary = BOUNDARY_PERIODIC,
      .box_length = 0.7 },
};

/* NULL where this machine has not the instruction set. */
static struct backend *start(const char *name, const char *isa, const struct physics *physics,
                             struct bodies *bodies, int threads)
{
    static struct error error;
    const struct backend_options options = {
        .force = { .precision = PRECISION_DOUBLE, .kernel = "auto", .isa = isa, .threads = threads }
    };
    struct backend *backend = NULL;
    error_clear(&error);
    backend_find(name)->create(&options, physics, bodies, &backend, &error);
    return backend;
}

static void advance(struct backend *backend, const struct integrator *integrator, double dt,
                    uint64_t steps)
{
    static struct error error;
    assert_int_equal(backend->class_->advance(backend, integrator, dt, steps, &error), STATUS_OK);
}

static void stop(struct backend *backend)
{
    backend->class_->destroy(backend);
}

static enum precision precision_of(const struct backend_options *options, size_t count)
{
    static struct error error;
    struct bodies *bodies = motion_cube(1, count, 3);
    struct backend *backend;
    struct backend_description description;
    assert_int_equal(
        backend_find("openmp")->create(options, &all_physics[0], bodies, &backend, &error),
        STATUS_OK);
    backend->class_->describe(backend, &description);
    stop(backend);
    bodies_destroy(bodies);
    return description.precision;
}

static const char *kernel_of(const struct backend *backend)
{
    struct backend_description description;
    backend->class_->describe(backend, &description);
    return description.kernel;
}

/* Twelve short steps: rounding errors of some 1e-16 of positions and velocities of order 1, and the
 * growth of those at close encounters (the closest pairs of these seeds pass at 0.02). */
static const double tolerance = 1e-12;

static void compare(const struct bodies *a, const struct bodies *b, const char *what)
{
    for (size_t i = 0; i < bodies_length(a); i++) {
        const double off = fabs(a->x[i] - b->x[i]) + fabs(a->y[i] - b->y[i]) +
                           fabs(a->z[i] - b->z[i]) + fabs(a->vx[i] - b->vx[i]) +
                           fabs(a->vy[i] - b->vy[i]) + fabs(a->vz[i] - b->vz[i]);
        if (!(off <= tolerance))
            fail_msg("%s: body %zu of %zu is off by %g", what, i, a->count, off);
    }
}

static void check_isa(const char *isa, const struct physics *physics,
                      const struct integrator *integrator, size_t count)
{
    struct bodies *a = motion_cube(2, count, 4 + count), *b = motion_cube(2, count, 4 + count);
    struct backend *backend = start("openmp", isa, physics, b, 2);
    if (backend) {
        struct backend *serial = start("serial", "auto", physics, a, 1);
        assert_string_equal(kernel_of(backend), "small");
        advance(serial, integrator, 1e-3, 12);
        advance(backend, integrator, 1e-3, 12);
        compare(a, b, isa);
        stop(serial);
        stop(backend);
    }
    bodies_destroy(a);
    bodies_destroy(b);
}

static void test_agrees_with_serial(void **state)
{
    (void)state;
    for (size_t isa = 1; force_isa_names[isa]; isa++)
        for (size_t p = 0; p < COUNT_OF(all_physics); p++)
            for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++)
                for (size_t count = 1; count <= SMALL_COUNT; count += count < 6 ? 1 : 3)
                    check_isa(force_isa_names[isa], &all_physics[p], integrator_at(k), count);
}

/* Any cadence, with a look at the forces in between, and any number of threads. */
static void test_parts_of_an_advance_make_the_whole(void **state)
{
    (void)state;
    const size_t counts[] = { 1, 2, 3, 4, 5, 17, SMALL_COUNT };
    for (size_t n = 0; n < COUNT_OF(counts); n++)
        for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
            static struct error error;
            struct bodies *a = motion_cube(3, counts[n], 7), *b = motion_cube(3, counts[n], 7);
            struct backend *whole = start("openmp", "auto", &all_physics[1], a, 1);
            struct backend *parts = start("openmp", "auto", &all_physics[1], b, 3);
            advance(whole, integrator_at(k), 1e-3, 7);
            advance(parts, integrator_at(k), 1e-3, 3);
            assert_int_equal(parts->class_->accelerations(parts, &error), STATUS_OK);
            advance(parts, integrator_at(k), 1e-3, 4);
            for (size_t s = 0; s < 3; s++)
                assert_true(motion_equal(a, s, b, s));
            stop(whole);
            stop(parts);
            bodies_destroy(a);
            bodies_destroy(b);
        }
}

static void test_bodies_in_one_place_and_without_mass(void **state)
{
    (void)state;
    const size_t counts[] = { 2, 3, 9 };
    for (size_t isa = 1; force_isa_names[isa]; isa++)
        for (size_t n = 0; n < COUNT_OF(counts); n++) {
            struct bodies *bodies = motion_cube(1, counts[n], 3);
            for (size_t i = 0; i < counts[n]; i++)
                bodies->x[i] = bodies->y[i] = bodies->z[i] = 0.71;
            bodies->m[0] = 0;
            struct backend *backend =
                start("openmp", force_isa_names[isa], &all_physics[1], bodies, 1);
            static struct error error;
            if (backend) {
                assert_int_equal(backend->class_->accelerations(backend, &error), STATUS_OK);
                for (size_t i = 0; i < counts[n]; i++)
                    assert_true(bodies->ax[i] == 0 && bodies->ay[i] == 0 && bodies->az[i] == 0);
                stop(backend);
            }
            bodies_destroy(bodies);
        }
}

/* Only bodies decide: more of them, or a kernel asked for, take the way of many. */
static void test_many_bodies_and_named_kernels_are_not_small(void **state)
{
    (void)state;
    struct bodies *few = motion_cube(1, 2, 3), *many = motion_cube(1, SMALL_COUNT + 1, 3);
    struct backend *backend = start("openmp", "auto", &all_physics[0], many, 1);
    assert_string_not_equal(kernel_of(backend), "small");
    stop(backend);
    const struct backend_options options = {
        .force = { .precision = PRECISION_DOUBLE, .kernel = "plain", .isa = "auto", .threads = 1 }
    };
    static struct error error;
    assert_int_equal(
        backend_find("openmp")->create(&options, &all_physics[0], few, &backend, &error), 0);
    assert_string_equal(kernel_of(backend), "plain");
    stop(backend);
    bodies_destroy(few);
    bodies_destroy(many);
}

/* The watch takes its noise from it, which is a million times larger in single. */
static void test_what_is_summed_in_double_says_so(void **state)
{
    (void)state;
    struct backend_options options = {
        .force = { .precision = PRECISION_SINGLE, .kernel = "auto", .isa = "auto", .threads = 1 }
    };
    assert_int_equal(precision_of(&options, 2), PRECISION_DOUBLE);
    assert_int_equal(precision_of(&options, SMALL_COUNT + 1), PRECISION_SINGLE);
    options.force.kernel = "plain";
    assert_int_equal(precision_of(&options, 2), PRECISION_SINGLE);
    options.force.kernel = "reference";
    assert_int_equal(precision_of(&options, SMALL_COUNT + 1), PRECISION_DOUBLE);
    options.force.kernel = "auto";
    options.force.precision = PRECISION_MIXED;
    options.integrator = integrator_find("hermite4"); /* whose forces are its own */
    assert_int_equal(precision_of(&options, 2), PRECISION_MIXED);
    options.force.kernel = "reference";
    assert_int_equal(precision_of(&options, 2), PRECISION_DOUBLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_serial),
        cmocka_unit_test(test_parts_of_an_advance_make_the_whole),
        cmocka_unit_test(test_bodies_in_one_place_and_without_mass),
        cmocka_unit_test(test_many_bodies_and_named_kernels_are_not_small),
        cmocka_unit_test(test_what_is_summed_in_double_says_so),
    };
    return cmocka_run_group_tests_name("small", tests, NULL, NULL);
}
