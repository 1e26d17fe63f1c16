/* The error bar of a convergence test, by hand, from three numbers or a few rows of them. */
#include "unit.h"

#include <stdbool.h>

#include "base/memory.h"
#include "study/errorbar.h"

/*
 * Numbers at one time, with steps h, h/2 and h/4. With differences c = v(h) - v(h/2) and
 * f = v(h/2) - v(h/4) the order is log2 |c/f|. With r = 2^min(order, that of the method) the bar is
 * 1.5 (|f| + |f - c/r|) / (r - 1): Richardson's estimate, and what c and f leave open of it.
 */
struct triple {
    double values[ERRORBAR_LEVELS];
    double method_order;
    enum errorbar_limit limit;
    double order, error;
};

static const struct triple triples[] = {
    /* c = 0.12, f = 0.03: of order 2, so that f/3 = 0.01 is left; half more for safety. */
    { { 1.16, 1.04, 1.01 }, 2, ERRORBAR_STEP, 2, 0.015 },
    /* The same from below. */
    { { 0.86, 0.98, 1.01 }, 2, ERRORBAR_STEP, 2, 0.015 },
    /* c = 0.24, f = 0.03: order 3, f/7. */
    { { 1.28, 1.04, 1.01 }, 3, ERRORBAR_STEP, 3, 1.5 * 0.03 / 7 },
    /* The same of a method of order 2: no more is trusted, and f is not c/4 = 0.06: (0.03+0.03)/3
     */
    { { 1.28, 1.04, 1.01 }, 2, ERRORBAR_STEP, 3, 1.5 * 0.06 / 3 },
    /* c = 0.06, f = 0.03: order 1 is less than the method's, and counts: f itself. */
    { { 1.10, 1.04, 1.01 }, 2, ERRORBAR_STEP, 1, 1.5 * 0.03 },
    /* c = -0.12, f = 0.03: the sign turns, so that f is far from c/4 = -0.03: (0.03 + 0.06)/3. */
    { { 0.92, 1.04, 1.01 }, 2, ERRORBAR_STEP, 2, 1.5 * 0.09 / 3 },
    /* c = f, c < f and an order below a half: nothing can be said. */
    { { 1.07, 1.04, 1.01 }, 2, ERRORBAR_NONE, NAN, NAN },
    { { 1.05, 1.04, 1.01 }, 2, ERRORBAR_NONE, NAN, NAN },
    { { 1.08, 1.04, 1.01 }, 2, ERRORBAR_NONE, NAN, NAN },
    { { NAN, 1.04, 1.01 }, 2, ERRORBAR_NONE, NAN, NAN },
    { { 1.16, 1.04, INFINITY }, 2, ERRORBAR_NONE, NAN, NAN },
};

static void check(const struct errorbar *bar, enum errorbar_limit limit, double order, double error,
                  size_t number)
{
    /* The values have three digits, and their differences have fewer. */
    const bool same = bar->limit == limit &&
                      (isnan(order) ? isnan(bar->order) : fabs(bar->order - order) < 1e-9) &&
                      (isnan(error) ? isnan(bar->error) : fabs(bar->error - error) < 1e-9 * error);
    if (!same)
        fail_msg("%zu: %s, order %.17g, error %.17g", number, errorbar_limit_names[bar->limit],
                 bar->order, bar->error);
}

static void test_three_numbers(void **state)
{
    (void)state;
    static const double end[] = { 1.0 };
    for (size_t i = 0; i < COUNT_OF(triples); i++) {
        const struct triple *t = &triples[i];
        const struct errorbar_column column = { { &t->values[0], &t->values[1], &t->values[2] },
                                                end,
                                                1 };
        const struct errorbar_method method = { .order = t->method_order, .dynamic_time = 1.0 };
        struct errorbar bar;
        errorbar_measure(&column, &method, &bar);
        check(&bar, t->limit, t->order, t->error, i);
    }
}

/*
 * With rounding u an operation, a walk of n steps has made u sqrt(n) of it. Where that is what is
 * seen, smaller steps would not help; otherwise twice as much is added to the bar.
 */
