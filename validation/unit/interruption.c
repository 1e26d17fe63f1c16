/* Tests long work that is asked to end: it does so soon, and an advance is taken back whole, so
 * that the next one has the bits of a motion that nothing interrupted. */
#include "unit.h"

#include "backend/backend.h"
#include "base/clock.h"
#include "base/interruption.h"
#include "base/memory.h"
#include "motion-case.h"

/* Asks to end from its second call on, which comes some 0.05 s after the first. */
struct asker {
    int calls;
    bool quiet;
};

static bool ask(void *context)
{
    struct asker *const asker = context;
    return ++asker->calls > 1 && !asker->quiet;
}

/* The work of a case goes on for minutes at least. */
static const struct work {
    const char *integrator;
    const struct backend_class *class_;
    const char *kernel;
    int threads;
    size_t systems, count;
    double dt; /* of the interrupted grid steps */
    uint64_t steps;
} works[] = {
    { "velocity-verlet", &backend_serial, "auto", 1, 1, 4100, 0.01, 10000 },
    { "velocity-verlet", &backend_openmp, "auto", 1, 1, 4100, 0.01, 100000 },
    { "yoshida4", &backend_openmp, "symmetric", 2, 1, 5000, 0.01, 100000 },
    { "yoshida4", &backend_openmp, "plain", 2, 1, 5000, 0.01, 100000 },
    { "yoshida4", &backend_openmp, "reference", 2, 1, 4100, 0.01, 10000 },
    { "velocity-verlet", &backend_openmp, "auto", 2, 7, 2000, 0.01, 100000 },
    { "gauss-radau", &backend_serial, "auto", 1, 1, 3, 1e8, 1 },
    { "gauss-radau", &backend_openmp, "auto", 1, 1, 3, 1e8, 1 },
    { "gauss-radau", &backend_openmp, "auto", 2, 30, 3, 1e8, 1 }, /* a system in each lane */
    { "gauss-radau", &backend_openmp, "auto", 2, 1, 64, 1e6, 1 }, /* by a team */
    { "gauss-radau", &backend_openmp, "auto", 2, 3, 64, 1e6, 1 },
    { "hermite4", &backend_serial, "auto", 1, 1, 40, 1e6, 1 },
    { "hermite4", &backend_openmp, "auto", 2, 3, 40, 1e6, 1 },
    { "hermite4", &backend_openmp, "auto", 2, 1, 1100, 1e4, 1 }, /* by a team */
    { "block-leapfrog", &backend_serial, "auto", 1, 1, 40, 1e6, 1 },
    { "block-leapfrog", &backend_openmp, "auto", 2, 1, 1100, 1e4, 1 },
};

/* The answer to a wish takes milliseconds where the machine is idle: that is seen in what a run
 * needs, validation/faults/answers.py. Here is only seen that it comes. */
static const double soon = 30;

static struct backend *start(const struct work *work, const struct physics *physics,
                             struct bodies *bodies)
{
    struct error error = { 0 };
    struct backend *backend = NULL;
    const struct backend_options options = {
        .force = { .kernel = work->kernel, .isa = "auto", .threads = work->threads },
        .integrator = integrator_find(work->integrator),
    };
    assert_int_equal(work->class_->create(&options, physics, bodies, &backend, &error), STATUS_OK);
    return backend;
}

static enum status advance(const struct work *work, struct backend *backend, double dt,
                           uint64_t steps)
{
    struct error error = { 0 };
    const struct integrator *const integrator = integrator_find(work->integrator);
    return backend->class_->advance(backend, integrator, dt, steps, &error);
}

/* Bodies so slow that some of them stay together. */
static struct bodies *slow_cube(const struct work *work)
{
    struct bodies *const bodies = motion_cube(work->systems, work->count, 7);
    double *const v[] = { bodies->vx, bodies->vy, bodies->vz };
    for (size_t i = 0; i < bodies_length(bodies); i++)
        for (size_t axis = 0; axis < 3; axis++)
            v[axis][i] *= 0.2;
    return bodies;
}

