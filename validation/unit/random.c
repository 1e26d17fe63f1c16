#include "unit.h"

#include "base/memory.h"
#include "base/random.h"

static gsl_rng *generator(unsigned long seed)
{
    struct error error = { 0 };
    gsl_rng *result = random_create(seed, &error);
    assert_non_null(result);
    return result;
}

/* The first output of the authors' init_genrand(5489) is 3499211612 (mt19937ar.out of C++11's
 * mt19937 default); GSL's stream is that of the 2002 initialisation. */
static void test_the_generator_is_mt19937(void **state)
{
    (void)state;
    gsl_rng *g = generator(5489);
    assert_true(gsl_rng_get(g) == 3499211612u);
    random_destroy(g);
}

/* 53 bits of two draws. With 5489 the first number is known as that of every fresh MATLAB, and of
 * numpy.random.RandomState(5489): (109350362 2^26 + 9091707) / 2^53. */
static void test_the_first_uniform_number(void **state)
{
    (void)state;
    gsl_rng *g = generator(5489);
    assert_true(random_uniform(g, 0.0, 1.0) == (109350362 * 0x1p26 + 9091707) * 0x1p-53);
    random_destroy(g);
}

static void test_neighbouring_and_extreme_seeds_differ(void **state)
{
    (void)state;
    static const unsigned long seeds[] = {
        1, 2, 42, 43, 4356, RANDOM_SEED_MAX - 1, RANDOM_SEED_MAX
    };
    double first[COUNT_OF(seeds)];
    for (size_t i = 0; i < COUNT_OF(seeds); i++) {
        gsl_rng *g = generator(seeds[i]);
        first[i] = random_uniform(g, 0.0, 1.0);
        for (size_t j = 0; j < i; j++)
            assert_true(first[j] != first[i]);
        random_destroy(g);
        g = generator(seeds[i]);
        assert_true(random_uniform(g, 0.0, 1.0) == first[i]);
        random_destroy(g);
    }
}

/* Mean and variance of a uniform number in [a, b]: (a + b)/2 and (b - a)^2/12; of x^2 + y^2 + z^2
 * in the unit ball: 3/5 and 3/7 - 9/25; of one component on the unit sphere: 0 and 1/3. Each mean
 * of n draws is allowed five standard errors. */
static void test_moments(void **state)
{
    (void)state;
    enum { N = 200000 };
    gsl_rng *g = generator(42);
    double uniform = 0, r2 = 0, component = 0, square = 0;
    for (int i = 0; i < N; i++) {
        double ball[3], sphere[3];
        const double u = random_uniform(g, -1.5, 4.5);
        assert_true(u >= -1.5 && u <= 4.5);
        uniform += u / N;
        random_in_ball(g, 2.0, ball);
        r2 += (ball[0] * ball[0] + ball[1] * ball[1] + ball[2] * ball[2]) / 4.0 / N;
        random_on_sphere(g, 3.0, sphere);
        assert_close(sqrt(sphere[0] * sphere[0] + sphere[1] * sphere[1] + sphere[2] * sphere[2]),
                     3.0, 1e-14);
        component += sphere[2] / 3.0 / N;
        square += sphere[0] * sphere[0] / 9.0 / N;
    }
    assert_close(uniform, 1.5, 5 * sqrt(36.0 / 12.0 / N));
    assert_close(r2, 0.6, 5 * sqrt((3.0 / 7.0 - 9.0 / 25.0) / N));
    assert_close(component, 0.0, 5 * sqrt(1.0 / 3.0 / N));
    assert_close(square, 1.0 / 3.0, 5 * sqrt((1.0 / 5.0 - 1.0 / 9.0) / N));
    random_destroy(g);
}

/* 53 bits: of 1000 numbers, some use bits below 2^-32. */
static void test_uniform_numbers_fill_the_significand(void **state)
{
    (void)state;
    gsl_rng *g = generator(7);
    int fine = 0;
    for (int i = 0; i < 1000; i++) {
        const double scaled = random_uniform(g, 0.0, 1.0) * 0x1p32;
        fine += scaled != floor(scaled);
    }
    assert_true(fine > 990);
    random_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_generator_is_mt19937),
        cmocka_unit_test(test_the_first_uniform_number),
        cmocka_unit_test(test_neighbouring_and_extreme_seeds_differ),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_uniform_numbers_fill_the_significand),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
