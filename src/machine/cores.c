#include "machine/cores.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build.h"
#include "base/memory.h"
#include "machine/room.h"

/* Returns the CPU quota of one control group of Linux in cores: the CPU time that it allows in a
 * period, over the length of the period; infinite without a quota. In version 2 of control groups
 * one file has both in microseconds, "150000 100000" or "max 100000"; in version 1 each has its own
 * file. */
static double quota_of_group(const char *root, const char *group, int version)
{
    char text[CONTROL_GROUP_TEXT_SIZE];
    double share = -1, period = -1;
    if (version == 2) {
        control_group_read(root, group, "cpu.max", text);
        if (sscanf(text, "%lf %lf", &share, &period) != 2)
            return INFINITY;
    } else {
        if (control_group_read(root, group, "cpu.cfs_quota_us", text))
            share = strtod(text, NULL);
        if (control_group_read(root, group, "cpu.cfs_period_us", text))
            period = strtod(text, NULL);
    }
    return share > 0 && period > 0 ? share / period : INFINITY;
}

double cores_quota(const char *root)
{
    return control_group_least(root, "cpu", quota_of_group);
}

int cores_available(void)
{
    const int threads = omp_get_max_threads();
    const double limit = getenv("OMP_NUM_THREADS") ? INFINITY : ceil(cores_quota(""));
    return limit < threads ? (int)limit : threads;
}

enum status cores_check_threads(struct error *error)
{
    const char *const asked = getenv("OMP_NUM_THREADS");
    if (omp_get_max_threads() <= CORES_THREADS_MOST)
        return STATUS_OK;
    return error_set(error, STATUS_USAGE, "orrery: OMP_NUM_THREADS = %.32s: must be at most %d",
                     asked ? asked : "", CORES_THREADS_MOST);
}

int cores_limit_threads(int threads)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads > 0 ? threads : cores_available());
    return before;
}

/* Tells whether `path`, the file that this process runs, is the dynamic loader, as after
 * "ld-linux-x86-64.so.2 ./orrery run". A restart would then start the loader, with arguments that
 * are not meant for it. */
static bool is_loader(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strncmp(name, "ld", 2) == 0 && (name[2] == '-' || name[2] == '.') && strstr(name, ".so");
}

void cores_wait_briefly(char *const arguments[])
{
    /* How long idle OpenMP threads spin before they sleep: a number of loops for GCC's runtime,
     * milliseconds for LLVM's. With much smaller values threads would fall asleep between two
     * parallel regions of a small problem, and each region would first have to wake them. */
    static const char *const waits[][2] = { { "GOMP_SPINCOUNT", "5000" },
                                            { "KMP_BLOCKTIME", "1" } };
    if (getenv("OMP_WAIT_POLICY") || cores_available() == 1)
        return;
    for (size_t k = 0; k < COUNT_OF(waits); k++)
        if (getenv(waits[k][0]))
            return;
    for (size_t k = 0; k < COUNT_OF(waits); k++)
        if (setenv(waits[k][0], waits[k][1], 1))
            return;
    /* execv() gets the real path, rather than /proc/self/exe, because ps and pkill show the last
     * part of the path as the name of the process. */
    char *path = build_path();
    if (path && !is_loader(path))
        execv(path, arguments);
    free(path);
}

const char *cores_model(char buffer[CORES_MODEL_SIZE])
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
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