static void test_advances_are_taken_back(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT_OF(works); w++) {
        struct asker asker = { .quiet = true };
        struct interruption interruption = { .asked = ask, .context = &asker };
        const struct physics plain = { .gravitational_constant = 1, .softening = 0.1 };
        struct physics interrupted = plain;
        interrupted.interruption = &interruption;
        struct bodies *const bodies = slow_cube(&works[w]), *const expected = slow_cube(&works[w]);
        struct backend *const backend = start(&works[w], &interrupted, bodies);
        struct backend *const undisturbed = start(&works[w], &plain, expected);
        assert_int_equal(advance(&works[w], backend, 0.01, 1), STATUS_OK);
        assert_int_equal(advance(&works[w], undisturbed, 0.01, 1), STATUS_OK);
        asker = (struct asker){ 0 };
        const double before = clock_seconds();
        assert_int_equal(advance(&works[w], backend, works[w].dt, works[w].steps), STATUS_STOPPED);
        assert_true(clock_seconds() - before < soon);
        for (size_t s = 0; s < works[w].systems; s++)
            assert_true(motion_equal(bodies, s, expected, s));
        asker.quiet = true;
        interruption_lower(&interruption);
        assert_int_equal(advance(&works[w], backend, 0.01, 2), STATUS_OK);
        assert_int_equal(advance(&works[w], undisturbed, 0.01, 2), STATUS_OK);
        for (size_t s = 0; s < works[w].systems; s++)
            assert_true(motion_equal(bodies, s, expected, s));
        backend->class_->destroy(backend);
        undisturbed->class_->destroy(undisturbed);
        bodies_destroy(bodies);
        bodies_destroy(expected);
    }
}

/* Observers of many bodies say that their sums were not finished, and make them anew later. */
static void test_sums_are_reported(void **state)
{
    (void)state;
    static const struct work many = {
        "velocity-verlet", &backend_openmp, "auto", 2, 1, 4100, 0, 0
    };
    struct asker asker = { .calls = 1 }; /* asks at once */
    struct interruption interruption = { .asked = ask, .context = &asker };
    struct physics physics = { .gravitational_constant = 1, .softening = 0.1 };
    struct bodies *const bodies = motion_cube(1, many.count, 7);
    struct backend *const plain = start(&many, &physics, bodies);
    struct conserved expected, sums;
    struct error error = { 0 };
    assert_int_equal(plain->class_->conserved(plain, &expected, &error), STATUS_OK);
    physics.interruption = &interruption;
    struct backend *const backend = start(&many, &physics, bodies);
    assert_int_equal(backend->class_->conserved(backend, &sums, &error), STATUS_STOPPED);
    error_clear(&error);
    assert_int_equal(backend->class_->accelerations(backend, &error), STATUS_STOPPED);
    error_clear(&error);
    asker.quiet = true;
    interruption_lower(&interruption);
    assert_int_equal(backend->class_->conserved(backend, &sums, &error), STATUS_OK);
    assert_memory_equal(&sums, &expected, sizeof sums);
    backend->class_->destroy(backend);
    plain->class_->destroy(plain);
    bodies_destroy(bodies);
}

/* Looking costs a call of the system or two: it is done now and then, and no longer once a wish was
 * seen. */
static void test_looks_are_rare(void **state)
{
    (void)state;
    struct asker asker = { .quiet = true };
    struct interruption interruption = { .asked = ask, .context = &asker };
    const double start = clock_seconds();
    while (clock_seconds() - start < 0.3)
        assert_false(interruption_raised(&interruption));
    assert_in_range(asker.calls, 1, 8); /* each 0.05 s, the first at once; 0.3 s may be long */
    asker.quiet = false;
    while (!interruption_raised(&interruption))
        assert_true(clock_seconds() - start < soon);
    const int calls = asker.calls;
    for (int k = 0; k < 1000; k++)
        assert_true(interruption_raised(&interruption));
    assert_int_equal(asker.calls, calls);
    interruption_lower(&interruption);
    assert_false(interruption_noticed(&interruption));
    double done = 0;
    assert_false(interruption_raised(NULL) || interruption_after(NULL, &done, 1e9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advances_are_taken_back),
        cmocka_unit_test(test_sums_are_reported),
        cmocka_unit_test(test_looks_are_rare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
