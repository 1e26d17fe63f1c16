#include "unit.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "force/direct/reference.h"
#include "force/method.h"
#include "motion-case.h"

/* Prime-ish numbers, so that no factor of 1 hides a mistake. */
static const struct physics open_space = { .gravitational_constant = 1.37, .softening = 0.083 };
static const struct physics open_hard = { .gravitational_constant = 1.37 };
static const struct physics box = { .gravitational_constant = 1.37,
                                    .softening = 0.083,
                                    .boundary = BOUNDARY_PERIODIC,
                                    .box_length = 2.3 };
static const struct physics box_hard = { .gravitational_constant = 1.37,
                                         .boundary = BOUNDARY_PERIODIC,
                                         .box_length = 2.3 };
static const struct physics *const all_physics[] = { &open_space, &open_hard, &box, &box_hard };

static void fast(const struct physics *physics, const struct bodies *bodies, int threads,
                 double *phi, double *psi)
{
    const struct force_options options = {
        .precision = PRECISION_DOUBLE, .kernel = "auto", .isa = "auto", .threads = threads
    };
    static struct error error;
    struct force *force;
    assert_int_equal(force_create(&options, physics, bodies, &force, &error), STATUS_OK);
#pragma omp parallel num_threads(threads)
    {
        force_accelerations(force, bodies);
        if (phi)
            force_potentials(force, bodies, phi, psi);
    }
    force_destroy(force);
}

/* The kernels under test: the one that is the specification, and the one that is fast. */
static void by_reference(const struct physics *physics, const struct bodies *bodies, double *phi,
                         double *psi)
{
    reference_accelerations(physics, bodies);
    if (phi)
        reference_potentials(physics, bodies, phi, psi);
}

static void by_team(const struct physics *physics, const struct bodies *bodies, double *phi,
                    double *psi)
{
    fast(physics, bodies, 2, phi, psi);
}

static void (*const kernels[])(const struct physics *, const struct bodies *, double *,
                               double *) = { by_reference, by_team };

/* An exact sum and the sum of its terms' sizes, which scales its rounding error. */
struct exact {
    long double a[3], size, phi, psi;
};

/* The nearest of the images, found by trying, independently of the program's rounding. */
static long double nearest(long double d, const struct physics *physics)
{
    if (physics->boundary == BOUNDARY_OPEN)
        return d;
    const long double L = (long double)physics->box_length;
    long double best = d;
    for (int image = -2; image <= 2; image++)
        if (fabsl(d + image * L) < fabsl(best))
            best = d + image * L;
    return best;
}

static struct exact exact_sum(const struct physics *physics, const struct bodies *b, size_t i)
{
    const size_t first = i / b->stride * b->stride;
    const long double G = (long double)physics->gravitational_constant;
    const long double eps = (long double)physics->softening;
    struct exact sum = { 0 };
    for (size_t j = first; j < first + b->count; j++) {
        const long double d[3] = { nearest((long double)b->x[j] - b->x[i], physics),
                                   nearest((long double)b->y[j] - b->y[i], physics),
                                   nearest((long double)b->z[j] - b->z[i], physics) };
        const long double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], s2 = r2 + eps * eps;
        if (j == i || s2 == 0)
            continue;
        const long double s = sqrtl(s2), f = G * (long double)b->m[j] / (s2 * s);
        for (int k = 0; k < 3; k++)
            sum.a[k] += f * d[k];
        sum.size += f * sqrtl(r2);
        sum.phi -= f * s2;
        sum.psi -= f * r2;
    }
    return sum;
}

/* Rounding of n terms and of the few operations in each (Higham 2002, eq. 4.4), beside that of
 * the separations, which are differences of coordinates up to 2.3. */
static double rounding(size_t count)
{
    return ((double)count + 32) * DBL_EPSILON;
}

static void compare(const struct physics *physics, const struct bodies *b, const double *phi,
                    const double *psi)
{
    const double tolerance = rounding(b->count);
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++) {
            const struct exact exact = exact_sum(physics, b, i);
            const double size = (double)exact.size;
            assert_close(b->ax[i], (double)exact.a[0], tolerance * size);
            assert_close(b->ay[i], (double)exact.a[1], tolerance * size);
            assert_close(b->az[i], (double)exact.a[2], tolerance * size);
            assert_close(phi[i], (double)exact.phi, tolerance * fabs((double)exact.phi));
            assert_close(psi[i], (double)exact.psi, tolerance * fabs((double)exact.psi));
        }
}

