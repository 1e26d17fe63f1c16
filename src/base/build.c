#include "config.h"

#include "base/build.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef HAVE_MACH_O_DYLD_H
#include <mach-o/dyld.h>
#endif

#include "build-commit.h" /* BUILD_COMMIT; made by the Makefile */

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "leave out -ffast-math and -Ofast: tests for NaN and rounding errors of sums vanish"
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

const char *build_version(void)
{
    return PACKAGE_VERSION;
}

const char *build_commit(void)
{
    return BUILD_COMMIT;
}

const char *build_compiler(void)
{
    return COMPILER;
}

const char *build_options(void)
{
    return BUILD_OPTIONS;
}

char *build_path(void)
{
#ifdef HAVE_MACH_O_DYLD_H
    char path[4096];
    uint32_t size = sizeof path;
    return _NSGetExecutablePath(path, &size) == 0 ? realpath(path, NULL) : NULL;
#else
    return realpath("/proc/self/exe", NULL); /* a link of Linux to the file of this program */
#endif
}
