#include "config.h"

#include "base/program.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef HAVE_MACH_O_DYLD_H
#include <mach-o/dyld.h>
#endif

char *program_path(void)
{
#ifdef HAVE_MACH_O_DYLD_H
    char path[4096];
    uint32_t size = sizeof path;
    return _NSGetExecutablePath(path, &size) == 0 ? realpath(path, NULL) : NULL;
#else
    return realpath("/proc/self/exe", NULL); /* Linux */
#endif
}
