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

/* Fails with both numbers in the message unless |value - expected| <= tolerance. */
#define assert_close(value, expected, tolerance)                                                   \
    do {                                                                                           \
        const double value_ = (value), expected_ = (expected), tolerance_ = (tolerance);           \
        if (!(fabs(value_ - expected_) <= tolerance_))                                             \
            fail_msg("%s = %.17g, expected %.17g within %g", #value, value_, expected_,            \
                     tolerance_);                                                                  \
    } while (0)

/* Are the thorough tests asked for? The others take a part of the cases. */
static inline int thorough(void)
{
    return getenv("ORRERY_THOROUGH") != NULL;
}

/* For what cannot be tried here. cmocka's own skip() reads as a failure in its TAP. */
#define pass_untried(why)                                                                          \
    do {                                                                                           \
        print_message("# not tried: %s\n", why);                                                   \
        return;                                                                                    \
    } while (0)

#endif
