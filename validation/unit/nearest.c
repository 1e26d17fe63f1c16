#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "sample.h"
#include "space/nearest.h"

static double separation2(const struct physics *physics, const struct bodies *b, size_t i, size_t j)
{
    double d[3] = { b->x[j] - b->x[i], b->y[j] - b->y[i], b->z[j] - b->z[i] };
    for (int k = 0; k < 3 && physics->boundary == BOUNDARY_PERIODIC; k++)
        d[k] = physics_nearest_image(d[k], physics->box_length);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

static double time_scale(const struct physics *physics, const struct bodies *b, size_t i, size_t j)
{
    const double s2 = separation2(physics, b, i, j) + physics->softening * physics->softening;
    return sqrt(s2 * sqrt(s2) / (physics->gravitational_constant * (b->m[i] + b->m[j])));
}

static struct nearest_pair find(const struct physics *physics, const struct bodies *b,
                                enum nearest_by by)
{
    struct error error = { 0 };
    struct nearest_pair pair;
    if (nearest_pair(physics, b, 1, by, &pair, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    return pair;
}

static void assert_nearest(const struct physics *physics, const struct bodies *b)
{
    const size_t first = b->stride;
    size_t space[2] = { 0 }, time[2] = { 0 };
    double least_r2 = INFINITY, least_time = INFINITY;
    for (size_t i = 0; i < b->count; i++)
        for (size_t j = i + 1; j < b->count; j++) {
            const double r2 = separation2(physics, b, first + i, first + j);
            const double tau = time_scale(physics, b, first + i, first + j);
            if (r2 < least_r2)
                least_r2 = r2, space[0] = i, space[1] = j;
            if (tau < least_time)
                least_time = tau, time[0] = i, time[1] = j;
        }
    const struct nearest_pair in_space = find(physics, b, NEAREST_IN_SPACE),
                              in_time = find(physics, b, NEAREST_IN_TIME);
    assert_true(in_space.found && in_time.found);
    assert_int_equal(in_space.i, space[0]);
    assert_int_equal(in_space.j, space[1]);
    assert_true(in_space.distance == sqrt(least_r2));
    assert_int_equal(in_time.i, time[0]);
    assert_int_equal(in_time.j, time[1]);
    /* pow() against two square roots */
    assert_close(in_time.time_scale / least_time, 1.0, 1e-15);
}

static void test_against_a_plain_search(void **state)
{
    (void)state;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct physics physics[] = {
        { .gravitational_constant = 1.75, .softening = 0.1, .boundary = BOUNDARY_OPEN },
        { .gravitational_constant = 1.75, .softening = 0.0, .boundary = BOUNDARY_OPEN },
        { .gravitational_constant = 1.75,
          .softening = 0.02,
          .boundary = BOUNDARY_PERIODIC,
          .box_length = 1.375 },
    };
    const size_t sizes[] = { 2, 3, 10, 300 };
    for (size_t p = 0; p < COUNT_OF(physics); p++)
        for (size_t k = 0; k < COUNT_OF(sizes); k++)
            for (int turn = 0; turn < 10; turn++) {
                struct bodies *b = sample_create(2, sizes[k]);
                sample_plummer(b, 1, 0.7, random);
                /* Masses from 0 (test bodies) to a heavy one: the order in time is another. */
                for (size_t i = 0; i < b->count; i++)
                    b->m[b->stride + i] = i == 1       ? 2.385
                                          : i % 4 == 3 ? 0.0
                                                       : pow(gsl_rng_uniform(random), 3.0);
                assert_nearest(&physics[p], b);
                bodies_destroy(b);
            }
    gsl_rng_free(random);
}

static void test_across_the_border_of_the_box(void **state)
{
    (void)state;
    const struct physics physics = { .gravitational_constant = 1.0,
                                     .boundary = BOUNDARY_PERIODIC,
                                     .box_length = 2.0 };
    struct bodies *b = sample_create(2, 4);
    const double x[] = { 0.05, 0.55, 1.3, 5.97 }; /* 5.97 stands at 1.97, 0.08 from 0.05 */
    for (size_t i = 0; i < 4; i++) {
        b->x[b->stride + i] = x[i];
        b->m[b->stride + i] = 1.0;
    }
    const struct nearest_pair pair = find(&physics, b, NEAREST_IN_SPACE);
    assert_int_equal(pair.i, 0);
    assert_int_equal(pair.j, 3);
    assert_close(pair.distance, 0.08, 1e-15);
    bodies_destroy(b);
}

static void test_nothing_to_find(void **state)
{
    (void)state;
    const struct physics physics = { .gravitational_constant = 1.0, .boundary = BOUNDARY_OPEN };
    struct bodies *one = sample_create(2, 1), *tests = sample_create(2, 2);
    assert_false(find(&physics, one, NEAREST_IN_SPACE).found);
    tests->x[tests->stride] = 0.5;
    assert_true(find(&physics, tests, NEAREST_IN_SPACE).found);
    assert_false(find(&physics, tests, NEAREST_IN_TIME).found); /* no mass */
    tests->x[tests->stride] = NAN;
    assert_false(find(&physics, tests, NEAREST_IN_SPACE).found);
    bodies_destroy(one);
    bodies_destroy(tests);
}

static void test_coincident_bodies(void **state)
{
    (void)state;
    const struct physics physics = { .gravitational_constant = 1.0, .boundary = BOUNDARY_OPEN };
    struct bodies *b = sample_create(2, 3);
    b->x[b->stride] = 0.5;
    b->m[b->stride + 1] = 1.0;
    const struct nearest_pair pair = find(&physics, b, NEAREST_IN_TIME);
    assert_int_equal(pair.i, 1);
    assert_int_equal(pair.j, 2);
    assert_true(pair.distance == 0.0 && pair.time_scale == 0.0);
    bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_plain_search),
        cmocka_unit_test(test_across_the_border_of_the_box),
        cmocka_unit_test(test_nothing_to_find),
        cmocka_unit_test(test_coincident_bodies),
    };
    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
