/* The headers of every unit test, which includes this file first: cmocka, and the headers that
 * cmocka needs before its own. */
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

/* Lets the test fail, with both numbers in the message, unless |value - expected| <= tolerance. */
#define assert_close(value, expected, tolerance)                                                   \
    do {                                                                                           \
        const double value_ = (value), expected_ = (expected), tolerance_ = (tolerance);           \
        if (!(fabs(value_ - expected_) <= tolerance_))                                             \
            fail_msg("%s = %.17g, expected %.17g within %g", #value, value_, expected_,            \
                     tolerance_);                                                                  \
    } while (0)

/* Tells whether the test `name` shall be thorough; otherwise it tries a part of its cases. The
 * environment variable ORRERY_THOROUGH=1 asks all tests to be; any other word, such as the name of
 * a commit, asks a quarter of them, chosen by a hash as in validation/tap.py. */
static inline int is_thorough(const char *name)
{
    const char *const wish = getenv("ORRERY_THOROUGH"), *const words[] = { wish, " ", name };
    uint32_t hash = 2166136261; /* the hash FNV-1a */
    if (!wish || !*wish || strcmp(wish, "1") == 0)
        return wish && *wish;
    for (int k = 0; k < 3; k++)
        for (const char *c = words[k]; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 16777619;
    return hash % 4 == 0;
}
#define thorough() is_thorough(__func__)

/* Ends a test that cannot be tried here, without a failure: cmocka's own skip() would be read as a
 * failure from the TAP that it prints. */
#define pass_untried(why)                                                                          \
    do {                                                                                           \
        print_message("# not tried: %s\n", why);                                                   \
        return;                                                                                    \
    } while (0)

/* Stands at the beginning of a test with many bodies. Under sanitizers it ends the test: the sums
 * would take minutes, and other tests run the same code with fewer bodies. */
#ifdef __SANITIZE_ADDRESS__
#define not_sanitized() pass_untried("its sums are too many for sanitizers")
#else
#define not_sanitized() ((void)0)
#endif

#endif
