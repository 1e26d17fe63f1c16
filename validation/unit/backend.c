#include "unit.h"

#include <string.h>

#include "backend/backend.h"
#include "backend/host.h"
#include "base/memory.h"
#include "gpu/kernels/catalog.h"
#include "motion-case.h"

static const struct physics soft = { .gravitational_constant = 1, .softening = 0.05 };
static const struct physics periodic = {
    .gravitational_constant = 1, .softening = 0.05, .boundary = BOUNDARY_PERIODIC, .box_length = 2.2
};

static const struct backend_options standard = {
    .force = { .precision = PRECISION_DOUBLE, .kernel = "auto", .isa = "auto" }
};

static struct backend *start(const char *name, const struct physics *physics, struct bodies *bodies,
                             int threads)
{
    static struct error error;
    struct backend_options options = standard;
    options.force.threads = threads;
    struct backend *backend;
    if (backend_find(name)->create(&options, physics, bodies, &backend, &error))
        fail_msg("%s", error.text);
    return backend;
}

static void advance(struct backend *backend, const char *integrator, double dt, uint64_t steps)
{
    static struct error error;
    if (backend->class_->advance(backend, integrator_find(integrator), dt, steps, &error))
        fail_msg("%s", error.text);
}

static void stop(struct backend *backend)
{
    backend->class_->destroy(backend);
}

/* A whole life on one backend. */
static void move(const char *name, const struct physics *physics, struct bodies *bodies,
                 int threads, const char *integrator, double dt, uint64_t steps)
{
    struct backend *backend = start(name, physics, bodies, threads);
    advance(backend, integrator, dt, steps);
    static struct error error;
    assert_int_equal(backend->class_->fetch(backend, &error), STATUS_OK);
    stop(backend);
}

static const char *const hosts[] = { "serial", "openmp" };

static void test_the_table(void **state)
{
    (void)state;
    assert_string_equal(backend_at(0)->variant.name, "auto");
    size_t count = 0;
    for (; backend_at(count); count++) {
        static struct error error;
        const struct backend_class *row = backend_at(count);
        assert_ptr_equal(backend_find(row->variant.name), row);
        assert_ptr_equal(backend_variant(count), &row->variant);
        const enum status status = row->probe ? row->probe(&error) : STATUS_OK;
        assert_true(status == STATUS_OK || (status == STATUS_UNAVAILABLE && error.length > 0));
    }
    assert_true(count >= 3);
    assert_null(backend_variant(count));
    assert_null(backend_find("openacc"));
}

static void test_auto_says_what_it_chose(void **state)
{
    (void)state;
    struct bodies *bodies = motion_orbit(0.3, 0.5);
    struct backend *backend = start("auto", &soft, bodies, 0);
    struct backend_description description;
    backend->class_->describe(backend, &description);
    assert_string_equal(description.backend, "openmp");
    assert_string_equal(
        description.choice,
        "4 interactions per force evaluation, N^2 of each system, do not fill a GPU");
    assert_int_equal(description.threads, 1); /* two bodies are no work for more */
    stop(backend);

    backend = start("serial", &soft, bodies, 7);
    backend->class_->describe(backend, &description);
    assert_string_equal(description.backend, "serial");
    assert_string_equal(description.kernel, "reference");
    assert_string_equal(description.choice, "");
    assert_int_equal(description.threads, 1);
    stop(backend);

    backend = start("openmp", &soft, bodies, 3);
    backend->class_->describe(backend, &description);
    assert_int_equal(description.threads, 3);
    stop(backend);
    bodies_destroy(bodies);
}

