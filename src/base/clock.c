#include "base/clock.h"

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_cpu_seconds(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
        return 0.0;
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *clock_stamp(char buffer[CLOCK_STAMP_SIZE])
{
    return clock_stamp_of(time(NULL), buffer);
}

const char *clock_stamp_of(time_t moment, char buffer[CLOCK_STAMP_SIZE])
{
    struct tm parts;
    if (!gmtime_r(&moment, &parts) ||
        strftime(buffer, CLOCK_STAMP_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        buffer[0] = '\0';
    return buffer;
}
