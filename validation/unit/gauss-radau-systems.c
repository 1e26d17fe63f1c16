/* gauss-radau for all systems of a run: what the schedule, the neighbours and a restart must not
 * change, and what it must refuse. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/memory.h"
#include "integrator/gauss-radau.h"
#include "motion-case.h"
#include "saved-case.h"

static const struct physics bare = { .gravitational_constant = 1 };
static const struct physics soft = { .gravitational_constant = 1, .softening = 0.05 };
static const double dt = 0.01;

static struct backend *try_kernel(const char *name, const char *kernel, const char *isa,
                                  const struct physics *physics, struct bodies *bodies, int threads,
                                  struct error *error)
{
    const struct backend_options options = {
        .force = { PRECISION_DOUBLE, kernel, isa, threads, { 0 } },
        .integrator = integrator_find("gauss-radau"),
    };
    struct backend *backend = NULL;
    error_clear(error);
    backend_find(name)->create(&options, physics, bodies, &backend, error);
    return backend;
}

static struct backend *try_start(const char *name, const char *isa, const struct physics *physics,
                                 struct bodies *bodies, int threads, struct error *error)
{
    return try_kernel(name, "auto", isa, physics, bodies, threads, error);
}

static struct backend *start(const char *name, const struct physics *physics, struct bodies *bodies,
                             int threads)
{
    static struct error error;
    struct backend *const backend = try_start(name, "auto", physics, bodies, threads, &error);
    if (!backend)
        fail_msg("%s", error.text);
    return backend;
}

static void advance(struct backend *backend, uint64_t steps)
{
    static struct error error;
    if (backend->class_->advance(backend, integrator_find("gauss-radau"), dt, steps, &error))
        fail_msg("%s", error.text);
}

static void stop(struct backend *backend)
{
    backend->class_->destroy(backend);
}

static struct work_done statistics(const struct backend *backend, size_t system)
{
    struct work_done result;
    backend->adaptive->class_->statistics(backend->adaptive, system, &result);
    return result;
}

/* As many systems as fill lanes, as some, and one; small ones, and such as the force kernels sum.
 */
static const struct {
    size_t systems, count;
    uint64_t steps;
} cases[] = {
    { 21, 3, 60 }, { 5, 4, 60 }, { 1, 3, 60 }, { 1, 11, 20 }, { 3, 40, 3 }, { 1, 300, 1 }
};

static void test_threads_and_cadence_change_no_bit(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bodies *whole = motion_cube(cases[k].systems, cases[k].count, 3);
        struct backend *backend = start("openmp", &soft, whole, 1);
        advance(backend, cases[k].steps);
        const double own = statistics(backend, 0).steps;
        stop(backend);
        for (int threads = 2; threads <= 5; threads++) {
            struct bodies *parts = motion_cube(cases[k].systems, cases[k].count, 3);
            backend = start("openmp", &soft, parts, threads);
            for (uint64_t step = 0; step < cases[k].steps; step++)
                advance(backend, 1);
            assert_close(statistics(backend, 0).steps, own, 0);
            stop(backend);
            for (size_t s = 0; s < cases[k].systems; s++)
                assert_true(motion_equal(whole, s, parts, s));
            bodies_destroy(parts);
        }
        bodies_destroy(whole);
    }
}

/* Lane by lane or alone, of every instruction set. */
static void test_neighbours_change_no_bit(void **state)
{
    (void)state;
    const size_t counts[] = { 1, 2, 3, 4, 9, 17, 32, 40 };
    for (size_t n = 0; n < COUNT_OF(counts); n++)
        for (size_t isa = 1; force_isa_names[isa]; isa++) {
            static struct error error;
            struct bodies *all = motion_cube(9, counts[n], 11);
            struct backend *backend =
                try_start("openmp", force_isa_names[isa], &bare, all, 1, &error);
            if (backend) {
                advance(backend, 3);
                stop(backend);
            }
            for (size_t s = 0; s < 9 && backend; s += 4) {
                struct bodies *one = motion_cube(1, counts[n], 11 + s);
                struct backend *alone =
                    try_start("openmp", force_isa_names[isa], &bare, one, 1, &error);
                advance(alone, 3);
                stop(alone);
                assert_true(motion_equal(all, s, one, 0));
                bodies_destroy(one);
            }
            bodies_destroy(all);
        }
}

