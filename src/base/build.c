#include "base/build.h"

#include <config.h>

#include "build-commit.h" /* BUILD_COMMIT; made by the Makefile */

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
