/* Tests from where float kernels measure positions, and whether they tell bodies apart there. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "accuracy/resolution.h"
#include "base/memory.h"

static struct error error;

static double origin_of(const double *x, size_t count)
{
    const double *const axes[3] = { x, x, x };
    double origin[3];
    origin_find(axes, count, origin);
    assert_true(origin[0] == origin[1] && origin[1] == origin[2]);
    return origin[0];
}

/* A network of comparators finds the median of any numbers if it does so of all zeros and ones
 * (Knuth 5.3.4, theorem Z). */
static void test_networks_find_the_median(void **state)
{
    (void)state;
    for (size_t count = 1; count <= ORIGIN_SAMPLE + 1; count++) {
        const struct origin_network *const network = origin_network(count);
        assert_int_equal(network->size,
                         count > ORIGIN_SAMPLE ? ORIGIN_SAMPLE : count - !(count % 2));
        for (unsigned bits = 0; bits < 1u << network->size; bits++) {
            double x[ORIGIN_SAMPLE + 1] = { 0 };
            size_t ones = 0;
            for (size_t k = 0; k < network->size; k++) {
                const unsigned one = bits >> k & 1;
                ones += one;
                x[origin_body(count, network->size, k)] = one;
            }
            assert_true(origin_of(x, count) == (ones > network->size / 2));
        }
    }
}

/* Tests 1000, 10000 and 100000 bodies of which a quarter escapes: the median stays among the
 * others; with samples of 81 and 729 bodies near the middle of all, two thirds of their range. */
static void test_escapers_do_not_move_the_origin(void **state)
{
    (void)state;
    static double x[100000];
    for (size_t count = 1000; count <= COUNT_OF(x); count *= 10) {
        srand(5);
        for (size_t i = 0; i < count; i++) {
            x[i] = (double)rand() / RAND_MAX;
            if (rand() % 4 == 0)
                x[i] += 1e10;
        }
        assert_in_range((size_t)(1e6 * origin_of(x, count)), 1, 999999);
        if (count > 1000) /* it scatters by 0.07 and 0.03; that of nine bodies by 0.2 */
            assert_close(origin_of(x, count), 2.0 / 3.0, 0.1);
    }
}

static const struct physics open_space = { .gravitational_constant = 1 };

/* Two pairs, 0.5 and 0.25 wide, the second one `away` from the first. */
static struct bodies *two_pairs(double away)
{
    struct bodies *b;
    assert_int_equal(bodies_create(1, 4, &b, &error), STATUS_OK);
    for (size_t i = 0; i < 4; i++) {
        b->m[i] = 1;
        b->id[i] = 11 + (int64_t)i;
        b->y[i] = i < 2 ? 0.5 * (double)i : away + 0.25 * (double)(i - 2);
    }
    return b;
}

static struct resolution measure(const struct physics *physics, const struct bodies *b,
                                 enum precision precision, enum origin origin)
{
    const struct backend_description backend = { .precision = precision, .origin = origin };
    struct resolution worst;
    assert_int_equal(resolution_measure(physics, b, &backend, &worst, &error), STATUS_OK);
    return worst;
}

/* At 2^20 single numbers are 2^-3 apart, those of 48 digits 2^-27. */
static void test_a_pair_far_away_is_not_resolved(void **state)
{
    (void)state;
    struct bodies *b = two_pairs(0x1p20 + 1);
    char text[RESOLUTION_TEXT_SIZE];
    struct resolution r = measure(&open_space, b, PRECISION_SINGLE, ORIGIN_MEDIAN);
    assert_true(r.found && r.id_i == 13 && r.id_j == 14);
    assert_close(r.distance, 0.25, 0);
    assert_close(r.spacing, 0x1p-3, 0);
    assert_close(r.steps, 2, 0);
    assert_int_equal(r.enough, PRECISION_MIXED);
    resolution_text(&r, b, PRECISION_SINGLE, text);
    assert_non_null(strstr(text, "bodies 13 and 14"));
    assert_non_null(strstr(text, "compute.precision = \"mixed\""));
    r = measure(&open_space, b, PRECISION_MIXED, ORIGIN_MEDIAN);
    assert_close(r.spacing, 0x1p-27, 0);
    assert_string_equal(resolution_text(&r, b, PRECISION_MIXED, text), "");
    assert_false(measure(&open_space, b, PRECISION_SINGLE, ORIGIN_EXACT).found);
    bodies_destroy(b);

    b = two_pairs(0x1p40);
    r = measure(&open_space, b, PRECISION_SINGLE, ORIGIN_MEDIAN);
    assert_int_equal(r.enough, PRECISION_DOUBLE);
    /* A softening length has to be told, not the separation. */
    const struct physics soft = { .gravitational_constant = 1, .softening = 0x1p30 };
    r = measure(&soft, b, PRECISION_SINGLE, ORIGIN_MEDIAN);
    assert_string_equal(resolution_text(&r, b, PRECISION_SINGLE, text), "");
    /* Both pairs are far from the origin of coordinates. */
    for (size_t i = 0; i < 4; i++)
        b->y[i] = b->y[i] + (i < 2 ? 0x1p40 : 0);
    assert_string_equal(
        resolution_text(&(struct resolution){ .found = false }, b, PRECISION_SINGLE, text), "");
    r = measure(&open_space, b, PRECISION_SINGLE, ORIGIN_ZERO);
    assert_int_equal(r.enough, PRECISION_DOUBLE);
    r = measure(&open_space, b, PRECISION_SINGLE, ORIGIN_MEDIAN);
    assert_true(r.steps > 1e5);
    bodies_destroy(b);
}