/* To the rounding errors of some hundred steps of their own, and what encounters make of them. */
static void test_kernels_agree_with_serial(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bodies *a = motion_cube(cases[k].systems, cases[k].count, 5);
        struct bodies *b = motion_cube(cases[k].systems, cases[k].count, 5);
        struct backend *serial = start("serial", &soft, a, 1),
                       *openmp = start("openmp", &soft, b, 2);
        advance(serial, cases[k].steps);
        advance(openmp, cases[k].steps);
        for (size_t i = 0; i < bodies_length(a); i++) {
            assert_close(b->x[i], a->x[i], 1e-12);
            assert_close(b->vy[i], a->vy[i], 1e-11);
        }
        stop(serial);
        stop(openmp);
        bodies_destroy(a);
        bodies_destroy(b);
    }
}

/* The reference sums the same on both, a system for each thread or one by all of them. */
static void test_the_reference_has_the_bits_of_serial(void **state)
{
    (void)state;
    for (size_t systems = 1; systems <= 5; systems += 2) {
        static struct error error;
        struct bodies *a = motion_cube(systems, 8, 5), *b = motion_cube(systems, 8, 5);
        struct backend *serial = start("serial", &soft, a, 1);
        struct backend *openmp = try_kernel("openmp", "reference", "auto", &soft, b, 2, &error);
        advance(serial, 10);
        advance(openmp, 10);
        for (size_t s = 0; s < systems; s++)
            assert_true(motion_equal(a, s, b, s));
        stop(serial);
        stop(openmp);
        bodies_destroy(a);
        bodies_destroy(b);
    }
}

/* --- a restart -------------------------------------------------------------------------------- */

static void copy_all(struct bodies *to, const struct bodies *from)
{
    for (size_t s = 0; s < from->systems; s++)
        bodies_copy_system(to, s, from, s);
}

static void test_what_was_saved_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bodies *whole = motion_cube(cases[k].systems, cases[k].count, 7);
        struct bodies *later = motion_bodies(cases[k].systems, cases[k].count);
        struct backend *first = start("openmp", &bare, whole, 2);
        advance(first, 1);
        struct saved saved = saved_from(first->adaptive);
        copy_all(later, whole);
        struct backend *second = start("openmp", &bare, later, 1);
        assert_int_equal(saved_load(&saved, second->adaptive), STATUS_OK);
        advance(first, 2);
        advance(second, 2);
        for (size_t s = 0; s < cases[k].systems; s++) {
            assert_true(motion_equal(whole, s, later, s));
            assert_close(statistics(second, s).interactions, statistics(first, s).interactions, 0);
        }
        saved_free(&saved);
        stop(first);
        stop(second);
        bodies_destroy(whole);
        bodies_destroy(later);
    }
}

/* A system that another object takes over goes on as it did, also with grid steps half as long. */
static void test_systems_can_be_taken_over(void **state)
{
    (void)state;
    static struct error error;
    struct bodies *all = motion_cube(3, 3, 13), *one = motion_bodies(1, 3);
    struct backend *first = start("openmp", &bare, all, 1), *second;
    advance(first, 5);
    bodies_copy_system(one, 0, all, 2);
    second = start("openmp", &bare, one, 1);
    backend_copy_state(second, 0, first, 2);
    advance(first, 4);
    assert_int_equal(
        second->class_->advance(second, integrator_find("gauss-radau"), dt / 2, 8, &error),
        STATUS_OK);
    assert_true(motion_equal(all, 2, one, 0));
    stop(first);
    stop(second);
    bodies_destroy(all);
    bodies_destroy(one);
}

