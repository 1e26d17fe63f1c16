#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "sample.h"
#include "space/neighbours.h"
#include "space/sphere.h"

static const double A = 0.5890486225480862; /* Plummer's scale in Henon units, 3 pi / 16 */

static double distance2(const struct bodies *b, size_t i, size_t j)
{
    const double dx = b->x[j] - b->x[i], dy = b->y[j] - b->y[i], dz = b->z[j] - b->z[i];
    return dx * dx + dy * dy + dz * dz;
}

/* The squared distances that a plain search finds. */
static size_t find_plainly(const struct bodies *b, size_t system, size_t i, size_t wanted,
                           double *r2)
{
    const size_t first = system * b->stride;
    size_t found = 0;
    for (size_t j = 0; j < b->count; j++) {
        if (j == i)
            continue;
        const double d2 = distance2(b, first + i, first + j);
        if (found == wanted && d2 >= r2[found - 1])
            continue;
        size_t k = found < wanted ? found++ : found - 1;
        for (; k > 0 && r2[k - 1] > d2; k--)
            r2[k] = r2[k - 1];
        r2[k] = d2;
    }
    return found;
}

static void assert_neighbours(const struct bodies *b, size_t system, size_t wanted)
{
    struct error error = { 0 };
    struct neighbours *tree;
    assert_int_equal(neighbours_create(b, system, 2, &tree, &error), STATUS_OK);
    const size_t first = system * b->stride;
    for (size_t i = 0; i < b->count; i++) {
        size_t index[NEIGHBOURS_MAX];
        double r2[NEIGHBOURS_MAX], plain[NEIGHBOURS_MAX];
        const size_t found = neighbours_find(tree, i, wanted, index, r2);
        assert_int_equal(found, find_plainly(b, system, i, wanted, plain));
        assert_memory_equal(r2, plain, found * sizeof *r2);
        for (size_t k = 0; k < found; k++) {
            assert_true(index[k] != i);
            assert_true(distance2(b, first + i, first + index[k]) == r2[k]);
            for (size_t other = 0; other < k; other++)
                assert_true(index[other] != index[k]);
        }
    }
    neighbours_destroy(tree);
}

static void test_against_a_plain_search(void **state)
{
    (void)state;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    const size_t sizes[] = { 1, 2, 7, 8, 9, 17, 100, 1001 }; /* about leaves of 8 */
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        struct bodies *b = sample_create(2, sizes[k]);
        sample_plummer(b, 1, A, random);
        assert_neighbours(b, 1, 6);
        assert_neighbours(b, 1, 1);
        bodies_destroy(b);
    }
    gsl_rng_free(random);
}

static void test_equal_places(void **state)
{
    (void)state;
    /* A lattice of 4^3 with every site taken twice, and a system in which all bodies coincide. */
    struct bodies *b = sample_create(2, 128);
    for (size_t i = 0; i < b->count; i++) {
        b->x[i] = (double)(i % 4);
        b->y[i] = (double)(i / 4 % 4);
        b->z[i] = (double)(i / 16 % 4);
    }
    assert_neighbours(b, 0, 6);
    assert_neighbours(b, 1, 6);
    bodies_destroy(b);
}

static void test_lost_body_is_named(void **state)
{
    (void)state;
    struct bodies *b = sample_create(1, 12);
    b->id[7] = 4711;
    b->y[7] = NAN;
    struct error error = { 0 };
    struct neighbours *tree;
    assert_int_equal(neighbours_create(b, 0, 2, &tree, &error), STATUS_NUMERICAL);
    assert_non_null(strstr(error.text, "4711"));
    assert_null(tree);
    bodies_destroy(b);
}

static void test_density_center_of_plummer(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct bodies *b = sample_create(1, COUNT);
    sample_plummer(b, 0, A, random);
    const double shift[3] = { 3.1, -2.4, 0.7 };
    for (size_t i = 0; i < COUNT; i++) {
        b->x[i] += shift[0];
        b->y[i] += shift[1];
        b->z[i] += shift[2];
    }
    struct error error = { 0 };
    struct density_center one, two;
    assert_int_equal(density_center(b, 0, 1, &one, &error), STATUS_OK);
    assert_int_equal(density_center(b, 0, 3, &two, &error), STATUS_OK);
    assert_memory_equal(&one, &two, sizeof one);
    /* With weights rho the mean of x has a variance of <rho^2 x^2> / (<rho>^2 N), and the estimate
     * of rho itself scatters by 1 / sqrt(5); together less than a / sqrt(N) = 0.0042. Five sigma.
     */
    for (int k = 0; k < 3; k++)
        assert_close(one.x[k], shift[k], 5 * A / sqrt(COUNT));
    /* <r^2 rho^2> / <rho^2> of Plummer's sphere is B(5/2, 5) / B(3/2, 6) a^2 = 0.3 a^2; its
     * sampling error is some 2 / sqrt(N) of it (a few thousand bodies of the core decide). */
    assert_close(one.core_radius, sqrt(0.3) * A, 5 * sqrt(0.3) * A / sqrt(COUNT));
    gsl_rng_free(random);
    bodies_destroy(b);
}

static void test_few_bodies_have_a_center_of_mass(void **state)
{
    (void)state;
    struct bodies *b = sample_create(1, 3);
    b->m[0] = 1, b->m[1] = 2, b->m[2] = 0;
    b->x[0] = 1, b->x[1] = 4, b->x[2] = 100;
    struct error error = { 0 };
    struct density_center center;
    assert_int_equal(density_center(b, 0, 2, &center, &error), STATUS_OK);
    assert_close(center.x[0], 3.0, 1e-15); /* (1 x 1 + 2 x 4) / 3 */
    assert_true(isnan(center.core_radius));
    bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_plain_search),
        cmocka_unit_test(test_equal_places),
        cmocka_unit_test(test_lost_body_is_named),
        cmocka_unit_test(test_density_center_of_plummer),
        cmocka_unit_test(test_few_bodies_have_a_center_of_mass),
    };
    return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