/* Whatever kernels CPUs have: one that no GPU has keeps the choice from GPUs. */
static void test_auto_keeps_kernels_of_cpus_on_cpus(void **state)
{
    (void)state;
    struct bodies *bodies = motion_orbit(0.3, 0.5);
    for (const char *const *name = force_kernel_names; *name; name++) {
        const bool both = !strcmp(*name, "auto") || gpu_catalog_find(*name) != GPU_KERNELS;
        struct backend_options options = standard;
        struct backend_description description;
        struct error error = { 0 };
        struct backend *backend;
        options.force.kernel = *name;
        assert_int_equal(backend_find("auto")->create(&options, &soft, bodies, &backend, &error),
                         STATUS_OK);
        backend->class_->describe(backend, &description);
        assert_string_equal(
            description.choice,
            both ? "4 interactions per force evaluation, N^2 of each system, do not fill a GPU"
                 : "compute.kernel names a kernel of a CPU");
        stop(backend);
    }
    bodies_destroy(bodies);
}

static void test_serial_refuses_what_it_has_not(void **state)
{
    (void)state;
    struct bodies *bodies = motion_orbit(0.3, 0.5);
    struct backend_options single = standard, symmetric = standard;
    single.force.precision = PRECISION_SINGLE;
    symmetric.force.kernel = "symmetric";
    struct error error = { 0 };
    struct backend *backend;
    assert_int_equal(backend_serial.create(&single, &soft, bodies, &backend, &error),
                     STATUS_CONFIG);
    assert_non_null(strstr(error.text, "compute.precision = \"single\""));
    error_clear(&error);
    assert_int_equal(backend_serial.create(&symmetric, &soft, bodies, &backend, &error),
                     STATUS_CONFIG);
    assert_non_null(strstr(error.text, "compute.kernel = \"symmetric\""));
    assert_null(backend);
    bodies_destroy(bodies);
}

static void test_threads_do_not_change_a_bit(void **state)
{
    (void)state;
    const size_t counts[] = { 1, 2, 3, 16, 17, 64, 100, 257, 700 };
    const size_t ensembles[] = { 1, 5 };
    const int teams[] = { 2, 3, 4, 7 };
    const char *const integrators[] = { "velocity-verlet", "yoshida4", "euler" };
    for (size_t n = 0; n < COUNT_OF(counts); n++)
        for (size_t e = 0; e < COUNT_OF(ensembles); e++)
            for (size_t k = 0; k < COUNT_OF(integrators); k++) {
                struct bodies *one = motion_cube(ensembles[e], counts[n], 2385 + n);
                move("openmp", &soft, one, 1, integrators[k], 0.003, 3);
                for (size_t t = 0; t < COUNT_OF(teams); t++) {
                    struct bodies *many = motion_cube(ensembles[e], counts[n], 2385 + n);
                    move("openmp", &soft, many, teams[t], integrators[k], 0.003, 3);
                    for (size_t s = 0; s < ensembles[e]; s++)
                        assert_true(motion_equal(one, s, many, s));
                    bodies_destroy(many);
                }
                bodies_destroy(one);
            }
}

static void check_alone(const char *host, const struct physics *physics, size_t systems,
                        size_t count, const char *integrator)
{
    struct bodies *all = motion_cube(systems, count, 42);
    struct backend *backend = start(host, physics, all, 2);
    advance(backend, integrator, 0.01, 3);
    advance(backend, integrator, 0.01, 2);
    stop(backend);
    for (size_t s = 0; s < systems; s++) {
        struct bodies *alone = motion_cube(1, count, 42 + s);
        move(host, physics, alone, 2, integrator, 0.01, 5);
        assert_true(motion_equal(alone, 0, all, s));
        bodies_destroy(alone);
    }
    bodies_destroy(all);
}

static void test_a_system_moves_as_if_alone(void **state)
{
    (void)state;
    const size_t counts[] = { 2, 13, 100, 300 };
    for (size_t h = 0; h < COUNT_OF(hosts); h++)
        for (size_t n = 0; n < COUNT_OF(counts); n++) {
            check_alone(hosts[h], &periodic, 4, counts[n], "velocity-verlet");
            check_alone(hosts[h], &soft, 37, counts[n],
                        "velocity-verlet"); /* some of them in batches */
        }
    check_alone("openmp", &soft, 37, 21, "yoshida4");
    check_alone("openmp", &soft, 37, 21, "leapfrog-dkd");
    check_alone("openmp", &soft, 37, 21, "euler");
}