static void test_rounding(void **state)
{
    (void)state;
    static const double end[] = { 1.0 };
    static const struct {
        double coarse, fine, rounding, steps;
        enum errorbar_limit limit;
        double order, error;
    } cases[] = {
        /* The walk is 1e-6 * 100 = 1e-4, beside Richardson's 0.015. */
        { 0.12, 0.03, 1e-6, 1e4, ERRORBAR_STEP, 2, 0.015 + 2 * 1e-4 },
        { 0.12, 0.03, 1e-6, 9e4, ERRORBAR_STEP, 2, 0.015 + 2 * 3e-4 },
        /* f = 1.5 walks, and c does not say that it falls: 4 times the lesser of walk and f. */
        { 2e-4, 1.5e-4, 1e-6, 1e4, ERRORBAR_ROUNDING, NAN, 4 * 1e-4 },
        { 2e-4, 0.5e-4, 1e-6, 1e4, ERRORBAR_ROUNDING, NAN, 4 * 0.5e-4 },
        /* f = 3 walks, but c is 4 f: it still falls. */
        { 12e-4, 3e-4, 1e-6, 1e4, ERRORBAR_STEP, 2, 1.5e-4 + 2 * 1e-4 },
        /* f = 5 walks is beyond what rounding may be. */
        { 10e-4, 5e-4, 1e-6, 1e4, ERRORBAR_STEP, 1, 1.5 * 5e-4 + 2 * 1e-4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const double values[] = { cases[i].coarse + cases[i].fine, cases[i].fine, 0.0 };
        const struct errorbar_column column = { { &values[0], &values[1], &values[2] }, end, 1 };
        const struct errorbar_method method = { 2,  cases[i].rounding, cases[i].steps, 1.0, false,
                                                0.0 };
        struct errorbar bar;
        errorbar_measure(&column, &method, &bar);
        check(&bar, cases[i].limit, cases[i].order, cases[i].error, i);
    }
}

/*
 * With forces of less than double precision the differences are samples of what rounding makes of a
 * run, so that 3 times the larger of the two is the bar where it decides; or 2.5 times what the
 * bias of all forces comes to, if that is more. With one row alone nothing limits it.
 */
static void test_coarse_forces(void **state)
{
    (void)state;
    static const double end[] = { 1.0 };
    static const struct {
        double coarse, fine, bias;
        enum errorbar_limit limit;
        double order, error;
    } cases[] = {
        { 0.12, 0.03, 0, ERRORBAR_STEP, 2, 0.015 + 2 * 1e-4 },
        { 0.12, 0.03, 2e-3, ERRORBAR_STEP, 2, 0.015 + 2 * 1e-4 + 2.5 * 2e-3 },
        { 2e-4, 1.5e-4, 0, ERRORBAR_ROUNDING, NAN, 3 * 2e-4 },
        { 2.4e-4, 3e-4, 0, ERRORBAR_ROUNDING, NAN, 3 * 3e-4 },
        { 2.4e-4, 3e-4, 3e-4, ERRORBAR_ROUNDING, NAN, 3 * 3e-4 },
        { 2.4e-4, 3e-4, 4e-4, ERRORBAR_ROUNDING, NAN, 2.5 * 4e-4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const double values[] = { cases[i].coarse + cases[i].fine, cases[i].fine, 0.0 };
        const struct errorbar_column column = { { &values[0], &values[1], &values[2] }, end, 1 };
        /* A walk of 1e-4. */
        const struct errorbar_method method = { 2, 1e-6, 1e4, 1.0, true, cases[i].bias };
        struct errorbar bar;
        errorbar_measure(&column, &method, &bar);
        check(&bar, cases[i].limit, cases[i].order, cases[i].error, i);
    }
}

/*
 * Tests the bias: it grows for a dynamic time at most, and then as the first difference does; it is
 * no more than twice the largest change of the column, as of a conserved quantity.
 */
static void test_bias(void **state)
{
    (void)state;
    static const struct {
        double times[3], dynamic_time;
        double first[3]; /* differences of the two largest steps; those of the others are as much */
        double value, bar; /* the column begins at 0 and goes straight there */
    } cases[] = {
        { { 0, 1, 2 }, 1, { 0, 1e-7, 1e-7 }, 1, 2.5e-3 },             /* a bias of 1e-3 */
        { { 0, 0.25, 0.5 }, 1, { 0, 1e-7, 1e-7 }, 1, 0.5 * 2.5e-3 },  /* half that time */
        { { 0, 1, 2 }, 1, { 0, 1e-7, 1e-6 }, 1, 10 * 2.5e-3 },        /* has grown tenfold */
        { { 0, 1, 2 }, 1, { 0, 1e-7, 1e-7 }, 1e-5, 2e-5 },            /* hardly changes */
        { { 0, 0.25, 0.5 }, INFINITY, { 0, 1e-7, 1e-7 }, 1, 2.5e-3 }, /* begins at rest */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double values[ERRORBAR_LEVELS][3];
        for (size_t k = 0; k < 3; k++) {
            values[2][k] = cases[i].value * (double)k / 2.0;
            values[1][k] = values[2][k] + cases[i].first[k];
            values[0][k] = values[1][k] + cases[i].first[k];
        }
        const struct errorbar_column column = { { values[0], values[1], values[2] },
                                                cases[i].times,
                                                3 };
        /* A walk of 1e-8 * 10, so that the differences are roundings. */
        const struct errorbar_method method = { 2, 1e-8, 100, cases[i].dynamic_time, true, 1e-3 };
        struct errorbar bar;
        errorbar_measure(&column, &method, &bar);
        assert_int_equal(bar.limit, ERRORBAR_ROUNDING);
        if (fabs(bar.error / cases[i].bar - 1.0) > 0.02) /* values have lost digits */
            fail_msg("%zu: %.17g", i, bar.error);
    }
}

/* Over rows: the order is that of the root mean squares, the bar that of the last row. A row at the
 * start, where all agree, changes neither; nor does one that is undefined. */
static void test_rows(void **state)
{
    (void)state;
    static const double times[] = { 0, 1, 2, 3 };
    /* c = 0, 0.06, undefined, 0.08 and f = 0, 0.018, undefined, 0.01: rms 0.1 and sqrt(424e-6). */
    static const double h[] = { 5, 2.078, 1, 3.09 }, half[] = { 5, 2.018, NAN, 3.01 },
                        quarter[] = { 5, 2, 1, 3 };
    const struct errorbar_column column = { { h, half, quarter }, times, COUNT_OF(times) };
    const struct errorbar_method method = { .order = 2, .dynamic_time = 1.0 };
    struct errorbar bar;
    errorbar_measure(&column, &method, &bar);
    /* r = 4, f = 0.01, c/r = 0.02. */
    check(&bar, ERRORBAR_STEP, log2(0.1 / sqrt(424e-6)), 1.5 * (0.01 + 0.01) / 3, 0);
    const struct errorbar_column nothing = { { h, half, quarter }, times, 0 };
    errorbar_measure(&nothing, &method, &bar);
    check(&bar, ERRORBAR_NONE, NAN, NAN, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_numbers), cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_coarse_forces), cmocka_unit_test(test_bias),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests_name("errorbar", tests, NULL, NULL);
}