/* A box is scaled to a power of two, so that its numbers are 2^-25 of its side apart whatever the
 * side is: as those of a quarter in a box of 1. */
static void test_a_periodic_box_has_one_spacing(void **state)
{
    (void)state;
    const struct physics box = { .gravitational_constant = 1,
                                 .boundary = BOUNDARY_PERIODIC,
                                 .box_length = 1 };
    struct bodies *b = two_pairs(0.75);
    b->y[3] = b->y[0] + 1 + 0x1p-20; /* an image */
    const struct resolution r = measure(&box, b, PRECISION_SINGLE, ORIGIN_MEDIAN);
    assert_true(r.found && r.id_i == 11 && r.id_j == 14);
    assert_close(r.spacing, 0x1p-25, 0);
    assert_close(r.steps, 32, 1e-6);
    const struct physics larger = { .gravitational_constant = 1,
                                    .boundary = BOUNDARY_PERIODIC,
                                    .box_length = 1.75 };
    assert_close(measure(&larger, b, PRECISION_SINGLE, ORIGIN_MEDIAN).spacing, 1.75 * 0x1p-25, 0);
    bodies_destroy(b);
}

/* The worse of two systems is named, counted from 1, with ids of its own, the lower one first. */
static void test_the_worst_system_is_named(void **state)
{
    (void)state;
    struct bodies *one = two_pairs(0x1p20 + 1), *b;
    assert_int_equal(bodies_create(2, 4, &b, &error), STATUS_OK);
    bodies_copy_system(b, 0, one, 0);
    bodies_copy_system(b, 1, one, 0);
    for (size_t i = 0; i < 4; i++)
        b->id[b->stride + i] = 21 + (int64_t)i;
    b->y[b->stride + 3] = b->y[b->stride + 2] - 0.125;
    const struct resolution r = measure(&open_space, b, PRECISION_SINGLE, ORIGIN_MEDIAN);
    assert_true(r.found && r.system == 1 && r.id_i == 23 && r.id_j == 24);
    assert_close(r.distance, 0.125, 0);
    char text[RESOLUTION_TEXT_SIZE];
    resolution_text(&r, b, PRECISION_SINGLE, text);
    assert_non_null(strstr(text, "bodies 23 and 24 of system 2"));
    bodies_destroy(one);
    bodies_destroy(b);
    /* The third body's nearest is the second one, whose own is the first; but beyond 1 numbers are
     * twice as far apart. */
    b = two_pairs(0);
    b->y[0] = 0.5, b->y[1] = 0.9999, b->y[2] = 1.5001, b->y[3] = -0.5;
    const struct resolution far = measure(&open_space, b, PRECISION_SINGLE, ORIGIN_ZERO);
    assert_true(far.id_i == 12 && far.id_j == 13);
    bodies_destroy(b);
}

/* Nothing to say of one body, of bodies at one place, and of one that is nowhere. */
static void test_nothing_to_resolve(void **state)
{
    (void)state;
    struct bodies *b = two_pairs(0x1p40);
    b->y[1] = b->y[0], b->y[3] = b->y[2];
    assert_false(measure(&open_space, b, PRECISION_SINGLE, ORIGIN_MEDIAN).found);
    b->y[2] = NAN;
    assert_false(measure(&open_space, b, PRECISION_SINGLE, ORIGIN_MEDIAN).found);
    b->y[2] = 1e300, b->y[1] = -1e300;
    assert_true(measure(&open_space, b, PRECISION_SINGLE, ORIGIN_MEDIAN).steps > 0);
    bodies_destroy(b);
    assert_int_equal(bodies_create(1, 1, &b, &error), STATUS_OK);
    assert_false(measure(&open_space, b, PRECISION_SINGLE, ORIGIN_MEDIAN).found);
    bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks_find_the_median),
        cmocka_unit_test(test_escapers_do_not_move_the_origin),
        cmocka_unit_test(test_a_pair_far_away_is_not_resolved),
        cmocka_unit_test(test_a_periodic_box_has_one_spacing),
        cmocka_unit_test(test_the_worst_system_is_named),
        cmocka_unit_test(test_nothing_to_resolve),
    };
    return cmocka_run_group_tests_name("resolution", tests, NULL, NULL);
}
