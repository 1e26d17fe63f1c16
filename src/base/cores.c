#include "base/cores.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The quota of a container, in cores, rounded up (Linux control groups 2 and 1); 0: none. */
static int quota(void)
{
    double share = -1, period = -1;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r"); /* "max 100000" or "150000 100000" */
    if (file) {
        if (fscanf(file, "%lf %lf", &share, &period) != 2)
            share = -1;
        fclose(file);
    } else {
        FILE *us[2] = { fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "r"),
                        fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "r") };
        if (us[0] && us[1] &&
            (fscanf(us[0], "%lf", &share) != 1 || fscanf(us[1], "%lf", &period) != 1))
            share = -1;
        for (int k = 0; k < 2; k++)
            if (us[k])
                fclose(us[k]);
    }
    if (!(share > 0 && period > 0 && share / period < 65536))
        return 0;
    const int whole = (int)(share / period);
    return whole < share / period ? whole + 1 : whole;
}

int cores_available(void)
{
    const int threads = omp_get_max_threads();
    const int limit = getenv("OMP_NUM_THREADS") ? 0 : quota();
    return limit > 0 && limit < threads ? limit : threads;
}

const char *cores_model(char buffer[CORES_MODEL_SIZE])
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r"); /* "model name      : AMD EPYC 9R14" */
    snprintf(buffer, CORES_MODEL_SIZE, "unknown CPU");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(buffer, CORES_MODEL_SIZE, "%.90s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file)
        fclose(file);
    return buffer;
}