/* A finer copy takes its first step as much shorter as all those after it. */
static void test_a_finer_copy(void **state)
{
    (void)state;
    static struct error error;
    const struct backend_options options = {
        .force = { PRECISION_DOUBLE, "auto", "auto", 1, { 0 } },
        .integrator = integrator_find("gauss-radau"),
        .refinement = 2,
    };
    struct bodies *all = motion_cube(3, 3, 13), *one = motion_bodies(1, 3);
    struct backend *first = start("openmp", &bare, all, 1), *second;
    advance(first, 5);
    bodies_copy_system(one, 0, all, 2);
    assert_int_equal(backend_find("openmp")->create(&options, &bare, one, &second, &error),
                     STATUS_OK);
    backend_copy_state(second, 0, first, 2);
    const double current = statistics(first, 2).current;
    assert_close(statistics(second, 0).current, current / 2, 1e-15 * current);
    stop(first);
    stop(second);
    bodies_destroy(all);
    bodies_destroy(one);
}

/* Numbers that no run has written, behind checksums that say that one did. */
static void test_a_state_without_sense_is_refused(void **state)
{
    (void)state;
    struct bodies *bodies = motion_cube(1, 3, 17);
    struct backend *backend = start("openmp", &bare, bodies, 1);
    advance(backend, 1);
    struct saved saved = saved_from(backend->adaptive);
    double *const clock = (double *)saved.items[1].words;
    assert_string_equal(saved.items[1].name, "clocks");
    const double wrong[] = { NAN, INFINITY, -1 };
    for (size_t k = 0; k < COUNT_OF(wrong); k++) {
        const double before = clock[0];
        clock[0] = wrong[k]; /* the time */
        assert_int_equal(saved_load(&saved, backend->adaptive),
                         wrong[k] < 0 ? STATUS_OK : STATUS_DATA);
        clock[0] = before;
    }
    clock[5] = 3; /* the fourth of three bodies */
    assert_int_equal(saved_load(&saved, backend->adaptive), STATUS_DATA);
    clock[5] = 0;
    saved.items[1].length--;
    assert_int_equal(saved_load(&saved, backend->adaptive), STATUS_DATA);
    saved_free(&saved);
    stop(backend);
    bodies_destroy(bodies);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Two of four bodies fall on each other; the other system comes to the grid point all the same. */
static void test_a_collision_names_the_pair(void **state)
{
    (void)state;
    const char *const hosts[] = { "serial", "openmp" };
    for (size_t h = 0; h < COUNT_OF(hosts); h++) {
        static struct error error;
        struct bodies *bodies = motion_cube(2, 4, 19), *other = motion_cube(1, 4, 20);
        const size_t first = 1;
        for (size_t i = 0; i < 4; i++) {
            bodies->x[i] = i < first ? 90 : i < 3 ? (double)i - 1.5 : -80;
            bodies->y[i] = bodies->z[i] = bodies->vx[i] = bodies->vy[i] = bodies->vz[i] = 0;
            bodies->m[i] = i == 0 || i == 3 ? 0 : 1;
        }
        struct backend *backend = start(hosts[h], &bare, bodies, 1);
        struct backend *alone = start(hosts[h], &bare, other, 1);
        error_clear(&error);
        assert_int_equal(
            backend->class_->advance(backend, integrator_find("gauss-radau"), dt, 100, &error),
            STATUS_NUMERICAL);
        assert_non_null(strstr(error.text, "system 1, bodies 2 and 3"));
        assert_true(statistics(backend, 0).stuck && !statistics(backend, 1).stuck);
        advance(alone, 100);
        assert_true(motion_equal(bodies, 1, other, 0));
        stop(backend);
        stop(alone);
        bodies_destroy(bodies);
        bodies_destroy(other);
    }
}

/* Two light bodies meet head-on soon before the grid point. The motion's own step would pass over
 * it, and a step aside does not. */
static void test_a_collision_in_a_step_aside_has_its_time(void **state)
{
    (void)state;
    const char *const hosts[] = { "serial", "openmp" };
    const double values[] = { 0, 1e-4 }; /* accuracy */
    for (size_t h = 0; h < COUNT_OF(hosts); h++) {
        static struct error error;
        const struct backend_options options = {
            .force = { PRECISION_DOUBLE, "auto", "auto", 1, { 0 } },
            .integrator = integrator_find("gauss-radau"),
            .values = values,
        };
        struct bodies *bodies = motion_bodies(1, 3);
        struct backend *backend;
        motion_set(bodies, 0, 1, (double[3]){ 0 }, (double[3]){ 0 });
        for (int k = 1; k <= 2; k++) {
            const double side = k == 1 ? 1 : -1, x = cos(0.5), y = sin(0.5);
            motion_set(bodies, (size_t)k, 1e-4, (double[3]){ x, side * y, 0 },
                       (double[3]){ y, -side * x, 0 });
        }
        error_clear(&error);
        assert_int_equal(backend_find(hosts[h])->create(&options, &bare, bodies, &backend, &error),
                         STATUS_OK);
        assert_int_equal(
            backend->class_->advance(backend, integrator_find("gauss-radau"), 0.51, 1, &error),
            STATUS_NUMERICAL);
        const struct work_done stuck = statistics(backend, 0);
        assert_close(stuck.time, 0.5, 1e-3);
        assert_true(stuck.current < 1e-12);
        stop(backend);
        bodies_destroy(bodies);
    }
}

/* Also where the lanes that come after have nothing but finite ones. */
static void test_a_force_that_is_not_finite_ends_the_motion(void **state)
{
    (void)state;
    const struct {
        size_t systems, count;
        const char *kernel;
        int threads;
    } kinds[] = { { 1, 3, "auto", 1 },
                  { 9, 3, "auto", 1 },
                  { 1, 11, "auto", 1 },
                  { 1, 40, "reference", 1 },
                  { 1, 40, "reference", 2 } };
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        static struct error error;
        struct bodies *bodies = motion_cube(kinds[k].systems, kinds[k].count, 23);
        motion_set(bodies, 0, 1, (double[3]){ 0 }, (double[3]){ 0 });
        motion_set(bodies, 1, 1, (double[3]){ 1e-110 }, (double[3]){ 0 });
        struct backend *backend =
            try_kernel("openmp", kinds[k].kernel, "auto", &bare, bodies, kinds[k].threads, &error);
        assert_int_equal(
            backend->class_->advance(backend, integrator_find("gauss-radau"), dt, 1, &error),
            STATUS_NUMERICAL);
        assert_non_null(strstr(error.text, "system 1: a force is not finite"));
        stop(backend);
        bodies_destroy(bodies);
    }
}