static double *scratch(const struct bodies *bodies)
{
    static struct error error;
    double *array = memory_array(bodies_length(bodies), sizeof *array, &error);
    assert_non_null(array);
    return array;
}

static void check_all(struct bodies *bodies)
{
    double *phi = scratch(bodies), *psi = scratch(bodies);
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        for (size_t p = 0; p < COUNT_OF(all_physics); p++) {
            kernels[k](all_physics[p], bodies, phi, psi);
            compare(all_physics[p], bodies, phi, psi);
        }
    memory_free(phi);
    memory_free(psi);
}

static void test_sums_agree_with_long_double(void **state)
{
    (void)state;
    const size_t counts[] = { 1, 2, 3, 15, 16, 17, 33, 100, 257, 600 };
    for (size_t k = 0; k < COUNT_OF(counts); k++)
        for (size_t systems = 1; systems <= 3; systems += 2) {
            struct bodies *bodies = motion_cube(systems, counts[k], 2385 + k);
            check_all(bodies);
            bodies_destroy(bodies);
        }
}

/* Bodies of no mass feel and are not felt; coincident ones do not act on each other. */
static void test_zero_masses_and_coincident_bodies(void **state)
{
    (void)state;
    struct bodies *bodies = motion_cube(1, 37, 11);
    bodies->m[4] = bodies->m[29] = 0;
    bodies->x[17] = bodies->x[3];
    bodies->y[17] = bodies->y[3];
    bodies->z[17] = bodies->z[3];
    bodies->x[8] = bodies->y[8] = bodies->z[8] = 0; /* where the padding is */
    check_all(bodies);
    bodies_destroy(bodies);
}

static void test_two_bodies_in_closed_form(void **state)
{
    (void)state;
    /* Separation (2, 3, 6), r = 7; the second body has mass 0.7. */
    struct bodies *bodies = motion_bodies(1, 2);
    motion_set(bodies, 0, 2.9, (double[]){ -1, -1, -4 }, (double[]){ 0, 0, 0 });
    motion_set(bodies, 1, 0.7, (double[]){ 1, 2, 2 }, (double[]){ 0, 0, 0 });
    double *phi = scratch(bodies), *psi = scratch(bodies);
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        for (size_t p = 0; p < 2; p++) {
            const double G = all_physics[p]->gravitational_constant,
                         eps = all_physics[p]->softening;
            const double s = sqrt(49 + eps * eps), f = G * 0.7 / (s * s * s);
            kernels[k](all_physics[p], bodies, phi, psi);
            assert_close(bodies->ax[0], 2 * f, 2 * f * rounding(2));
            assert_close(bodies->ay[0], 3 * f, 3 * f * rounding(2));
            assert_close(bodies->az[0], 6 * f, 6 * f * rounding(2));
            assert_close(phi[0], -G * 0.7 / s, rounding(2));
            assert_close(psi[0], -49 * f, 49 * f * rounding(2));
            assert_close(2.9 * bodies->ax[0] + 0.7 * bodies->ax[1], 0, 2.9 * f * rounding(2));
        }
    memory_free(phi);
    memory_free(psi);
    bodies_destroy(bodies);
}

/* Newton's third law, within the rounding of the sums: sum m a = 0 in every law. */
static void test_total_force_vanishes(void **state)
{
    (void)state;
    struct bodies *bodies = motion_cube(1, 300, 5);
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        for (size_t p = 0; p < COUNT_OF(all_physics); p++) {
            kernels[k](all_physics[p], bodies, NULL, NULL);
            double force[3] = { 0 }, size = 0;
            for (size_t i = 0; i < bodies->count; i++) {
                force[0] += bodies->m[i] * bodies->ax[i];
                force[1] += bodies->m[i] * bodies->ay[i];
                force[2] += bodies->m[i] * bodies->az[i];
                size += bodies->m[i] * (double)exact_sum(all_physics[p], bodies, i).size;
            }
            for (int axis = 0; axis < 3; axis++)
                assert_close(force[axis], 0, size * rounding(bodies->count));
        }
    bodies_destroy(bodies);
}

/* In open space W = 1/2 sum m psi is sum m x.a, about any origin since the forces cancel. */
static void test_virial_is_that_of_clausius(void **state)
{
    (void)state;
    struct bodies *b = motion_cube(1, 200, 6);
    double *phi = scratch(b), *psi = scratch(b);
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        kernels[k](&open_space, b, phi, psi);
        double pairs = 0, direct = 0;
        for (size_t i = 0; i < b->count; i++) {
            pairs += 0.5 * b->m[i] * psi[i];
            direct +=
                b->m[i] * ((b->x[i] + 7) * b->ax[i] + b->y[i] * b->ay[i] + b->z[i] * b->az[i]);
        }
        /* Terms of up to 8 |a| against a sum of size 1. */
        assert_close(pairs, direct, 100 * rounding(b->count));
    }
    memory_free(phi);
    memory_free(psi);
    bodies_destroy(b);
}

