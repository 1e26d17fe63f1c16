#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "force/direct/reference.h"
#include "initial/energy.h"
#include "initial/initial.h"
#include "model/bodies.h"
#include "model/conserved.h"

static const struct physics newton = { .gravitational_constant = 1.0 };
static const struct physics soft = { .gravitational_constant = 2.385, .softening = 0.0731 };
static const struct physics box = { .gravitational_constant = 0.9173,
                                    .softening = 0.0219,
                                    .boundary = BOUNDARY_PERIODIC,
                                    .box_length = 1.75 };

/* Systems of bodies at random in the cube [-1, 1]^3, with random velocities and masses. */
static struct bodies *random_bodies(size_t systems, size_t count)
{
    struct error error = { 0 };
    struct bodies *b;
    assert_int_equal(bodies_create(systems, count, &b, &error), STATUS_OK);
    gsl_rng *generator = random_create(4711, &error);
    assert_non_null(generator);
    for (size_t s = 0; s < systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + count; i++) {
            double *const values[] = {
                &b->x[i], &b->y[i], &b->z[i], &b->vx[i], &b->vy[i], &b->vz[i]
            };
            for (size_t k = 0; k < COUNT_OF(values); k++)
                *values[k] = random_uniform(generator, -1.0, 1.0);
            b->m[i] = random_uniform(generator, 0.2, 3.1);
        }
    random_destroy(generator);
    return b;
}

/* The message of check_bodies() for the last system, or "" if it finds nothing. */
static const char *complaint(const struct bodies *bodies, const struct physics *physics,
                             size_t *coincident)
{
    static struct error error;
    error_clear(&error);
    *coincident = 0;
    const size_t first = (bodies->systems - 1) * bodies->stride;
    const enum status status = check_bodies(bodies, first, physics, "here", coincident, &error);
    assert_int_equal(status, error.lines ? STATUS_DATA : STATUS_OK);
    return error.text;
}

static void test_good_bodies_pass(void **state)
{
    (void)state;
    size_t coincident;
    struct bodies *b = random_bodies(2, 1001);
    b->m[b->stride + 7] = 0; /* a test body */
    assert_string_equal(complaint(b, &newton, &coincident), "");
    assert_int_equal(coincident, 0);
    bodies_destroy(b);
}

static void test_values(void **state)
{
    (void)state;
    size_t coincident;
    struct bodies *b = random_bodies(2, 9);
    b->vy[b->stride + 4] = NAN;
    assert_string_equal(complaint(b, &newton, &coincident), "here: vy of body 5 is not finite");
    b->vy[b->stride + 4] = 0;
    b->m[b->stride + 8] = INFINITY;
    assert_string_equal(complaint(b, &newton, &coincident), "here: mass of body 9 is not finite");
    b->m[b->stride + 8] = -0.25;
    assert_string_equal(complaint(b, &newton, &coincident),
                        "here: the mass of body 9 is negative: -0.25");
    for (size_t i = 0; i < 9; i++)
        b->m[b->stride + i] = 0;
    assert_string_equal(complaint(b, &newton, &coincident), "here: no body has any mass");
    bodies_destroy(b);
}

static void test_ids(void **state)
{
    (void)state;
    size_t coincident;
    struct bodies *b = random_bodies(2, 9);
    b->id[b->stride] = 77; /* out of order, but no other has it */
    assert_string_equal(complaint(b, &newton, &coincident), "");
    b->id[b->stride + 5] = 2;
    assert_string_equal(complaint(b, &newton, &coincident),
                        "here: two bodies have the id 2: number 2 and number 6 (several systems in "
                        "one file need a column cluster or system)");
    bodies_destroy(b);
}

static void copy_position(struct bodies *b, size_t from, size_t to)
{
    b->x[to] = b->x[from];
    b->y[to] = b->y[from];
    b->z[to] = b->z[from];
}

static void test_coincident_bodies(void **state)
{
    (void)state;
    size_t coincident;
    struct bodies *b = random_bodies(2, 500);
    const size_t first = b->stride;
    const double zeros[3] = { 0.0, -0.0, 0.0 };
    b->x[first + 16] = zeros[0], b->y[first + 16] = zeros[1], b->z[first + 16] = zeros[2];
    b->x[first + 311] = -0.0, b->y[first + 311] = 0.0, b->z[first + 311] = 0.0;
    assert_string_equal(complaint(b, &newton, &coincident),
                        "here: bodies 17 and 312 are both at (-0, 0, 0), where the force between "
                        "them is infinite; physics.softening > 0 allows it");
    /* With softening: the pair above, and three bodies at one place, which are three pairs. */
    copy_position(b, first + 3, first + 41);
    copy_position(b, first + 3, first + 499);
    assert_string_equal(complaint(b, &soft, &coincident), "");
    assert_int_equal(coincident, 4);
    bodies_destroy(b);
}

/* On a lattice all coordinates are shared by many bodies; only equal places count. */
static void test_a_lattice_has_no_coincident_bodies(void **state)
{
    (void)state;
    enum { SIDE = 20 };
    size_t coincident;
    struct bodies *b = random_bodies(1, SIDE * SIDE * SIDE);
    for (size_t i = 0; i < b->count; i++) {
        b->x[i] = 0.125 * (double)(i % SIDE);
        b->y[i] = 0.125 * (double)(i / SIDE % SIDE);
        b->z[i] = 0.125 * (double)(i / SIDE / SIDE);
    }
    assert_string_equal(complaint(b, &soft, &coincident), "");
    assert_int_equal(coincident, 0);
    bodies_destroy(b);
}