static void expect_refusal(enum precision precision, enum boundary boundary, const char *text)
{
    static struct error error;
    struct physics physics = soft;
    struct bodies *bodies = motion_cube(1, 3, 1);
    const struct backend_options options = {
        .force = { precision, "auto", "auto", 1, { 0 } },
        .integrator = integrator_find("gauss-radau"),
    };
    struct backend *backend = NULL;
    error_clear(&error);
    physics.boundary = boundary;
    physics.box_length = 3;
    assert_int_equal(backend_openmp.create(&options, &physics, bodies, &backend, &error),
                     STATUS_CONFIG);
    assert_non_null(strstr(error.text, text));
    bodies_destroy(bodies);
}

static void test_what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    expect_refusal(PRECISION_SINGLE, BOUNDARY_OPEN, "compute.precision = \"single\"");
    expect_refusal(PRECISION_MIXED, BOUNDARY_OPEN, "compute.precision = \"mixed\"");
    expect_refusal(PRECISION_DOUBLE, BOUNDARY_PERIODIC, "physics.boundary = \"periodic\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_cadence_change_no_bit),
        cmocka_unit_test(test_neighbours_change_no_bit),
        cmocka_unit_test(test_kernels_agree_with_serial),
        cmocka_unit_test(test_the_reference_has_the_bits_of_serial),
        cmocka_unit_test(test_what_was_saved_goes_on_to_the_same_bits),
        cmocka_unit_test(test_systems_can_be_taken_over),
        cmocka_unit_test(test_a_finer_copy),
        cmocka_unit_test(test_a_state_without_sense_is_refused),
        cmocka_unit_test(test_a_collision_names_the_pair),
        cmocka_unit_test(test_a_collision_in_a_step_aside_has_its_time),
        cmocka_unit_test(test_a_force_that_is_not_finite_ends_the_motion),
        cmocka_unit_test(test_what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
