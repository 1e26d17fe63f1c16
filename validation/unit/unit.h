/* The headers of every unit test, which includes this first: cmocka and those that it wants before
 * it. */
#ifndef ORRERY_VALIDATION_UNIT_H
#define ORRERY_VALIDATION_UNIT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fails with both numbers in the message unless |value - expected| <= tolerance. */
#define assert_close(value, expected, tolerance)                                                   \
    do {                                                                                           \
        const double value_ = (value), expected_ = (expected), tolerance_ = (tolerance);           \
        if (!(fabs(value_ - expected_) <= tolerance_))                                             \
            fail_msg("%s = %.17g, expected %.17g within %g", #value, value_, expected_,            \
                     tolerance_);                                                                  \
    } while (0)

/* Is the test `name` asked to be thorough? The others take a part of the cases. ORRERY_THOROUGH=1
 * asks all of them, any other word, as a commit, a quarter, by the rule of validation/tap.py. */
static inline int is_thorough(const char *name)
{
    const char *const wish = getenv("ORRERY_THOROUGH"), *const words[] = { wish, " ", name };
    uint32_t hash = 2166136261; /* FNV-1a */
    if (!wish || !*wish || strcmp(wish, "1") == 0)
        return wish && *wish;
    for (int k = 0; k < 3; k++)
        for (const char *c = words[k]; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 16777619;
    return hash % 4 == 0;
}
#define thorough() is_thorough(__func__)

/* For what cannot be tried here. cmocka's own skip() reads as a failure in its TAP. */
#define pass_untried(why)                                                                          \
    do {                                                                                           \
        print_message("# not tried: %s\n", why);                                                   \
        return;                                                                                    \
    } while (0)

/* At the begin of a test that asks for numbers: its sums take minutes under sanitizers, and other
 * tests run the same code with fewer bodies. */
#ifdef __SANITIZE_ADDRESS__
#define not_sanitized() pass_untried("its sums are too many for sanitizers")
#else
#define not_sanitized() ((void)0)
#endif

#endif