/* In the box, a body and its images are the same. */
static void test_a_periodic_image_is_the_body(void **state)
{
    (void)state;
    struct bodies *bodies = motion_cube(1, 50, 7);
    double before[50];
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        kernels[k](&box, bodies, NULL, NULL);
        memcpy(before, bodies->ax, sizeof before);
        bodies->x[13] += 3 * box.box_length;
        bodies->z[40] -= box.box_length;
        kernels[k](&box, bodies, NULL, NULL);
        for (size_t i = 0; i < bodies->count; i++) /* coordinates up to 8 L round a little more */
            assert_close(bodies->ax[i], before[i],
                         10 * rounding(50) * (double)exact_sum(&box, bodies, i).size);
        bodies->x[13] -= 3 * box.box_length;
        bodies->z[40] += box.box_length;
    }
    bodies_destroy(bodies);
}

/* Names of GPU kernels pass the config reader; no CPU may run something else instead. */
static void test_a_gpu_kernel_is_refused(void **state)
{
    (void)state;
    struct error error = { 0 };
    struct bodies *bodies;
    struct force *force;
    assert_int_equal(bodies_create(1, 8, &bodies, &error), STATUS_OK);
    const struct physics physics = { .gravitational_constant = 1 };
    const struct force_options options = { .kernel = "tiled", .isa = "auto", .threads = 1 };
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_CONFIG);
    assert_non_null(strstr(error.text, "compute.kernel = \"tiled\""));
    assert_null(force);
    bodies_destroy(bodies);
}

static void test_threads_do_not_change_a_bit(void **state)
{
    (void)state;
    const size_t counts[] = { 2, 17, 100, 1025 };
    const int teams[] = { 2, 3, 4, 7 };
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        struct bodies *bodies = motion_cube(2, counts[k], 99 + k);
        const size_t bytes = bodies_length(bodies) * sizeof(double);
        double *alone = scratch(bodies), *phi = scratch(bodies), *psi = scratch(bodies);
        double *phi_alone = scratch(bodies), *psi_alone = scratch(bodies);
        fast(&open_space, bodies, 1, phi_alone, psi_alone);
        memcpy(alone, bodies->ax, bytes);
        for (size_t t = 0; t < COUNT_OF(teams); t++) {
            fast(&open_space, bodies, teams[t], phi, psi);
            assert_memory_equal(bodies->ax, alone, bytes);
            assert_memory_equal(phi, phi_alone, bytes);
            assert_memory_equal(psi, psi_alone, bytes);
        }
        double *const arrays[] = { alone, phi, psi, phi_alone, psi_alone };
        for (size_t a = 0; a < COUNT_OF(arrays); a++)
            memory_free(arrays[a]);
        bodies_destroy(bodies);
    }
}

/* Tests a number of bodies at which kernels keep no sums of their own beside the accelerations. */
static void test_many_bodies(void **state)
{
    (void)state;
    struct bodies *bodies = motion_cube(1, 50003, 4);
    double *one = scratch(bodies);
    fast(&open_space, bodies, 1, NULL, NULL);
    memcpy(one, bodies->ay, bodies_length(bodies) * sizeof *one);
    fast(&open_space, bodies, 3, NULL, NULL);
    assert_memory_equal(one, bodies->ay, bodies_length(bodies) * sizeof *one);
    for (size_t i = 0; i < bodies->count; i += 1171) {
        const struct exact exact = exact_sum(&open_space, bodies, i);
        /* Roundings of 50000 additions of random sign: sqrt(50000) of them, and some. */
        assert_close(bodies->ay[i], (double)exact.a[1], 1000 * DBL_EPSILON * (double)exact.size);
    }
    memory_free(one);
    bodies_destroy(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_agree_with_long_double),
        cmocka_unit_test(test_zero_masses_and_coincident_bodies),
        cmocka_unit_test(test_two_bodies_in_closed_form),
        cmocka_unit_test(test_total_force_vanishes),
        cmocka_unit_test(test_virial_is_that_of_clausius),
        cmocka_unit_test(test_a_periodic_image_is_the_body),
        cmocka_unit_test(test_a_gpu_kernel_is_refused),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_many_bodies),
    };
    return cmocka_run_group_tests_name("force", tests, NULL, NULL);
}