static void observe(struct backend *backend, const struct bodies *bodies)
{
    static struct error error;
    struct conserved conserved[2];
    double *phi = memory_array(bodies_length(bodies), sizeof *phi, &error);
    double *psi = memory_array(bodies_length(bodies), sizeof *psi, &error);
    assert_int_equal(bodies->systems, COUNT_OF(conserved));
    assert_int_equal(backend->class_->accelerations(backend, &error), STATUS_OK);
    assert_int_equal(backend->class_->conserved(backend, conserved, &error), STATUS_OK);
    assert_int_equal(backend->class_->potentials(backend, phi, psi, &error), STATUS_OK);
    memory_free(phi);
    memory_free(psi);
}

static void test_steps_can_be_taken_in_parts_and_observed(void **state)
{
    (void)state;
    const size_t counts[] = { 3, 120 };
    for (size_t n = 0; n < COUNT_OF(counts); n++)
        for (size_t h = 0; h < COUNT_OF(hosts); h++)
            for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
                const char *integrator = integrator_at(k)->variant.name;
                struct bodies *whole = motion_cube(2, counts[n], 7);
                struct bodies *parts = motion_cube(2, counts[n], 7);
                move(hosts[h], &soft, whole, 2, integrator, 0.01, 7);
                struct backend *backend = start(hosts[h], &soft, parts, 2);
                observe(backend, parts);
                advance(backend, integrator, 0.01, 3);
                advance(backend, integrator, 0.01, 0);
                observe(backend, parts);
                advance(backend, integrator, 0.01, 4);
                stop(backend);
                assert_true(motion_equal(whole, 0, parts, 0));
                assert_true(motion_equal(whole, 1, parts, 1));
                bodies_destroy(whole);
                bodies_destroy(parts);
            }
}

/* A restart has positions and velocities only; the forces are evaluated anew. */
static void test_a_new_backend_goes_on_bit_for_bit(void **state)
{
    (void)state;
    for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
        const char *integrator = integrator_at(k)->variant.name;
        struct bodies *whole = motion_cube(1, 90, 8), *parts = motion_cube(1, 90, 8);
        move("openmp", &soft, whole, 2, integrator, 0.01, 5);
        move("openmp", &soft, parts, 2, integrator, 0.01, 2);
        memset(parts->ax, 0, bodies_length(parts) * sizeof *parts->ax);
        move("openmp", &soft, parts, 2, integrator, 0.01, 3);
        assert_true(motion_equal(whole, 0, parts, 0));
        bodies_destroy(whole);
        bodies_destroy(parts);
    }
}

static void test_padding_stays_at_rest_at_the_origin(void **state)
{
    (void)state;
    for (size_t h = 0; h < COUNT_OF(hosts); h++) {
        struct bodies *bodies = motion_cube(37, 21, 9);
        move(hosts[h], &soft, bodies, 2, "velocity-verlet", 0.01, 5);
        for (size_t s = 0; s < 37; s++)
            for (size_t i = s * bodies->stride + 21; i < (s + 1) * bodies->stride; i++)
                assert_true(bodies->x[i] == 0 && bodies->vy[i] == 0 && bodies->m[i] == 0);
        bodies_destroy(bodies);
    }
}

/* The kernels differ in rounding (1e-15 of the force); in ten small steps it cannot grow beyond
 * 1e-12 of coordinates of size 1. */
static void test_openmp_agrees_with_serial(void **state)
{
    (void)state;
    const struct physics *const all_physics[] = { &soft, &periodic };
    for (size_t p = 0; p < COUNT_OF(all_physics); p++)
        for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
            const char *integrator = integrator_at(k)->variant.name;
            struct bodies *a = motion_cube(2, 150, 10), *b = motion_cube(2, 150, 10);
            move("serial", all_physics[p], a, 1, integrator, 0.005, 10);
            move("openmp", all_physics[p], b, 3, integrator, 0.005, 10);
            for (size_t i = 0; i < bodies_length(a); i++) {
                assert_close(b->x[i], a->x[i], 1e-12);
                assert_close(b->z[i], a->z[i], 1e-12);
                assert_close(b->vy[i], a->vy[i], 1e-12);
            }
            bodies_destroy(a);
            bodies_destroy(b);
        }
}