static void test_images_coincide_in_a_periodic_box(void **state)
{
    (void)state;
    size_t coincident;
    struct bodies *b = random_bodies(1, 20);
    b->x[3] = 0.5, b->y[3] = -0.25, b->z[3] = 0.0;
    b->x[9] = 0.5 - 1.75, b->y[9] = -0.25 + 2 * 1.75, b->z[9] = 1.75;
    assert_string_equal(complaint(b, &box, &coincident), "");
    assert_int_equal(coincident, 1);
    assert_string_equal(complaint(b, &soft, &coincident), "");
    assert_int_equal(coincident, 0);
    bodies_destroy(b);
}

/* Against the sums that the diagnostics make of reference_potentials(), to rounding. */
static void test_pair_sums_are_those_of_the_reference(void **state)
{
    (void)state;
    enum { N = 1531 };
    const struct physics *const all_physics[] = { &newton, &soft, &box };
    struct bodies *b = random_bodies(2, N);
    copy_position(b, b->stride + 5, b->stride + 6); /* adds 0 where the softening is 0 */
    double phi[2 * (N + BODIES_PADDING)], psi[2 * (N + BODIES_PADDING)];
    for (size_t k = 0; k < COUNT_OF(all_physics); k++) {
        struct conserved expected;
        reference_potentials(all_physics[k], b, phi, psi);
        conserved_measure(b, 1, phi, psi, &expected);
        const struct pair_sums sums = energy_pairs(all_physics[k], b, b->stride);
        assert_close(sums.potential, expected.potential, -1e-13 * expected.potential);
        assert_close(sums.virial, expected.virial, -1e-13 * expected.virial);
        assert_close(energy_kinetic(b, b->stride), expected.kinetic, 1e-13 * expected.kinetic);
    }
    bodies_destroy(b);
}

/* Whole systems may be as large as numbers are, and only what is none is found. */
static void test_not_finite(void **state)
{
    (void)state;
    struct bodies *b;
    struct error none = { 0 };
    assert_int_equal(bodies_create(2, 3, &b, &none), STATUS_OK);
    const size_t at = b->stride + 1, length = bodies_length(b);
    b->x[at] = b->y[at] = b->z[at] = 1e308;
    b->vx[at] = b->vy[at] = -1.7e308;
    assert_int_equal(bodies_not_finite(b, 0, length), length);
    double *const arrays[] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    const double bad[] = { NAN, INFINITY, -INFINITY };
    for (size_t k = 0; k < COUNT_OF(arrays) * COUNT_OF(bad); k++) {
        const double held = arrays[k / COUNT_OF(bad)][at];
        arrays[k / COUNT_OF(bad)][at] = bad[k % COUNT_OF(bad)];
        assert_int_equal(bodies_not_finite(b, 0, length), at);
        arrays[k / COUNT_OF(bad)][at] = held;
        assert_true(bodies_finite(b, at));
    }
    /* An infinite body is named before those that it made NaN, of the bodies that are asked for. */
    b->x[1] = b->vz[at] = NAN;
    b->vy[at + 1] = INFINITY;
    assert_int_equal(bodies_not_finite(b, 0, length), at + 1);
    assert_int_equal(bodies_not_finite(b, 0, at + 1), 1);
    assert_int_equal(bodies_not_finite(b, 2, at + 1), at);
    assert_int_equal(bodies_not_finite(b, 2, at), at);
    assert_int_equal(bodies_report(b, at + 1, " at step 5", &none), STATUS_NUMERICAL);
    assert_string_equal(none.text, "system 2, body 3 at step 5: position (0, 0, 0) or velocity "
                                   "(0, inf, 0) is not finite");
    bodies_destroy(b);
}

static void test_center(void **state)
{
    (void)state;
    struct bodies *b = random_bodies(2, 100);
    const double untouched = b->x[7];
    const size_t first = b->stride;
    const double between = b->vz[first + 1] - b->vz[first];
    bodies_center(b, first);
    double moment[6] = { 0 };
    for (size_t i = first; i < first + 100; i++) {
        const double values[] = { b->x[i], b->y[i], b->z[i], b->vx[i], b->vy[i], b->vz[i] };
        for (int k = 0; k < 6; k++)
            moment[k] += b->m[i] * values[k];
    }
    for (int k = 0; k < 6; k++) /* 165 units of mass; 100 roundings of 2^-53 each */
        assert_close(moment[k], 0.0, 165 * 100 * 0x1p-53);
    assert_close(b->vz[first + 1] - b->vz[first], between, 4 * 0x1p-53);
    assert_true(b->x[7] == untouched);
    bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_bodies_pass),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_coincident_bodies),
        cmocka_unit_test(test_a_lattice_has_no_coincident_bodies),
        cmocka_unit_test(test_images_coincide_in_a_periodic_box),
        cmocka_unit_test(test_pair_sums_are_those_of_the_reference),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_center),
    };
    return cmocka_run_group_tests_name("initial-check", tests, NULL, NULL);
}
