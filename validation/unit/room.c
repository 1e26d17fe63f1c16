#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "machine/cores.h"
#include "machine/room.h"

static void test_numbers_of_lines(void **state)
{
    (void)state;
    const char *text = "MemTotal:       24684004 kB\nMemAvailable:   24295936 kB\n"
                       "inactive_file 4096\ninactive_file_more 1\n";
    assert_true(room_number(text, "MemAvailable") == 24295936.0 * 1024.0);
    assert_true(room_number(text, "MemTotal") == 24684004.0 * 1024.0);
    assert_true(room_number(text, "inactive_file") == 4096.0);
    assert_true(isnan(room_number(text, "Mem")));
    assert_true(isnan(room_number("", "MemTotal")));
}

static void test_limits_of_both_versions(void **state)
{
    (void)state;
    assert_true(room_limit("1073741824\n") == 1073741824.0);
    assert_true(isinf(room_limit("max\n")));
    assert_true(isinf(room_limit("9223372036854771712\n"))); /* version 1: no limit */
    assert_true(isinf(room_limit("")));
}

static void test_the_path_of_a_group(void **state)
{
    (void)state;
    const char *one = "9:name=systemd:/\n4:cpu,memory:/jobs/7\n1:memoryless:/no\n0::/user\n";
    const char *path;
    assert_int_equal(control_group_path(one, "memory", &path), 7);
    assert_memory_equal(path, "/jobs/7", 7);
    assert_int_equal(control_group_path(one, "", &path), 5);
    assert_memory_equal(path, "/user", 5);
    assert_int_equal(control_group_path("0::/user\n", "memory", &path), 0);
}

/* --- a small machine of files ---------------------------------------------------------------- */

static void put(const char *root, const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void clear(const char *root)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void test_the_least_counts(void **state)
{
    (void)state;
    char root[] = "/tmp/orrery-room-XXXXXX";
    assert_non_null(mkdtemp(root));
    assert_true(isinf(room_of_machine(root).bytes)); /* nothing is known */

    put(root, "/proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 80 kB\n");
    assert_true(room_of_machine(root).bytes == 80 * 1024.0);
    assert_string_equal(room_of_machine(root).limit, "the machine");

    /* Version 2: the group above is tighter than that of the process; files give way. */
    put(root, "/proc/self/cgroup", "0::/slice/job\n");
    put(root, "/sys/fs/cgroup/slice/job/memory.max", "max\n");
    put(root, "/sys/fs/cgroup/slice/memory.max", "60000\n");
    put(root, "/sys/fs/cgroup/slice/memory.current", "30000\n");
    put(root, "/sys/fs/cgroup/slice/memory.stat", "anon 1\ninactive_file 10000\n");
    assert_true(room_of_machine(root).bytes == 40000.0);
    assert_string_equal(room_of_machine(root).limit, "the control group");

    /* Version 1, in a container: the path is the host's, the limit stands at the top. */
    put(root, "/proc/self/cgroup", "4:memory:/host/path\n0::/\n");
    put(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "20000\n");
    put(root, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
    put(root, "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1000\n");
    assert_true(room_of_machine(root).bytes == 16000.0);

    /* More in use than allowed (the limit was lowered): nothing is left. */
    put(root, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "50000\n");
    assert_true(room_of_machine(root).bytes == 0.0);
    clear(root);
}

/* As systemd and Slurm set it: not at the top, and above the group of the process. */
static void test_the_least_quota_of_cores(void **state)
{
    (void)state;
    char root[] = "/tmp/orrery-room-XXXXXX";
    assert_non_null(mkdtemp(root));
    assert_true(isinf(cores_quota(root)));
    put(root, "/proc/self/cgroup", "4:cpu,cpuacct:/job/step\n0::/slice/job\n");
    put(root, "/sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
    assert_true(isinf(cores_quota(root)));
    put(root, "/sys/fs/cgroup/slice/cpu.max", "450000 100000\n");
    assert_true(cores_quota(root) == 4.5);
    put(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_true(cores_quota(root) == 4.5);
    put(root, "/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
    put(root, "/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    assert_true(cores_quota(root) == 1.5);
    clear(root);
}

static void test_limits_of_the_process(void **state)
{
    (void)state;
    assert_true(room_left().bytes > 0.0 && isfinite(room_left().bytes));
    const struct room before = room_of_process();
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_DATA, &old), 0);
    struct rlimit low = { .rlim_cur = 64 << 20, .rlim_max = old.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_DATA, &low), 0);
    const struct room after = room_of_process();
    assert_int_equal(setrlimit(RLIMIT_DATA, &old), 0);
    assert_true(after.bytes <= 64 << 20);
    if (before.bytes > 64 << 20)
        assert_non_null(strstr(after.limit, "ulimit -d"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_lines),
        cmocka_unit_test(test_limits_of_both_versions),
        cmocka_unit_test(test_the_path_of_a_group),
        cmocka_unit_test(test_the_least_counts),
        cmocka_unit_test(test_the_least_quota_of_cores),
        cmocka_unit_test(test_limits_of_the_process),
    };
    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