static void test_conserved_are_those_of_the_bodies(void **state)
{
    (void)state;
    static struct error error;
    for (size_t h = 0; h < COUNT_OF(hosts); h++) {
        struct bodies *b = motion_orbit(0.3, 0.5);
        const struct physics kepler = { .gravitational_constant = 1 };
        struct backend *backend = start(hosts[h], &kepler, b, 1);
        struct conserved c;
        assert_int_equal(backend->class_->conserved(backend, &c, &error), STATUS_OK);
        /* Reduced mass 0.21, G M = 1, a = 1, e = 0.5, r = 0.5: E = -mu/(2a), U = -mu/r,
         * L = mu sqrt(1 - e^2); all of an unsoftened system in open space has W = U. */
        assert_close(c.kinetic + c.potential, -0.105, 1e-15);
        assert_close(c.potential, -0.42, 1e-15);
        assert_close(c.virial, -0.42, 1e-15);
        assert_close(c.angular_momentum[2], 0.21 * sqrt(0.75), 1e-15);
        assert_close(c.momentum[1], 0, 1e-16);
        stop(backend);
        bodies_destroy(b);
    }
}

static void test_what_is_not_finite_is_reported(void **state)
{
    (void)state;
    for (size_t h = 0; h < COUNT_OF(hosts); h++) {
        struct bodies *bodies = motion_cube(2, 20, 12);
        const size_t bad = bodies->stride + 6;
        bodies->vz[bad] = 1e308; /* z overflows in the second step of 1 */
        bodies->id[bad] = 4711;
        struct backend *backend = start(hosts[h], &soft, bodies, 2);
        struct error error = { 0 };
        const struct integrator *verlet = integrator_find("velocity-verlet");
        assert_int_equal(backend->class_->advance(backend, verlet, 1, 1, &error), STATUS_OK);
        assert_int_equal(backend->class_->advance(backend, verlet, 1, 1, &error), STATUS_NUMERICAL);
        assert_non_null(strstr(error.text, "system 2, body 4711"));
        stop(backend);
        bodies_destroy(bodies);
    }
}

/* Systems that threads take whole have registers of their own: those of others would be raced for.
 */
static void test_registers_belong_to_bodies(void **state)
{
    (void)state;
    static double registers[STAGE_REGISTERS * 3 * 64];
    struct bodies all = { .systems = 2, .count = 30, .stride = 32 }, one = all;
    const struct host host = { .bodies = &all, .registers = registers };
    assert_int_equal(bodies_length(&all), 64);
    for (size_t k = 0; k < STAGE_REGISTERS; k++)
        for (size_t axis = 0; axis < 3; axis++)
            for (size_t first = 0; first < 64; first += 32) {
                const struct host_vectors vectors = host_vectors(&host, &one, first);
                assert_ptr_equal(vectors.of[VECTOR_R + k][axis],
                                 &registers[(3 * k + axis) * 64 + first]);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table),
        cmocka_unit_test(test_auto_says_what_it_chose),
        cmocka_unit_test(test_auto_keeps_kernels_of_cpus_on_cpus),
        cmocka_unit_test(test_serial_refuses_what_it_has_not),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_a_system_moves_as_if_alone),
        cmocka_unit_test(test_steps_can_be_taken_in_parts_and_observed),
        cmocka_unit_test(test_a_new_backend_goes_on_bit_for_bit),
        cmocka_unit_test(test_padding_stays_at_rest_at_the_origin),
        cmocka_unit_test(test_openmp_agrees_with_serial),
        cmocka_unit_test(test_conserved_are_those_of_the_bodies),
        cmocka_unit_test(test_what_is_not_finite_is_reported),
        cmocka_unit_test(test_registers_belong_to_bodies),
    };
    return cmocka_run_group_tests_name("backend", tests, NULL, NULL);
}
